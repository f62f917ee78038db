"""An attempt for another host, measured on this one: a process with guards of its own, and what it archives, read as it grows.

It imports little: a worker of the fleet has it loaded all the time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from reportgen.archive import layout
from reportgen.archive.sums import files_under
from reportgen.measure.parcel import LOGS, Parcel

PROGRAM = "reportgen.measure.remote_controller"
JOB, PROGRESS, OUTCOME, SAID = "job.json", "progress.jsonl", "outcome.json", "said.txt"
DESCRIBE = "--describe"
_ASK_S = 60.0
Message = tuple[str, str, bytes]


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
                [sys.executable, "-P", "-m", PROGRAM, str(self.root)],
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
        """Say how it ended, as it wrote it; a process that was killed has written nothing."""
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
        [sys.executable, "-P", "-m", PROGRAM, DESCRIBE, backend],
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
