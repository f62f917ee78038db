"""The environment of a timed process: fixed where it could matter, recorded as it was."""

from __future__ import annotations

import os
from pathlib import Path

import reportgen

FIXED = {
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
KEPT = ("PATH", "LD_LIBRARY_PATH")
ATTEMPT = "REPORTGEN_ATTEMPT"
PACKAGE_ROOT = Path(reportgen.__file__).resolve().parent.parent


def recorded_environment() -> dict[str, str]:
    """Variables of every timed process that the record keeps, less the attempt's id."""
    return FIXED | {name: os.environ[name] for name in KEPT if name in os.environ}


def worker_environment(attempt_id: str) -> dict[str, str]:
    """All variables of a timed process of that attempt; this very package is the one that it imports."""
    return recorded_environment() | {ATTEMPT: attempt_id, "PYTHONPATH": str(PACKAGE_ROOT)}
