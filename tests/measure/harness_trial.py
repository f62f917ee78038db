"""One harness process on a GPU, as a worker would be: ``python -m tests.measure.harness_trial JOB.json TOLD.json``.

Beside what the harness tells, it times the same arms by a batch of the timed graph, and checks them before and after.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

from reportgen.measure.checking import check_all
from reportgen.measure.harnesses import time_harness
from reportgen.measure.job import AFTER, BEFORE, read_job
from reportgen.measure.rig import Rig
from reportgen.measure.timing import now_s, time_batch
from tests.measure.harness_rig import built_rig

BATCHES, REPLAYS = 5, 20


def _batch_times_ns(rig: Rig) -> dict[str, dict[str, float]]:
    """Median time of an execution in a batch of the timed graph, by fixture and arm."""
    return {
        fixture: {
            arm: statistics.median(
                time_batch(rig, fixture, arm, REPLAYS)[0].elapsed_ns / (REPLAYS * rig.launches(fixture))
                for _ in range(BATCHES)
            )
            for arm in arms
        }
        for fixture, arms in rig.job.orders.items()
    }


def main(job_file: str, told_file: str) -> None:
    """Do one job and say what came of it."""
    began_s = now_s()
    rig, heard = built_rig(read_job(Path(job_file)))
    checks = check_all(rig, BEFORE)
    rig.session.stabilise(rig.job.warm_up_s)
    batch_ns = _batch_times_ns(rig)
    ready_s = now_s()
    facts = time_harness(rig)
    told: dict[str, Any] = {"facts": facts, "rows": heard.rows(), "batch_ns": batch_ns}
    told["seconds"] = {"ready": ready_s - began_s, "harness": now_s() - ready_s}
    checks += check_all(rig, AFTER)
    told["batch_after_ns"] = _batch_times_ns(rig)
    told["checks"] = [len(checks), sum(row["passed"] for row in checks)]
    Path(told_file).write_text(json.dumps(told, allow_nan=False), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
