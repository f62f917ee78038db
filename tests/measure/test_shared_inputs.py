"""Inputs that fixtures share, and outputs of which the reference knows some rows: through a whole run in C and a simulated one."""

from __future__ import annotations

import numpy as np
import pytest

from reportgen.archive.load import Attempt
from reportgen.calls import Output
from reportgen.errors import InputError
from reportgen.measure.correctness import compare_values
from reportgen.model.record import Status
from tests.measure.lab import PROGRAM, Lab

MORE = """
TABLE = np.arange(64, dtype=np.float32).reshape(4, 16)

def inputs(fixture, rng):
    return {"x": TABLE, "own": np.full(3, fixture["n"], np.float32)}

def shared(fixture):
    return {"x": "the table"}

def outputs(fixture):
    return {"y": Output((4, 16), "float32", absolute=0.0, relative=0.0, rows=(1, 3))}

def reference(fixture, inputs):
    return {"y": 2.0 * inputs["x"].astype(np.float64)[[1, 3]]}

def kernels(arm, fixture, buffers):
    return [KernelCall(arm.symbol, (buffers["x"], buffers["y"], 16))]
"""
DOUBLE = "for (int64_t i = 0; i < 64; i++) y[i] = 2.0f * x[i];"


def value_checks(attempt: Attempt) -> list[tuple[int, bool]]:
    """Elements compared with a reference, and whether they passed."""
    found = attempt.checks[attempt.checks["kind"] == "value"]
    return sorted(set(zip(found["elements"].tolist(), found["passed"].tolist(), strict=True)))


@pytest.mark.parametrize("backend", ["native", "fake"])
def test_fixtures_share_one_buffer_and_rows_are_compared(lab: Lab, backend: str) -> None:
    """The hash of the table stands with both fixtures; of 64 elements the 32 of two rows are compared."""
    lab.write(base=DOUBLE, idea=DOUBLE + " y[0] += 0.0f;", backend=backend, sizes="[8, 16]", program=PROGRAM + MORE)
    attempt = lab.load(lab.run())
    assert Status.SCORED == attempt.status
    assert [(32, True)] == value_checks(attempt)


def test_an_arm_that_writes_to_what_is_shared_fails_everywhere(lab: Lab) -> None:
    """The table is uploaded anew for the arm that comes next."""
    lab.write(base=DOUBLE, idea=DOUBLE + " x[5] += 1.0f;", sizes="[8, 16]", program=PROGRAM + MORE)
    checks = lab.load(lab.run()).checks
    inputs = checks[checks["kind"] == "inputs"]
    assert {"idea"} == set(inputs.loc[~inputs["passed"], "arm"])
    assert {"n=8", "n=16"} == set(inputs.loc[~inputs["passed"], "fixture"])


def test_one_key_is_one_content(lab: Lab) -> None:
    """The line names the key."""
    lab.write(sizes="[8, 16]", program=PROGRAM + MORE.replace('TABLE, "own"', "TABLE + fixture['n'], \"own\""))
    with pytest.raises(InputError, match="inputs shared under 'the table' differ"):
        lab.run()


def test_a_fault_outside_the_sample_is_left_to_other_comparisons() -> None:
    """Rows 0 and 2 are nobody's business here; one wrong value in row 3 is found."""
    output = Output((4, 2), "float32", 0.0, 0.0, rows=(1, 3))
    values = np.arange(8, dtype=np.float32).reshape(4, 2)
    wanted = values[[1, 3]].astype(np.float64)
    values[0] = np.nan
    found = compare_values(values.view(np.uint8).ravel(), wanted, output)
    assert (4, 0) == (found.elements, found.mismatches)
    values[3, 1] += 1
    assert 1 == compare_values(values.view(np.uint8).ravel(), wanted, output).mismatches
