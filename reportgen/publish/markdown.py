"""A page that people write: TOML front matter between ``+++`` lines, a body with bindings, Markdown."""

from __future__ import annotations

import datetime as dt
import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import msgspec
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.attrs import attrs_block_plugin, attrs_plugin
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.footnote import footnote_plugin

from reportgen.errors import InputError
from reportgen.publish.literals import barred
from reportgen.publish.problems import Problem
from reportgen.publish.templates import sandbox

PAGE_FAULTS = (
    jinja2.TemplateError, TypeError, ValueError, AttributeError, ArithmeticError, LookupError, RecursionError, SyntaxError, MemoryError,
)  # fmt: skip
FENCE = "+++"
BOXES = ("answer", "not-changed", "note")
_ADDRESS = re.compile(r"(?:[a-z0-9][a-z0-9._-]*/)*")


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sentence that a page holds itself to, and the expression over its records that must be true."""

    says: str
    holds: str


class FrontMatter(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a page says of itself. ``address`` is its path, empty for the first page, else ending with a slash.

    ``short`` is its title where there is little room: in the navigation.
    """

    title: str
    kind: str
    summary: str
    date: dt.date
    address: str
    short: str = ""
    records: list[str] = []
    claims: list[Claim] = []

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind {self.kind!r} is none of: {', '.join(KINDS)}")
        if not _ADDRESS.fullmatch(self.address):
            raise ValueError(
                f"address {self.address!r} must be lower-case folders that each end with a slash, as in 'methods/timing/'"
            )


KINDS = ("home", "report", "finding", "gate", "sweep", "method", "note")


@dataclass(frozen=True)
class SourcePage:
    """A page as written: ``source`` is its path from the lab's root, ``body`` keeps the file's line numbers.

    ``head`` are the lines of the front matter.
    """

    source: str
    front: FrontMatter
    head: tuple[str, ...]
    body: str


def read_page(path: Path, source: str) -> SourcePage:
    """Read a page.

    Raises
    ------
    InputError
        No front matter, or one that cannot be read; the line is named.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise InputError(f"cannot be read: {fault}", where=source, remedy="save it as UTF-8") from fault
    lines = text.splitlines()
    if not lines or lines[0].strip() != FENCE or FENCE not in [line.strip() for line in lines[1:]]:
        raise InputError("no front matter", where=f"{source}:1", remedy="begin the file with TOML between +++ lines")
    end = next(place for place, line in enumerate(lines) if place and line.strip() == FENCE)
    try:
        front = msgspec.toml.decode("\n".join(lines[1:end]), type=FrontMatter)
    except msgspec.MsgspecError as fault:
        raise InputError(f"front matter: {fault}", where=f"{source}:{_line_of(str(fault), lines[:end])}") from fault
    body = "\n" * (end + 1) + "\n".join(lines[end + 1 :]) + "\n"
    return SourcePage(source, front, tuple(lines[:end]), body)


def _line_of(fault: str, lines: Sequence[str]) -> int:
    """Find the line that a fault of the front matter speaks of: the one it numbers, or that of the key it quotes."""
    if "end of document" in fault:
        return len(lines)
    numbered = re.search(r"line (\d+)", fault)
    if numbered:
        return int(numbered.group(1)) + 1
    for name in re.findall(r"[`$.]([a-z]+)", fault) + re.findall(r"^(\w+)", fault):
        for place, line in enumerate(lines, start=1):
            if re.match(rf"\s*{name}\s*=", line):
                return place
    return 1


def fill(page: SourcePage, functions: Mapping[str, Callable[..., Any]]) -> tuple[str, list[Problem]]:
    """Put the bindings' values into a page's text.

    What cannot be evaluated is a problem with its line; the text then ends in a visible mark.
    """
    faults = [Problem(f"{page.source}:{line}", said) for said, line in barred(page.body)]
    if faults:
        return MISSING, faults
    environment = sandbox()
    environment.globals.update(functions)
    try:
        code = environment.compile(page.body, page.source, page.source)
        template = environment.template_class.from_code(environment, code, environment.make_globals(None))
        return template.render(), []
    except jinja2.TemplateSyntaxError as fault:
        return MISSING, [Problem(f"{page.source}:{fault.lineno}", fault.message or "cannot be read as a template")]
    except PAGE_FAULTS as fault:
        return MISSING, [Problem(f"{page.source}:{_fault_line(page.source)}", str(fault))]


MISSING = '<p class="missing">This page could not be completed.</p>\n'


def _fault_line(source: str) -> int:
    """Line of the page at which the exception being handled was raised: Jinja maps its frames to the page's lines."""
    frames = [frame for frame in traceback.extract_tb(sys.exc_info()[2]) if frame.filename == source]
    return frames[-1].lineno or 1 if frames else 1


def calling_line(source: str) -> int:
    """Line of the page whose expression is being evaluated further up the stack."""
    frame = sys._getframe()  # noqa: SLF001 - the page's line is known to the stack alone
    while frame is not None:
        template = frame.f_globals.get("__jinja_template__")
        if template is not None and template.filename == source:
            return int(template.get_corresponding_lineno(frame.f_lineno))
        frame = frame.f_back  # type: ignore[assignment]
    return 1


def parser() -> MarkdownIt:
    """Make the reader of Markdown, with everything that pages may use."""
    reader = MarkdownIt("commonmark", {"html": True, "typographer": True})
    reader.enable(["table", "replacements", "smartquotes"])
    reader.use(footnote_plugin).use(attrs_plugin).use(attrs_block_plugin)
    reader.use(anchors_plugin, min_level=2, max_level=4)
    for box in BOXES:
        reader.use(container_plugin, box, render=_render_box)
    return reader


def _render_box(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, _options: OptionsDict, _env: EnvType
) -> str:
    token = tokens[place]
    if token.nesting == 1:
        name = token.info.strip().split(maxsplit=1)[0]
        token.tag = "section" if name == "not-changed" else "div"
        token.attrSet("class", f"box {name}")
        return f"<{token.tag}{renderer.renderAttrs(token)}>\n"
    opening = next(one for one in reversed(tokens[:place]) if one.level == token.level and one.nesting == 1)
    return f"</{opening.tag}>\n"
