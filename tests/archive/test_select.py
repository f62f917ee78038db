"""Records: which attempts speak is settled by plan, binaries, device and time alone."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from reportgen.archive.load import Attempt, list_attempts
from reportgen.archive.notes import exclude
from reportgen.archive.select import find_record, records
from reportgen.errors import InputError
from reportgen.model.record import Device, Kind, Provenance, Status
from tests.factories import STARTED, make_experiment, make_header, make_plan, make_rows, open_attempt, sealed_attempt

PLAN = make_plan()
OTHER_PLAN = make_plan(sources={"sample/experiment.toml": b"other"})
SECOND = Device(id="GPU-2", model="Sample CPU", kind="cpu")
FIRST = Device(id="GPU-1", model="Sample CPU", kind="cpu")


def measure(
    runs: Path, hour: int, *, plan: Any = PLAN, manifest: dict[str, Any] | None = None, **header: Any
) -> Attempt:
    """Seal a short attempt that began ``hour`` hours after the first."""
    header = {"started": STARTED + timedelta(hours=hour)} | header
    return sealed_attempt(runs, plan=plan, repetitions=make_rows(plan, repetitions=1), header=header, manifest=manifest)


def frozen(at: str) -> Provenance:
    """Give a provenance with that time."""
    return Provenance(known="observed", frozen_at=at)


def ids(attempts: tuple[Attempt, ...]) -> list[str]:
    """Give their ids."""
    return [attempt.id for attempt in attempts]


def test_a_device_speaks_through_its_earliest_scored_attempt(tmp_path: Path) -> None:
    """Later ones are replications, in whatever order the archive is read."""
    first, second, third = (measure(tmp_path, hour) for hour in (0, 1, 2))
    attempts = list_attempts(tmp_path)
    random.Random(3).shuffle(attempts)  # noqa: S311 - any order will do
    record = find_record(attempts, "sample")
    assert [first.id] == ids(record.attempts)
    assert [second.id, third.id] == ids(record.replications)


def test_every_device_has_a_voice_by_the_order_of_its_id(tmp_path: Path) -> None:
    """Two devices, the one measured later sorts first."""
    late = measure(tmp_path, 0, device=SECOND)
    early = measure(tmp_path, 1, device=FIRST)
    measure(tmp_path, 2, device=FIRST)
    record = find_record(list_attempts(tmp_path), "sample")
    assert [early.id, late.id] == ids(record.attempts)
    assert record.devices == ("GPU-1", "GPU-2")


@pytest.mark.parametrize(
    ("header", "manifest"),
    [
        ({"kind": Kind.QUICK}, {"status": Status.COMPLETE, "reason": "quick"}),
        ({}, {"status": Status.ABORTED, "reason": "no spare left"}),
        ({}, {"status": Status.INVALID, "reason": "a source changed"}),
        ({"kind": Kind.SANITIZER}, {"status": Status.COMPLETE, "reason": "memcheck"}),
        ({"kind": Kind.QUICK}, {"status": Status.SCORED, "reason": ""}),
        ({"kind": Kind.PROFILE}, {"status": Status.SCORED, "reason": ""}),
    ],
)
def test_what_is_not_a_scored_timing_is_never_chosen(
    tmp_path: Path, header: dict[str, Any], manifest: dict[str, Any]
) -> None:
    """Though it came first; it is shown beside the record."""
    early = measure(tmp_path, 0, manifest=manifest, **header)
    scored = measure(tmp_path, 1)
    record = find_record(list_attempts(tmp_path), "sample")
    assert [scored.id] == ids(record.attempts)
    assert [early.id] == ids(record.others)


def test_an_excluded_attempt_is_never_chosen(tmp_path: Path) -> None:
    """The next of that device speaks; with none left there is no record."""
    first, second = measure(tmp_path, 0), measure(tmp_path, 1)
    exclude(first.path, "the fan was unplugged")
    assert [second.id] == ids(find_record(list_attempts(tmp_path), "sample").attempts)
    exclude(second.path, "as well")
    with pytest.raises(InputError, match="no scored attempt of 'sample'; measure it: reportgen run sample"):
        find_record(list_attempts(tmp_path), "sample")


def test_an_open_attempt_is_never_chosen(tmp_path: Path) -> None:
    """It reads as aborted."""
    header = make_header(PLAN)
    open_attempt(tmp_path, PLAN, make_rows(PLAN, repetitions=1), header).close()
    scored = measure(tmp_path, 1)
    record = find_record(list_attempts(tmp_path), "sample")
    assert ([scored.id], [header.id]) == (ids(record.attempts), ids(record.others))


def test_the_plan_frozen_last_is_the_record_by_name(tmp_path: Path) -> None:
    """Whatever was measured last: the time at which the plan was frozen decides."""
    new = measure(tmp_path, 0, plan=OTHER_PLAN, provenance=frozen("2026-02-28T12:00:00+02:00"))
    old = measure(tmp_path, 5, provenance=frozen("2026-02-28T09:59:59Z"))
    found = records(list_attempts(tmp_path))
    assert [[new.id], [old.id]] == [ids(record.attempts) for record in found]
    assert [record.current for record in found] == [True, False]


def test_a_plan_without_provenance_counts_as_frozen_when_first_measured(tmp_path: Path) -> None:
    """Nothing better is known."""
    measure(tmp_path, 0, provenance=Provenance(known="absent"))
    later = measure(tmp_path, 1, plan=OTHER_PLAN, provenance=Provenance(known="absent"))
    assert [later.id] == ids(find_record(list_attempts(tmp_path), "sample").attempts)


def test_of_two_sets_of_binaries_with_one_plan_the_one_that_began_first_speaks(tmp_path: Path) -> None:
    """Compiling again until the numbers please is of no use."""
    first = measure(tmp_path, 0, binaries_digest="a" * 64)
    again = measure(tmp_path, 1, binaries_digest="b" * 64)
    current, other = records(list_attempts(tmp_path))
    assert ([first.id], [again.id]) == (ids(current.attempts), ids(other.attempts))
    assert (PLAN.digest[:6], f"{PLAN.digest[:6]}-bbbbbb") == (current.slug, other.slug)
    assert (current.current, other.current) == (True, False)


def test_an_attempt_is_shown_beside_one_record_only(tmp_path: Path) -> None:
    """A quick one beside the group with its binaries, else beside the first of its plan."""
    quick = {"status": Status.COMPLETE, "reason": "quick"}
    measure(tmp_path, 0, binaries_digest="a" * 64)
    measure(tmp_path, 1, binaries_digest="b" * 64)
    beside = measure(tmp_path, 2, manifest=quick, kind=Kind.QUICK, binaries_digest="b" * 64)
    stray = measure(tmp_path, 3, manifest=quick, kind=Kind.QUICK, binaries_digest="c" * 64)
    measure(tmp_path, 4, plan=OTHER_PLAN, manifest=quick, kind=Kind.QUICK)
    assert [[stray.id], [beside.id]] == [ids(record.others) for record in records(list_attempts(tmp_path))]


def test_a_record_is_pinned_by_slug_or_digest(tmp_path: Path) -> None:
    """Both groups are found by theirs, and by a longer part of the digest."""
    first = measure(tmp_path, 0, binaries_digest="a" * 64)
    again = measure(tmp_path, 1, binaries_digest="b" * 64)
    attempts = list_attempts(tmp_path)
    for name, expected in (
        (f"sample@{PLAN.digest[:6]}", first),
        (f"sample@{PLAN.digest[:12]}", first),
        (f"sample@{PLAN.digest[:6]}-bbbbbb", again),
    ):
        assert [expected.id] == ids(find_record(attempts, name).attempts)


@pytest.mark.parametrize("name", ["sample@", "sample@000000", "sample@1", "sample@nonsense"])
def test_an_unknown_pin_names_what_there_is(tmp_path: Path, name: str) -> None:
    """The reader can choose at once; an empty pin is no pin."""
    measure(tmp_path, 0)
    attempts = list_attempts(tmp_path)
    if name == "sample@":
        assert find_record(attempts, name).current
        return
    with pytest.raises(InputError, match=f"there are: sample@{PLAN.digest[:6]}"):
        find_record(attempts, name)


def test_experiments_do_not_mix(tmp_path: Path) -> None:
    """Each has its own current record, by name."""
    measure(tmp_path, 0, plan=make_plan(make_experiment(), name="zeta"))
    measure(tmp_path, 1, plan=make_plan(make_experiment(), name="alpha"))
    assert [(r.name, r.current) for r in records(list_attempts(tmp_path))] == [("alpha", True), ("zeta", True)]
