"""The job that runs no kernel: inputs and references, made once per attempt and kept with their hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reportgen.measure.channel import Channel
from reportgen.measure.description import Description
from reportgen.measure.job import PEER, Job, JobFixture

INPUTS, REFERENCE = "inputs", "reference"


class References:
    """Files of inputs and references in an attempt's work folder, a folder a fixture.

    Case 0 is what is timed; further cases are other inputs for the same graph, checked only. A job may have any of the
    attempt's fixtures.
    """

    def __init__(self, job: Job) -> None:
        self._root = Path(job.work)

    def save(self, fixture: str, case: int, kind: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, str]:
        """Keep ``inputs`` or a ``reference`` for the attempt's later processes; their hashes."""
        folder = self._folder(fixture, case, kind)
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array, allow_pickle=False)
        prefix = f"case {case}/" if case else ""
        return {f"{prefix}{kind}/{name}": sha256(array) for name, array in arrays.items()}

    def reference(self, fixture: str, name: str, case: int = 0) -> NDArray[np.float64]:
        """Read a reference, mapped from its file."""
        return _read(self._folder(fixture, case, REFERENCE) / f"{name}.npy")

    def inputs(self, fixture: str, case: int = 0) -> dict[str, NDArray[Any]]:
        """Every input of a fixture by name, mapped from its file."""
        return {path.stem: _read(path) for path in sorted(self._folder(fixture, case, INPUTS).glob("*.npy"))}

    def cases(self, fixture: str) -> range:
        """Numbers of the further cases."""
        number = 1
        while self._folder(fixture, number, INPUTS).is_dir():
            number += 1
        return range(1, number)

    def _folder(self, fixture: str, case: int, kind: str) -> Path:
        # A name may be longer than a file's name may be.
        return self._root / hashlib.sha256(fixture.encode()).hexdigest() / str(case) / kind


def make_references(job: Job, channel: Channel) -> None:
    """Make, keep and announce inputs and references of every fixture; ask every arm for its calls, to find faults early.

    Raises
    ------
    InputError
        The experiment raises or contradicts itself.
    """
    description = Description(Path(job.experiment_file), once=job.once)
    files = References(job)
    if any(arm.role == PEER for arm in job.arms):
        description.expect_call()
    for fixture in job.fixtures:
        channel.at("reference", fixture.name)
        channel.send("described", fixture=fixture.name, **_make(job, fixture, description, files))


def _make(job: Job, fixture: JobFixture, description: Description, files: References) -> dict[str, Any]:
    seen = fixture.seen()
    inputs = description.inputs(seen)
    shapes = description.shapes(seen, inputs)
    hashes: dict[str, str] = {}
    for case, arrays in enumerate([inputs, *description.cases(seen, inputs)]):
        hashes |= files.save(fixture.name, case, INPUTS, arrays)
        hashes |= files.save(fixture.name, case, REFERENCE, description.reference(seen, arrays))
    buffers = shapes.sizes()
    for arm in fixture.arms:
        description.kernels(job.arm(arm).seen(), seen, buffers)
    moved, flops = description.bytes_and_flops(seen)
    return {"buffers": buffers, "sets": shapes.sets, "hashes": hashes, "bytes": moved, "flops": flops}


def _read(path: Path) -> NDArray[Any]:
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


def sha256(array: NDArray[Any]) -> str:
    """SHA-256 of an array's bytes in C order."""
    return hashlib.sha256(np.ascontiguousarray(array).reshape(-1).data).hexdigest()
