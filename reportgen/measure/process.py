"""A timed process that the controller owns: its process group, its deadlines, its certain end."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import psutil

from reportgen.errors import WorkerError
from reportgen.measure.interruption import Interruption

Message = dict[str, Any]

READ_BYTES = 1 << 16
GRACE_S = 2.0
VANISH_S = 10.0
POLL_S = 0.01


@dataclass(frozen=True)
class Deadlines:
    """Seconds until the first message, between two messages, and from the last message to the end."""

    start_s: float
    silence_s: float
    end_s: float = 10.0


_MOST_WORDS = 200


@dataclass(frozen=True)
class Launcher:
    """Words before the command of a worker; one that ``repeats`` runs the worker as often as it likes, one after the other.

    Those say the same. What matters is that each of them is done.
    """

    words: tuple[str, ...] = ()
    repeats: bool = False


class WorkerProcess:
    """One ``reportgen.measure.worker``, under a ``launcher`` if given, in a session and process group of its own. Use as a context manager.

    One that ``stays`` waits after each job for :meth:`give`, until :meth:`dismiss`.
    """

    def __init__(
        self,
        job_file: Path,
        log_file: Path,
        environment: dict[str, str],
        launcher: Launcher = Launcher(),
        *,
        stays: bool = False,
    ) -> None:
        self._read_end, write_end = os.pipe()
        command = [
            *launcher.words,
            sys.executable,
            "-P",
            "-m",
            "reportgen.measure.worker",
            str(job_file),
            str(write_end),
        ]
        try:
            with log_file.open("ab") as log:
                self._process = subprocess.Popen(  # noqa: S603 - this interpreter, a fixed module
                    command,
                    stdin=subprocess.PIPE if stays else subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=[write_end],
                    env=environment,
                    start_new_session=True,
                )
        except BaseException:
            os.close(self._read_end)
            raise
        finally:
            os.close(write_end)
        self.at, self._log, self._repeats = "start", log_file, launcher.repeats

    @property
    def pid(self) -> int:
        """Process id, also that of the group."""
        return self._process.pid

    def messages(self, deadlines: Deadlines, interruption: Interruption) -> Iterator[Message]:
        """Yield what the worker says of one job, up to its ``done`` or ``fault``; unless it stays, it must then end.

        Raises
        ------
        WorkerError
            It dies, falls silent or answers nonsense; ``where`` says what it was doing.
        Interrupted
            The user asked for the end.
        """
        done = False
        for message in self._heard(deadlines, interruption):
            kind = message["message"]
            yield message
            done = kind == "done"
            if kind == "fault" or (done and not self._repeats):
                if kind == "fault" or self._process.stdin is None:
                    self._expect_end(deadlines)
                return
        if not done:
            raise self._death(deadlines)
        self._expect_end(deadlines)

    def _heard(self, deadlines: Deadlines, interruption: Interruption) -> Iterator[Message]:
        """Yield messages until nobody can say anything any more."""
        pending, limit_s = b"", deadlines.start_s
        with selectors.DefaultSelector() as selector:
            selector.register(self._read_end, selectors.EVENT_READ)
            selector.register(interruption.descriptor, selectors.EVENT_READ)
            while True:
                interruption.check()
                ready = {key.fd for key, _ in selector.select(limit_s)}
                if not ready:
                    raise WorkerError(
                        f"the timed process said nothing for {limit_s:g} s", where=self.at, remedy=self._last_words()
                    )
                if self._read_end not in ready:
                    continue
                chunk = os.read(self._read_end, READ_BYTES)
                if not chunk:
                    return
                *lines, pending = (pending + chunk).split(b"\n")
                for line in lines:
                    yield self._parsed(line)
                    limit_s = deadlines.silence_s

    def alive(self) -> bool:
        """Whether the worker itself still runs."""
        return self._exit_status(0) is None

    def give(self, job_file: Path) -> None:
        """Give a worker that stays a further job.

        Raises
        ------
        WorkerError
            It has ended while it waited.
        """
        try:
            self._tell(f"{job_file}\n".encode())
        except BrokenPipeError as fault:
            raise WorkerError("the timed process ended while it waited", where=self.at) from fault
        self.at = "start"

    def dismiss(self, deadlines: Deadlines) -> bool:
        """Let a worker that stays end by itself; whether it did so in time. :meth:`stop` is still due."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        return self._exit_status(deadlines.end_s) == 0

    def stop(self) -> None:
        """End the whole group: politely, then by force, and see that it is gone.

        Raises
        ------
        WorkerError
            Something of the group outlives SIGKILL (it hangs in the kernel).
        """
        for number, patience_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, VANISH_S)):
            if not self._alive():
                break
            _signal_group(self.pid, number)
            self._wait_gone(patience_s)
        if self._alive():
            raise WorkerError(
                f"process group {self.pid} does not end", where=self.at, remedy="see what the processes hang on"
            )
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the group and let go of the descriptors; raises as :meth:`stop` does."""
        try:
            self.stop()
        finally:
            os.close(self._read_end)
            if self._process.stdin is not None:
                self._process.stdin.close()

    def _tell(self, text: bytes) -> None:
        if self._process.stdin is None:
            raise WorkerError("the timed process takes one job only", where=self.at)
        os.write(self._process.stdin.fileno(), text)

    def _parsed(self, line: bytes) -> Message:
        try:
            message: Message = json.loads(line)
            kind = message["message"]
        except (ValueError, KeyError, TypeError) as fault:
            raise WorkerError(
                "the timed process answered nonsense", where=self.at, remedy=self._last_words()
            ) from fault
        if kind == "at":
            self.at = " ".join(
                part
                for part in (message["phase"], message["arm"] and f"arm {message['arm']}", message["fixture"])
                if part
            )
        return message

    def _expect_end(self, deadlines: Deadlines) -> None:
        if self._exit_status(deadlines.end_s) is None:
            raise WorkerError(
                f"the timed process answered but did not end in {deadlines.end_s:g} s",
                where=self.at,
                remedy=self._last_words(),
            )

    def _death(self, deadlines: Deadlines) -> WorkerError:
        status = self._exit_status(deadlines.end_s)
        if status is None:
            return WorkerError("the timed process closed its descriptor", where=self.at, remedy=self._last_words())
        how = f"was killed by {_signal_name(-status)}" if status < 0 else f"ended with status {status} and no answer"
        return WorkerError(f"the timed process {how}", where=self.at, remedy=self._last_words())

    def _last_words(self) -> str:
        """Give a user something to go by: the last line of the log, which itself may be gone when the error is read."""
        lines = [line for line in self._log.read_text("utf-8", "replace").splitlines() if line.strip()]
        return f"its last words: {lines[-1].strip()[:_MOST_WORDS]}" if lines else "mend what it was doing then"

    def _exit_status(self, patience_s: float) -> int | None:
        """Exit status (a signal's number negative) once the process ends, ``None`` if it does not.

        It is not collected here: its id names the group until :meth:`stop` has seen that the group is gone.
        """
        deadline_s = time.monotonic() + patience_s
        while (ended := os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is None:
            if time.monotonic() > deadline_s:
                return None
            time.sleep(POLL_S)
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    def _wait_gone(self, patience_s: float) -> None:
        deadline_s = time.monotonic() + patience_s
        while self._alive() and time.monotonic() < deadline_s:
            time.sleep(POLL_S)

    def _alive(self) -> bool:
        """Whether anything of the group still runs; those that only wait to be collected, as the leader does, do not."""
        try:
            os.killpg(self.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return any(_runs_in_group(process, self.pid) for process in psutil.process_iter())


def _runs_in_group(process: psutil.Process, group: int) -> bool:
    try:
        return os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE
    except (ProcessLookupError, psutil.Error):
        return False


def _signal_group(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
