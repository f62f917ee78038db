"""The errors that reach a user: one line that says what, where and what to do.

Only ``cli`` turns them into output and an exit status.
"""

from __future__ import annotations

LONGEST_FAULT = 300
EXIT_FINDING = 1
EXIT_MISUSE = 2
EXIT_INTERRUPTED = 130


class ReportgenError(Exception):
    """Base of every error that the program raises on purpose.

    Parameters
    ----------
    what:
        What is wrong, without a full stop.
    where:
        File (with line or key), attempt, arm or fixture at fault; empty where the sentence names it.
    remedy:
        What the user can do; empty where nothing sensible can be said.
    """

    exit_status = EXIT_MISUSE

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what, self.where, self.remedy = what, where, remedy
        super().__init__(self.one_line())

    def one_line(self) -> str:
        """``where: what; remedy`` on one line, control characters made visible."""
        head = f"{self.where}: {self.what}" if self.where else self.what
        text = f"{head}; {self.remedy}" if self.remedy else head
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class InputError(ReportgenError):
    """Misuse or bad input: nothing was measured (exit status 2)."""


class FindingError(ReportgenError):
    """The program worked and found something wrong (exit status 1)."""

    exit_status = EXIT_FINDING


class RecordError(FindingError):
    """A record is damaged or refuses to be computed."""


class SchemaVersionError(InputError):
    """A stored file has a schema version that this program does not read."""


class WorkerError(FindingError):
    """A measuring process died, hung or answered nonsense."""


def shortened(fault: str) -> str:
    """Cut what a library says of a file: it may quote what it found there, and that may be all of it."""
    return fault if len(fault) <= LONGEST_FAULT else f"{fault[:LONGEST_FAULT]} ..."
