"""The commands that make the site, look at it and publish it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reportgen import options as opt
from reportgen.errors import EXIT_FINDING, InputError
from reportgen.printing import print_json, print_text, show_text

if TYPE_CHECKING:
    from reportgen.project import Project

Here = Path()
FORMS = ("lines", "github")


def build(
    *,
    out: opt.Out = None,
    strict: opt.Strict = False,
    address: opt.Address = "",
    project: opt.ProjectDir = Here,
    json: opt.Json = False,
) -> None:
    """Build the static site out of runs/, site/ and templates/."""
    from reportgen import machine, terminal
    from reportgen.publish.build import build

    opened = _open(project, address)
    report = build(opened, out or opened.root / "public", strict=strict)
    print_json(machine.build(report)) if json else show_text(terminal.build(report))
    raise typer.Exit(EXIT_FINDING if report.failed else 0)


def check(
    *,
    form: Annotated[
        str, typer.Option("--format", metavar="FORM", help="lines (file:line:column), or github for annotations.")
    ] = "lines",
    project: opt.ProjectDir = Here,
    json: opt.Json = False,
) -> None:
    """Check pages, bindings and links without writing the site."""
    from reportgen import machine
    from reportgen.publish import wording
    from reportgen.publish.check import check
    from reportgen.publish.places import place_of

    if form not in FORMS:
        raise InputError(f"no format {form!r}", remedy=f"formats are: {', '.join(FORMS)}")
    opened = _open(project)
    report = check(opened)
    places = [place_of(problem, opened.root) for problem in (*report.problems, *report.warnings)]
    if json:
        print_json(machine.checked(report, places))
    else:
        lines = [place.annotation() if form == "github" else str(place) for place in places]
        found = f"{wording.plural(len(report.problems), 'error')}, {wording.plural(len(report.warnings), 'warning')}"
        lines.append(f"{wording.plural(report.pages, 'page')} checked: {found}")
        print_text("".join(f"{line}\n" for line in lines))
    raise typer.Exit(EXIT_FINDING if report.failed else 0)


def serve(
    *,
    port: opt.Port = 8000,
    project: opt.ProjectDir = Here,
) -> None:
    """Serve the site on loopback, rebuild it when a file changes, and reload the pages that are open."""
    from reportgen.publish.serve import serve

    serve(_open(project), port, show_text)


def publish(
    *,
    to: Annotated[str, typer.Option(metavar="PLACE", help="Published folder, or address (reportgen.toml's).")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change; write and send nothing.")] = False,
    address: opt.Address = "",
    project: opt.ProjectDir = Here,
    json: opt.Json = False,
) -> None:
    """Build strictly and say what is new, changed and removed beside what is published; write it where PLACE is a folder."""
    from reportgen import machine, terminal
    from reportgen.publish.build import gather_site, split
    from reportgen.publish.output import write_site
    from reportgen.publish.publishing import compare

    opened = _open(project, address)
    target = to or opened.settings.address
    if not target:
        raise InputError("nothing to compare with", remedy="name a published folder or address with --to")
    if not dry_run and target.startswith(("https://", "http://")):
        raise InputError(
            "an address is published to by its host",
            where=target,
            remedy="push to the branch that the host builds, or send public/ with the host's own command; --dry-run says what would change",
        )
    site = gather_site(opened)
    grave, _ = split(site.problems)
    if grave:
        show_text("\n".join(map(str, grave)))
        raise typer.Exit(EXIT_FINDING)
    if not dry_run and not Path(target).exists():
        Path(target).mkdir(parents=True)
    found = compare(site.files, target)
    if not dry_run:
        write_site(Path(target), site.files)
    print_json(machine.publishing(found, dry_run=dry_run)) if json else show_text(
        terminal.publishing(found, dry_run=dry_run)
    )


def _open(folder: Path, address: str = "") -> Project:
    from reportgen.project import at_address, open_project

    opened = open_project(folder)
    return at_address(opened, address) if address else opened
