"""Correctness of what is timed: every arm's timed graph is replayed over poisoned memory and compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from reportgen.measure.correctness import Comparison, pooled
from reportgen.measure.job import AFTER, BEFORE, PEER
from reportgen.measure.outputs import Outputs, Written
from reportgen.measure.rig import Rig

# Floats of 0xFF bytes are NaN, integers -1; 0x7F bytes are huge in any type (NaN in half precision). No right
# value equals both, so an element that is never written fails in one of the two rounds.
POISON = {BEFORE: 0xFF, AFTER: 0x7F}

Row = dict[str, Any]


def check_all(rig: Rig, when: str) -> list[Row]:
    """Check every arm on every fixture, those that are never timed included; rows of ``model.columns.CHECKS``."""
    fixtures = dict.fromkeys(fixture for fixture, _ in rig.job.check_order)
    return [row for fixture in fixtures for row in _check_fixture(rig, fixture, when)]


def _check_fixture(rig: Rig, fixture: str, when: str) -> Iterator[Row]:
    disturbed = _restore_disturbed(rig, fixture)
    outputs, kept = Outputs(rig, fixture), dict[str, Written]()
    rows = []
    arms = [arm for name, arm in rig.job.check_order if name == fixture]
    for arm in arms:
        rig.channel.at(f"check {when}", fixture, arm)
        _replay_poisoned(rig, fixture, arm, when)
        kept[arm] = _read(rig, arm, outputs)
        rows.append(_inputs_row(rig, fixture, arm, _restore_disturbed(rig, fixture)))
        rows += _value_rows(rig, arm, kept[arm], outputs)
    for arm in arms:
        rows += _bitwise_rows(rig, arm, kept, outputs)
    if disturbed and all(row["passed"] for row in rows if row["kind"] == "inputs"):
        # Someone wrote to the inputs while batches ran, and nobody does so now: no arm's times can be trusted.
        rows = [
            row | _inputs_row(rig, fixture, row["arm"], disturbed) if row["kind"] == "inputs" else row for row in rows
        ]
    for case in rig.files.cases(fixture):
        rows += _case_rows(rig, fixture, arms, case, when)
    for row in rows:
        yield {"fixture": fixture, "repetition": rig.job.repetition, "when": when, **row}


def _read(rig: Rig, arm: str, outputs: Outputs) -> Written:
    """Read what an arm wrote, unless nobody asks for it: neither the reference nor an arm that must equal it."""
    asked = rig.job.arm(arm).checked or any(
        other.equals and arm in (other.name, other.equals) for other in rig.job.arms
    )
    return outputs.read() if asked else {}


def _restore_disturbed(rig: Rig, fixture: str, case: int = 0) -> int:
    changed = len(rig.changed_inputs(fixture, case))
    if changed:
        rig.restore_inputs(fixture, case)
    return changed


def _replay_poisoned(rig: Rig, fixture: str, arm: str, when: str) -> None:
    graph = rig.graphs[fixture, arm]
    rig.session.fill(rig.written_slots(fixture), POISON[when])
    rig.session.poison(graph, POISON[when])
    rig.session.replay(graph)
    rig.session.deliver(graph)


def _inputs_row(rig: Rig, fixture: str, arm: str, changed: int) -> Row:
    return _row(arm, "inputs", "inputs", "inputs", Comparison(len(rig.input_slots(fixture)), changed, None, None))


def _case_rows(rig: Rig, fixture: str, arms: list[str], case: int, when: str) -> list[Row]:
    """Give the same graphs other inputs; what is timed lies in its place again afterwards."""
    rows: list[Row] = []
    outputs = Outputs(rig, fixture, case)
    rig.restore_inputs(fixture, case)
    for arm in (
        arm for arm in arms if rig.job.arm(arm).role != PEER
    ):  # what a peer prepares, it made of the inputs that are timed
        rig.channel.at(f"check {when} case {case}", fixture, arm)
        _replay_poisoned(rig, fixture, arm, when)
        if rig.job.arm(arm).checked:
            rows += _value_rows(rig, arm, outputs.read(), outputs, case)
        _restore_disturbed(rig, fixture, case)
    rig.restore_inputs(fixture)
    return rows


def _value_rows(rig: Rig, arm: str, written: Written, outputs: Outputs, case: int = 0) -> Iterator[Row]:
    if not rig.job.arm(arm).checked:
        return
    for name, output in rig.computed(outputs.fixture, arm).items() if written else ():
        counts = [outputs.against_reference(content, output) for content in written[name]]
        for told, comparison in _told(name, counts, case):
            yield _row(arm, told, "reference", "value", comparison)


def _bitwise_rows(rig: Rig, arm: str, kept: dict[str, Written], outputs: Outputs) -> Iterator[Row]:
    twin = rig.job.arm(arm).equals
    if twin is None or twin not in kept:
        return
    both = rig.computed(outputs.fixture, arm).keys() & rig.computed(outputs.fixture, twin).keys()
    for name in (name for name in kept[arm] if name in both):
        counts = [outputs.against_twin(*pair) for pair in zip(kept[arm][name], kept[twin][name], strict=True)]
        for told, comparison in _told(name, counts):
            yield _row(arm, told, twin, "bitwise", comparison)


def _told(output: str, counts: Sequence[Comparison], case: int = 0) -> Iterator[tuple[str, Comparison]]:
    """One name and comparison for all sets that pass; each set that fails has its own."""
    suffix = f" case {case}" if case else ""
    if passed := [one for one in counts if one.passed]:
        yield output + suffix, pooled(passed)
    for index, one in enumerate(counts):
        if not one.passed:
            yield (output if len(counts) == 1 else f"{output}[{index}]") + suffix, one


def _row(arm: str, output: str, against: str, kind: str, counts: Comparison) -> Row:
    return {
        "arm": arm,
        "output": output,
        "against": against,
        "kind": kind,
        "elements": counts.elements,
        "mismatches": counts.mismatches,
        "max_abs": counts.max_abs,
        "rel_l2": counts.rel_l2,
        "passed": counts.passed,
    }
