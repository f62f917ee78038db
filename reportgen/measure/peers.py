"""Implementations of others in the timed process: prepared by the experiment's ``call``, captured like any arm, or refused with a reason."""

from __future__ import annotations

from reportgen.calls import Output
from reportgen.errors import WorkerError
from reportgen.measure.backends.session import PeerGraph, PeerRefusedError, PeerSpec, Session
from reportgen.measure.description import Description, Shapes
from reportgen.measure.job import CALIBRATE, Job
from reportgen.measure.references import References

Arrays = dict[str, tuple[tuple[int, ...], str]]


def peer_spec(
    job: Job, description: Description, shapes: Shapes, place: tuple[str, str], launches: list[tuple[int, int]]
) -> PeerSpec:
    """Say what the graph of a peer (``place`` is its fixture and name) replays; ``launches`` are set and step of its executions."""
    fixture, arm = place
    seen = job.arm(arm).seen(), job.fixture(fixture).seen()
    return PeerSpec(
        arm=arm,
        fixture=fixture,
        sets=shapes.sets,
        steps=shapes.steps,
        launches=tuple(launches),
        arrays=_arrays(References(job), fixture, shapes),
        prepare=lambda buffers, stream: description.call(*seen, buffers, stream, stepped=shapes.steps > 1),
    )


def capture_or_refuse(job: Job, session: Session, spec: PeerSpec) -> PeerGraph | str:
    """Make a peer's graph, or say why the peer cannot run on its fixture.

    Only the group's calibrating process may leave a peer out: what was calibrated is measured in every repetition.

    Raises
    ------
    WorkerError
        A peer that was calibrated cannot run now.
    InputError
        The experiment breaks its own rules (docs/writing-experiments.md).
    """
    try:
        return session.capture_peer(spec)
    except PeerRefusedError as fault:
        if job.kind == CALIBRATE:
            return fault.what
        raise WorkerError(f"peer {spec.arm!r} cannot run any more: {fault.what}", where=spec.fixture) from fault


def _arrays(files: References, fixture: str, shapes: Shapes) -> Arrays:
    """Shape and type of every buffer of one set, as the experiment made or declared them."""
    inputs: Arrays = {name: (array.shape, str(array.dtype)) for name, array in files.inputs(fixture).items()}
    written: dict[str, Output] = {**shapes.outputs, **shapes.scratch}
    return inputs | {name: (output.shape, output.dtype) for name, output in written.items()}
