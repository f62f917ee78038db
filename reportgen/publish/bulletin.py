"""What the last build did, as open pages are told of it."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import msgspec

from reportgen.publish.problems import Problem


class Bulletin:
    """The newest word of a serving process; whoever waits gets each that comes, or the newest of several."""

    def __init__(self) -> None:
        self._told = threading.Condition()
        self._count, self._changed = 0, 0
        self._text = ""
        self.tell((), changed=False)

    def tell(self, problems: Sequence[Problem], *, changed: bool, fault: str = "") -> None:
        """Tell of a build: what it found, whether it ``changed`` any file, and what stopped it, if something did."""
        with self._told:
            self._count += 1
            self._changed += changed
            said = [{"text": str(problem), "grave": problem.grave} for problem in problems]
            told = {"changed": self._changed, "problems": said, "fault": fault}
            self._text = msgspec.json.encode(told).decode()
            self._told.notify_all()

    @property
    def changed(self) -> int:
        """How many builds changed files so far."""
        with self._told:
            return self._changed

    def after(self, count: int, seconds: float) -> tuple[int, str]:
        """Wait for a word later than the ``count``-th, for ``seconds`` at most; return its number and its JSON, empty if none came."""
        with self._told:
            news = self._told.wait_for(lambda: self._count > count, seconds)
            return (self._count, self._text) if news else (count, "")
