"""Launches of a graph that differ in a number."""

from __future__ import annotations

import numpy as np

from reportgen.calls import Buffer, KernelCall, Step
from reportgen.measure.steps import at_step
from tests.measure.lab import PROGRAM, Lab

STEPPED = (
    PROGRAM.replace("import Buffer, KernelCall, Output", "import KernelCall, Output, Step").replace(
        'fixture["n"]))]', 'fixture["n"], Step()))]'
    )
    + """
def steps(fixture):
    return 4

def sets(fixture):
    return 2

def launches(fixture):
    return 9
"""
)
OWN_ROW = "int64_t n = a[2].i, first = a[3].i * n; for (int64_t i = first; i < first + n; i++) y[i] = 2.0f * x[i];"


def test_the_number_of_the_step_takes_its_place_in_every_call() -> None:
    """Other arguments stay; a call without a step stays itself."""
    plain = KernelCall("plain", (Buffer("x"), 7))
    stepped = KernelCall("stepped", (Step(), Buffer("x"), np.int32(2)), grid=(3, 1, 1))

    told = at_step([plain, stepped], 5)

    assert told[0] is plain
    assert KernelCall("stepped", (5, Buffer("x"), np.int32(2)), grid=(3, 1, 1)) == told[1]


def test_a_graph_launches_every_step_on_every_set_equally_often(lab: Lab) -> None:
    """Four steps that each write one row of four, on two sets: a round has eight launches, two rounds the nine that were asked for."""
    lab.write(program=STEPPED, base=OWN_ROW, idea=OWN_ROW, repetitions=1)

    attempt = lab.load(lab.run())

    assert (attempt.batches["launches"] % 16 == 0).all()
    assert attempt.checks["passed"].all()
    assert {2 * 256} == set(attempt.checks.loc[attempt.checks["output"] == "y", "elements"])
