"""Arms that compute something wrong: still timed, named, never a ratio."""

from __future__ import annotations

from reportgen.model.record import Status
from tests.measure.lab import PROGRAM, RIGHT, Lab

SPOILT = {
    "nan": RIGHT + " y[5] = 0.0f / 0.0f;",
    "head": "int64_t n = a[2].i; for (int64_t h = 0; h < 4; h++) for (int64_t i = 0; i < n; i++)"
    " y[(h == 3 ? 2 : h) * n + i] = 2.0f * x[h * n + i];",
    "partial": "for (int64_t i = 0; i < 4 * a[2].i - 1; i++) y[i] = 2.0f * x[i];",
    "drift": "static int64_t launches; float gain = ++launches > 100 ? 3.0f : 2.0f;"
    " for (int64_t i = 0; i < 4 * a[2].i; i++) y[i] = gain * x[i];",
    "mutates": RIGHT + " x[0] = 1.0f;",
}
FAILURES = {
    ("nan", "before", "value", 1, 256),
    ("nan", "after", "value", 1, 256),
    ("head", "before", "value", 128, 256),  # the third head is the fourth's, the fourth is never written
    ("head", "after", "value", 128, 256),
    ("partial", "before", "value", 1, 256),
    ("partial", "after", "value", 1, 256),
    ("drift", "after", "value", 256, 256),
    ("mutates", "before", "inputs", 1, 1),
    ("mutates", "after", "inputs", 1, 1),
}


def test_wrong_arms_are_named_and_the_attempt_still_scored(lab: Lab) -> None:
    """NaN, a wrong head offset, a partial write, drift and spoilt inputs are found; every arm was timed equally often."""
    lab.write(more="".join(lab.arm(name, body) for name, body in SPOILT.items()), repetitions=1, least_batch_ms=0.5)
    outcome = lab.run()
    attempt = lab.load(outcome)
    assert (Status.SCORED, 1, sorted(SPOILT)) == (outcome.status, outcome.exit_status, outcome.failed_arms)
    assert len(SPOILT) == len(outcome.sentence.split("; "))
    assert (
        "arm drift, fixture n=64, after timing: 256 of 256 elements of y differ from the reference; "
        in outcome.sentence
    )
    failed = attempt.checks[~attempt.checks["passed"]]
    columns = ("arm", "when", "kind", "mismatches", "elements")
    assert FAILURES == set(zip(*(failed[column] for column in columns), strict=True))
    assert {2} == set(attempt.batches[~attempt.batches["warmup"]].groupby("arm").size())


def test_an_arm_that_spoils_inputs_once_while_timed_makes_every_arm_fail(lab: Lab) -> None:
    """Nobody can tell whose times were taken on which inputs, so none is believed."""
    spoils = "static int64_t launches; if (++launches == 100) x[0] = 1.0f; " + RIGHT
    lab.write(idea=spoils, repetitions=1, least_batch_ms=0.5)
    outcome = lab.run()
    assert (["again", "base", "idea"], 1) == (outcome.failed_arms, outcome.exit_status)


def test_an_arm_that_must_equal_its_control_bit_for_bit_is_held_to_it(lab: Lab) -> None:
    """A difference within the tolerance fails the bitwise check alone."""
    slightly = "for (int64_t i = 0; i < 4 * a[2].i; i++) y[i] = 2.0f * x[i] * 1.0000001f;"
    lab.write(idea=slightly, repetitions=1, idea_keys='bitwise = true\ncontrol = "base"')
    outcome = lab.run()
    checks = lab.load(outcome).checks
    assert {"bitwise"} == set(checks[~checks["passed"]]["kind"])
    assert "differ from arm base bit for bit" in outcome.sentence


def test_a_floor_is_timed_but_not_held_to_the_reference(lab: Lab) -> None:
    """An empty kernel fails nothing, and its short batches do not lengthen the others'."""
    (lab.folder / "floor.c").write_text(
        '#include "reportgen_native.h"\nvoid empty(const reportgen_arg *a) { (void)a; }\n'
    )
    floor = '[[arm]]\nname = "floor"\nrole = "floor"\nidea = "nothing"\nfile = "floor.c"\nsymbol = "empty"'
    lab.write(more=floor, repetitions=1, sizes="[4096]")
    outcome = lab.run()
    attempt = lab.load(outcome)
    assert ([], 0) == (outcome.failed_arms, outcome.exit_status)
    assert {"inputs"} == set(attempt.checks[attempt.checks["arm"] == "floor"]["kind"])
    scored = attempt.batches[~attempt.batches["warmup"]]
    shortest = scored.groupby("arm")["elapsed_ns"].min()
    assert 1 == scored["launches"].nunique()
    assert shortest["floor"] < shortest["base"] / 4


def test_a_fixture_that_is_only_checked_is_never_timed(lab: Lab) -> None:
    """Its checks are in the record, its batches are not."""
    lab.write(more="[[fixture]]\nvalues = { n = 10 }\nchecks_only = true", repetitions=1)
    attempt = lab.load(lab.run())
    assert {"n=64", "n=10"} == set(attempt.checks["fixture"])
    assert {"n=64"} == set(attempt.batches["fixture"])


def test_an_arm_that_knows_the_timed_inputs_by_heart_fails_on_other_cases(lab: Lab) -> None:
    """The same graph gets other inputs; afterwards the timed ones lie in their place again."""
    cases = "\n\ndef cases(fixture, rng):\n    return [inputs(fixture, rng) for _ in range(2)]\n"
    by_heart = "static float first; if (first == 0.0f) first = x[0]; " + RIGHT + " y[0] = 2.0f * first;"
    lab.write(program=PROGRAM + cases, idea=by_heart, repetitions=1)
    outcome = lab.run()
    checks = lab.load(outcome).checks
    assert ["idea"] == outcome.failed_arms
    assert {"y case 1", "y case 2"} == set(checks[~checks["passed"]]["output"])
    assert {"y", "y case 1", "y case 2", "inputs"} == set(checks["output"])


def test_every_set_of_a_rotating_fixture_is_checked(lab: Lab) -> None:
    """An arm that is wrong on one copy of the input only is found, and the copy is named; a graph asked to hold 4 launches holds 6."""
    graphs = "\n\ndef sets(fixture):\n    return 3\n\n\ndef launches(fixture):\n    return 4\n"
    lab.write(
        program=(lab.folder / "experiment.py").read_text() + graphs,
        idea="static int64_t launches; float gain = launches++ % 3 == 1 ? 3.0f : 2.0f;"
        " for (int64_t i = 0; i < 4 * a[2].i; i++) y[i] = gain * x[i];",
        repetitions=1,
    )
    attempt = lab.load(lab.run())
    failed = attempt.checks[~attempt.checks["passed"]]
    assert {("y[1]", 256, 256)} == set(zip(failed["output"], failed["mismatches"], failed["elements"], strict=True))
    assert {"y[1]", "y", "inputs"} == set(attempt.checks["output"])
    passed = attempt.checks[attempt.checks["output"] == "y"].groupby("arm")["elements"].max()
    assert {"base": 3 * 256, "again": 3 * 256, "idea": 2 * 256} == passed.to_dict()
    assert (attempt.batches["launches"] % 6 == 0).all()


def test_what_spoils_an_arm_is_found_in_the_last_set_alone_too(lab: Lab) -> None:
    """Each of the faults above, made in the third of three sets only: that set is named, with the counts of a single one."""
    more = ""
    for name, body in SPOILT.items():
        wrong = body if name != "drift" else body.replace("++launches > 100", "launches++ / 3 > 30")
        once = f"static int64_t calls; if (calls++ % 3 != 2) {{ {RIGHT} return; }} {wrong}"
        more += lab.arm(name, body if name == "drift" else once)
    lab.write(program=PROGRAM + "\n\ndef sets(fixture):\n    return 3\n", more=more, repetitions=1, least_batch_ms=0.5)
    checks = lab.load(lab.run()).checks
    failed = checks[~checks["passed"]]
    columns = ("arm", "when", "kind", "mismatches", "elements")
    found = set(zip(*(failed[column] for column in columns), strict=True))
    assert {
        (arm, when, kind, mismatches, 3 if kind == "inputs" else 256) for arm, when, kind, mismatches, _ in FAILURES
    } == found
    assert {"y[2]", "inputs"} == set(failed.loc[failed["arm"] != "drift", "output"])
    assert {"y[0]", "y[1]", "y[2]"} == set(failed.loc[failed["arm"] == "drift", "output"])


def test_sets_that_differ_within_the_tolerance_are_one_row_with_the_worst_of_them(lab: Lab) -> None:
    """Elements are added up; the largest difference is that of the set which is off by 2e-7 of its values."""
    lab.write(
        program=PROGRAM.replace("rng.standard_normal((4,", "1 + rng.random((4,")
        + "\n\ndef sets(fixture):\n    return 3\n",
        idea="static int64_t launches; float gain = launches++ % 3 == 1 ? 2.0000002f : 2.0f;"
        " for (int64_t i = 0; i < 4 * a[2].i; i++) y[i] = gain * x[i];",
        repetitions=1,
    )
    checks = lab.load(lab.run()).checks
    (row,) = checks[(checks["arm"] == "idea") & (checks["kind"] == "value") & (checks["when"] == "before")].to_dict(
        "records"
    )
    assert ("y", 3 * 256, 0, True) == (row["output"], row["elements"], row["mismatches"], row["passed"])
    assert 2e-7 < row["max_abs"] < 1e-6
    assert 5e-8 < row["rel_l2"] < 3e-7
