"""The program's entry, called in this process: what it prints and its status, without the second that loading it anew would take."""

from __future__ import annotations

import contextlib
import io
import signal
import subprocess
import sys
from collections.abc import Sequence

import pytest

from reportgen.cli import main


def called(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Call the program's entry, with what it prints and its status as a process would have them; for commands that do not fork."""
    out, said, before = io.StringIO(), io.StringIO(), signal.getsignal(signal.SIGINT)
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        patch.setattr(sys, "argv", ["reportgen", *command])
        with pytest.raises(SystemExit) as ended:
            main()
    signal.signal(signal.SIGINT, before)
    return subprocess.CompletedProcess(command, int(ended.value.code or 0), out.getvalue(), said.getvalue())
