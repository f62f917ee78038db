"""Several series in one attempt: what each redraws, how they interleave, what is lost and made good."""

from __future__ import annotations

from typing import Any

from reportgen.archive.load import Attempt
from reportgen.model.record import RepetitionFacts, Status
from reportgen.publish.verification import verify_path
from reportgen.scoring import score_attempts
from tests.measure.lab import Lab

MODES = ("process", "layout", "placement")
PROTOCOL = 'modes = ["process", "layout", "placement"]\nblock_repetitions = 3'
TABLE = "[fake]\nlayout_sd = 0.01\ncell_sd = 0.001\n"


def write(lab: Lab, **changes: Any) -> None:
    """Write an experiment of two blocks of three repetitions in every mode, simulated where nothing else is said."""
    settings: dict[str, Any] = {"backend": "fake", "repetitions": 6, "protocol": PROTOCOL, "more": TABLE}
    lab.write(**(settings | changes))


def of_mode(attempt: Attempt, mode: str) -> list[RepetitionFacts]:
    """Give what the repetitions of a mode noted; calibration is none."""
    return [one for one in attempt.repetitions if one.mode == mode and one.repetition]


def begun(attempt: Attempt) -> list[tuple[str, int]]:
    """Modes and repetitions in the order of their first timed batch."""
    scored = attempt.batches[~attempt.batches["warmup"]]
    first = scored.groupby(["mode", "repetition"])["started_ns"].min().sort_values()
    return [(str(mode), int(number)) for mode, number in first.index]


def test_repetition_k_of_all_modes_is_timed_in_turn_and_the_order_of_the_modes_rotates(lab: Lab) -> None:
    """Nothing is lost: one attempt, scored, with as many rows of every mode, told apart by the column."""
    write(lab)
    outcome = lab.run()
    attempt = lab.load(outcome)
    assert (Status.SCORED, 0) == (outcome.status, outcome.exit_status)
    assert [(MODES[(k - 1 + at) % 3], k) for k in range(1, 7) for at in range(3)] == begun(attempt)
    scored = attempt.batches[~attempt.batches["warmup"]]
    assert dict.fromkeys(MODES, 6 * 2 * 3) == scored.groupby("mode").size().to_dict()
    assert (6, {"layout": 6, "placement": 6}) == (attempt.manifest.counts.repetitions, attempt.manifest.counts.series)
    assert {"process"} == {one.mode for one in attempt.repetitions if one.checks}
    assert ["process", "layout", "placement"] == lab.seen.series[:3]
    assert [(6, 6)] * 3 == lab.seen.progress[-3:]


def test_a_placement_stays_a_layout_is_redrawn_a_process_is_fresh(lab: Lab) -> None:
    """One process a block in layout and placement; addresses move with every layout, and only with the block of a placement."""
    write(lab)
    attempt = lab.load(lab.run())
    pids = {mode: [one.facts["pid"] for one in of_mode(attempt, mode)] for mode in MODES}
    assert 6 == len(set(pids["process"]))
    for mode in ("layout", "placement"):
        assert [1, 1, 1, 2, 2, 2] == [one.facts["block"] for one in of_mode(attempt, mode)]
        assert 1 == len(set(pids[mode][:3])) == len(set(pids[mode][3:]))
        assert 2 == len(set(pids[mode]))
    layouts, placements = (
        [(one.facts["addresses"], one.facts["placement"]) for one in of_mode(attempt, mode)] for mode in MODES[1:]
    )
    assert 6 == len({address for address, _ in layouts})
    assert [1, 2, 3, 4, 5, 6] == [drawn for _, drawn in layouts]
    assert 1 == len({address for address, _ in placements[:3]})
    assert 2 == len({address for address, _ in placements})
    assert [1, 1, 1, 4, 4, 4] == [drawn for _, drawn in placements]


def test_all_modes_share_the_orders_of_a_repetition_and_the_calibration(lab: Lab) -> None:
    """The schedule is one; a batch has as many launches in every mode."""
    write(lab)
    attempt = lab.load(lab.run())
    orders = [[one.facts["orders"] for one in of_mode(attempt, mode)] for mode in MODES]
    assert orders[0] == orders[1] == orders[2]
    assert 1 == attempt.batches.loc[~attempt.batches["warmup"], "launches"].nunique()


def test_verdicts_read_processes_alone_and_both_programs_accept_the_attempt(lab: Lab) -> None:
    """The other modes change no figure of the result."""
    write(lab)
    attempt = lab.load(lab.run())
    assert () == verify_path(attempt.path).findings
    alone = Attempt(
        path=attempt.path,
        sealed=True,
        manifest=attempt.manifest,
        plan=attempt.plan,
        events=attempt.events,
        notes=attempt.notes,
    )
    object.__setattr__(alone, "batches", attempt.batches[attempt.batches["mode"] == "process"])
    assert score_attempts(attempt.plan, [alone]) == score_attempts(attempt.plan, [attempt])
