"""Whole runs on the simulated backend: the same protocol, real checks, times by a formula, never to be taken for measured."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import pandas as pd
import pytest

from reportgen.archive.load import Attempt
from reportgen.errors import InputError
from reportgen.model.record import Status
from tests.measure.lab import Lab

TABLE = """
[fake]
base_ns = 1000.0
process_sd = 0.001
cell_sd = 0.002
seed = 5

[fake.ratio]
idea = 0.9
"""


def per_launch_ns(attempt: Attempt) -> pd.DataFrame:
    """Scored times of a launch by arm, sorted by their place."""
    scored = attempt.batches[~attempt.batches["warmup"]]
    keys = ["fixture", "repetition", "pass", "arm"]
    return scored.assign(ns=scored["elapsed_ns"] / scored["launches"]).sort_values(keys)[[*keys, "ns"]]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lab, Attempt]]:
    """Lab and attempt in which nothing goes wrong."""
    locks = tmp_path_factory.mktemp("locks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(locks))
        patch.setattr(tempfile, "tempdir", str(locks))
        lab = Lab(tmp_path_factory.mktemp("lab"))
        lab.write(backend="fake", more=TABLE, sizes="[8, 16, 24]", repetitions=4)
        yield lab, lab.load(lab.run())


def test_a_simulated_run_says_so_wherever_it_is_looked_at(plain: tuple[Lab, Attempt]) -> None:
    """In the device, the environment, the id, and every process's facts."""
    _, attempt = plain
    device = attempt.manifest.device
    assert (Status.SCORED, "fake-0", "simulated", "simulated") == (attempt.status, device.id, device.model, device.kind)
    assert attempt.manifest.environment["simulated"]
    assert "-fake-" in attempt.id
    assert all(one.facts["session"] == {"simulated": True} for one in attempt.repetitions)


def test_simulated_times_follow_the_table_and_repeat(plain: tuple[Lab, Attempt]) -> None:
    """The idea takes 0.9 of the time within the spreads; a second attempt has the same times, whatever its orders."""
    lab, first = plain
    second = lab.load(lab.run())
    assert first.id != second.id
    times = per_launch_ns(first)
    pd.testing.assert_frame_equal(times.reset_index(drop=True), per_launch_ns(second).reset_index(drop=True))
    medians = times.groupby("arm")["ns"].median()
    assert 0.9 == pytest.approx(medians["idea"] / medians["base"], abs=0.005)


def test_orders_are_balanced_mirrored_and_drawn_anew(plain: tuple[Lab, Attempt]) -> None:
    """The second pass mirrors the first in every block; every process is another, with other orders, between equal hashes."""
    _, attempt = plain
    scored = attempt.batches[~attempt.batches["warmup"]]
    for _, block in scored.groupby(["repetition", "fixture"]):
        first, second = (block[block["pass"] == number].sort_values("position")["arm"].tolist() for number in (1, 2))
        assert first == second[::-1]
        assert block["started_ns"].is_monotonic_increasing
    orders = [one.facts["orders"]["n=8"] for one in attempt.repetitions if one.repetition]
    assert len({tuple(order) for order in orders}) == len(orders)
    brackets = [one.facts["hash_bracket"] for one in attempt.repetitions]
    assert {(one["before"], one["after"]) for one in brackets} == {(brackets[0]["before"],) * 2}
    assert len({one.facts["pid"] for one in attempt.repetitions}) == len(attempt.repetitions)
    layouts = [one.facts["layout"] for one in attempt.repetitions]
    assert len({tuple(map(tuple, one["padding_bytes"].values())) for one in layouts}) == len(layouts)


def test_every_fixture_block_opens_with_one_unscored_batch_of_every_arm(plain: tuple[Lab, Attempt]) -> None:
    """Nothing is done to one arm that is not done to all."""
    batches = plain[1].batches
    opening = batches[(batches["pass"] == 0) & (batches["repetition"] > 0)]
    assert opening["warmup"].all()
    assert {1} == set(opening.groupby(["repetition", "fixture", "arm"]).size())
    assert batches[batches["repetition"] == 0]["warmup"].all()
    assert 1 == batches.groupby(["repetition", "arm"]).size().groupby("repetition").nunique().max()


def test_an_experiment_without_program_runs_simulated(lab: Lab) -> None:
    """The simulated backend brings a small sum of its own."""
    lab.write(backend="fake", repetitions=1)
    for path in (lab.folder / "experiment.py", lab.folder / "base.c", lab.folder / "idea.c"):
        path.unlink()
    toml = lab.folder / "experiment.toml"
    toml.write_text(
        "".join(line for line in toml.read_text().splitlines(keepends=True) if not line.startswith(("file", "symbol")))
    )
    assert Status.SCORED == lab.run().status


@pytest.mark.parametrize("kind", ["nan", "head_offset", "mutate"])
def test_a_simulated_fault_fails_a_real_check(lab: Lab, kind: str) -> None:
    """Outputs are compared like anybody's."""
    lab.write(backend="fake", repetitions=1, more=f'[[fake.fault]]\nkind = "{kind}"\narm = "idea"\n')
    outcome = lab.run()
    assert (Status.SCORED, ["idea"], 1) == (outcome.status, outcome.failed_arms, outcome.exit_status)


def test_a_table_that_nothing_reads_is_refused(lab: Lab) -> None:
    """The line names file and key."""
    lab.write(backend="fake", more="[fake]\nspeed = 3\n")
    with pytest.raises(InputError, match="speed"):
        lab.run()


def test_the_record_holds_what_was_measured_and_with_what(plain: tuple[Lab, Attempt]) -> None:
    """Sources as the plan hashed them, fixtures with the hashes of inputs and references, environment without folders."""
    lab, attempt = plain
    kept = attempt.path / "artifacts" / "sources" / "doubling" / "experiment.py"
    assert (lab.folder / "experiment.py").read_bytes() == kept.read_bytes()
    text = (attempt.path / "artifacts" / "fixtures.json").read_text()
    assert "inputs/x" in text
    assert "reference/y" in text
    variables = attempt.manifest.environment["variables"]
    assert ("C.UTF-8", "UTC", "0", "1") == tuple(
        variables[name] for name in ("LC_ALL", "TZ", "PYTHONHASHSEED", "OMP_NUM_THREADS")
    )
    assert str(lab.root) not in (attempt.path / "manifest.json").read_text()
    assert variables["PATH"].startswith("sha256:")
    assert not list(attempt.path.glob("artifacts/logs/*.json"))
