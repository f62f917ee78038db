"""The descriptive bootstrap draws what the specification says, and its fast form equals the plain one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from reportgen.analysis.bootstrap import below, draws, headline_bootstrap, splitmix64
from reportgen.analysis.median import FloatArray
from reportgen.model.result import Interval

DIGEST = "fedcba98765432100123456789abcdef" * 2
MASK = 2**64 - 1


def plain_splitmix64(state: int, count: int) -> list[int]:
    """SplitMix64 in Python integers, from its definition."""
    outputs = []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        outputs.append(z ^ (z >> 31))
    return outputs


def plain_bootstrap(pairs: list[list[list[float | None]]], digest: str, resamples: int) -> tuple[float, float]:
    """Draw jointly with loops and lists: by resample, then device, then draw."""
    sizes = [len(device[0]) for device in pairs]
    stream = iter(plain_splitmix64(int.from_bytes(bytes.fromhex(digest)[:8], "big"), resamples * sum(sizes)))
    headlines = []
    for _ in range(resamples):
        cells = []
        for device, n in zip(pairs, sizes, strict=True):
            picks = [next(stream) * n >> 64 for _ in range(n)]
            for cell in device:
                drawn = [value for value in (cell[pick] for pick in picks) if value is not None]
                if drawn:
                    cells.append(plain_median(drawn))
        if cells:
            headlines.append(plain_median(cells))
    headlines.sort()
    count = len(headlines)
    return headlines[-(-count // 40) - 1], headlines[-(-39 * count // 40) - 1]


def plain_median(values: list[float]) -> float:
    """Mean of the two middle values."""
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def as_array(device: list[list[float | None]]) -> FloatArray:
    """Cells x repetitions with NaN for None."""
    return np.array([[np.nan if value is None else value for value in cell] for cell in device], dtype=np.float64)


def test_splitmix64_gives_its_published_outputs() -> None:
    """First outputs for the seed 1234567, as the algorithm's reference implementation prints them."""
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]

    assert published == splitmix64(1234567, 4).tolist() == plain_splitmix64(1234567, 4)


def test_an_index_is_the_high_half_of_the_product() -> None:
    """floor(u n / 2^64), also where u is all ones and n large."""
    u = [0, 1, MASK, MASK - 1, 2**63, 0x123456789ABCDEF0, *plain_splitmix64(5, 200)]
    for n in (1, 2, 3, 12, 25, 1000, 2**31 - 1):
        assert [one * n >> 64 for one in u] == below(np.array(u, dtype=np.uint64), n).tolist()


def test_draws_go_by_resample_then_device_then_draw() -> None:
    """Two devices of 3 and 2 repetitions: five numbers of the stream a resample."""
    stream = plain_splitmix64(int(DIGEST[:16], 16), 10)
    first, second = draws(DIGEST, (3, 2), 2)

    assert [[u * 3 >> 64 for u in stream[start : start + 3]] for start in (0, 5)] == first.tolist()
    assert [[u * 2 >> 64 for u in stream[start : start + 2]] for start in (3, 8)] == second.tolist()


@pytest.mark.parametrize("missing", [0.0, 0.2, 0.7])
@pytest.mark.parametrize("sizes", [(12,), (9,), (7, 12), (1, 2)])
def test_the_fast_bootstrap_gives_the_digits_of_the_plain_one(sizes: tuple[int, ...], missing: float) -> None:
    """Whole and holed records, odd and even numbers of repetitions and cells, one device and two."""
    rng = np.random.default_rng(len(sizes) * 100 + sizes[0])
    pairs = [
        [[None if rng.random() < missing else float(rng.normal(1, 0.01)) for _ in range(n)] for _ in range(cells)]
        for cells, n in zip((5, 4), sizes, strict=False)
    ]
    low, high = plain_bootstrap(pairs, DIGEST, 400)

    assert headline_bootstrap([as_array(device) for device in pairs], DIGEST, resamples=400) == Interval(low, high)


def test_more_repetitions_than_a_byte_counts_are_drawn_right() -> None:
    """300 repetitions do not fit the narrow counters."""
    values: list[float | None] = [1 + at / 1000 for at in range(300)]
    low, high = plain_bootstrap([[values]], DIGEST, 100)

    assert headline_bootstrap([as_array([values])], DIGEST, resamples=100) == Interval(low, high)


def test_one_cell_agrees_with_scipy_bootstrap() -> None:
    """2,000 draws of each end within a few thousandths of a standard deviation of one another."""
    values = np.random.default_rng(11).normal(1, 0.01, (1, 25))
    ours = headline_bootstrap([values], DIGEST)
    theirs = scipy.stats.bootstrap(
        (values[0],), np.median, n_resamples=2000, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval

    assert ours is not None
    assert (theirs.low, theirs.high) == pytest.approx((ours.low, ours.high), abs=0.002)


def test_nothing_drawn_has_no_interval() -> None:
    """No repetition, or no pair in any."""
    assert headline_bootstrap([np.empty((2, 0))], DIGEST) is None
    assert headline_bootstrap([np.full((2, 6), np.nan)], DIGEST) is None
