"""The scheduler keeps its bounds for every size, and draws can be repeated from their description alone."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections import Counter
from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reportgen.measure.draws import Draws, repetition_seed, schedule_seed
from reportgen.measure.order import ALIGNMENT_BYTES, Schedule, draw_layout, schedule
from reportgen.model.plan import ORDER_METHOD

SEED = hashlib.sha256(b"a seed").digest()


def arm_names(k: int) -> list[str]:
    """Names of k arms."""
    return [f"arm{i:02}" for i in range(k)]


def balanced(k: int, fixtures: int, repetitions: int, seed: bytes = SEED) -> Schedule:
    """Draw a schedule of k arms on every fixture."""
    return schedule({f"n={i}": arm_names(k) for i in range(fixtures)}, repetitions, 2, seed)


def rows(drawn: Schedule, fixtures: list[str]) -> list[list[str]]:
    """First passes of the planned repetitions."""
    return [drawn.order(r, fixture) for fixture in fixtures for r in range(1, drawn.repetitions + 1)]


def spread(counts: Counter[tuple[str, object]], keys: list[tuple[str, object]]) -> int:
    """Largest less smallest count, absent keys included."""
    values = [counts[key] for key in keys]
    return max(values) - min(values) if values else 0


def position_spread(orders: list[list[str]]) -> int:
    """Spread of how often an arm stands in a slot."""
    arms = orders[0]
    counts: Counter[tuple[str, object]] = Counter((arm, slot) for order in orders for slot, arm in enumerate(order))
    return spread(counts, [(arm, slot) for arm in arms for slot in range(len(arms))])


def pair_spread(orders: list[list[str]]) -> int:
    """Spread of how often an arm directly follows another."""
    counts: Counter[tuple[str, object]] = Counter(pair for order in orders for pair in itertools.pairwise(order))
    return spread(counts, list(itertools.permutations(orders[0], 2)))


def assert_kept(drawn: Schedule, fixtures: list[str]) -> None:
    """Assert the bounds of the module docstring over these fixtures."""
    orders = rows(drawn, fixtures)
    k = len(orders[0])
    assert all(sorted(order) == sorted(orders[0]) for order in orders)
    bound = 1 if k % 2 == 0 else 2
    halves_in_turn = k % 2 == 1 and drawn.repetitions <= math.factorial(k) - 2 * k
    assert position_spread(orders) <= (1 if halves_in_turn else bound)
    assert pair_spread(orders) <= bound
    for fixture in fixtures:
        uses = Counter(tuple(order) for order in rows(drawn, [fixture]))
        fewest = drawn.repetitions // math.factorial(k)
        assert max(uses.values()) <= math.ceil(drawn.repetitions / math.factorial(k))
        assert fewest == 0 or (len(uses) == math.factorial(k) and min(uses.values()) >= fewest)


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 12), st.integers(1, 9), st.integers(1, 30), st.binary(min_size=32, max_size=32))
def test_bounds_hold_for_every_size(k: int, fixtures: int, repetitions: int, seed: bytes) -> None:
    """Positions and neighbours differ by 1 (even) or 2 (odd, positions by 1); no order twice before all have come."""
    assert_kept(balanced(k, fixtures, repetitions, seed), [f"n={i}" for i in range(fixtures)])


@pytest.mark.parametrize(
    ("k", "fixtures", "repetitions"),
    [(2, 3, 13), (3, 4, 7), (4, 5, 23), (4, 2, 24), (4, 3, 49), (5, 3, 117), (5, 2, 131), (6, 2, 719), (7, 1, 1000)],
)
def test_bounds_hold_where_orders_run_out(k: int, fixtures: int, repetitions: int) -> None:
    """Numbers of repetitions near and beyond k!, where blocks have to be shared out to the last row."""
    assert_kept(balanced(k, fixtures, repetitions), [f"n={i}" for i in range(fixtures)])


def test_bounds_hold_for_twenty_arms_on_thirty_six_fixtures() -> None:
    """The largest size expected of an experiment."""
    assert_kept(balanced(20, 36, 14), [f"n={i}" for i in range(36)])


def test_twelve_repetitions_of_two_arms_use_both_orders_six_times() -> None:
    """Two arms have but two orders."""
    uses = Counter(tuple(order) for order in rows(balanced(2, 1, 12), ["n=0"]))
    assert {("arm00", "arm01"): 6, ("arm01", "arm00"): 6} == uses


def test_fixtures_with_other_arms_are_balanced_among_themselves() -> None:
    """``only`` makes sets of arms; each keeps its own bounds."""
    full, less = arm_names(6), arm_names(5)
    wide, narrow = ["n=0", "n=2", "n=4"], ["n=1", "n=3"]
    drawn = schedule({f"n={i}": less if i % 2 else full for i in range(5)}, 12, 2, SEED)
    assert_kept(drawn, wide)
    assert_kept(drawn, narrow)


def test_one_seed_draws_one_schedule_and_another_seed_another() -> None:
    """Same inputs, same orders; the order in which fixtures are given plays no part."""
    assert balanced(6, 3, 12) == balanced(6, 3, 12)
    assert balanced(6, 3, 12).orders != balanced(6, 3, 12, b"other").orders
    reversed_fixtures = {f"n={i}": arm_names(6)[::-1] for i in (2, 1, 0)}
    assert balanced(6, 3, 12).orders == schedule(reversed_fixtures, 12, 2, SEED).orders


def test_every_renumbering_is_reached() -> None:
    """Over seeds, each of the six orders of three arms opens equally often (chi-square of 5 degrees, p > 1e-4)."""
    draws = 1200
    firsts = Counter(tuple(balanced(3, 1, 1, bytes([i % 256, i // 256])).order(1, "n=0")) for i in range(draws))
    expected = draws / 6
    assert 6 == len(firsts)
    assert sum((count - expected) ** 2 / expected for count in firsts.values()) < 25.7


def test_second_pass_mirrors_the_first() -> None:
    """Drift that is linear over a block cancels."""
    drawn = balanced(5, 1, 12)
    assert drawn.order(3, "n=0")[::-1] == drawn.mirror(3, "n=0")


def test_a_spare_takes_the_orders_of_the_repetition_it_replaces() -> None:
    """Also where the repetition replaced was itself a spare; each place is taken once."""
    drawn = balanced(6, 2, 12).with_spare(13, replaces=4).with_spare(14, replaces=13)
    assert drawn.order(4, "n=1") == drawn.order(14, "n=1")
    with pytest.raises(ValueError, match="no unused spare"):
        drawn.with_spare(15, replaces=5)
    with pytest.raises(ValueError, match="no place"):
        balanced(6, 2, 12).with_spare(13, replaces=4).with_spare(14, replaces=4)
    with pytest.raises(ValueError, match="neither planned nor a spare"):
        balanced(6, 2, 12).order(13, "n=0")


@pytest.mark.parametrize("repetitions", [0, 1001])
def test_impossible_numbers_of_repetitions_are_refused(repetitions: int) -> None:
    """Neither none nor more than a lifetime of them."""
    with pytest.raises(ValueError, match="1 to 1000 repetitions"):
        balanced(4, 1, repetitions)


def test_draws_follow_their_description() -> None:
    """Words are those of SHA-256(seed, label, 0, counter), redrawn here by hand."""
    first = hashlib.sha256(b"seed" + b"label" + b"\0" + (0).to_bytes(8, "big")).digest()
    second = hashlib.sha256(b"seed" + b"label" + b"\0" + (1).to_bytes(8, "big")).digest()
    words = [int.from_bytes((first + second)[i : i + 8], "big") for i in range(0, 64, 8)]
    draws = Draws(b"seed", "label")
    assert [word % 1000 for word in words] == [draws.below(1000) for _ in words]


def test_a_shuffle_is_fisher_and_yates_from_the_end() -> None:
    """Known right value: swaps made by hand from the same stream."""
    swaps = Draws(b"seed", "x")
    expected = list("abcd")
    for last in (3, 2, 1):
        other = swaps.below(last + 1)
        expected[last], expected[other] = expected[other], expected[last]
    assert expected == Draws(b"seed", "x").shuffled("abcd")


def test_seeds_are_hashes_of_their_parts() -> None:
    """The two seeds of the record format, by hand; the peer group has its own."""
    assert hashlib.sha256(b"d1\x00a1").digest() == schedule_seed("d1", "a1")
    assert hashlib.sha256(b"d1\x00a1\x0012").digest() == repetition_seed("d1", "a1", 12)
    assert hashlib.sha256(b"d1\x00a1\x0012\x00peer").digest() == repetition_seed("d1", "a1", 12, "peer")


def test_a_layout_holds_everything_once_and_goes_into_json() -> None:
    """Each order is a permutation; paddings are aligned and within their bound."""
    layout = draw_layout(SEED, arm_names(4), ["n=1", "n=2"], ["x", "y", "out"], most_padding_bytes=1000)
    assert ["n=1", "n=2"] == sorted(layout.fixtures)
    assert arm_names(4) == sorted(layout.modules)
    for fixture in layout.fixtures:
        assert arm_names(4) == sorted(layout.graphs[fixture]) == sorted(layout.checks[fixture])
        assert ["out", "x", "y"] == sorted(layout.buffers[fixture])
        assert [0, 0, 0] == [pad % ALIGNMENT_BYTES for pad in layout.padding_bytes[fixture]]
        assert all(0 <= pad <= 960 for pad in layout.padding_bytes[fixture])
    assert asdict(layout) == json.loads(json.dumps(asdict(layout)))


def test_padding_reaches_both_ends_of_its_range() -> None:
    """Inclusive upper end: of 200 paddings in steps of 64 up to 192 each of the four values occurs."""
    buffers = [f"b{i}" for i in range(200)]
    layout = draw_layout(SEED, ["a"], ["f"], buffers, most_padding_bytes=192)
    assert {0, 64, 128, 192} == set(layout.padding_bytes["f"])


def test_layouts_of_two_repetitions_differ() -> None:
    """Each process draws for itself."""
    names = arm_names(8)
    layouts = [draw_layout(repetition_seed("d", "a", r), names, ["f"], {"f": ["x"]}) for r in (1, 2)]
    assert layouts[0].modules != layouts[1].modules
    assert layouts[0].padding_bytes != layouts[1].padding_bytes


def test_the_method_draws_what_it_always_drew() -> None:
    """Records are redrawn from their seeds: a method that draws otherwise needs another name (``ORDER_METHOD``)."""
    assert ORDER_METHOD == "mirrored-balanced-1"
    orders = schedule({"n=1": ["a", "b", "c", "d", "e"], "n=2": ["a", "b", "c", "d"]}, 4, 2, SEED).orders
    assert {"n=1": ["cabed", "aecbd", "cadeb", "ebadc", "bdeca"], "n=2": ["cabd", "acbd", "badc", "dbca", "cdab"]} == {
        name: ["".join(row) for row in drawn] for name, drawn in orders.items()
    }
    layout = draw_layout(SEED, arm_names(8), ["n=1", "n=2"], ["x", "y", "z"])
    text = json.dumps(asdict(layout), sort_keys=True)
    assert (
        hashlib.sha256(text.encode()).hexdigest() == "5a565a048a77c0451fd26b976ac9da31d719292e8630bfbec5cbda7f0bfa3741"
    )
