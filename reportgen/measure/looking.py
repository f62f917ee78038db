"""Attempts that time nothing: which tool looks, at which fixtures and arms. Light, since it is read before the guards part."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import replace

from reportgen.errors import InputError
from reportgen.measure.watching import RunOptions


class Tool(enum.StrEnum):
    """What compute-sanitizer looks for."""

    MEMCHECK = "memcheck"
    RACECHECK = "racecheck"
    SYNCCHECK = "synccheck"
    INITCHECK = "initcheck"


def asked_of(options: RunOptions, sanitize: str, where: Sequence[str], arms: str) -> tuple[RunOptions, list[str]]:
    """Put what the command line says into the options: with them the tools of ``--sanitize``, each of which makes an attempt of its own.

    Raises
    ------
    InputError
        There is no such tool, an entry cannot be read, or options contradict each other.
    """
    tools = _parts(sanitize, "--sanitize", "tool") if sanitize else []
    named = tuple(_parts(arms, "--arms", "arm")) if arms else ()
    asked = replace(options, where=parsed_where(where), arms=named)
    each = [replace(asked, sanitizer=tool) for tool in tools] or [asked]
    for one in each:
        check(one)
    return each[0], tools


def check(options: RunOptions) -> None:
    """Refuse options that contradict each other.

    Raises
    ------
    InputError
        The line names two that do, or a tool that does not exist.
    """
    if options.sanitizer not in {None, *Tool}:
        raise InputError(f"no sanitizer {options.sanitizer!r}", remedy=f"known are: {', '.join(Tool)}")
    looks = options.sanitizer is not None or options.profile
    if options.where and not looks:
        raise InputError(
            "--where goes with --sanitize or --profile", remedy="what is scored is measured on every fixture"
        )
    if options.arms and not options.profile:
        raise InputError("--arms goes with --profile", remedy="every arm is timed, and looked at by a sanitizer")
    if options.sanitizer is not None and options.profile:
        raise InputError("--sanitize and --profile are attempts of their own", remedy="run one after the other")
    if looks and (options.quick or options.resume):
        name = "--profile" if options.profile else "--sanitize"
        raise InputError(f"{name} goes with neither --quick nor --resume", remedy="begin an attempt of its own")


def parsed_where(entries: Sequence[str]) -> dict[str, list[str]]:
    """Read ``axis=value`` entries; several of one axis are alternatives.

    Raises
    ------
    InputError
        An entry has no ``=``.
    """
    where: dict[str, list[str]] = {}
    for entry in entries:
        axis, equals, value = entry.partition("=")
        if not (axis and equals and value):
            raise InputError(f"--where takes axis=value, not {entry!r}", remedy="for example --where cache=same-set")
        where.setdefault(axis, []).append(value)
    return where


def _parts(text: str, option: str, noun: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if not part:
            raise InputError(f"{option} {text!r} names an empty {noun}", remedy="write a,b")
        if parts.count(part) > 1:
            raise InputError(f"{option} names {part!r} twice", remedy="name each once")
    return parts
