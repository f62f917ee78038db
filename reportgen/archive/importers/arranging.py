"""Which arm each benchmark belongs to: as the source says, by file where several are imported, or by a mapping that the user gives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

import msgspec

from reportgen.errors import InputError
from reportgen.model.imported import Benchmark, Source, Told

NAME = "name"
_SHOWN = 60


def told_of(*, baseline: str, nulls: Sequence[str], arm_from: str, paired: bool, fresh_processes: bool) -> Told:
    """Read what the command line says of the files.

    Raises
    ------
    InputError
        A null is not written ``ARM=OF``.
    """
    pairs = [one.rpartition("=") for one in nulls]
    bad = next((one for one, (arm, _, of) in zip(nulls, pairs, strict=True) if not arm or not of), None)
    if bad is not None:
        raise InputError(f"--null {bad!r} is not written ARM=OF")
    return Told(
        baseline=baseline or None,
        nulls={arm: of for arm, _, of in pairs},
        arm_from=arm_from or None,
        paired=paired,
        fresh_processes=fresh_processes,
    )


def arranged(sources: Sequence[Source], told: Told) -> list[tuple[int, Benchmark]]:
    """Give every benchmark with the number of its source (from 1) and its arm.

    Raises
    ------
    InputError
        What the user told names a parameter or an arm that is not there.
    """
    titles = _titles(sources)
    found = [
        (number, _with_arm(one, title, told, several=len(sources) > 1))
        for number, (source, title) in enumerate(zip(sources, titles, strict=True), start=1)
        for one in source.benchmarks
    ]
    _check(found, told)
    return found


def _titles(sources: Sequence[Source]) -> list[str]:
    """Name each source shortly, so that no two have one name."""
    stems = [PurePath(source.name).stem or source.name for source in sources]
    names = stems if len(set(stems)) == len(stems) else [source.name for source in sources]
    if len(set(names)) == len(names):
        return names
    return [f"{name} ({number})" for number, name in enumerate(names, start=1)]


def _with_arm(one: Benchmark, title: str, told: Told, *, several: bool) -> Benchmark:
    if told.arm_from == NAME:
        return msgspec.structs.replace(one, name=_fixture(one, title, several=several), arm=one.name)
    if told.arm_from is not None:
        if told.arm_from not in one.params:
            raise InputError(f"{one.name[:_SHOWN]!r} has no parameter {told.arm_from!r}", where=title)
        params = {key: value for key, value in one.params.items() if key != told.arm_from}
        return msgspec.structs.replace(one, params=params, arm=str(one.params[told.arm_from]))
    if several:
        return msgspec.structs.replace(one, arm=title if one.arm is None else f"{title}: {one.arm}")
    return one


def _fixture(one: Benchmark, title: str, *, several: bool) -> str:
    """Name what arms have in common where their names are the arms: the file, or the fixture that they have."""
    return title if several or one.arm is None else one.arm


def _check(found: Sequence[tuple[int, Benchmark]], told: Told) -> None:
    arms = list(dict.fromkeys(one.arm for _, one in found if one.arm is not None))
    for named in (told.baseline, *told.nulls, *told.nulls.values()):
        if named is not None and named not in arms:
            known = ", ".join(arm[:_SHOWN] for arm in arms) or "none: give --arm-from"
            raise InputError(f"there is no arm {named[:_SHOWN]!r}", remedy=f"arms are {known}")
