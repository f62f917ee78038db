"""An attempt for another host, measured on this one: a process with guards of its own, and what it archives, read as it grows.

Started as ``python -m reportgen.measure.remote JOB`` by a worker of the fleet. It runs the controller as the command line does;
only the seal is left to whoever sent the attempt.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from reportgen.archive import layout
from reportgen.archive.sums import files_under
from reportgen.errors import EXIT_FINDING, ReportgenError
from reportgen.measure.backends.builders import open_builder
from reportgen.measure.controller import run
from reportgen.measure.devices import end_with_parent
from reportgen.measure.locking import wait_until_free
from reportgen.measure.marks import own_mark
from reportgen.measure.parcel import DEVICE_VARIABLE, LAB_VARIABLE, LOGS, Parcel
from reportgen.measure.watchdog import Watched, split
from reportgen.measure.watching import RunOptions
from reportgen.project import SETTINGS_FILE, open_project

JOB, PROGRESS, OUTCOME, SAID = "job.json", "progress.jsonl", "outcome.json", "said.txt"
_PREDECESSOR_S = 30.0
_ASK_S = 60.0
Message = tuple[str, str, bytes]


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


@dataclass
class RemoteRun:
    """The process of one attempt in the lab under ``root``, and what was read of it. Use as a context manager: it ends with it."""

    root: Path
    parcel: Parcel
    device: str | None
    process: subprocess.Popen[bytes] = field(init=False)
    offsets: dict[str, int] = field(default_factory=dict)
    sent: set[str] = field(default_factory=set)

    def __enter__(self) -> Self:
        parcel = self.parcel
        job = {
            "experiment": parcel.experiment,
            "backend": parcel.backend,
            "attempt": parcel.attempt,
            "device": self.device,
            "quick": parcel.quick,
            "resume": bool(parcel.opened),
            "parent": os.getpid(),
        }
        (self.root / JOB).write_text(json.dumps(job), "utf-8")
        self.offsets = {name: len(parcel.opened.get(name, b"")) for name in (layout.JOURNAL, layout.EVENTS)}
        self.sent = {*parcel.opened}
        with (self.root / SAID).open("wb") as said:
            self.process = subprocess.Popen(  # noqa: S603 - this interpreter, a fixed module
                [sys.executable, "-P", "-m", "reportgen.measure.remote", str(self.root)],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()

    def news(self) -> Iterator[Message]:
        """Give what was archived or told since the last call. Header and plan come first, artifacts before the repetitions.

        What is told comes after what was archived by then. Logs of the timed processes come once the process has ended.
        """
        ended = self.process.poll() is not None
        told = [*self._lines(self.root, PROGRESS)]
        yield from self._archived(ended=ended)
        yield from told

    def _archived(self, *, ended: bool) -> Iterator[Message]:
        folder = layout.open_dir(self.root / "runs", self.parcel.experiment, self.parcel.attempt)
        if not folder.is_dir():
            return
        lines = [*self._lines(folder, layout.EVENTS), *self._lines(folder, layout.JOURNAL)]
        for name in (layout.HEADER, layout.PLAN):
            yield from self._once(folder, name)
        if ended or any(name == layout.JOURNAL for _, name, _ in lines):
            for name in files_under(layout.artifacts_dir(folder)):
                if ended or not name.startswith(LOGS):
                    yield from self._once(folder, f"{layout.ARTIFACTS}/{name}")
        yield from lines

    def outcome(self) -> dict[str, Any]:
        """Say how it ended, as :func:`main` wrote it; a process that was killed has written nothing."""
        try:
            found: dict[str, Any] = json.loads((self.root / OUTCOME).read_bytes())
        except (OSError, ValueError):
            words = (self.root / SAID).read_text("utf-8", "replace").strip().splitlines()
            return {"error": words[-1] if words else f"ended with status {self.process.returncode}", "exit_status": 1}
        return found

    def _lines(self, folder: Path, name: str) -> Iterator[Message]:
        path = folder / name
        if not path.is_file():
            return
        with path.open("rb") as file:
            file.seek(self.offsets.get(name, 0))
            whole, newline, _ = file.read().rpartition(b"\n")
        self.offsets[name] = self.offsets.get(name, 0) + len(whole) + len(newline)
        yield from (("line", name, line) for line in whole.split(b"\n") if newline)

    def _once(self, folder: Path, name: str) -> Iterator[Message]:
        if name not in self.sent:
            self.sent.add(name)
            yield "file", name, (folder / name).read_bytes()


def describe(backend: str) -> dict[str, Any]:
    """Say which device this host's worker owns, asked in a process of its own: a worker opens no driver.

    Raises
    ------
    RuntimeError
        It cannot be told; the line says why.
    """
    asked = subprocess.run(  # noqa: S603 - this interpreter, a fixed module
        [sys.executable, "-P", "-m", "reportgen.measure.remote", "--describe", backend],
        capture_output=True,
        text=True,
        timeout=_ASK_S,
        check=False,
    )
    if asked.returncode:
        words = asked.stderr.strip().splitlines()
        raise RuntimeError(words[-1] if words else f"ended with status {asked.returncode}")
    found: dict[str, Any] = json.loads(asked.stdout)
    return found


def _describe(backend: str) -> dict[str, Any]:
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
        if words[0] == "--describe":
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
