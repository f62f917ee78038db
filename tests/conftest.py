"""What every test finds: signals as a terminal gives them."""

from __future__ import annotations

import signal

import pytest


@pytest.fixture(autouse=True)
def heard_interrupts() -> None:
    """Hear Ctrl-C, and let programs that tests start hear it.

    A shell that runs all this in the background ignores it for its descendants, and so does a program's entry that an earlier test called in this process.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
