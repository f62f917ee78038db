"""What an arm in Python is before it runs: its file, the function in it, and the libraries that will compile and launch."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

from reportgen.measure.identity import file_sha256
from reportgen.model.experiment import Arm

LIBRARIES = ("cupy-cuda12x", "cupy-cuda13x", "jax", "jaxlib", "torch", "triton")


def described(arm: Arm, folder: Path) -> bytes:
    """Write down what stands for the code of an arm in Python: another file, function or version of a library is another code.

    A null has the very text of the arm that it repeats. Machine code exists only once the timed process has compiled it.
    """
    facts = {
        "source": arm.file,
        "source_sha256": file_sha256(folder / str(arm.file)),
        "symbol": arm.symbol,
        "libraries": libraries(),
    }
    return json.dumps(facts, indent=2, sort_keys=True).encode() + b"\n"


def libraries() -> dict[str, str]:
    """Versions of those that are installed."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
