"""What is said of an exception that nobody expected: one line, never a traceback."""

from __future__ import annotations

from typer.exceptions import Abort, TyperException

from reportgen.errors import EXIT_FINDING, EXIT_INTERRUPTED, EXIT_MISUSE


def last_words(error: Exception) -> tuple[str, int]:
    """Line and exit status: an interruption, misuse of the command line, or a fault of this program."""
    if isinstance(error, Abort) or isinstance(error.__cause__, KeyboardInterrupt):
        return "interrupted", EXIT_INTERRUPTED
    if isinstance(error, TyperException):
        return f"{str(error).rstrip('.')}; see reportgen --help", EXIT_MISUSE
    return f"internal fault: {type(error).__name__}: {error}; please report it with the command you ran", EXIT_FINDING
