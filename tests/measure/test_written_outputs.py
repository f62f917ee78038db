"""An arm that adds an output to what the incumbent makes is compared in it; the incumbent, which does not write it, is not."""

from __future__ import annotations

from reportgen.model.record import Status
from tests.measure.lab import PROGRAM, Lab

TWO = (
    PROGRAM
    + """
def outputs(fixture):
    return {name: Output((4, fixture["n"]), "float32", absolute=1e-6, relative=1e-6) for name in ("y", "twice")}

def reference(fixture, inputs):
    return {name: 2.0 * inputs["x"].astype(np.float64) for name in ("y", "twice")}

def written(arm, fixture):
    return ("y", "twice") if arm.name == "idea" else ("y",)
"""
)


def test_only_what_an_arm_writes_is_compared(lab: Lab) -> None:
    """Values of both outputs for the idea and of one for the others; bits of the null in the output that both have."""
    lab.write(backend="fake", program=TWO, repetitions=1)
    attempt = lab.load(lab.run())
    seen = attempt.checks[attempt.checks["kind"] != "inputs"]
    compared = {
        (arm, kind, output) for arm, kind, output in zip(seen["arm"], seen["kind"], seen["output"], strict=True)
    }

    assert Status.SCORED == attempt.status
    assert {("base", "value", "y"), ("idea", "value", "y"), ("idea", "value", "twice")} <= compared
    assert ("base", "value", "twice") not in compared
    assert {"y"} == {output for arm, kind, output in compared if arm == "again"}
