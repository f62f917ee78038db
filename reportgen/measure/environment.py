"""The environment of a timed process: fixed where it could matter, recorded as it was."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from reportgen import errors

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
PACKAGE_ROOT = Path(errors.__file__).resolve().parent.parent


def recorded_environment() -> dict[str, str]:
    """Variables of every timed process as the record keeps them: fixed ones as they are, kept ones as hashes.

    The kept ones list folders of the machine: whether they changed matters, what they are called is nobody's business.
    """
    return FIXED | {name: f"sha256:{hashlib.sha256(value.encode()).hexdigest()}" for name, value in _kept().items()}


def worker_environment(mark: str, variables: Mapping[str, str]) -> dict[str, str]:
    """All variables of a timed process of the run with that mark, its backend's included; this very package is the one that it imports."""
    return FIXED | _kept() | {ATTEMPT: mark, "PYTHONPATH": str(PACKAGE_ROOT)} | dict(variables)


def _kept() -> dict[str, str]:
    return {name: os.environ[name] for name in KEPT if name in os.environ}
