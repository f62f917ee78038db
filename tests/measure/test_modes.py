"""Several series in one attempt: what each redraws, how they interleave, what is lost and made good."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from typing import Any

import pandas as pd
import psutil
import pytest

from reportgen.archive.journal import read_journal
from reportgen.archive.load import Attempt, list_attempts
from reportgen.archive.select import find_record
from reportgen.model.record import Kind, RepetitionFacts, Status
from reportgen.publish import verify
from reportgen.publish.attempt_checks import rows_of
from reportgen.publish.downloads import write_record
from reportgen.publish.verification import verify_path
from reportgen.publish.verify_series import matrix_contradictions
from reportgen.scoring import score, score_attempts
from tests.measure.lab import Lab
from tests.measure.test_faults import fault, no_process_is_left, workers
from tests.measure.test_interruption import at, killed_at, signal_at

MODES = ("process", "layout", "placement")
PROTOCOL = 'modes = ["process", "layout", "placement"]\nblock_repetitions = 3'
TABLE = "[fake]\nlayout_sd = 0.01\ncell_sd = 0.001\n"


def write(lab: Lab, **changes: Any) -> None:
    """Write an experiment of two blocks of three repetitions in every mode, simulated where nothing else is said."""
    settings: dict[str, Any] = {"backend": "fake", "repetitions": 6, "protocol": PROTOCOL, "more": TABLE}
    lab.write(**(settings | changes))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lab, Attempt]]:
    """Lab and attempt in which nothing goes wrong."""
    locks = tmp_path_factory.mktemp("locks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(locks))
        patch.setattr(tempfile, "tempdir", str(locks))
        lab = Lab(tmp_path_factory.mktemp("lab"))
        write(lab)
        outcome = lab.run()
        assert (Status.SCORED, 0) == (outcome.status, outcome.exit_status)
        yield lab, lab.load(outcome)


def of_mode(attempt: Attempt, mode: str) -> list[RepetitionFacts]:
    """Give what the repetitions of a mode noted; calibration is none."""
    return [one for one in attempt.repetitions if one.mode == mode and one.repetition]


def begun(attempt: Attempt) -> list[tuple[str, int]]:
    """Modes and repetitions in the order of their first timed batch."""
    scored = attempt.batches[~attempt.batches["warmup"]]
    first = scored.groupby(["mode", "repetition"])["started_ns"].min().sort_values()
    return [(str(mode), int(number)) for mode, number in first.index]


def test_repetition_k_of_all_modes_is_timed_in_turn_and_the_order_of_the_modes_rotates(
    plain: tuple[Lab, Attempt],
) -> None:
    """Nothing is lost: one attempt, scored, with as many rows of every mode, told apart by the column."""
    lab, attempt = plain
    assert [(MODES[(k - 1 + at) % 3], k) for k in range(1, 7) for at in range(3)] == begun(attempt)
    scored = attempt.batches[~attempt.batches["warmup"]]
    assert dict.fromkeys(MODES, 6 * 2 * 3) == scored.groupby("mode").size().to_dict()
    assert (6, {"layout": 6, "placement": 6}) == (attempt.manifest.counts.repetitions, attempt.manifest.counts.series)
    assert {"process"} == {one.mode for one in attempt.repetitions if one.checks}
    assert ["process", "layout", "placement"] == lab.seen.series[:3]
    assert [(6, 6)] * 3 == lab.seen.progress[-3:]


def test_a_placement_stays_a_layout_is_redrawn_a_process_is_fresh(plain: tuple[Lab, Attempt]) -> None:
    """One process a block in layout and placement; addresses move with every layout, and only with the block of a placement."""
    _, attempt = plain
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


def test_all_modes_share_the_orders_of_a_repetition_and_the_calibration(plain: tuple[Lab, Attempt]) -> None:
    """The schedule is one; a batch has as many launches in every mode."""
    _, attempt = plain
    orders = [[one.facts["orders"] for one in of_mode(attempt, mode)] for mode in MODES]
    assert orders[0] == orders[1] == orders[2]
    assert 1 == attempt.batches.loc[~attempt.batches["warmup"], "launches"].nunique()


class ProcessesAlone(Attempt):
    """An attempt of whose batches only those of fresh processes are seen."""

    @property
    def batches(self) -> pd.DataFrame:
        """Those of the mode that decides."""
        every = super().batches
        return every[every["mode"] == "process"]


def test_verdicts_read_processes_alone_and_both_programs_accept_the_attempt(plain: tuple[Lab, Attempt]) -> None:
    """The other modes change no verdict."""
    lab, attempt = plain
    assert () == verify_path(attempt.path).findings
    record = find_record(list_attempts(lab.project.runs), "doubling")
    out = lab.root / "record"
    write_record(record, score(record), out)
    assert [] == verify.check_folder(out)
    assert () == verify_path(out).findings
    alone = ProcessesAlone(attempt.path, True, attempt.manifest, attempt.plan, attempt.events, attempt.notes)  # noqa: FBT003
    one, three = (score_attempts(attempt.plan, [each]) for each in (alone, attempt))
    assert one.comparisons == three.comparisons


def test_within_one_placement_identical_code_differs_far_more_often_than_between_processes(lab: Lab) -> None:
    """What a placement does to an arm stays for a whole block, so that its intervals exclude 1; fresh processes draw it anew."""
    sizes = str(list(range(8, 8 * 17, 8)))
    write(lab, sizes=sizes, protocol='modes = ["process", "layout", "placement"]\nblock_repetitions = 6')
    toml = lab.folder / "experiment.toml"
    toml.write_text(toml.read_text().replace("seed = 7", 'seed = 7\nslicing = ["n"]'))
    attempt = lab.load(lab.run())
    study = score_attempts(attempt.plan, [attempt]).null_study
    assert study is not None
    alarms = {mode.mode: (mode.alarms, mode.comparisons) for mode in study.modes}
    assert alarms["placement"][0] >= 12
    assert max(alarms["process"][0], alarms["layout"][0]) <= 3
    assert {16} == {comparisons for _, comparisons in alarms.values()}


@pytest.fixture(scope="module")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Attempt]]:
    """Two attempts in which each mode that stays loses a repetition; by the mode whose process dies."""
    locks = tmp_path_factory.mktemp("locks")
    faults = {
        "layout": fault("crash", arm="idea", repetition=2, mode="layout")
        + fault("throttle", repetition=2, mode="placement"),
        "placement": fault("crash", arm="idea", repetition=2, mode="placement")
        + fault("nan", arm="idea", repetition=3, mode="layout"),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(locks))
        patch.setattr(tempfile, "tempdir", str(locks))
        found = {}
        for mode, more in faults.items():
            lab = Lab(tmp_path_factory.mktemp("lab"))
            write(lab, repetitions=3, more=TABLE + more)
            outcome = lab.run()
            assert (Status.SCORED, 0, []) == (outcome.status, outcome.exit_status, outcome.failed_arms)
            found[mode] = lab.load(outcome)
        yield found


@pytest.mark.parametrize(("mode", "placements"), [("layout", [1, 4, 3]), ("placement", [1, 4, 4])])
def test_a_living_process_that_dies_is_replaced_within_its_block_by_a_spare_of_its_mode(
    lossy: dict[str, Attempt], mode: str, placements: list[int]
) -> None:
    """A new process goes on at once with the lost repetition's orders; the record tells which repetitions share a placement."""
    attempt = lossy[mode]
    facts = {one.repetition: one for one in of_mode(attempt, mode)}
    assert "SIGSEGV" in facts[2].left_out
    assert (2, 1) == (facts[4].facts["replaces"], facts[4].facts["block"])
    assert facts[2].facts["orders"] == facts[4].facts["orders"]
    assert placements == [facts[number].facts["placement"] for number in (1, 4, 3)]
    pids = [facts[number].facts["pid"] for number in (1, 2, 4, 3)]
    assert (pids[0], pids[2]) == (pids[1], pids[3])
    assert pids[0] != pids[2]
    (entry,) = [entry for entry in attempt.manifest.left_out if entry["mode"] == mode]
    assert (2, 4) == (entry["repetition"], entry["replaced_by"])
    assert (mode, 4) in begun(attempt)[:6]
    assert () == verify_path(attempt.path).findings
    assert [1, 2, 3] == sorted(one.repetition for one in of_mode(attempt, "process"))


def test_a_repetition_that_a_rule_excludes_takes_a_spare_in_the_same_process(lossy: dict[str, Attempt]) -> None:
    """Nothing was wrong with the process: the placement stays."""
    attempt = lossy["layout"]
    facts = {one.repetition: one for one in of_mode(attempt, "placement")}
    assert ["", "excluded by the plan: throttled", ""] == [facts[number].left_out for number in (1, 2, 4)]
    assert 1 == len({facts[number].facts["pid"] for number in (1, 2, 4, 3)})
    assert [1, 1] == [facts[4].facts["placement"], facts[3].facts["placement"]]
    tagged = attempt.batches[attempt.batches["tag"] != ""]
    assert ({"placement"}, {2}) == (set(tagged["mode"]), set(tagged["repetition"]))


def test_outputs_that_go_wrong_in_another_mode_cost_its_repetition(lossy: dict[str, Attempt]) -> None:
    """The line names arm, fixture and element; what is timed in processes passed."""
    attempt = lossy["placement"]
    (lost,) = [one for one in of_mode(attempt, "layout") if one.left_out]
    assert 3 == lost.repetition
    assert "arm idea, fixture n=64, before timing: 1 of 256 elements of y differ from the reference" in lost.left_out
    checked = {one.repetition: one.facts["checks_passed"] > 0 for one in of_mode(lossy["layout"], "placement")}
    assert {1: True, 2: False, 4: False, 3: True} == checked


def test_a_process_killed_while_it_waits_loses_no_repetition(lab: Lab) -> None:
    """Both living processes are killed while a fresh one is begun; new ones go on, and the record says so."""
    write(lab, repetitions=3)

    def kill_all() -> None:
        for worker in workers():
            worker.kill()
            while worker.status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.01)

    attempt = lab.load(lab.run(at_phase=at("repetition", "2", kill_all)))
    assert (Status.SCORED, []) == (attempt.status, attempt.manifest.left_out)
    lost = [event.facts["mode"] for event in attempt.events if event.event == "process lost"]
    assert ["layout", "placement"] == sorted(lost)
    assert [1, 1, 3] == [one.facts["placement"] for one in of_mode(attempt, "placement")]
    assert 2 == sum("ended while it waited" in sentence for sentence in lab.seen.warnings)


def test_an_interrupted_block_goes_on_in_a_new_process(lab: Lab) -> None:
    """Every living process is gone when the run returns; resumed, nothing is measured twice."""
    write(lab, repetitions=3)
    outcome = lab.run(at_phase=signal_at("repetition", "placement 2"))
    assert 130 == outcome.exit_status
    assert no_process_is_left()
    assert outcome.path is not None
    kept = [(one.mode, one.repetition) for one in read_journal(outcome.path).repetitions]
    assert [("process", 0), ("process", 1), ("layout", 1), ("placement", 1), ("layout", 2)] == kept
    attempt = lab.load(lab.run(resume=outcome.path.name.removesuffix(".partial")))
    assert (Status.SCORED, []) == (attempt.status, attempt.manifest.left_out)
    assert 1 + 3 * 3 == len(attempt.repetitions)
    for mode in ("layout", "placement"):
        assert [1, 1, 1] == [one.facts["block"] for one in of_mode(attempt, mode)]
        assert 2 == len({one.facts["pid"] for one in of_mode(attempt, mode)})
    assert [1, 2, 2] == [one.facts["placement"] for one in of_mode(attempt, "placement")]
    assert () == verify_path(attempt.path).findings


def test_living_processes_die_with_their_controller(lab: Lab) -> None:
    """SIGKILL leaves no time to clean up; the journal is readable and resumable."""
    write(lab, more=TABLE + fault("hang", arm="idea", repetition=2, mode="process"))
    workers_then = killed_at(lab, "repetition 2\n")
    for worker in workers_then:
        worker.wait(timeout=10)
    assert 3 == len(workers_then)


def test_a_quick_run_has_one_block_of_every_mode(lab: Lab) -> None:
    """Two repetitions, one process for both where it stays."""
    write(lab)
    attempt = lab.load(lab.run(quick=True))
    assert (Kind.QUICK, 2, {"layout": 2, "placement": 2}) == (
        attempt.manifest.kind,
        attempt.manifest.counts.repetitions,
        attempt.manifest.counts.series,
    )
    for mode in ("layout", "placement"):
        assert 1 == len({one.facts["pid"] for one in of_mode(attempt, mode)})


HARNESS = """
[[harness]]
name = "single_launches"
arms = ["base", "again"]
repetitions = 3
where = { n = [128] }
"""


@pytest.fixture(scope="module")
def harnessed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attempt]:
    """Measure three modes and a harness."""
    locks = tmp_path_factory.mktemp("locks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(locks))
        patch.setattr(tempfile, "tempdir", str(locks))
        lab = Lab(tmp_path_factory.mktemp("lab"))
        write(lab, repetitions=3, sizes="[64, 128]", more=TABLE + HARNESS)
        yield lab.load(lab.run())


def test_a_harness_times_its_own_arms_in_fresh_processes_spread_over_the_attempt(harnessed: Attempt) -> None:
    """One row for each arm on the fixtures that it was given, not the first of the plan here; the order of an odd repetition is mirrored in the next."""
    attempt = harnessed
    assert (Status.SCORED, 3) == (attempt.status, attempt.manifest.counts.series["single_launches"])
    told = attempt.batches[attempt.batches["mode"] == "single_launches"]
    assert ({"harness"}, {"n=128"}, {"base", "again"}) == (set(told["group"]), set(told["fixture"]), set(told["arm"]))
    orders = [rows.sort_values("position")["arm"].tolist() for _, rows in told.groupby("repetition")]
    assert [2, 2, 2] == [len(order) for order in orders]
    assert orders[0] == orders[1][::-1]
    at_round = [index for index, (mode, _) in enumerate(begun(attempt)) if mode == "single_launches"]
    assert [3, 7, 11] == at_round
    assert 3 == len({one.facts["pid"] for one in of_mode(attempt, "single_launches")})
    assert () == verify_path(attempt.path).findings


def test_a_batch_that_lacks_in_any_series_is_found(harnessed: Attempt) -> None:
    """Both programs share the check that names the place."""
    attempt = harnessed
    plan, manifest = (verify.read_facts(attempt.path / name, name) for name in ("plan.toml", "manifest.json"))
    rows = rows_of(attempt.batches[~attempt.batches["warmup"]])
    assert [] == list(matrix_contradictions(plan, manifest, rows))
    for mode in ("process", "layout", "single_launches"):
        lost = next(row for row in rows if (row["mode"], row["repetition"], row["fixture"]) == (mode, 2, "n=128"))
        found = list(matrix_contradictions(plan, manifest, [row for row in rows if row is not lost]))
        place = f"fixture n=128, arm {lost['arm']}, repetition 2, pass {lost['pass']}: is missing"
        assert place in found[0]
        assert (mode == "process") == found[0].startswith("group")
        none = [row for row in rows if row["mode"] != mode]
        assert any("0 whole repetitions, 3 planned" in line for line in matrix_contradictions(plan, manifest, none))


def test_all_three_modes_run_on_the_processor(lab: Lab) -> None:
    """Real code: addresses stay within a placement's block and move with every layout; all of it is checked."""
    write(lab, backend="native", repetitions=4, protocol=PROTOCOL.replace("3", "2"), more="")
    outcome = lab.run()
    attempt = lab.load(outcome)
    assert (Status.SCORED, 0) == (outcome.status, outcome.exit_status)
    placements = [one.facts["addresses"] for one in of_mode(attempt, "placement")]
    assert (placements[0], placements[2]) == (placements[1], placements[3])
    assert placements[0] != placements[2]
    assert 4 == len({one.facts["addresses"] for one in of_mode(attempt, "layout")})
    assert 2 == len({one.facts["pid"] for one in of_mode(attempt, "layout")})
    assert [(MODES[(k - 1 + place) % 3], k) for k in range(1, 5) for place in range(3)] == begun(attempt)
    assert () == verify_path(attempt.path).findings
