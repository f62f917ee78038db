"""What a person reads in the terminal: tables of the plan, the archive and the verdicts, and a run's progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from reportgen import machine
from reportgen.archive import layout
from reportgen.archive.load import load_attempt, scan_attempts
from reportgen.archive.select import records, standings
from reportgen.model.difference import Difference
from reportgen.model.null_study import HarnessSummary, ModeSummary, NullStudy
from reportgen.model.plan import Plan
from reportgen.model.protocol import Mode
from reportgen.model.record import TIMES_NOTHING
from reportgen.model.result import ComparisonResult, GateOutcome, Promotion, Result, Verdict
from reportgen.publish import context, difference_tables, wording
from reportgen.scoring import score_attempts, stages_in

if TYPE_CHECKING:
    from reportgen.archive.load import Attempt
    from reportgen.measure.doctor import Finding
    from reportgen.measure.recovery import Left
    from reportgen.measure.watching import RunOutcome
    from reportgen.publish.build import BuildReport
    from reportgen.publish.merging import Merged
    from reportgen.publish.publishing import Changes
    from reportgen.publish.verification import VerificationReport

_STYLES: dict[str, str] = {
    Verdict.FASTER: "green",
    Verdict.SLOWER: "red",
    Verdict.INVALID: "bold red",
    Promotion.ADOPT: "green",
    GateOutcome.PASSES: "green",
    GateOutcome.FAILS: "red",
    GateOutcome.INVALID: "bold red",
}
_SECONDS_PER_MINUTE = 60
_REPETITION = "repetition"


def plan(made: Plan) -> RenderableType:
    """Say what would be measured: counts, slices, arms and comparisons."""
    facts = machine.plan(made)
    head = Text.assemble(
        (made.experiment.title, "bold"),
        f"\n{made.experiment.question}\n",
        f"\nplan {made.digest}\n",
        f"{facts['repetitions']} repetitions, each a fresh process, and {facts['spares']} spare\n",
        *(f"as many of mode {mode}, one process a block\n" for mode in facts["modes"] if mode != Mode.PROCESS),
        *(f"{number} more that time peers beside the incumbent\n" for number in {*facts["peers"].values()}),
        *(f"{number} repetitions of harness {name}\n" for name, number in facts["harnesses"].items()),
        f"{facts['arms']} arms x {facts['fixtures']} fixtures in {wording.plural(len(made.slices), 'slice')}"
        f": {wording.count(facts['batches'])} scored batches\n",
        *(f"  {axis} = {', '.join(str(value) for value in values)}\n" for axis, values in made.experiment.axes.items()),
    )
    arms = _table("arm", "role", "idea")
    for arm in made.experiment.arms:
        arms.add_row(arm.name, str(arm.role), arm.idea)
    judged = [f"{one.candidate} / {one.baseline}" for one in made.comparisons]
    return Group(head, arms, Text(f"\ntime ratios judged: {', '.join(judged)}"))


def attempts(found: Sequence[Attempt]) -> RenderableType:
    """List every attempt with its status, and with its reason or what it is to the records."""
    if not found:
        return Text("no attempt yet; measure one: reportgen run NAME")
    known = standings(records(found))
    table = _table("attempt", "experiment", "kind", "status", "reason, or standing")
    for column in table.columns[:4]:
        column.no_wrap = True
    for attempt in found:
        status = Text(attempt.status, style="green" if attempt.status == "scored" else "")
        said = attempt.reason or known.get(attempt.id, "")
        table.add_row(attempt.id, attempt.manifest.experiment, wording.kind(attempt.manifest), status, said)
    return table


def merged(found: Sequence[Merged]) -> RenderableType:
    """Say of each attempt that was given whether it was taken in, a line each."""
    lines = [Text(f"{one.attempt} {one.device}: {one.outcome}".replace(" :", ":")) for one in found]
    for line, one in zip(lines, found, strict=True):
        line.append(f", {one.reason}" if one.reason else "")
    return Group(*lines)


def looked_at(found: Sequence[Attempt]) -> RenderableType:
    """List attempts that time nothing with tool, coverage and outcome."""
    table = _table("attempt", "looked with", "at", "outcome")
    for attempt in found:
        manifest = attempt.manifest
        looked = manifest.sanitizer or manifest.profile
        if looked is not None:
            _, _, at = wording.kind(manifest).partition(f"{looked.tool}, ")
            table.add_row(attempt.id, f"{looked.tool}, {looked.version}", at, f"{attempt.status}: {attempt.reason}")
    return table


def result(scored: Result, attempts: Sequence[Attempt]) -> RenderableType:
    """Lay out the verdicts of the attempts that speak together, a table a slice."""
    devices = sorted({f"{one.manifest.device.model} ({one.manifest.device.id})" for one in attempts})
    ids = ", ".join(one.id for one in attempts)
    head = [
        Text.assemble((f"{scored.experiment}, plan {scored.plan[:6]}", "bold"), f", on {', '.join(devices)}"),
        Text(f"from {ids}"),
    ]
    if any(one.manifest.device.kind == "simulated" for one in attempts):
        head.append(Text(wording.SIMULATED, style="bold red"))
    slices = dict.fromkeys(one.slice for one in scored.comparisons if one.role != "null")
    tables = [verdict_table(scored, name) for name in slices]
    gates = [gate_table(scored)] if scored.gates else []
    apart = [Text(line, style="bold red") for line in _devices_apart(scored)]
    study = [study_table(scored.null_study)] if scored.null_study else []
    return Group(*head, Text(wording.DIRECTION), *tables, *gates, *apart, _noise(scored), *study)


def _devices_apart(scored: Result) -> list[str]:
    """Say what each device says by itself where devices of one model disagree; the interval over all spans them."""
    lines = []
    for one in scored.comparisons:
        if one.devices_agree is False:
            each = [
                f"{device.device} {wording.interval(device.interval.low, device.interval.high, plain=True)}"
                for device in one.devices
                if device.interval is not None
            ]
            lines.append(f"{wording.slice_name(one.slice)}: {one.arm} / {one.baseline}: {', '.join(each)}")
    return lines


def verdict_table(scored: Result, name: str) -> Table:
    """Lay out a slice, one row a comparison; null arms stand in the line about noise.

    Two lines a row, so that a terminal of 80 columns folds nothing.
    """
    promotions = {one.arm: one.outcome for one in scored.promotions if one.slice == name}
    table = _table("arm / against", "headline", "estimate", "interval", "verdict / promotion")
    table.title = wording.slice_name(name)
    for column in table.columns[1:4]:
        column.no_wrap = True
    for column in table.columns[1:3]:
        column.justify = "right"
    for one in scored.comparisons:
        if one.role == "null" or one.slice != name:
            continue
        promoted = promotions.get(one.arm, "") if one.baseline_role == "incumbent" else ""
        verdict = _styled(one.verdict, wording.verdict(one.verdict, plain=True))
        table.add_row(
            Text.assemble(one.arm, ("\n  / " + one.baseline, "dim")),
            wording.change(one.headline, plain=True),
            wording.change(one.estimate, plain=True),
            wording.interval(one.low, one.high, plain=True),
            Text.assemble(
                verdict, (f", {one.reason}".replace("_", " "), "dim"), "\n", _styled(promoted, str(promoted))
            ),
        )
    return table


def study_table(study: NullStudy) -> Table:
    """Lay out an A/A study, one row a way of measuring; verdicts rest on mode process alone."""
    table = _table("way of measuring", "comparisons", "false alarms", "nominal", "median error", "95% within", "widest")
    table.title = "identical code against itself (verdicts rest on fresh processes alone)"
    for column in table.columns[1:]:
        column.justify, column.no_wrap = "right", True
    for mode in study.modes:
        alarms = f"{mode.alarms} ({wording.percent(mode.alarm_share)})" if mode.comparisons else "-"
        nominal = wording.percent(mode.nominal_share) if mode.comparisons else "-"
        table.add_row(wording.WAYS[mode.mode], str(mode.comparisons), alarms, nominal, *_errors(mode))
    for harness in study.harnesses:
        table.add_row(harness.harness, str(harness.ratios), "no interval", "", *_errors(harness))
    bar = ", ".join(part.name.replace("_", " ") for part in study.bar if not part.passes)
    table.caption = f"bar missed: {bar}" if bar else "bar passed"
    table.caption_justify = "left"
    return table


def _errors(line: ModeSummary | HarnessSummary) -> list[str]:
    return [wording.error(value, plain=True) for value in (line.error_median, line.error_p95, line.error_widest)]


def gate_table(scored: Result) -> Table:
    """One row a gate, arm and slice."""
    table = _table("gate", "arm", "outcome", "slice, or the fixture that decided")
    table.title = "gates"
    for gate in scored.gates:
        outcome = _styled(gate.outcome, str(gate.outcome))
        table.add_row(gate.name, gate.arm, outcome, gate.fixture or wording.slice_name(gate.slice))
    table.caption = wording.freezing(scored.gates, scored.plan)
    table.caption_justify = "left"
    return table


def finished(ended: RunOutcome) -> list[RenderableType]:
    """Lay out how a run ended, after its verdicts or what a tool found where it is whole."""
    if not ended.path or ended.status not in ("scored", "complete"):
        return [outcome(ended, "")]
    attempt = load_attempt(ended.path)
    beside, _ = scan_attempts(ended.path.parent.parent, attempt.manifest.experiment)
    timed = attempt.manifest.kind not in TIMES_NOTHING
    stages = stages_in(attempt.plan, attempt.path.parent.parent) if timed else []
    shown = result(score_attempts(attempt.plan, [attempt], stages), [attempt]) if timed else looked_at([attempt])
    return [shown, outcome(ended, standings(records(beside)).get(attempt.id, ""))]


def outcome(finished: RunOutcome, said: str = "") -> RenderableType:
    """Say how a run ended, where it lies, and what it is to the records."""
    if finished.path is None:
        return Text(f"nothing was measured: {finished.reason}")
    lines = [f"{finished.status}: {finished.path}"]
    if finished.reason and finished.reason != finished.sentence:
        lines.append(finished.reason)
    if layout.is_open(finished.path):
        name, attempt = finished.path.parent.name, layout.attempt_id_of(finished.path)
        lines.append(f"continue with: reportgen run {name} --resume {attempt}")
    return Text("\n".join([*lines, *([said] if said else [])]))


def difference(found: Difference) -> RenderableType:
    """Lay out how two records or attempts differ: what moved, then what was not the same."""
    shown = [_plain(table) for table in difference_tables.tables(found, plain=True)]
    return Group(Text(difference_tables.summary(found), style="bold"), Text(wording.DIRECTION), *shown)


def _plain(made: context.Table) -> Table:
    """Lay out a page's table for the terminal, second lines below the first."""
    table = _table(made.stub, *(column.text for column in made.columns))
    table.title, table.caption, table.caption_justify = f"\n{made.caption}", made.note or None, "left"
    for row in made.rows:
        said = (f"{cell.text}\n{cell.note}" if cell.note else cell.text for cell in (row.head, *row.cells))
        table.add_row(*(text.replace(wording.MINUS, "-").replace(wording.NOT_COMPUTED, "-") for text in said))
    return table


def recovery(found: Sequence[Left]) -> RenderableType:
    """Say what was mended."""
    lines = [one.sentence for one in found if one.mended]
    return Text("\n".join(lines) if found else "no run left anything behind")


def build(report: BuildReport) -> RenderableType:
    """Say what a build wrote and what it found."""
    lines = [Text(str(problem)) for problem in [*report.problems, *report.warnings]]
    pages = wording.plural(report.pages, "page")
    if report.nothing_written:
        found = wording.plural(len(report.problems), "finding")
        found += f", {wording.plural(len(report.warnings), 'warning')}" if report.warnings else ""
        return Group(*lines, Text(f"{pages} checked, {found}, nothing written"))
    return Group(*lines, Text(f"{pages} in {report.out}"))


def publishing(found: Changes, *, dry_run: bool) -> RenderableType:
    """Say file by file what publishing would change, or changed; then how much that is."""
    kinds = (("new", found.new), ("changed", found.changed), ("removed", found.removed))
    lines = [f"{kind:<8} {file.path} ({wording.size(file.bytes)})" for kind, files in kinds for file in files]
    counts = ", ".join(f"{len(files)} {kind}" for kind, files in kinds)
    done = "nothing was written" if dry_run else f"written to {found.target}"
    lines.append(f"{counts}, {found.same} unchanged; {wording.size(found.bytes_sent)} to send; {done}")
    return Text("\n".join(lines))


def verification(report: VerificationReport) -> RenderableType:
    """Each finding on a line, then what was checked."""
    lines = [Text(finding, style="red") for finding in report.findings]
    verb = "FAILED" if report.findings else "verified"
    return Group(*lines, Text(f"{verb}: {'; '.join(report.checked)}"))


def doctor(findings: Sequence[Finding]) -> RenderableType:
    """Say what this machine can measure, and what is missing."""
    table = _table("", "what", "found", "what to do")
    for finding in findings:
        mark = Text("ok", style="green") if finding.ok else Text("look", style="yellow")
        table.add_row(mark, finding.name, finding.sentence, finding.remedy)
    return table


class Progress:
    """A run's progress: repetitions done, time left, and the current interval of each comparison.

    A ``Watch`` and a context manager; ``interim`` turns the plan and the rows so far into a result. Where the console is
    no terminal, a line a repetition is printed instead of a live table.
    """

    def __init__(
        self, console: Console, made: Plan, interim: Callable[[Plan, Sequence[dict[str, Any]]], Result]
    ) -> None:
        self._console, self._plan, self._interim = console, made, interim
        self._line = ""
        self._table: RenderableType = Text("")
        self._live = Live(console=console, transient=True, auto_refresh=False) if console.is_terminal else None

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def phase(self, name: str, detail: str = "") -> None:
        """Show what begins; of a repetition its end says enough."""
        if name != _REPETITION:
            self._say(f"{name}: {detail}" if detail else name)

    def repetition_done(
        self, done: int, planned: int, seconds_left: float, rows: Sequence[dict[str, Any]], series: str
    ) -> None:
        """Note that a repetition was accepted or lost; its series is named where the plan has several."""
        experiment = self._plan.experiment
        which = f"{series}: " if len(experiment.protocol.modes) > 1 or experiment.harnesses else ""
        self._say(f"{which}{done} of {planned} repetitions, {_duration(seconds_left)} left")
        if rows and self._live:
            self._table = _intervals(self._interim(self._plan, rows))
            self._refresh()

    def warning(self, sentence: str) -> None:
        """Say something that the reader of the record should know."""
        self._console.print(Text(f"note: {sentence}", style="yellow"))

    def _say(self, line: str) -> None:
        self._line = line
        if self._live:
            self._refresh()
        else:
            self._console.print(Text(line))

    def _refresh(self) -> None:
        if self._live:
            self._live.update(Group(self._table, Text(self._line, style="bold")), refresh=True)


def _intervals(scored: Result) -> Table:
    table = _table("slice", "arm", "against", "estimate", "interval so far")
    for one in scored.comparisons:
        table.add_row(wording.slice_name(one.slice), one.arm, one.baseline, *_so_far(one))
    return table


def _so_far(one: ComparisonResult) -> tuple[str, str]:
    if one.rank is None:
        return wording.change(one.estimate, plain=True), "not yet"
    return wording.change(one.estimate, plain=True), wording.interval(one.low, one.high, plain=True)


def _noise(scored: Result) -> Text:
    floors = {noise.slice: noise.floor for noise in scored.noise}
    said = [f"{wording.slice_name(name)} {wording.share(floor, plain=True)}" for name, floor in floors.items()]
    least = wording.share(scored.smallest_effect, plain=True)
    return Text(f"noise floor (identical code, compiled twice): {'; '.join(said)}; smallest effect of interest {least}")


def _table(*headers: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", title_style="bold", title_justify="left")
    for header in headers:
        table.add_column(header, overflow="fold")
    return table


def _styled(value: str, text: str) -> Text:
    return Text(text, style=_STYLES.get(value, ""))


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), _SECONDS_PER_MINUTE)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
