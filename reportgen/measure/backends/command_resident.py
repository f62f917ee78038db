"""A living outside program: started once a repetition, asked a line of JSON on its standard input for every batch. Standard library only."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any

from reportgen.errors import FindingError

PIECE_BYTES = 1 << 16
MOST_BYTES = 1 << 24
_LAST_BYTES = 4096
_SHOWN = 200


class Resident:
    """One arm's program while it lives. Each method ends it where it does not do as it must, and says so.

    Raises
    ------
    FindingError
        It cannot be started.
    """

    def __init__(self, argv: Sequence[str], folder: str, environment: Mapping[str, str], deadline_s: float) -> None:
        self._deadline_s, self._heard = deadline_s, b""
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the program lives
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the experiment's own program, no shell
                list(argv),
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                bufsize=0,
            )
        except OSError as fault:
            self._said.close()
            raise FindingError(f"its program {argv[0]!r} cannot be started: {fault.strerror}") from fault

    def ask(self, question: Mapping[str, Any]) -> str:
        """Put one question; the first line that begins with ``{`` is its answer, the others are a program's own talk.

        Raises
        ------
        FindingError
            It ended, takes too long, talks without end, or had said more than it was asked.
        """
        self._expect_silence()
        line = json.dumps(question, separators=(",", ":")).encode() + b"\n"
        try:
            self._input.write(line)
        except OSError as fault:
            raise self._ended() from fault
        until_s, length = time.monotonic() + self._deadline_s, 0
        while True:
            head, found, rest = self._heard.partition(b"\n")
            if found:
                self._heard = rest
                if head.startswith(b"{"):
                    return head.decode("utf-8", "replace")
                continue
            piece = self._read(until_s)
            if not piece:
                raise self._ended()
            length += len(piece)
            if length > MOST_BYTES:
                raise self._fault(f"its program wrote {length} bytes and no answer")
            self._heard += piece

    def end(self) -> None:
        """Close its input and wait for its end.

        Raises
        ------
        FindingError
            It does not end in time, ends with another status than 0, or answers what nobody asked.
        """
        try:
            self._input.close()
            until_s = time.monotonic() + self._deadline_s
            while (piece := self._read(until_s)) and len(self._heard) < MOST_BYTES:
                self._heard += piece
            try:
                status = self._process.wait(max(0.0, until_s - time.monotonic()))
            except subprocess.TimeoutExpired as fault:
                raise self._late() from fault
            if status:
                raise self._ended()
            self._expect_silence()
        finally:
            self.kill()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()
        for stream in (self._input, self._output, self._said):
            stream.close()

    @property
    def _input(self) -> Any:
        return self._process.stdin

    @property
    def _output(self) -> Any:
        return self._process.stdout

    def _read(self, until_s: float) -> bytes:
        """Read what comes next; nothing once the program has closed its end."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._output, selectors.EVENT_READ)
            if not selector.select(max(0.0, until_s - time.monotonic())):
                raise self._late()
        return os.read(self._output.fileno(), PIECE_BYTES)

    def _expect_silence(self) -> None:
        more = [line for line in self._heard.splitlines() if line.startswith(b"{")]
        self._heard = b""
        if more:
            raise self._fault(f"its program said more than it was asked: {more[0].decode('utf-8', 'replace')[:_SHOWN]}")

    def _late(self) -> FindingError:
        return self._fault(f"its program took longer than {self._deadline_s:g} s", remedy="see [command] deadline_s")

    def _ended(self) -> FindingError:
        """Say with which status, and its last words; a program that only closed its output is ended."""
        try:
            status = str(self._process.wait(1.0))
        except subprocess.TimeoutExpired:
            return self._fault("its program closed its output and went on")
        return self._fault(f"its program ended with status {status}: {self._last()}")

    def _fault(self, sentence: str, remedy: str = "") -> FindingError:
        fault = FindingError(sentence, remedy=remedy)
        self._process.kill()
        return fault

    def _last(self) -> str:
        size = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, size - _LAST_BYTES))
        lines = self._said.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:_SHOWN] if lines else "it said nothing"
