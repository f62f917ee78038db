"""A run's folder for binaries, inputs and references, outside the record; what killed runs left behind is removed."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from reportgen.errors import RecordError

_NAME = re.compile(r"reportgen-(\d+)-.+")


@contextmanager
def work_folder() -> Iterator[Path]:
    """Make a folder named after this process, and remove it at the end; one of a process that is gone is removed now.

    Raises
    ------
    RecordError
        The system refuses to make one.
    """
    for left in Path(tempfile.gettempdir()).glob("reportgen-*-*"):
        owner = _NAME.fullmatch(left.name)
        if owner and not psutil.pid_exists(int(owner[1])):
            shutil.rmtree(left, ignore_errors=True)
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"reportgen-{os.getpid()}-"))
    except OSError as fault:
        raise RecordError(
            f"no temporary folder can be made: {fault.strerror or fault}", remedy="make room, or set TMPDIR"
        ) from fault
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
