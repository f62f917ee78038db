"""The commands: the only place that prints and exits. Imports lazily, so that ``--help`` is quick."""

from __future__ import annotations

import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from reportgen import lab_commands, site_commands
from reportgen import options as opt
from reportgen.errors import EXIT_FINDING, EXIT_INTERRUPTED, ReportgenError
from reportgen.printing import console, exit_with, print_json, show_text

if TYPE_CHECKING:
    from reportgen.measure.devices import Ended
    from reportgen.measure.guarding import Guard
    from reportgen.measure.watching import RunOptions, RunOutcome
    from reportgen.project import Project
    from reportgen.terminal import Progress

app = typer.Typer(
    name="reportgen",
    help="Measure kernel ideas against the kernel in use, archive every batch, publish what was found.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Here = Path()


@app.command()
def plan(
    name: str,
    *,
    backend: opt.Backend = "",
    declare: opt.Declare = None,
    project: opt.ProjectDir = Here,
    json: opt.Json = False,
) -> None:
    """Show what NAME would measure, and the digest that freezes it."""
    from reportgen import machine, terminal
    from reportgen.measure.controller import plan_of
    from reportgen.measure.provenance import declare as write_declaration

    opened = _open(project)
    made = plan_of(opened, name, backend or None)
    if declare:
        write_declaration(opened.kernels, made.files, declare)
    print_json(machine.plan(made)) if json else show_text(terminal.plan(made))


@app.command()
def run(  # noqa: PLR0913 - each is an option of the command line
    name: str,
    *,
    backend: opt.Backend = "",
    device: opt.Device = "",
    quick: opt.Quick = False,
    scheduler: opt.Scheduler = "",
    sanitize: opt.Sanitize = "",
    profile: opt.Profile = False,
    where: opt.Where = None,
    arms: opt.Arms = "",
    resume: opt.Resume = "",
    provenance: opt.Provenance = None,
    fail_on: opt.FailOn = "",
    project: opt.ProjectDir = Here,
    json: opt.Json = False,
) -> None:
    """Measure NAME and archive everything under runs/."""
    # Little: what is imported before the forks is there once for each.
    from reportgen.measure.devices import spread
    from reportgen.measure.looking import asked_of
    from reportgen.measure.watching import RunOptions

    said = RunOptions(backend=backend or None, device=device or None, resume=resume or None, provenance=provenance)
    options, tools = asked_of(replace(said, quick=quick, profile=profile), sanitize, where or [], arms)
    opened = _open(project)
    lab_commands.check_wanted(fail_on)  # before anything is measured
    if scheduler:
        _sum_up(lab_commands.judged(_dispatched(opened, name, options, scheduler), fail_on), json=json)
    share = spread(opened, name, options, tools, lambda line: print(line, file=sys.stderr))
    if isinstance(share, list):
        _sum_up(share, json=json)  # this process measured nothing: a child for each did
    guard = _split(opened, name)  # first: what measures is the child, and this process its watchdog

    from reportgen.measure.controller import run
    from reportgen.measure.doctor import check_load

    if share:
        options = replace(options, device=share.selector or None, sanitizer=share.tool or None)
    with _progress(opened, name, options) as watch:
        if not (load := check_load()).ok:
            watch.warning(f"{load.sentence} Intervals will be wider; {load.remedy}.")
        outcome = run(opened, name, options, watch, guard)
    if share:
        share.report(lab_commands.told(outcome, fail_on))
    _finish(outcome, json=json, quiet=share is not None, fail_on=fail_on)


@app.command()
def recover(
    *,
    reopen: opt.Reopen = None,
    project: opt.ProjectDir = Here,
    json: opt.Json = False,
) -> None:
    """Mend what killed runs left: processes are ended, live services reopened."""
    from reportgen import machine, terminal
    from reportgen.measure.recovery import recover

    found = recover(_open(project), frozenset(reopen or []))
    print_json(machine.recovery(found)) if json else show_text(terminal.recovery(found))
    for one in found:
        if not one.mended:
            print(f"reportgen: {one.sentence}", file=sys.stderr)
    raise typer.Exit(0 if all(one.mended for one in found) else EXIT_FINDING)


@app.command()
def attempts(
    name: opt.Only = "",
    *,
    project: opt.ProjectDir = Here,
    json: opt.Json = False,
) -> None:
    """List every attempt with its status and reason."""
    from reportgen import machine, terminal
    from reportgen.archive.load import scan_attempts

    found, faults = scan_attempts(_open(project).runs, name or None)
    print_json(machine.attempts(found)) if json else show_text(terminal.attempts(found))
    exit_with(faults)


app.command()(lab_commands.exclude)
app.command()(lab_commands.erratum)


@app.command()
def show(
    name: opt.Shown,
    *,
    form: opt.Format = "",
    fail_on: opt.FailOn = "",
    project: opt.ProjectDir = Here,
    json: opt.Json = False,
) -> None:
    """Print the verdicts of NAME's record, or of a single attempt."""
    from reportgen import machine, terminal
    from reportgen.archive.select import find_imported, find_shown
    from reportgen.opened import verdict_rows
    from reportgen.scoring import score_attempts, stages_in

    runs = _open(project).runs
    lab_commands.check_wanted(fail_on)
    if imported := find_imported(runs, name):
        lab_commands.show_imported(imported, form=form, fail_on=fail_on, json=json)
        return
    shown, beside, faults = find_shown(runs, name)
    if not shown:
        print_json(machine.attempts(beside)[0]) if json else show_text(terminal.looked_at(beside))
        return
    result = score_attempts(shown[0].plan, shown, stages_in(shown[0].plan, runs))
    if json or form == "json":
        print_json(machine.result(result) | machine.looked_at(beside))
    elif form:
        lab_commands.show_rows(verdict_rows(result), form, f"{result.experiment}, plan {result.plan[:6]}")
    else:
        show_text(terminal.result(result, shown))
        if beside:
            show_text(terminal.looked_at(beside))
    lab_commands.check_verdicts(verdict_rows(result), fail_on)
    exit_with(faults)


app.command("import")(lab_commands.import_files)
app.command("init")(lab_commands.init)
app.command("manual")(lab_commands.manual)
app.command("build")(site_commands.build)
app.command("check")(site_commands.check)
app.command("serve")(site_commands.serve)
app.command("publish")(site_commands.publish)


@app.command()
def diff(before: str, after: str, *, project: opt.ProjectDir = Here, json: opt.Json = False) -> None:
    """Say how AFTER differs from BEFORE: records (NAME, NAME@1a2b3c) or attempts (an id, or a folder)."""
    import msgspec

    from reportgen import terminal
    from reportgen.analysis.differing import difference
    from reportgen.scoring import side_of

    runs = _open(project).runs
    found = difference(side_of(runs, before), side_of(runs, after))
    print_json(msgspec.to_builtins(found)) if json else show_text(terminal.difference(found))


@app.command()
def verify(paths: opt.Paths, *, json: opt.Json = False) -> None:
    """Re-check records: PATH is an attempt, a record's folder, a zip or a built site."""
    from reportgen import machine, terminal
    from reportgen.publish.verification import verify_path

    reports = {str(path): verify_path(path) for path in paths}
    if json:
        print_json([{"path": path, **machine.verification(report)} for path, report in reports.items()])
    else:
        for report in reports.values():
            show_text(terminal.verification(report))
    raise typer.Exit(EXIT_FINDING if any(report.findings for report in reports.values()) else 0)


@app.command()
def merge(paths: opt.Paths, *, project: opt.ProjectDir = Here, json: opt.Json = False) -> None:
    """Take in attempts of other hosts: PATH is an attempt, a folder of attempts, or a zip of either."""
    from reportgen import machine, terminal
    from reportgen.publish.merging import REFUSED, merge

    found = merge(_open(project).runs, paths)
    print_json(machine.merged(found)) if json else show_text(terminal.merged(found))
    raise typer.Exit(EXIT_FINDING if any(one.outcome == REFUSED for one in found) else 0)


@app.command()
def upgrade(path: Path) -> None:
    """Bring an archive of an older format up to date, beside the original."""
    from reportgen.archive.upgrade import upgrade

    show_text(upgrade(path))


@app.command()
def doctor(*, project: opt.ProjectDir = Here, json: opt.Json = False) -> None:
    """Say what this machine can measure, and what is missing."""
    from reportgen import machine, terminal
    from reportgen.measure.doctor import examine

    findings = examine(_open(project).runs)
    print_json(machine.doctor(findings)) if json else show_text(terminal.doctor(findings))


def main() -> NoReturn:
    """Run the command line and exit: 0, 1 for a finding, 2 for misuse, 130 when interrupted."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        status = app(standalone_mode=False)
    except ReportgenError as error:
        _fail(error.one_line(), error.exit_status)
    except KeyboardInterrupt:
        _fail("interrupted", EXIT_INTERRUPTED)
    except OSError as error:
        from reportgen.archive.durable import why

        said = f"{error.filename or 'system'}: {why(error)}; free space or mend permissions, then repeat"
        _fail(said, EXIT_FINDING)
    except Exception as error:  # noqa: BLE001 - the outermost line: a traceback never reaches a user
        from reportgen.last_words import last_words

        _fail(*last_words(error))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(int(status or 0))


def _fail(line: str, status: int) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not break the line that answers the first
    print(f"reportgen: {line}", file=sys.stderr)
    sys.exit(status)


def _finish(outcome: RunOutcome, *, json: bool, quiet: bool, fail_on: str) -> NoReturn:
    """Print how a run ended (no JSON where ``quiet``: another process prints it), and exit; with 1 for a verdict of ``fail_on``."""
    from reportgen import machine, terminal

    if json and not quiet:
        print_json(machine.outcome(outcome))
    elif not json:
        for part in terminal.finished(outcome):
            show_text(part)
        if outcome.sentence:
            print(f"reportgen: {outcome.sentence}", file=sys.stderr)
    lab_commands.check_attempt(outcome, fail_on)
    raise typer.Exit(outcome.exit_status)


def _open(folder: Path) -> Project:
    from reportgen.project import open_project

    return open_project(folder)


def _sum_up(ended: list[Ended], *, json: bool) -> NoReturn:
    """Say how each of several attempts ended; the worst status is the run's."""
    from reportgen import machine

    if json:
        print_json(machine.several(ended))
    for one in ended:
        print(one.sentence, file=sys.stderr if json else sys.stdout)
    raise typer.Exit(max(one.exit_status for one in ended))


def _dispatched(opened: Project, name: str, options: RunOptions, scheduler: str) -> list[Ended]:
    from reportgen import machine
    from reportgen.measure.devices import Ended
    from reportgen.measure.dispatch import Dispatch

    with _progress(opened, name, options) as watch:
        found = Dispatch(opened, name, options, watch).run(scheduler)
    return [Ended(one.device, one.outcome.exit_status, machine.outcome(one.outcome)) for one in found]


def _progress(opened: Project, name: str, options: RunOptions) -> Progress:
    from reportgen import terminal
    from reportgen.measure.controller import plan_of
    from reportgen.scoring import interim

    return terminal.Progress(console(stderr=True), plan_of(opened, name, options.backend), interim)


def _split(opened: Project, name: str) -> Guard | None:
    """Become watchdog and controller; only the controller returns."""
    if not sys.platform.startswith("linux"):
        return None  # nothing there adopts what a dead process leaves
    from reportgen.measure.watchdog import Watched, split

    side = split(opened.runs, opened.guarding, name)
    if not isinstance(side, Watched):
        return side
    for sentence in side.sentences:
        print(f"reportgen: {sentence}", file=sys.stderr)
    raise typer.Exit(side.exit_status)
