"""``reportgen`` and ``python -m reportgen``: an interruption is one line from the first moment on."""

import os
import signal
import sys
from typing import NoReturn

INTERRUPTED = 130
STANDARD = ("stdin", "stdout", "stderr")


def main() -> None:
    """Load the command line and run it; loading takes a moment, in which Ctrl-C must not show a traceback."""
    _open_what_is_closed()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from reportgen.cli import main as run  # noqa: PLC0415 - after the handler is in place

    run()


def _open_what_is_closed() -> None:
    """Open what this process was started without (``2>&-``): else the next file, a journal perhaps, takes the number and what is said there."""
    for number, name in enumerate(STANDARD):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))


def _leave(_number: int, _frame: object) -> NoReturn:
    os.write(2, b"reportgen: interrupted\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
