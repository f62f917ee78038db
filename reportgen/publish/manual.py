"""A lab's documentation: a folder of plain Markdown that reads on a code host as it does on the site, under ``docs/``.

Nothing in it is a template. The first heading is a page's title, its first paragraph the summary; ``README.md`` is the page of its
folder, and that of the whole folder is the table of contents: its headings are sections, its lists their pages.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.footnote import footnote_plugin

from reportgen.errors import InputError
from reportgen.project import Project
from reportgen.publish.problems import Problem

ADDRESS = "docs/"
INDEX = "README.md"
_HEAD = 30  # lines that hold a title and a summary
_FEWEST_TOKENS = 3  # a heading: its opening, its words, its end


@dataclass(frozen=True)
class ManualPage:
    """A page as written: ``source`` is its path from the lab's root, ``body`` keeps the file's line numbers without its title."""

    source: str
    address: str
    title: str
    summary: str
    body: str


@dataclass(frozen=True)
class Section:
    """A heading of the table of contents with the sources of the pages below it."""

    title: str
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Manual:
    """Every page by its source, the sections, every other file by its address on the site, and what could not be read."""

    pages: dict[str, ManualPage]
    sections: tuple[Section, ...]
    files: dict[str, Path]
    problems: tuple[Problem, ...] = ()


def reader() -> MarkdownIt:
    """Make the reader of Markdown as code hosts read it."""
    made = MarkdownIt("commonmark", {"html": True}).enable("table").use(footnote_plugin)
    return made.use(anchors_plugin, min_level=2, max_level=4)


def read_manual(project: Project) -> Manual:
    """Read the folder that the settings name; an empty manual where they name none."""
    if project.docs is None:
        return Manual({}, (), {})
    home, root = project.docs, project.root
    pages: dict[str, ManualPage] = {}
    files: dict[str, Path] = {}
    problems: list[Problem] = []
    for path in sorted(home.rglob("*")):
        if not path.is_file() or any(part.startswith(".") for part in path.relative_to(home).parts):
            continue
        place, source = path.relative_to(home).as_posix(), path.relative_to(root).as_posix()
        if path.suffix != ".md":
            files[ADDRESS + place] = path
            continue
        try:
            pages[source] = _read(path, source, ADDRESS + _folder(place))
        except InputError as fault:
            problems.append(Problem(fault.where, fault.what))
    index = pages.get((home / INDEX).relative_to(root).as_posix())
    if index is None:
        problems.append(Problem(home.relative_to(root).as_posix(), f"has no {INDEX}, which lists its pages"))
    return Manual(pages, _sections(index) if index else (), files, tuple(problems))


def _folder(place: str) -> str:
    stem = place.removesuffix(INDEX) if posixpath.basename(place) == INDEX else f"{place.removesuffix('.md')}/"
    return stem.lower()


def _read(path: Path, source: str, address: str) -> ManualPage:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise InputError(f"cannot be read: {fault}", where=source, remedy="save it as UTF-8") from fault
    lines = text.splitlines()
    tokens = reader().parse("\n".join(lines[:_HEAD]))
    if len(tokens) < _FEWEST_TOKENS or (tokens[0].type, tokens[0].tag) != ("heading_open", "h1"):
        raise InputError("does not begin with a heading", where=f"{source}:1", remedy="begin it with `# Title`")
    end = (tokens[0].map or [0, 1])[1]
    body = "\n" * end + "\n".join(lines[end:]) + "\n"
    return ManualPage(source, address, _plain(tokens[1]), _summary(tokens[_FEWEST_TOKENS:]), body)


def _plain(inline: Token) -> str:
    """Give the words of a heading or paragraph without marks."""
    return "".join(
        " " if child.type in ("softbreak", "hardbreak") else child.content
        for child in inline.children or ()
        if child.type in ("text", "code_inline", "softbreak", "hardbreak")
    )


def _summary(tokens: Sequence[Token]) -> str:
    """Take the first paragraph, where the page begins with one."""
    lead = [one for one in tokens[:8] if one.type != "html_block"]
    return _plain(lead[1]) if len(lead) > 1 and lead[0].type == "paragraph_open" else ""


def _sections(index: ManualPage) -> tuple[Section, ...]:
    """Read the table of contents: under each heading of the second level the pages that its lists link to."""
    tokens = reader().parse(index.body)
    found: list[tuple[str, list[str]]] = []
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h2":
            found.append((_plain(tokens[place + 1]), []))
        elif token.type == "inline" and found and token.level > 1:
            found[-1][1].extend(_targets(index, token))
    return tuple(Section(title, tuple(dict.fromkeys(sources))) for title, sources in found if sources)


def _targets(index: ManualPage, inline: Token) -> Iterator[str]:
    for child in inline.children or ():
        href = str(child.attrGet("href") or "") if child.type == "link_open" else ""
        if href.endswith(".md"):
            yield posixpath.normpath(posixpath.join(posixpath.dirname(index.source), href))
