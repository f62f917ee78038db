"""From an experiment to its plan: everything derived is written out, then frozen by a digest.

Reads the experiment's own files and nothing else.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from reportgen.archive.digest import plan_digest
from reportgen.errors import InputError
from reportgen.measure.harnesses import check_planned
from reportgen.measure.judged import Arms, judged_comparisons
from reportgen.measure.order import MOST_REPETITIONS
from reportgen.measure.plan_files import covered_files, plan_files
from reportgen.measure.python_planned import check_python
from reportgen.model.experiment import Arm, AxisValue, Experiment, Role
from reportgen.model.plan import ORDER_METHOD, SCHEMA_VERSION, Plan, PlanFixture, Slice
from reportgen.project import ExperimentFolder

ALWAYS_SLICING = "cache"
COMPILING = frozenset({"native", "cuda"})
WITHOUT_PROGRAM = frozenset({"fake", "command"})

_EXPERIMENT_NAME = re.compile(r"[a-z][a-z0-9_-]{0,79}")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def make_plan(
    folder: ExperimentFolder, experiment: Experiment, *, backend: str, backend_options: Sequence[str] = ()
) -> Plan:
    """Derive the plan.

    Parameters
    ----------
    backend:
        The backend that will measure; the experiment's own, or the one asked for instead.
    backend_options:
        Compile options that the backend adds before the experiment's own; the digest covers them.

    Raises
    ------
    InputError
        The experiment cannot be measured as declared; the sentence names file, key and remedy.
    """
    where = str(folder.toml)
    _check_name(folder, where)
    check_planned(experiment.harnesses, backend, where)
    arms = resolved_arms(experiment, where, needs_symbols=backend in COMPILING)
    covered = covered_files(folder, experiment, needs_program=backend not in WITHOUT_PROGRAM)
    check_python(folder, experiment, arms, backend)
    fixtures = plan_fixtures(folder.name, experiment, where)
    main = arms_by_fixture(arms, fixtures, where)
    peers = peers_by_fixture(arms, fixtures)
    slices = plan_slices(experiment, fixtures)
    resolved = replace(experiment, arms=arms)
    comparisons = judged_comparisons(resolved, Arms(arms, fixtures, slices, main, peers), where)
    if max(experiment.protocol.repetitions, experiment.protocol.quick_repetitions) > MOST_REPETITIONS:
        raise InputError("protocol.repetitions is too large", where=where, remedy=f"at most {MOST_REPETITIONS}")
    files = plan_files(folder, covered)
    options = [f"backend={backend}", *backend_options, *experiment.compile.options]
    return Plan(
        schema_version=SCHEMA_VERSION,
        name=folder.name,
        digest=plan_digest(files, options, ORDER_METHOD),
        order_method=ORDER_METHOD,
        backend_options=options,
        files=files,
        experiment=resolved,
        fixtures=fixtures,
        slices=slices,
        arms_by_fixture=main,
        peers_by_fixture=peers,
        comparisons=comparisons,
    )


def _check_name(folder: ExperimentFolder, where: str) -> None:
    """Names of experiments become paths and addresses."""
    if not _EXPERIMENT_NAME.fullmatch(folder.name):
        raise InputError(
            f"experiment name {folder.name!r} must be lower-case letters, digits, _ and -, and start with a letter",
            where=where,
            remedy="rename the folder or the file",
        )


def resolved_arms(experiment: Experiment, where: str, *, needs_symbols: bool) -> list[Arm]:
    """Give nulls the source, symbol, defines and fixtures of the arm they repeat; check sources and symbols.

    Raises
    ------
    InputError
        A null of a null, a null with a source of its own, two arms with one symbol, an arm without source or symbol.
    """
    by_name = {arm.name: arm for arm in experiment.arms}
    arms = [arm if arm.of is None else _like_original(arm, by_name[arm.of], where) for arm in experiment.arms]
    owners: dict[str, str] = {}
    for arm in arms:
        if arm.role is Role.PEER and (arm.file or arm.symbol or arm.defines or arm.bitwise):
            raise InputError(
                f"peer {arm.name!r} has `file`, `symbol`, `defines` or `bitwise`",
                where=where,
                remedy="call() says how it runs",
            )
        if needs_symbols and arm.role is not Role.PEER and (arm.file is None or arm.symbol is None):
            raise InputError(
                f"arm {arm.name!r} lacks `file` or `symbol`", where=where, remedy="name its source and entry point"
            )
        if arm.of is not None or arm.symbol is None:
            continue
        _check_identifiers(arm, where)
        if arm.symbol in owners:
            raise InputError(
                f"arms {owners[arm.symbol]!r} and {arm.name!r} have one symbol {arm.symbol!r}",
                where=where,
                remedy="give each arm an entry point of its own, or make one a null of the other",
            )
        owners[arm.symbol] = arm.name
    return arms


def _check_identifiers(arm: Arm, where: str) -> None:
    for key, text in [("symbol", arm.symbol or ""), *(("defines", name) for name in arm.defines)]:
        if not _IDENTIFIER.fullmatch(text):
            raise InputError(
                f"arm {arm.name!r}: {key} {text!r} is no C identifier", where=where, remedy="letters, digits and _ only"
            )


def _like_original(null: Arm, original: Arm, where: str) -> Arm:
    if original.of is not None:
        raise InputError(
            f"arm {null.name!r}: of names {original.name!r}, a null itself",
            where=where,
            remedy=f"repeat {original.of!r}",
        )
    for key in ("file", "symbol", "defines", "arguments", "environment"):
        own = getattr(null, key)
        if own and own != getattr(original, key):
            raise InputError(
                f"arm {null.name!r}: a null has no {key} other than that of {original.name!r}",
                where=where,
                remedy=f"remove the key {key}",
            )
    return replace(
        null,
        file=original.file,
        symbol=original.symbol,
        defines=original.defines,
        arguments=original.arguments,
        environment=original.environment,
        only=null.only or original.only,
        bitwise=True,
    )


def plan_fixtures(name: str, experiment: Experiment, where: str) -> list[PlanFixture]:
    r"""Multiply the axes out, less the exclusions, then the extra fixtures.

    A seed is the first 8 bytes, big-endian, without their lowest bit (so 63 bits) of the SHA-256 of
    ``experiment name\0experiment seed\0fixture name``.

    Raises
    ------
    InputError
        Two fixtures have one name, or none is timed.
    """
    axes = experiment.axes
    product = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    kept = [values for values in product if not any(selects(rule, values) for rule in experiment.exclude)]
    declared = [(values, False) for values in kept]
    declared += [({axis: extra.values[axis] for axis in axes}, extra.checks_only) for extra in experiment.fixtures]
    fixtures: dict[str, PlanFixture] = {}
    for values, checks_only in declared:
        title = fixture_name(values)
        if title in fixtures:
            raise InputError(
                f"fixture {title!r} is declared twice", where=where, remedy="remove it from the [[fixture]] tables"
            )
        seed = _seed(name, experiment.seed, title)
        fixtures[title] = PlanFixture(name=title, values=values, seed=seed, checks_only=checks_only)
    if all(fixture.checks_only for fixture in fixtures.values()):
        raise InputError("no fixture is left to time", where=where, remedy="exclude fewer, or add a [[fixture]]")
    return list(fixtures.values())


def fixture_name(values: Mapping[str, AxisValue]) -> str:
    """``axis=value`` pairs joined by commas; truth values as TOML writes them."""
    return ",".join(f"{axis}={_text(value)}" for axis, value in values.items())


def _text(value: AxisValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _seed(name: str, seed: int, fixture: str) -> int:
    digest = hashlib.sha256(f"{name}\0{seed}\0{fixture}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def selects(rule: Mapping[str, Sequence[AxisValue]], values: Mapping[str, AxisValue]) -> bool:
    """Whether every axis that the rule names has one of its values; an empty rule selects all."""
    return all(values[axis] in allowed for axis, allowed in rule.items())


def plan_slices(experiment: Experiment, fixtures: Iterable[PlanFixture]) -> list[Slice]:
    """Group the timed fixtures by the slicing axes (``cache`` is always one), in the order of the fixtures."""
    slicing = [axis for axis in experiment.axes if axis in experiment.slicing or axis == ALWAYS_SLICING]
    slices: dict[str, Slice] = {}
    for fixture in fixtures:
        if fixture.checks_only:
            continue
        values = {axis: fixture.values[axis] for axis in slicing}
        name = fixture_name(values) or "all"
        slices.setdefault(name, Slice(name=name, values=values, fixtures=[])).fixtures.append(fixture.name)
    return list(slices.values())


def arms_on(arms: Iterable[Arm], fixture: PlanFixture) -> list[str]:
    """Names of the main group's arms on a fixture, timed or checked only, in the order of the plan."""
    return [arm.name for arm in arms if arm.role is not Role.PEER and selects(arm.only, fixture.values)]


def arms_by_fixture(arms: Sequence[Arm], fixtures: Iterable[PlanFixture], where: str) -> dict[str, list[str]]:
    """Arms of the main group on each timed fixture.

    Raises
    ------
    InputError
        A fixture has no arm, an arm no timed fixture.
    """
    found = {fixture.name: arms_on(arms, fixture) for fixture in fixtures if not fixture.checks_only}
    for fixture, names in found.items():
        if not names:
            raise InputError(
                f"no arm is timed on fixture {fixture!r}", where=where, remedy="exclude it, or widen an arm's `only`"
            )
    timed = {name for names in found.values() for name in names}
    for arm in arms:
        if arm.role is not Role.PEER and arm.name not in timed:
            raise InputError(
                f"arm {arm.name!r} is timed on no fixture", where=where, remedy="widen its `only`, or remove it"
            )
    return found


def peers_by_fixture(arms: Sequence[Arm], fixtures: Iterable[PlanFixture]) -> dict[str, list[str]]:
    """Arms of the peer group where there are peers: the first incumbent of the fixture, then the peers."""
    found = {}
    for fixture in fixtures:
        here = [arm for arm in arms if selects(arm.only, fixture.values)]
        incumbents = [arm.name for arm in here if arm.role is Role.INCUMBENT]
        peers = [arm.name for arm in here if arm.role is Role.PEER]
        if peers and incumbents and not fixture.checks_only:
            found[fixture.name] = [incumbents[0], *peers]
    return found
