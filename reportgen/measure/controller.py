"""One execution of a plan on one device, from the experiment's name to a sealed attempt."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from reportgen.archive import layout
from reportgen.archive.durable import why
from reportgen.archive.journal import Journal, OpenHeader, read_journal
from reportgen.errors import EXIT_INTERRUPTED, InputError, RecordError, ReportgenError
from reportgen.measure.admission import SERVICE_CHANGED
from reportgen.measure.answers import Runner
from reportgen.measure.backends import fake_experiment
from reportgen.measure.backends.builders import open_builder
from reportgen.measure.backends.interface import Builder, Built
from reportgen.measure.campaign import LEFT_ALIVE, Campaign, CannotCompleteError, SourcesChangedError
from reportgen.measure.closing import INTERRUPTED, close_complete, close_early, leave_open
from reportgen.measure.compiling import Patience
from reportgen.measure.guarding import Guard, ServiceChangedError, changed_error, refuse_left, services_on
from reportgen.measure.harnesses import require
from reportgen.measure.interruption import Interrupted, Interruption
from reportgen.measure.jobs import Bench, Described
from reportgen.measure.libraries import library_settings
from reportgen.measure.locking import device_lock
from reportgen.measure.looking import check as check_looks
from reportgen.measure.nvidia_tools import Installed
from reportgen.measure.opening import SELECTOR, Opened, Request, bracket_of, open_attempt, open_header, resume_attempt
from reportgen.measure.plan_files import EXPERIMENT_PROGRAM
from reportgen.measure.planning import make_plan
from reportgen.measure.process import Deadlines
from reportgen.measure.profiler import PROGRAM as PROFILER
from reportgen.measure.profiler import profiler_for
from reportgen.measure.profiling import Profiling
from reportgen.measure.sanitizers import covered, sanitizer_for
from reportgen.measure.sanitizing import SanitizerFoundError, Sanitizing
from reportgen.measure.selection import with_arms, with_fixtures
from reportgen.measure.watching import RunOptions, RunOutcome, Watch
from reportgen.measure.workspace import work_folder
from reportgen.model.plan import Plan
from reportgen.model.record import Profile, Sanitizer, Status
from reportgen.model.service import Service
from reportgen.project import ExperimentFolder, Project, find_experiment, read_experiment

INVALID = (SourcesChangedError, SanitizerFoundError, ServiceChangedError)


def run(project: Project, name: str, options: RunOptions, watch: Watch, guard: Guard | None = None) -> RunOutcome:
    """Measure experiment ``name``, or complete the attempt that ``options.resume`` names.

    Ctrl-C, SIGTERM and the death of the watchdog end the run at once: the timed process is stopped and verified gone, and
    the journal stays open to be resumed. Live services that share the device are closed to new requests while it is
    measured. ``guard`` is what the watchdog gave; without it the run guards itself.

    Raises
    ------
    InputError
        Nothing was measured: the experiment, its code or the request is at fault.
    RecordError
        The archive cannot be written or read.
    WorkerError
        The process that makes the references died or hung.
    FindingError
        A live service cannot be found or asked.
    """
    with guard or Guard.alone(project.guarding, name) as held:
        outcome = _run(project, name, options, watch, held)
    return held.amended(outcome)


def _run(project: Project, name: str, options: RunOptions, watch: Watch, guard: Guard) -> RunOutcome:
    check_looks(options)
    experiment = find_experiment(project, name)
    if options.repetitions is not None and not options.quick:
        raise InputError("a number of repetitions goes with --quick", remedy="what is scored is measured as planned")
    header = open_header(project, experiment, options.resume) if options.resume else None
    if header is not None and options.device is None:
        options = replace(options, device=header.environment.get(SELECTOR))
    builder = open_builder(_backend(experiment, options, header))
    plan = _plan(experiment, builder)
    installed = sanitizer_for(options, builder.name) or profiler_for(options, builder.name)
    if installed is None:
        require(harness.name for harness in plan.experiment.harnesses)
    device = builder.device(options.device)
    request = Request(project, experiment, plan, builder, device, options)
    with Interruption(guard.watchdog_pid) as interruption, device_lock(device), work_folder() as work:
        refuse_left(project.guarding)
        guard.begin(builder.name, device)
        services = services_on(device, project.settings.services, project.guarding)
        protocol = plan.experiment.protocol
        runner = Runner(
            Deadlines(protocol.start_deadline_s, protocol.silence_deadline_s), interruption, mark=guard.token
        )
        try:
            bench = _prepare(request, work, runner, watch)
            bracket = bracket_of(project, bench)
            opened = _open(request, bench, bracket(), installed)
        except OSError as fault:
            raise _refused(work, fault) from fault
        except Interrupted:
            path = layout.open_dir(project.runs, plan.name, header.id) if header else None
            return RunOutcome(path, Status.ABORTED, INTERRUPTED, [], EXIT_INTERRUPTED, INTERRUPTED, left_open=True)
        guard.name(opened.header.id)
        if installed is not None:
            kind = Profiling if options.profile else Sanitizing
            looking = kind(bench, opened.journal, opened.header, bracket, runner, watch, installed)
            return _measure(looking, guard, services)
        campaign = Campaign(bench, opened.journal, opened.header, bracket, runner, watch, guard.sweep)
        return _measure(campaign, guard, services, seals=options.seals)


def plan_of(project: Project, name: str, backend: str | None = None) -> Plan:
    """Derive the plan that ``run`` would freeze for experiment ``name`` with ``backend`` (the experiment's own by default).

    Raises
    ------
    InputError
        There is no such experiment or backend, or the experiment cannot be measured as declared.
    """
    experiment = find_experiment(project, name)
    return _plan(experiment, open_builder(_backend(experiment, RunOptions(backend=backend), None)))


def _backend(experiment: ExperimentFolder, options: RunOptions, header: OpenHeader | None) -> str:
    if header is None:
        return options.backend or read_experiment(experiment).backend
    if options.backend not in (None, header.backend):
        raise InputError(
            f"was begun with backend {header.backend!r}", where=header.id, remedy="resume it with that one"
        )
    return header.backend


def _plan(experiment: ExperimentFolder, builder: Builder) -> Plan:
    plan = make_plan(experiment, read_experiment(experiment), backend=builder.name, backend_options=builder.options)
    if plan.peers_by_fixture and not builder.measures_peers:
        peer = next(iter(plan.peers_by_fixture.values()))[1]
        raise InputError(
            f"backend {builder.name!r} measures no peers, and arm {peer!r} is one",
            where=str(experiment.toml),
            remedy="leave it out",
        )
    return plan


def _prepare(request: Request, work: Path, runner: Runner, watch: Watch) -> Bench:
    """Compile, then make inputs and references: all that can fail before anything is measured."""
    plan, builder, options = request.plan, request.builder, request.options
    if options.sanitizer is not None:
        plan = covered(plan, options.where)
    if options.profile:
        plan = with_arms(with_fixtures(plan, options.where), options.arms)
    watch.phase("build", f"{len(plan.experiment.arms)} arms")
    patience = Patience(plan.experiment.protocol.compile_deadline_s, runner.interruption.check)
    built = builder.build(plan, request.experiment, work, patience)
    for warning in built.warnings:
        watch.warning(warning)
    runner.interruption.check()
    watch.phase("references", f"{len(plan.fixtures)} fixtures")
    bench = Bench(
        plan,
        built,
        _program(request.experiment, built),
        work,
        builder.name,
        selector=request.options.device,
        variables=builder.variables(request.device) | (library_settings() if plan.python_arms else {}),
        once=options.sanitizer is not None,
    )
    answer = runner.run(bench.reference_job(), "references", work)
    if answer.fault is not None:
        raise answer.fault
    runner.interruption.check()
    return replace(bench, described={name: Described(**facts) for name, facts in answer.described.items()})


def _program(experiment: ExperimentFolder, built: Built) -> Path:
    """Find the experiment's functions: its own, else those that the backend made or that simulate."""
    own = experiment.folder / EXPERIMENT_PROGRAM
    return own if own.is_file() else Path(built.options.get("experiment", fake_experiment.__file__))


def _open(request: Request, bench: Bench, hashes: dict[str, str], installed: Installed | None) -> Opened:
    if request.options.resume:
        return resume_attempt(request, bench, request.options.resume, hashes)
    if installed is None:
        return open_attempt(request, bench, hashes)
    return open_attempt(request, bench, hashes, _looks(request, bench, installed))


def _looks(request: Request, bench: Bench, installed: Installed) -> Sanitizer | Profile:
    """Tell with what an attempt looks that times nothing, and at how much of the plan."""
    fixtures, of = [fixture.name for fixture in bench.plan.fixtures], len(request.plan.fixtures)
    tool, version = request.options.sanitizer, installed.version
    if tool is not None:
        return Sanitizer(tool=tool, version=version, fixtures=fixtures, of=of)
    every = [arm.name for arm in request.plan.own_arms]
    counted = {arm for arms in bench.plan.arms_by_fixture.values() for arm in arms}
    arms = [arm for arm in every if arm in counted]
    return Profile(tool=PROFILER, version=version, fixtures=fixtures, of=of, arms=arms, of_arms=len(every))


def _measure(
    campaign: Campaign | Sanitizing | Profiling, guard: Guard, services: Sequence[Service], *, seals: bool = True
) -> RunOutcome:
    journal = campaign.journal
    try:
        _refuse_changed(journal)
        if left := guard.sweep():
            journal.event(LEFT_ALIVE, processes=[str(one) for one in left])
        with guard.window(services, journal.event, campaign.runner.interruption.check):
            campaign.measure()
        guard.refuse_changed()
        campaign.watch.phase("sealing")
        return close_complete(journal, campaign.header.kind, campaign.finding, seals=seals)
    except (Interrupted, ReportgenError, OSError) as fault:
        return _ended(journal, guard, fault, seals=seals)
    except BaseException as fault:
        with suppress(RecordError):
            journal.event("failed", fault=type(fault).__name__)
        journal.close()
        raise


def _refuse_changed(journal: Journal) -> None:
    """Refuse to go on with an attempt beside which a service changed before it was interrupted."""
    for event in read_journal(journal.folder).events:
        if event.event == SERVICE_CHANGED:
            raise changed_error(str(event.facts["service"]), str(event.facts["difference"]))


def _ended(journal: Journal, guard: Guard, fault: Interrupted | ReportgenError | OSError, *, seals: bool) -> RunOutcome:
    """Close an attempt that was not completed, or leave it open: as invalid first of all, whatever else went wrong."""
    invalid = fault if isinstance(fault, INVALID) else next(iter(guard.changed), None)
    try:
        if invalid is not None:
            return close_early(journal, Status.INVALID, invalid, seals=seals)
        if isinstance(fault, CannotCompleteError):
            return close_early(journal, Status.ABORTED, fault, seals=seals)
        if isinstance(fault, Interrupted):
            if guard.watchdog_died:
                journal.event("watchdog died")
            return leave_open(journal, None)
    except RecordError as refusal:
        return leave_open(journal, refusal)
    return leave_open(journal, _refused(journal.folder, fault) if isinstance(fault, OSError) else fault)


def _refused(folder: Path, fault: OSError) -> ReportgenError:
    return RecordError(
        f"the system refuses: {why(fault)}",
        where=str(fault.filename or folder),
        remedy="make room or correct the permissions; what was archived before is intact",
    )
