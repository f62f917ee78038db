"""The documentation that travels with the program: in a wheel inside the package, in a checkout beside it."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from reportgen.errors import InputError

INDEX = "README"
_FIRST = "# "


@dataclass(frozen=True)
class Page:
    """A page: its name, as ``how-to/native``, its title, and where its Markdown lies."""

    name: str
    title: str
    path: Path


def folder() -> Path:
    """Find the pages.

    Raises
    ------
    InputError
        The installation is incomplete.
    """
    package = Path(__file__).resolve().parent
    for found in (package / "manual", package.parent / "docs"):
        if (found / f"{INDEX}.md").is_file():
            return found
    raise InputError("the manual is missing", where=str(package), remedy="install reportgen again")


def pages() -> list[Page]:
    """List every page, sorted by name."""
    home = folder()
    return [_page(home, path) for path in sorted(home.rglob("*.md"))]


def page(name: str) -> Page:
    """Find a page by its name, or by the end of it where that is one page's alone: ``native`` is ``how-to/native``.

    Raises
    ------
    InputError
        There is none, or there are several.
    """
    wanted = name.removesuffix(".md").removeprefix("docs/").strip("/")
    known = {one.name: one for one in pages()}
    ends = [one for key, one in known.items() if key.endswith(f"/{wanted}")]
    if wanted in known:
        return known[wanted]
    if len(ends) == 1:
        return ends[0]
    near = [one.name for one in ends] or difflib.get_close_matches(wanted, known, n=3, cutoff=0.5)
    remedy = f"is it {' or '.join(near)}?" if near else "`reportgen manual` lists them"
    raise InputError(f"the manual has {'several pages' if ends else 'no page'} {name!r}", remedy=remedy)


def _page(home: Path, path: Path) -> Page:
    with path.open(encoding="utf-8") as file:
        title = file.readline().removeprefix(_FIRST).strip()
    return Page(path.relative_to(home).with_suffix("").as_posix(), title, path)
