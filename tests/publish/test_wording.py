"""Numbers become text in one place, always the same way."""

from __future__ import annotations

import pytest

from reportgen.model.result import ComparisonResult, GateOutcome, Promotion, Reason, Verdict
from reportgen.publish import wording


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(1.0031, "+0.31%"), (0.969, "−3.10%"), (1.0, "0.00%"), (0.99999, "0.00%"), (5.0, "+400.00%"), (None, "–")],
)
def test_a_ratio_reads_as_a_signed_percentage_with_two_decimals(ratio: float | None, text: str) -> None:
    """Less time is negative, with a true minus sign; what rounds to zero has no sign."""
    assert text == wording.change(ratio)


def test_a_terminal_gets_ascii() -> None:
    """Plain text holds no character that a terminal or a CSV reader might not know."""
    texts = [
        wording.change(0.969, plain=True),
        wording.interval(0.9, 1.1, plain=True),
        wording.time(1234.5, plain=True),
        wording.share(0.005, plain=True),
        wording.change(None, plain=True),
    ]
    assert ["-3.10%", "-10.00% to +10.00%", "1.234 us", "+-0.50%", "-"] == texts
    assert all(text.isascii() for text in texts)


@pytest.mark.parametrize(
    ("duration_ns", "text"),
    [
        (0.4321, "0.432 ns"),
        (31.16, "31.16 ns"),
        (999.9, "999.9 ns"),
        (1_500, "1.500 µs"),
        (33_333, "33.33 µs"),
        (2_000_000, "2.000 ms"),
        (61e9, "61.00 s"),
    ],
)
def test_a_duration_has_four_digits_and_a_unit(duration_ns: float, text: str) -> None:
    """Times take the unit in which they read best."""
    assert text == wording.time(duration_ns)


@pytest.mark.parametrize(
    ("value", "text"), [(1.0, "1"), (0.25, "0.25"), (0.00048828125, "0.00049"), (1e-9, "< 0.000001"), (None, "–")]
)
def test_a_p_value_has_two_significant_digits(value: float | None, text: str) -> None:
    """Small ones say what they are smaller than."""
    assert text == wording.probability(value)


def test_every_verdict_reason_and_promotion_has_words_and_every_verdict_a_mark_of_its_own() -> None:
    """A value added to the model without words fails here, not on a page."""
    assert set(Verdict) == set(wording.VERDICTS) == set(wording.MARKS)
    assert set(Reason) == set(wording.REASONS)
    assert set(Promotion) == set(wording.PROMOTIONS)
    assert set(GateOutcome) == set(wording.GATES) == set(wording.GATE_CLAUSES)
    assert len(Verdict) == len(set(wording.MARKS.values()))


@pytest.mark.parametrize(
    ("length_bytes", "text"), [(1, "1 byte"), (512, "512 bytes"), (1536, "1.5 KiB"), (3 * 1024 * 1024, "3.0 MiB")]
)
def test_a_size_reads_in_binary_units(length_bytes: int, text: str) -> None:
    """The exact count stands beside it on pages."""
    assert text == wording.size(length_bytes)


def test_a_fixture_beneath_its_slice_is_said_without_the_slice() -> None:
    """What the heading says already is not repeated in every row."""
    assert wording.within("weights=l2,columns=512", "weights=l2") == "columns=512"
    assert wording.within("columns=512,weights=l2", "weights=l2 @ board") == "columns=512"
    assert wording.within("cache=same-set", "cache=same-set") == "cache=same-set"
    assert wording.within("rows=4", "all") == "rows=4"


def test_a_negative_share_has_a_true_minus_sign() -> None:
    """Pages never set a hyphen before a figure."""
    assert wording.percent(-0.0017, decimals=2) == "\N{MINUS SIGN}0.17%"


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.94, 0.98, "Beyond ±0.50%, yet not beyond the ±2.77% by which identical code differed."),
        (1.01, 1.02, "Beyond ±0.50%, yet not beyond the ±2.77% by which identical code differed."),
        (0.996, 1.004, "Within ±0.50%, yet identical code differed by ±2.77%: this record cannot tell."),
    ],
)
def test_the_noise_floor_is_said_with_the_slices_figures(low: float, high: float, text: str) -> None:
    """The same reason covers a large change and a small one; the words differ."""
    made = ComparisonResult(
        arm="idea",
        role="candidate",
        baseline="incumbent",
        baseline_role="incumbent",
        slice="all",
        fixtures=[],
        verdict=Verdict.INCONCLUSIVE,
        reason=Reason.NOISE_FLOOR,
        low=low,
        high=high,
    )
    assert text == wording.reason(made, 0.005, 0.0277)
