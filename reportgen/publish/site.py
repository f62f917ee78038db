"""Every file of the site, made in memory: pages, charts, downloads, index and assets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from reportgen.project import Project
from reportgen.publish import announcing, links, publishing, search, svg
from reportgen.publish.cache import Cache
from reportgen.publish.crew import Crew, Job
from reportgen.publish.described import described
from reportgen.publish.gather import Gathered
from reportgen.publish.making import Maker, Task
from reportgen.publish.manual import Manual, read_manual
from reportgen.publish.markdown import SourcePage
from reportgen.publish.problems import Problem
from reportgen.publish.remembering import Memory, look_at, look_under
from reportgen.publish.shelf import Drawing, Shelf
from reportgen.publish.templates import Theme
from reportgen.publish.theme_folders import theme_folders
from reportgen.publish.view import FileFact

STATIC = "static"


@dataclass(frozen=True)
class Site:
    """Files by address, the number of pages among them, what is wrong, and what stood at the ``places`` of the lab that pages lead to."""

    files: Mapping[str, bytes | Path]
    pages: int
    problems: tuple[Problem, ...]
    places: Mapping[str, str]


def make_site(project: Project, gathered: Gathered, memory: Memory, cache: Cache, crew: Crew | None = None) -> Site:
    """Make every file of the lab's site from what was ``gathered``; pages that are in ``memory`` or ``cache`` are taken from there."""
    maker, manual = _maker(project, gathered, memory, cache)
    sources = maker.read_sources(manual)
    helped = crew if crew and crew.helpers else None
    if helped:
        helped.share(maker.jobs(_alone(maker, manual, sources)))
    maker.add(maker.written(sources))
    maker.add_home(sources)
    maker.add(maker.documentation(manual, sources))
    maker.whole.problems += manual.problems
    if helped:
        helped.share(maker.jobs(maker.records(sources)))
    maker.add(maker.records(sources))
    maker.add(maker.attempts(sources))
    maker.add_ledger()
    maker.add_catalogue()
    maker.add_list()
    made = maker.whole
    pages = {file: html for file, _, html in made.made}
    assets = static_files([*reversed(theme_folders(project.templates)), project.site])
    files: dict[str, bytes | Path] = {**assets, **_figures(made.drawn), **manual.files, **gathered.files, **pages}
    files.update(described(gathered.library))
    files.update({address: gathered.entries.preview(shown) for address, shown in made.pictures})
    files[search.ADDRESS] = search.index(made.indexed)
    files.update(announcing.files(made.indexed, project.settings))
    files[publishing.LISTING] = publishing.listing(
        _listed(address, files[address], memory, gathered.known) for address in files
    )
    written = {page.front.address: page for page in sources} | {page.address: page for page in manual.pages.values()}
    problems = [*gathered.problems, *made.problems, *_taken_twice(made.made)]
    problems += links.check(dict(made.found), set(files), written)
    places = {one.name: gathered.library.place(one.name) for one, _ in made.asked if one.of == "place"}
    return Site(files, len(pages), tuple(sorted(dict.fromkeys(problems))), places)


def page_jobs(project: Project, gathered: Gathered, cache: Cache) -> Iterator[list[Job]]:
    """Give the making of pages as jobs, which leave them in the cache; then those of records, once all others are there."""
    maker, manual = _maker(project, gathered, Memory(), cache)
    sources = maker.read_sources(manual)
    yield maker.jobs(_alone(maker, manual, sources))
    maker.add(maker.written(sources))
    yield maker.jobs(maker.records(sources))


def _alone(maker: Maker, manual: Manual, sources: list[SourcePage]) -> list[Task]:
    """List the pages that wait for no other; those of records list the claims that others make of them."""
    own = (
        maker.written(sources),
        maker.documentation(manual, sources),
        maker.fixtures(sources),
        maker.attempts(sources),
    )
    return [task for tasks in own for task in tasks]


def _maker(project: Project, gathered: Gathered, memory: Memory, cache: Cache) -> tuple[Maker, Manual]:
    folders = theme_folders(project.templates)
    seen = look_under(project.docs) if project.docs else ()
    manual = memory.read("manual", seen, lambda _: read_manual(project))
    look = look_under(*folders)
    theme, themed = memory.read("theme", look, lambda _: (Theme(folders), cache.hashes.tree(*folders)))
    common = [gathered.entries.code, themed, msgspec.json.encode(project.settings)]
    shelf = Shelf(cache, common, gathered.library.answered, lambda: look == look_under(*folders))
    return Maker(project, gathered, theme, partial(memory.once, kept=shelf)), manual


def _figures(drawn: Sequence[Drawing]) -> dict[str, bytes]:
    """Give every chart as a file of its own, and its numbers; of several of one name the first counts."""
    first = {one.anchor: one for one in reversed(drawn)}
    figures = {f"figures/{name}.svg": svg.standalone(one.svg).encode() for name, one in first.items()}
    numbers = {one.anchor: one.numbers for one in reversed(drawn) if one.numbers is not None}
    return figures | {f"figures/{name}.csv": held for name, held in numbers.items()}


def _taken_twice(made: Sequence[tuple[str, str, bytes]]) -> Iterator[Problem]:
    """Name every page whose address another has already."""
    seen = set()
    for file, source, _ in made:
        if file in seen:
            yield Problem(source, f"address {file.removesuffix('index.html')!r} is taken by another page")
        seen.add(file)


def _listed(address: str, content: bytes | Path, memory: Memory, facts: Mapping[str, FileFact]) -> publishing.Listed:
    if address in facts and isinstance(content, Path):
        return publishing.Listed(address, facts[address].length_bytes, facts[address].sha256)
    known = content if isinstance(content, bytes) else look_at([content])
    found: publishing.Listed = memory.read(("listed", address), known, lambda _: publishing.listed(address, content))
    return found


def static_files(folders: list[Path]) -> dict[str, Path]:
    """Find the assets: those of later folders replace those of earlier ones."""
    found = {}
    for folder in folders:
        for path in sorted((folder / STATIC).rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                found[path.relative_to(folder).as_posix()] = path
    return found
