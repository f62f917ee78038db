"""``reportgen`` and ``python -m reportgen``: an interruption is one line from the first moment on."""

import os
import signal
from typing import NoReturn

INTERRUPTED = 130


def main() -> None:
    """Load the command line and run it; loading takes a moment, in which Ctrl-C must not show a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from reportgen.cli import main as run  # noqa: PLC0415 - after the handler is in place

    run()


def _leave(_number: int, _frame: object) -> NoReturn:
    os.write(2, b"reportgen: interrupted\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
