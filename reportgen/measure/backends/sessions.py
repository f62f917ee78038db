"""Backends by name, as the timed process opens them."""

from __future__ import annotations

from reportgen.errors import InputError
from reportgen.measure.backends.session import Session
from reportgen.measure.job import Job


def _cuda(job: Job) -> Session:
    from reportgen.measure.backends.cuda_session import CudaSession  # noqa: PLC0415 - only the backend in use is loaded

    return CudaSession(job)


def _native(job: Job) -> Session:
    from reportgen.measure.backends.native_session import NativeSession  # noqa: PLC0415 - only the backend in use is loaded

    return NativeSession(job)


def _fake(job: Job) -> Session:
    from reportgen.measure.backends.fake_session import FakeSession  # noqa: PLC0415 - only the backend in use is loaded

    return FakeSession(job)


def _command(job: Job) -> Session:
    from reportgen.measure.backends.command_session import CommandSession  # noqa: PLC0415 - only the backend in use is loaded

    return CommandSession(job)


SESSIONS = {"command": _command, "cuda": _cuda, "fake": _fake, "native": _native}


def open_session(job: Job) -> Session:
    """Open the job's backend.

    Raises
    ------
    InputError
        There is no backend of that name, or it cannot be opened here.
    """
    if job.backend not in SESSIONS:
        raise InputError(f"no backend named {job.backend!r}", remedy=f"known are: {', '.join(sorted(SESSIONS))}")
    return SESSIONS[job.backend](job)
