"""The pure parts of measuring, against values worked out by hand."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest

from reportgen.calls import Output
from reportgen.measure.backends.fake_session import Moment, Times
from reportgen.measure.backends.session import BatchTime, Readings
from reportgen.measure.calibration import next_replays, shortest
from reportgen.measure.correctness import Comparison, compare_bits, compare_values
from reportgen.measure.exclusion import broken_rules, highest_clock_mhz, tagged
from reportgen.measure.ledger import Turn, read_ledger
from reportgen.measure.timing import Clockwork, block_readings
from reportgen.model.protocol import Exclusion
from reportgen.model.record import Repetition

FLOATS = Output((4,), "float32", absolute=0.1, relative=0.01)
WHOLE = Output((3,), "int32", absolute=0.0, relative=0.0)


def raw(values: list[float], dtype: str = "float32") -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """Bytes of an array."""
    return np.array(values, dtype).view(np.uint8)


def test_an_element_passes_up_to_absolute_plus_relative_tolerance() -> None:
    """100 +- (0.1 + 1) passes, 101.2 does not; 1 +- 0.11 likewise."""
    wanted = np.array([100.0, 100.0, 1.0, 1.0])
    found = compare_values(raw([101.0, 101.2, 1.1, 1.2]), wanted, FLOATS)
    assert (4, 2) == (found.elements, found.mismatches)
    assert found.max_abs is not None
    assert math.isclose(1.2, found.max_abs, rel_tol=1e-5)


def test_the_relative_error_is_the_norm_of_the_difference_over_that_of_the_reference() -> None:
    """|(3, 4)| / |(30, 40)| = 0.1."""
    output = Output((2,), "float64", absolute=10.0, relative=0.0)
    found = compare_values(raw([33.0, 44.0], "float64"), np.array([30.0, 40.0]), output)
    assert (True, 4.0) == (found.passed, found.max_abs)
    assert found.rel_l2 is not None
    assert math.isclose(0.1, found.rel_l2, rel_tol=1e-12)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_never_passes_however_wide_the_tolerance(value: float) -> None:
    """And has no errors, which would not be finite either."""
    wide = Output((1,), "float32", absolute=math.inf, relative=math.inf)
    assert Comparison(1, 1, None, None) == compare_values(raw([value]), np.array([1.0]), wide)


def test_a_reference_of_zeros_has_no_relative_error_unless_all_is_zero() -> None:
    """0 against 0 is no error; 1 against 0 has no finite ratio."""
    output = Output((1,), "float64", absolute=2.0, relative=0.0)
    assert 0.0 == compare_values(raw([0.0], "float64"), np.array([0.0]), output).rel_l2
    assert compare_values(raw([1.0], "float64"), np.array([0.0]), output).rel_l2 is None


def test_bits_tell_apart_what_values_do_not() -> None:
    """Minus zero equals zero in value, not in bits; a NaN equals itself bit for bit."""
    assert 1 == compare_bits(raw([0.0, 1, 2, 3]), raw([-0.0, 1, 2, 3]), FLOATS).mismatches
    nan = raw([math.nan, 1, 2, 3])
    assert Comparison(4, 0, 0.0, 0.0) == compare_bits(nan, nan.copy(), FLOATS)
    assert Comparison(4, 1, None, None) == compare_bits(nan, raw([0.0, 1, 2, 3]), FLOATS)
    assert Comparison(3, 1, 5.0, 5 / math.sqrt(14)) == compare_bits(
        raw([1, 2, 8], "int32"), raw([1, 2, 3], "int32"), WHOLE
    )


def repetition(number: int, left_out: str = "", replaces: int | None = None) -> Repetition:
    """Make a repetition without rows."""
    facts = {} if replaces is None else {"replaces": replaces}
    return Repetition(repetition=number, batches=[], checks=[], facts=facts, left_out=left_out)


def test_the_ledger_walks_through_the_plan_then_through_spares() -> None:
    """Calibration counts for nothing; a spare that is lost is replaced by the next."""
    done = [repetition(0)]
    assert Turn(1) == read_ledger(3, 2, done).next_turn()
    done += [repetition(1), repetition(2, "died"), repetition(3)]
    assert Turn(4, replaces=2) == read_ledger(3, 2, done).next_turn()
    done.append(repetition(4, "died too", replaces=2))
    assert Turn(5, replaces=4) == read_ledger(3, 2, done).next_turn()
    done.append(repetition(5, replaces=4))
    assert (True, None) == (read_ledger(3, 2, done).complete, read_ledger(3, 2, done).next_turn())


def test_the_ledger_gives_up_as_soon_as_spares_cannot_fill_the_places() -> None:
    """Two lost, one spare: no further repetition is worth its time."""
    ledger = read_ledger(3, 1, [repetition(1, "died"), repetition(2, "died")])
    assert (True, False, None) == (ledger.hopeless, ledger.complete, ledger.next_turn())


def test_rules_tag_rows_by_the_readings_of_their_block() -> None:
    """Throttled before foreign before clock; a rule that is off tags nothing."""
    good = {
        "warmup": False,
        "clock_mhz_before": 2000.0,
        "clock_mhz_after": 1990.0,
        "throttle": "",
        "foreign_processes": 0,
    }
    rows = [
        good,
        good | {"throttle": "thermal_core"},
        good | {"foreign_processes": 1},
        good | {"clock_mhz_after": 1500.0},
    ]
    rules = Exclusion(least_clock_share=0.9)
    found = tagged(rows, rules, highest_clock_mhz(rows))
    assert ["", "throttled", "foreign_process", "clock_share"] == [row["tag"] for row in found]
    assert "excluded by the plan: clock_share, foreign_process, throttled" == broken_rules(found)
    off = Exclusion(throttled=False, foreign_process=False)
    assert "" == broken_rules(tagged(rows, off, 2000.0))


def test_a_machine_that_tells_no_clock_excludes_nothing_by_clock() -> None:
    """No reading is no evidence."""
    rows = [{"warmup": False, "clock_mhz_before": None, "clock_mhz_after": None}]
    assert highest_clock_mhz(rows) is None
    assert [""] == [row["tag"] for row in tagged(rows, Exclusion(least_clock_share=0.9), None)]


def test_tagged_warm_up_excludes_no_repetition() -> None:
    """Only what would be scored counts."""
    assert "" == broken_rules([{"warmup": True, "tag": "throttled"}])


def test_throttle_reasons_are_those_that_rose_during_the_block() -> None:
    """Counts are since the machine started; where none are told the column is empty, not false."""
    before = Readings(throttle_counts={"thermal_core": 3, "thermal_package": 1})
    after = Readings(throttle_counts={"thermal_core": 4, "thermal_package": 1}, foreign_processes=2)
    assert "thermal_core" == block_readings(before, after)["throttle"]
    assert 2 == block_readings(before, after)["foreign_processes"]
    assert block_readings(Readings(), Readings())["throttle"] is None


def test_replays_grow_to_what_is_needed_at_least_twofold_at_most_a_thousandfold() -> None:
    """Aim is 1.3 times the least length."""
    assert 13 == next_replays(1, 100, 1000)
    assert 20 == next_replays(10, 900, 1000)
    assert 1000 == next_replays(1, 1, 10**9)
    assert 1000 == next_replays(1, 0, 10**9)


def test_the_quickest_round_of_the_quickest_arm_decides() -> None:
    """A disturbed round must not pass for a long batch."""
    assert 90 == shortest([{"a": 100, "b": 500}, {"a": 90, "b": 200}, {"a": 800, "b": 210}])


def test_the_busy_share_is_lead_in_and_window_over_the_whole_span() -> None:
    """100 + 300 and 50 + 150 of a span from 0 to 800."""
    clockwork = Clockwork([BatchTime(100, 300, 100, 1), BatchTime(650, 150, 50, 2)])
    assert (600 / 800, 3) == (clockwork.busy_share(), clockwork.descheduled())
    assert (None, None) == (Clockwork().busy_share(), Clockwork().descheduled())


def test_batches_that_the_host_could_hardly_keep_fed_are_counted() -> None:
    """95 of 100 ns is too much, 5 is not; a backend without a queue counts none."""
    clockwork = Clockwork([BatchTime(0, 100, 0, enqueue_ns=95), BatchTime(0, 100, 0, enqueue_ns=5)])
    assert (1, None) == (clockwork.host_bound(), Clockwork([BatchTime(0, 100, 0)]).host_bound())


def test_simulated_times_have_the_spreads_that_the_table_asks_for() -> None:
    """2,000 draws: standard deviations within 4 standard errors (sd / sqrt(2n)), no dependence of one on the other."""
    n, bound = 2000, 4 / math.sqrt(2 * 2000)
    times = Times(base_ns=1e6, process_sd=0.01, cell_sd=0.002)
    processes = [
        math.log(Times(base_ns=1.0, process_sd=0.01).launch_ns("f", "a", Moment(k, 1, 1, process=k, layout=k)))
        for k in range(n)
    ]
    assert abs(statistics.stdev(processes) / 0.01 - 1) < bound
    pairs = [
        (
            times.launch_ns("f", "a", Moment(k, 1, 1, process=k, layout=k)),
            times.launch_ns("f", "a", Moment(k, 2, 1, process=k, layout=k)),
        )
        for k in range(n)
    ]
    assert abs(statistics.stdev(math.log(a / b) for a, b in pairs) / (0.002 * math.sqrt(2)) - 1) < bound


def test_simulated_times_are_a_function_of_their_place_alone() -> None:
    """Ratio, fixture and slot multiply; the same place gives the same time."""
    times = Times(base_ns=1000.0, ratio={"idea": 0.9}, fixture_ratio={"big": 4.0}, position_effect=0.01)
    assert math.isclose(1000 * 0.9 * 4 * 1.02, times.launch_ns("big", "idea", Moment(3, 1, 3, process=3, layout=3)))
    noisy = Times(process_sd=0.1, cell_sd=0.1)
    assert noisy.launch_ns("f", "a", Moment(1, 2, 3, process=1, layout=1)) == noisy.launch_ns(
        "f", "a", Moment(1, 2, 3, process=1, layout=1)
    )
    assert noisy.launch_ns("f", "a", Moment(1, 2, 3, process=1, layout=1)) != noisy.launch_ns(
        "f", "b", Moment(1, 2, 3, process=1, layout=1)
    )
