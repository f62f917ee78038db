"""The timed process: ``python -m reportgen.measure.worker JOB.json DESCRIPTOR``.

One job in, JSON lines out on the given descriptor. Only the standard library, NumPy and the backend are imported here.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path
from typing import Any

from reportgen.errors import InputError, ReportgenError
from reportgen.measure.backends.sessions import open_session
from reportgen.measure.calibration import calibrate
from reportgen.measure.channel import Channel
from reportgen.measure.checking import AFTER, BEFORE, check_all
from reportgen.measure.job import CALIBRATE, REFERENCE, SANITIZE, Job, read_job
from reportgen.measure.references import make_references
from reportgen.measure.rig import Rig
from reportgen.measure.timing import now_s, time_blocks

PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> int:
    """Do one job; 0 once it is done and said so, 1 after a fault that was sent."""
    started_s = now_s()
    job_file, descriptor = Path(arguments[0]), int(arguments[1])
    _die_with_parent()
    job, channel = read_job(job_file), Channel(descriptor)
    try:
        facts = _do(job, channel, started_s)
    except ReportgenError as fault:
        channel.send("fault", kind=type(fault).__name__, what=fault.what, where=fault.where, remedy=fault.remedy)
        return 1
    except (OSError, MemoryError) as fault:
        channel.send("fault", kind="system", what=str(fault) or "out of memory", errno=getattr(fault, "errno", None))
        return 1
    channel.send("done", facts=facts)
    return 0


def _do(job: Job, channel: Channel, started_s: float) -> dict[str, Any]:
    channel.at("start")
    if job.kind == REFERENCE:
        make_references(job, channel)
        return {}
    session = open_session(job)
    rig = Rig(job, session, channel)
    rig.build()
    if job.kind == SANITIZE:
        channel.send("checks", rows=check_all(rig, BEFORE))
        return {"session": session.facts()}
    if job.kind == CALIBRATE:
        warm_up = session.stabilise(job.warm_up_s)
        return {"replays": calibrate(rig), "clock_warm_up": warm_up, "session": session.facts()}
    return _repeat(rig, started_s)


def _repeat(rig: Rig, started_s: float) -> dict[str, Any]:
    built_s = now_s()
    rig.channel.send("checks", rows=check_all(rig, BEFORE))
    checked_s = now_s()
    warm_up = rig.session.stabilise(rig.job.warm_up_s)
    warm_s = now_s()
    facts = time_blocks(rig)
    timed_s = now_s()
    rig.channel.send("checks", rows=check_all(rig, AFTER))
    phases_s = {
        "setup_s": built_s - started_s,
        "check_before_s": checked_s - built_s,
        "clock_warm_up_s": warm_s - checked_s,
        "timed_s": timed_s - warm_s,
        "check_after_s": now_s() - timed_s,
    }
    return facts | phases_s | {"clock_warm_up": warm_up, "session": rig.session.facts(), "inputs": _input_hashes(rig)}


def _input_hashes(rig: Rig) -> dict[str, dict[str, str]]:
    """SHA-256 of the first set's inputs as they lie on the device, where the job asks for it."""
    if not rig.job.hash_inputs:
        return {}
    return {fixture.name: rig.input_hashes(fixture.name) for fixture in rig.job.fixtures}


def _die_with_parent() -> None:
    """Ask Linux to kill this process when the controller dies; elsewhere the controller's own care must do."""
    if not sys.platform.startswith("linux"):
        return
    parent = os.getppid()
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise InputError(f"cannot be tied to its parent: {os.strerror(ctypes.get_errno())}", where="worker")
    if os.getppid() != parent or parent == 1:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
