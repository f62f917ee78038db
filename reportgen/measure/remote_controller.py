"""The controller of an attempt for another host: ``python -m reportgen.measure.remote_controller FOLDER``, started by a worker.

It runs as the command line does, with a watchdog; only the seal is left to whoever sent the attempt.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reportgen.errors import EXIT_FINDING, ReportgenError
from reportgen.measure.devices import end_with_parent
from reportgen.measure.marks import own_mark
from reportgen.measure.parcel import DEVICE_VARIABLE, LAB_VARIABLE
from reportgen.measure.remote import DESCRIBE, JOB, OUTCOME, PROGRESS
from reportgen.measure.watchdog import Watched, split
from reportgen.measure.watching import RunOptions
from reportgen.project import SETTINGS_FILE, open_project

_PREDECESSOR_S = 30.0


class Telling:
    """A watch that writes what it is told to a file, a line each."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def phase(self, name: str, detail: str = "") -> None:
        """Something begins."""
        self._tell("phase", name, detail)

    def repetition_done(
        self, done: int, planned: int, seconds_left: float, rows: Sequence[dict[str, Any]], series: str
    ) -> None:
        """Take note of progress; the rows are on their way anyhow."""
        del rows
        self._tell("done", done, planned, seconds_left, series)

    def warning(self, sentence: str) -> None:
        """Pass a warning on."""
        self._tell("warning", sentence)

    def _tell(self, *words: Any) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(words) + "\n")


def _describe(backend: str) -> dict[str, Any]:
    from reportgen.measure.backends.builders import open_builder  # noqa: PLC0415 - each process loads what it needs

    lab = open_project(Path(os.environ.get(LAB_VARIABLE) or Path.cwd()))
    device = open_builder(backend).device(os.environ.get(DEVICE_VARIABLE) or None)
    services = lab.settings.services if (lab.root / SETTINGS_FILE).is_file() else []
    host = own_mark().boot if sys.platform.startswith("linux") else os.uname().nodename
    return {
        "device": device.id,
        "kind": device.kind,
        "host": host,
        "services": [service.name for service in services if service.shares(device.id)],
    }


def _measure(root: Path, job: dict[str, Any]) -> int:
    project = open_project(root)
    side = split(project.runs, project.guarding, job["experiment"])
    if isinstance(side, Watched):
        sys.stderr.writelines(f"{sentence}\n" for sentence in side.sentences)
        return side.exit_status
    from reportgen.measure.backends.builders import open_builder  # noqa: PLC0415 - after the fork
    from reportgen.measure.controller import run  # noqa: PLC0415 - after the fork: a watchdog stays small
    from reportgen.measure.locking import wait_until_free  # noqa: PLC0415 - after the fork

    attempt, resumed = job["attempt"], job["resume"]
    options = RunOptions(
        backend=job["backend"],
        device=job["device"],
        quick=job["quick"],
        resume=attempt if resumed else None,
        attempt=None if resumed else attempt,
        seals=False,
    )
    try:
        wait_until_free(open_builder(job["backend"]).device(job["device"]), _PREDECESSOR_S)
        ended = run(project, job["experiment"], options, Telling(root / PROGRESS), side)
        told: dict[str, Any] = {
            "status": ended.status,
            "reason": ended.reason,
            "exit_status": ended.exit_status,
            "sentence": ended.sentence,
            "left_open": ended.left_open,
        }
    except ReportgenError as fault:
        told = {"error": fault.one_line(), "exit_status": fault.exit_status}
    hidden = root / f".{OUTCOME}"
    hidden.write_text(json.dumps(told), "utf-8")
    hidden.rename(root / OUTCOME)
    return int(told["exit_status"])


def main(words: Sequence[str]) -> int:
    """Describe the device, or measure the job of a folder; the exit status."""
    try:
        if words[0] == DESCRIBE:
            sys.stdout.write(json.dumps(_describe(words[1])))
            return 0
        root = Path(words[0])
        job = json.loads((root / JOB).read_bytes())
        end_with_parent(signal.SIGTERM, job["parent"])
        return _measure(root, job)
    except ReportgenError as fault:
        sys.stderr.write(f"{fault.one_line()}\n")
        return fault.exit_status or EXIT_FINDING


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
