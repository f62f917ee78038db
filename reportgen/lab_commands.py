"""The commands that fill a lab without measuring, and those that note something beside what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reportgen import options as opt
from reportgen.errors import EXIT_FINDING, FindingError, InputError
from reportgen.printing import print_json, print_text, show_markdown, show_text

if TYPE_CHECKING:
    from reportgen.archive.load import Attempt
    from reportgen.measure.devices import Ended
    from reportgen.measure.watching import RunOutcome


def init(  # noqa: PLR0913 - each is an option of the command line
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="New or empty.")],
    *,
    native: Annotated[bool, typer.Option("--native", help="C on this machine's processor (the default).")] = False,
    cuda: Annotated[bool, typer.Option("--cuda", help="CUDA C++ on an NVIDIA GPU.")] = False,
    command: Annotated[bool, typer.Option("--command", help="A program of your own.")] = False,
    import_: Annotated[bool, typer.Option("--import", help="Result files of another harness.")] = False,
    gate: Annotated[bool, typer.Option("--gate", help="As --native, with a rule that decides.")] = False,
) -> None:
    """Write a small lab into DIR that builds at once, with comments where your own kernel goes."""
    from reportgen.starting import start

    asked = {"native": native, "cuda": cuda, "command": command, "import": import_, "gate": gate}
    kinds = [kind for kind, wanted in asked.items() if wanted] or ["native"]
    if len(kinds) > 1:
        raise InputError(f"--{kinds[0]} and --{kinds[1]} are two kinds of lab", remedy="name one")
    files = start(directory, kinds[0])
    lines = [f"{path}" for path in files]
    show_text("\n".join([*lines, "", f"next: cd {directory}, then read README.md"]))


def manual(
    page: Annotated[str, typer.Argument(metavar="PAGE", help="Its name, or the end of it.")] = "",
    *,
    json: opt.Json = False,
) -> None:
    """Show a page of the documentation, or list its pages; it travels with the program."""
    from reportgen import handbook

    found = [handbook.page(page)] if page else handbook.pages()
    if json:
        print_json([{"name": one.name, "title": one.title, "path": str(one.path)} for one in found])
    elif page:
        show_markdown(found[0].path.read_text("utf-8"))
    else:
        longest = max(len(one.name) for one in found)
        lines = [f"{one.name:{longest}}  {one.title}" for one in found]
        show_text("\n".join([*lines, "", f"`reportgen manual PAGE` shows one; they lie in {handbook.folder()}"]))


def import_files(  # noqa: PLR0913 - each is an option of the command line
    format_: Annotated[
        str, typer.Argument(metavar="FORMAT", help="auto, or one of those that `reportgen manual importing` lists.")
    ],
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Result files, or folders of them.")],
    *,
    name: Annotated[str, typer.Option("--as", metavar="NAME", help="Experiment to file it under.")] = "",
    unit: Annotated[str, typer.Option(help="Unit of a column `time` that says none.")] = "",
    baseline: Annotated[str, typer.Option(metavar="ARM", help="Arm that the others are compared with.")] = "",
    null: Annotated[list[str] | None, typer.Option(metavar="ARM=OF", help="ARM is the same code as OF.")] = None,
    arm_from: Annotated[str, typer.Option(metavar="PARAM", help="Arms are the values of PARAM, or of `name`.")] = "",
    paired: Annotated[
        bool, typer.Option("--paired", help="Equal repetitions of two arms were measured together.")
    ] = False,
    fresh_processes: Annotated[
        bool, typer.Option("--fresh-processes", help="Each repetition was a process of its own.")
    ] = False,
    keep_identity: Annotated[bool, typer.Option("--keep-identity", help="Keep names of hosts and people.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be imported; archive nothing.")] = False,
    project: opt.ProjectDir = Path(),
    json: opt.Json = False,
) -> None:
    """Import result files of another harness: archived as they are, shown as imported, never scored as measured here."""
    from reportgen import foreign
    from reportgen.archive.importers.arranging import told_of
    from reportgen.archive.importers.gathering import gather
    from reportgen.archive.taking import take
    from reportgen.project import open_project

    runs = open_project(project).runs
    gathered = gather(files, format_, unit)
    told = told_of(
        baseline=baseline, nulls=null or [], arm_from=arm_from, paired=paired, fresh_processes=fresh_processes
    )
    taken = None if dry_run else take(runs, gathered.found, told, name=name, keep_identity=keep_identity)
    if json:
        print_json(foreign.files(gathered, taken))
    else:
        show_text(foreign.read_text(gathered, taken))


def exclude(attempt: str, *, reason: opt.Reason, project: opt.ProjectDir = Path()) -> None:
    """Exclude ATTEMPT from scoring by a note beside it; nothing is deleted."""
    from reportgen.archive import notes
    from reportgen.archive.layout import find_attempt
    from reportgen.project import open_project

    note = notes.exclude(find_attempt(open_project(project).runs, attempt), reason)
    show_text(f"{attempt} is excluded: {note.text}")


def erratum(attempt: str, *, text: opt.Erratum, project: opt.ProjectDir = Path()) -> None:
    """Note beside ATTEMPT what its readers should know; it counts as before."""
    from reportgen.archive import notes
    from reportgen.archive.layout import find_attempt
    from reportgen.project import open_project

    note = notes.add_erratum(find_attempt(open_project(project).runs, attempt), text)
    show_text(f"{attempt} has an erratum: {note.text}")


def show_imported(attempt: Attempt, *, form: str, fail_on: str, json: bool) -> None:
    """Print what an imported attempt holds."""
    from reportgen import foreign
    from reportgen.opened import imported_verdicts

    if json or form == "json":
        print_json(foreign.attempt(attempt))
    elif form:
        show_rows(imported_verdicts(attempt), form, f"{attempt.manifest.experiment}, imported")
    else:
        show_text(foreign.attempt_text(attempt))
    check_verdicts(imported_verdicts(attempt), fail_on)


def show_rows(rows: Sequence[Mapping[str, Any]], form: str, title: str) -> None:
    """Print verdicts as they go into a pull request, a paper or a spreadsheet."""
    from reportgen.verdict_tables import written

    print_text(written(rows, form, title))


def check_verdicts(rows: Sequence[Mapping[str, Any]], fail_on: str) -> None:
    """End with 1 where a verdict is one of those that fail, and name each.

    Raises
    ------
    FindingError
        There is such a verdict.
    """
    from reportgen.verdict_tables import failures, wanted_failures

    if found := failures(rows, wanted_failures(fail_on)):
        raise FindingError("; ".join(found))


def check_wanted(fail_on: str) -> None:
    """Refuse a word of ``--fail-on`` that is no verdict (InputError)."""
    if fail_on:
        from reportgen.verdict_tables import wanted_failures

        wanted_failures(fail_on)


def check_attempt(outcome: RunOutcome, fail_on: str) -> None:
    """As :func:`check_verdicts`, of the attempt that a run just made."""
    if found := _failures(outcome.path, outcome.exit_status, fail_on):
        raise FindingError("; ".join(found))


def told(outcome: RunOutcome, fail_on: str) -> dict[str, Any]:
    """Say how one of several runs ended; verdicts that fail are its reason."""
    from reportgen import machine

    found = _failures(outcome.path, outcome.exit_status, fail_on)
    return machine.outcome(outcome) | ({"reason": "; ".join(found)} if found else {})


def judged(ended: Sequence[Ended], fail_on: str) -> list[Ended]:
    """Give how several attempts ended, those with a verdict that fails with 1 and the verdicts as their reason."""
    judged = []
    for one in ended:
        path = one.outcome.get("path")
        found = _failures(Path(path) if path else None, one.exit_status, fail_on)
        outcome = one.outcome | {"reason": "; ".join(found)}
        judged.append(replace(one, exit_status=EXIT_FINDING, outcome=outcome) if found else one)
    return judged


def _failures(path: Path | None, exit_status: int, fail_on: str) -> list[str]:
    """Name the verdicts of an attempt that fail; none where nothing was timed, or the run has ended badly already."""
    if not (fail_on and path and not exit_status):
        return []
    from reportgen.opened import open_record, verdict_rows
    from reportgen.verdict_tables import failures, wanted_failures

    opened = open_record(path)
    timed = opened.attempts[0].manifest.counts.batches
    return failures(verdict_rows(opened.result), wanted_failures(fail_on)) if timed else []
