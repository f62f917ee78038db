"""Programs of NVIDIA's toolkit that a timed process may run under: where they are, and which version."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from reportgen.errors import InputError

VERSION_DEADLINE_S = 60
# The fake backend rehearses the protocol. C on the processor is no business of these programs, which would call it clean.
BACKENDS = frozenset({"cuda", "fake"})


@dataclass(frozen=True)
class Installed:
    """The program that was found, and the version that it tells."""

    path: str
    version: str


def find_tool(program: str) -> Installed:
    """Look for a program on PATH, then where CUDA_HOME says.

    Raises
    ------
    InputError
        It is in neither place, or does not start.
    """
    home = os.environ.get("CUDA_HOME", "")
    inside = [str(Path(home) / folder) for folder in ("bin", program)] if home else []
    found = shutil.which(program) or shutil.which(program, path=os.pathsep.join(inside))
    if not found:
        raise InputError(
            f"{program} is neither on PATH nor under CUDA_HOME",
            remedy="install NVIDIA's CUDA toolkit, or set CUDA_HOME to its folder",
        )
    return Installed(found, _version(found, program))


def check_backend(program: str, backend: str, instead: str) -> None:
    """Refuse a backend without GPU code; raises ``InputError``."""
    if backend not in BACKENDS:
        raise InputError(f"{program} sees GPU code alone, and backend {backend!r} has none", remedy=instead)


def _version(path: str, program: str) -> str:
    try:
        told = subprocess.run(  # noqa: S603 - the user's own tool, no shell
            [path, "--version"], capture_output=True, text=True, timeout=VERSION_DEADLINE_S, check=True
        )
    except (OSError, subprocess.SubprocessError) as fault:
        raise InputError(f"{program} does not start: {fault}", where=path, remedy="repair its installation") from fault
    lines = [line.strip() for line in told.stdout.splitlines() if line.strip()]
    return next((line for line in lines if line.lower().startswith("version")), lines[-1] if lines else "")
