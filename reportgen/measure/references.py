"""The job that runs no kernel: inputs and references, made once per attempt and kept with their hashes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reportgen.measure.channel import Channel
from reportgen.measure.description import Description
from reportgen.measure.job import Job, JobFixture


class References:
    """Files of inputs and references in an attempt's work folder, a folder a fixture."""

    def __init__(self, job: Job) -> None:
        self._root = Path(job.work)
        self._index = {fixture.name: index for index, fixture in enumerate(job.fixtures)}

    def save_input(self, fixture: str, name: str, array: NDArray[Any]) -> None:
        """Keep an input for the attempt's later processes."""
        self._save(self._folder(fixture, "inputs"), name, array)

    def save_reference(self, fixture: str, name: str, array: NDArray[np.float64]) -> None:
        """Keep a reference for the attempt's later processes."""
        self._save(self._folder(fixture, "reference"), name, array)

    def input(self, fixture: str, name: str) -> NDArray[Any]:
        """Read an input, mapped from its file."""
        return self._read(self._folder(fixture, "inputs") / f"{name}.npy")

    def reference(self, fixture: str, name: str) -> NDArray[np.float64]:
        """Read a reference, mapped from its file."""
        return self._read(self._folder(fixture, "reference") / f"{name}.npy")

    def inputs(self, fixture: str) -> dict[str, NDArray[Any]]:
        """Every input of a fixture by name."""
        return {path.stem: self._read(path) for path in sorted(self._folder(fixture, "inputs").glob("*.npy"))}

    def _folder(self, fixture: str, kind: str) -> Path:
        return self._root / str(self._index[fixture]) / kind

    @staticmethod
    def _read(path: Path) -> NDArray[Any]:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        return array

    @staticmethod
    def _save(folder: Path, name: str, array: NDArray[Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / f"{name}.npy", array, allow_pickle=False)


def make_references(job: Job, channel: Channel) -> None:
    """Make, keep and announce inputs and references of every fixture; ask every arm for its calls, to find faults early.

    Raises
    ------
    InputError
        The experiment raises or contradicts itself.
    """
    description = Description(Path(job.experiment_file))
    files = References(job)
    for fixture in job.fixtures:
        channel.at("reference", fixture.name)
        channel.send("described", fixture=fixture.name, **_make(job, fixture, description, files))


def _make(job: Job, fixture: JobFixture, description: Description, files: References) -> dict[str, Any]:
    seen = fixture.seen()
    inputs = description.inputs(seen)
    shapes = description.shapes(seen, inputs)
    hashes = {}
    for name, array in inputs.items():
        files.save_input(fixture.name, name, array)
        hashes[f"inputs/{name}"] = sha256(array)
    for name, array in description.reference(seen, inputs).items():
        files.save_reference(fixture.name, name, array)
        hashes[f"reference/{name}"] = sha256(array)
    buffers = shapes.sizes()
    for arm in fixture.arms:
        description.kernels(job.arm(arm).seen(), seen, buffers)
    moved, flops = description.bytes_and_flops(seen)
    return {"buffers": buffers, "sets": shapes.sets, "hashes": hashes, "bytes": moved, "flops": flops}


def sha256(array: NDArray[Any]) -> str:
    """SHA-256 of an array's bytes in C order."""
    return hashlib.sha256(np.ascontiguousarray(array).reshape(-1).data).hexdigest()
