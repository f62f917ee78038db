"""The timed process: ``python -m reportgen.measure.worker JOB.json DESCRIPTOR``.

One job in, JSON lines out on the given descriptor; further jobs, a file's path a line, come on standard input until it
ends. Only the standard library, NumPy and the backend are imported here.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reportgen.errors import FindingError, InputError, ReportgenError
from reportgen.measure.backends.sessions import open_session
from reportgen.measure.calibration import calibrate
from reportgen.measure.channel import Channel
from reportgen.measure.checking import check_all
from reportgen.measure.failures import failure_sentence
from reportgen.measure.job import (
    AFTER,
    BEFORE,
    CALIBRATE,
    LAYOUT,
    PEER,
    PLACEMENT,
    PROFILE,
    REFERENCE,
    REFUSED,
    SANITIZE,
    Job,
    read_job,
)
from reportgen.measure.profiled import profile
from reportgen.measure.references import make_references
from reportgen.measure.rig import Rig
from reportgen.measure.timing import now_s, time_blocks

PR_SET_PDEATHSIG = 1
MOST_KILLABLE = "1000"
COMMAND = "command"


def main(arguments: list[str]) -> int:
    """Do one job after the other, the first from the arguments, further ones from standard input; 1 after a fault that was sent."""
    started_s = now_s()
    job_file, descriptor = Path(arguments[0]), int(arguments[1])
    _die_with_parent()
    bench = Bench(Channel(descriptor))
    while True:
        if not _serve(job_file, bench, started_s):
            return 1
        line = sys.stdin.readline()
        if not line:
            return 0
        job_file, started_s = Path(line.rstrip("\n")), now_s()


@dataclass
class Bench:
    """What stays between the jobs of one process: its voice, and in mode placement all that was set up."""

    channel: Channel
    rig: Rig | None = None


def _serve(job_file: Path, bench: Bench, started_s: float) -> bool:
    """Do one job; whether it was done."""
    job, channel = read_job(job_file), bench.channel
    try:
        facts = _do(job, bench, started_s)
    except ReportgenError as fault:
        channel.send("fault", kind=type(fault).__name__, what=fault.what, where=fault.where, remedy=fault.remedy)
        return False
    except (OSError, MemoryError) as fault:
        channel.send("fault", kind="system", what=str(fault) or "out of memory", errno=getattr(fault, "errno", None))
        return False
    channel.send("done", facts=facts)
    return True


def _do(job: Job, bench: Bench, started_s: float) -> dict[str, Any]:
    channel = bench.channel
    channel.at("start")
    if job.kind == REFERENCE:
        make_references(job, channel)
        return {}
    rig = _rig(job, bench)
    if job.kind == SANITIZE:
        channel.send("checks", rows=check_all(rig, BEFORE))
        return {"session": rig.session.facts()}
    if job.kind == PROFILE:
        return {"counted": profile(rig), "session": rig.session.facts()}
    facts = _timed(rig, started_s)
    if bench.rig is None and (job.mode == LAYOUT or job.backend == COMMAND):
        # What the next repetition draws anew is gone by then, and so are programs of others.
        rig.close()
    return facts


def _timed(rig: Rig, started_s: float) -> dict[str, Any]:
    job = rig.job
    if job.kind == CALIBRATE:
        warm_up = rig.session.stabilise(job.warm_up_s)
        facts = {"replays": calibrate(rig), "clock_warm_up": warm_up, "session": rig.session.facts()} | _code(rig)
        return facts if job.mode != PEER else facts | {REFUSED: rig.refused}
    return _repeat(rig, started_s)


def _rig(job: Job, bench: Bench) -> Rig:
    """Set everything up, or go on with what a process of mode placement has set up before."""
    if bench.rig is not None:
        bench.rig.adopt(job)
        return bench.rig
    rig = Rig(job, open_session(job), bench.channel)
    rig.build()
    if job.mode == PLACEMENT:
        bench.rig = rig
    return rig


def _repeat(rig: Rig, started_s: float) -> dict[str, Any]:
    built_s = now_s()
    passed = _check(rig, BEFORE)
    checked_s = now_s()
    warm_up = rig.session.stabilise(rig.job.warm_up_s)
    warm_s = now_s()
    facts = time_blocks(rig) if rig.job.harness is None else _harness(rig)
    timed_s = now_s()
    passed += _check(rig, AFTER)
    phases_s = {
        "setup_s": built_s - started_s,
        "check_before_s": checked_s - built_s,
        "clock_warm_up_s": warm_s - checked_s,
        "timed_s": timed_s - warm_s,
        "check_after_s": now_s() - timed_s,
    }
    facts |= phases_s | {"clock_warm_up": warm_up, "session": rig.session.facts(), "inputs": _input_hashes(rig)}
    facts |= _code(rig)
    return facts if rig.job.keeps_checks else facts | {"checks_passed": passed, "addresses": rig.addresses()}


def _code(rig: Rig) -> dict[str, Any]:
    """Tell what arms in Python became, where there are any."""
    found = rig.python_code()
    return {"code": found} if found else {}


def _check(rig: Rig, when: str) -> int:
    """Check all arms where the job asks for it, and count; only of fresh processes do the rows reach the record.

    Raises
    ------
    FindingError
        A check failed in another mode: what is timed there must be right, too.
    """
    if when not in rig.job.checks:
        return 0
    rows = check_all(rig, when)
    if rig.job.keeps_checks:
        rig.channel.send("checks", rows=rows)
        return len(rows)
    for row in rows:
        if not row["passed"]:
            raise FindingError(failure_sentence(row), remedy="see its checks in mode process")
    return len(rows)


def _harness(rig: Rig) -> dict[str, Any]:
    """Leave the timing to another program."""
    from reportgen.measure.harnesses import time_harness  # noqa: PLC0415 - only its own processes load it

    return time_harness(rig)


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
    # Where memory runs out, the kernel is to choose this process, not a guard nor the service beside it.
    Path("/proc/self/oom_score_adj").write_text(MOST_KILLABLE, encoding="ascii")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
