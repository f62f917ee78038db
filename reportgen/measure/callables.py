"""Callables in the timed process: peers, prepared by the experiment's ``call``, and arms in Python, prepared by their own function."""

from __future__ import annotations

from reportgen.calls import Output
from reportgen.errors import InputError, WorkerError
from reportgen.measure.backends.session import CallableGraph, CallableRefusedError, CallableSpec, Session
from reportgen.measure.description import Description, Shapes
from reportgen.measure.job import CALIBRATE, PEER, Job
from reportgen.measure.python_arms import PythonArms
from reportgen.measure.references import References

Arrays = dict[str, tuple[tuple[int, ...], str]]


def peer_spec(
    job: Job, description: Description, shapes: Shapes, place: tuple[str, str], launches: list[tuple[int, int]]
) -> CallableSpec:
    """Say what the graph of a peer (``place`` is its fixture and name) replays; ``launches`` are set and step of its executions."""
    fixture, arm = place
    seen = job.arm(arm).seen(), job.fixture(fixture).seen()
    return CallableSpec(
        arm=arm,
        fixture=fixture,
        sets=shapes.sets,
        steps=shapes.steps,
        launches=tuple(launches),
        arrays=_arrays(References(job), fixture, shapes),
        prepare=lambda buffers, stream: description.call(*seen, buffers, stream, stepped=shapes.steps > 1),
    )


def python_spec(
    job: Job, python: PythonArms, shapes: Shapes, place: tuple[str, str], launches: list[tuple[int, int]]
) -> CallableSpec:
    """Say what the graph of an arm in Python replays, as :func:`peer_spec` does for a peer."""
    fixture, arm = place
    seen = job.fixture(fixture).seen()
    return CallableSpec(
        arm=arm,
        fixture=fixture,
        sets=shapes.sets,
        steps=shapes.steps,
        launches=tuple(launches),
        arrays=_arrays(References(job), fixture, shapes),
        prepare=lambda buffers, stream: python.prepare(arm, seen, buffers, stream, stepped=shapes.steps > 1),
        what="arm",
    )


def capture_or_refuse(job: Job, session: Session, spec: CallableSpec) -> CallableGraph | str:
    """Make the graph of a callable, or say why a peer cannot run on its fixture.

    Only the calibrating process of peers may leave one out: what was calibrated is measured in every repetition. An arm of ours is never left out.

    Raises
    ------
    WorkerError
        What was calibrated cannot run now.
    InputError
        The experiment breaks its own rules (docs/writing-experiments.md), or an arm in Python cannot run.
    """
    try:
        return session.capture_callable(spec)
    except CallableRefusedError as fault:
        if spec.what == PEER and job.kind == CALIBRATE:
            return fault.what
        if spec.what == PEER:
            raise WorkerError(f"{spec.named} cannot run any more: {fault.what}", where=spec.fixture) from fault
        raise InputError(
            f"{spec.named}: {fault.what}",
            where=spec.fixture,
            remedy='correct it, or call it: protocol.launching = "calls"',
        ) from fault


def _arrays(files: References, fixture: str, shapes: Shapes) -> Arrays:
    """Shape and type of every buffer of one set, as the experiment made or declared them."""
    inputs: Arrays = {name: (array.shape, str(array.dtype)) for name, array in files.inputs(fixture).items()}
    written: dict[str, Output] = {**shapes.outputs, **shapes.scratch}
    return inputs | {name: (output.shape, output.dtype) for name, output in written.items()}
