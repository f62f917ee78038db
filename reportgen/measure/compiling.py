"""One call of a compiler with a deadline; its first complaint becomes the user's one line."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reportgen.errors import InputError

POLL_S = 0.2

_COMPLAINT = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<what>.*)$", re.MULTILINE)
_LINKER = re.compile(r"^.*(?:undefined reference|cannot find|multiple definition|error:).*$", re.MULTILINE)


@dataclass(frozen=True)
class Patience:
    """How long a compiler may take, in seconds, and what is asked meanwhile: ``check`` raises to end it."""

    deadline_s: float
    check: Callable[[], None]


def compile_one(
    command: Sequence[str], folder: Path, what: str, patience: Patience, variables: Mapping[str, str] | None = None
) -> None:
    """Run a compiler in ``folder``; ``what`` names what it compiles, ``variables`` are further ones of its environment.

    The locale is fixed for its messages, and the time of day hidden, so that equal sources give equal files.

    Raises
    ------
    InputError
        There is no such compiler, it refuses (``where`` is file and line), or it is not done in time.
    """
    if shutil.which(command[0]) is None:
        raise InputError(f"no C compiler {command[0]!r}", remedy="install one, or name one in the variable CC")
    with subprocess.Popen(  # noqa: S603 - the user's own compiler, no shell
        command,
        cwd=folder,
        env={**os.environ, "LC_ALL": "C", "SOURCE_DATE_EPOCH": "0", **(variables or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            complaints = _await(process, patience)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if complaints is None:
        raise InputError(
            f"compiling {what} takes longer than {patience.deadline_s:g} s",
            where=str(folder),
            remedy="simplify the source or raise protocol.compile_deadline_s",
        )
    if process.returncode == 0 and not _made(command, folder):
        raise InputError(
            f"compiler {command[0]!r} made no file of {what}",
            where=str(folder),
            remedy="name another in the variable CC",
        )
    if process.returncode != 0:
        raise _refusal(complaints.decode(errors="replace"), folder, what)


def _made(command: Sequence[str], folder: Path) -> bool:
    """Whether the file after the last ``-o`` is there; a relative one lies in ``folder``."""
    names = [name for option, name in itertools.pairwise(command) if option == "-o"]
    return not names or (folder / names[-1]).is_file()


def _await(process: subprocess.Popen[bytes], patience: Patience) -> bytes | None:
    """Wait for the compiler; what it complained of, or ``None`` if it was stopped at the deadline."""
    end_s = time.monotonic() + patience.deadline_s
    while time.monotonic() < end_s:
        patience.check()
        try:
            return process.communicate(timeout=POLL_S)[1]
        except subprocess.TimeoutExpired:
            continue
    os.killpg(process.pid, signal.SIGKILL)
    return None


def _refusal(text: str, folder: Path, compiled: str) -> InputError:
    if match := _COMPLAINT.search(text):
        where, what = f"{folder / match['file']}:{match['line']}", match["what"]
    else:
        complaint = _LINKER.search(text)
        where = str(folder)
        what = complaint[0].strip() if complaint else (text.strip().splitlines() or ["no message"])[-1]
    return InputError(f"{compiled} does not compile: {what}", where=where, remedy="correct the source")
