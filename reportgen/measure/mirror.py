"""The sender's own journal of an attempt that is measured elsewhere: what arrives is checked and on the disk before the next is taken."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import structs

from reportgen.archive import layout
from reportgen.archive.durable import refused
from reportgen.archive.encoding import decode_json
from reportgen.archive.journal import Journal, OpenHeader, decode_event, decode_repetition
from reportgen.errors import EXIT_FINDING, FindingError, RecordError
from reportgen.measure.closing import leave_open, seal_as
from reportgen.measure.locking import opening_lock
from reportgen.measure.opening import digest_of
from reportgen.measure.parcel import LOGS
from reportgen.measure.remote import PROGRESS, Message
from reportgen.measure.watching import RunOutcome, Watch
from reportgen.model.plan import Plan
from reportgen.model.record import SCHEMA_VERSION, Provenance, Status

LOST = "the worker was lost"


@dataclass
class Mirror:
    """One attempt that another host measures; ``journal`` is there once its header has arrived, or from the first for a resumed one."""

    runs: Path
    plan: Plan
    attempt: str
    provenance: Provenance
    watch: Watch
    label: str
    journal: Journal | None = None

    def __post_init__(self) -> None:
        folder = layout.open_dir(self.runs, self.plan.name, self.attempt)
        if folder.is_dir():
            self.journal = Journal.resume(folder)

    def take(self, message: Message) -> None:
        """Archive one message.

        Raises
        ------
        RecordError
            It is not of this attempt, or damaged, or the disk refuses.
        """
        kind, name, data = message
        if name == PROGRESS:
            self._tell(*json.loads(data))
        elif name == layout.HEADER:
            self._open(decode_json(data, OpenHeader, SCHEMA_VERSION, f"{self.label}: {name}"))
        elif self.journal is None:
            raise RecordError(f"sent {name} before its header", where=self.label)
        elif kind == "line" and name == layout.JOURNAL:
            self.journal.append(decode_repetition(data, f"{self.label}: {name}"))
        elif kind == "line":
            self.journal.relay(decode_event(data, f"{self.label}: {name}"))
        elif name.startswith(f"{layout.ARTIFACTS}/"):
            self._artifact(self.journal, name.removeprefix(f"{layout.ARTIFACTS}/"), data)

    def finish(self, told: Mapping[str, Any]) -> RunOutcome:
        """Seal the attempt as whoever measured it says, or leave it open."""
        if "error" in told:
            return self.leave(FindingError(f"{self.label}: {told['error']}"), int(told["exit_status"]))
        status, sentence = Status(told["status"]), str(told["sentence"])
        if self.journal is None or told["left_open"]:
            return self.leave(FindingError(str(told["reason"])), int(told["exit_status"]))
        return seal_as(self.journal, status, str(told["reason"]), int(told["exit_status"]), sentence)

    def lose(self) -> None:
        """Note that the worker is gone; the attempt is open and readable as aborted."""
        if self.journal is not None:
            self.journal.event("worker lost")
            self.journal.close()

    def leave(self, fault: FindingError, exit_status: int = EXIT_FINDING) -> RunOutcome:
        """Leave the attempt open to be resumed, if there is one."""
        fault.exit_status = exit_status
        if self.journal is None:
            return RunOutcome(None, Status.ABORTED, fault.one_line(), [], exit_status, fault.one_line())
        return leave_open(self.journal, fault)

    def _open(self, header: OpenHeader) -> None:
        same = {
            "attempt": (header.id, self.attempt),
            "plan": (header.plan, self.plan.digest),
            "experiment": (header.experiment, self.plan.name),
            "binaries_digest": (header.binaries_digest, digest_of(header.binaries)),
        }
        for what, (theirs, ours) in same.items():
            if theirs != ours:
                raise RecordError(f"the header's {what} is {theirs[:80]!r}, not {ours!r}", where=self.label)
        folder = layout.open_dir(self.runs, self.plan.name, self.attempt)
        with opening_lock(folder.parent):
            self.journal = Journal.create(folder, structs.replace(header, provenance=self.provenance), self.plan)

    def _artifact(self, journal: Journal, name: str, data: bytes) -> None:
        if not name.startswith(LOGS):
            journal.artifact(name, data)
            return
        path = layout.artifacts_dir(journal.folder) / LOGS / Path(name).name
        try:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)  # a repetition that was lost on its way leaves a second log of the same name
        except OSError as fault:
            raise refused(path, fault) from fault

    def _tell(self, kind: str, *words: Any) -> None:
        if kind == "phase":
            self.watch.phase(str(words[0]), f"{self.label} {words[1]}".strip())
        elif kind == "warning":
            self.watch.warning(f"{self.label}: {words[0]}")
        else:
            done, planned, seconds_left, series = words
            self.watch.repetition_done(int(done), int(planned), float(seconds_left), [], str(series))
