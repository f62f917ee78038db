"""The job that runs no kernel: inputs and references, made once per attempt and kept with their hashes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reportgen.errors import InputError
from reportgen.measure.channel import Channel
from reportgen.measure.description import Description
from reportgen.measure.job import PEER, Job, JobFixture

INPUTS, REFERENCE, SHARED = "inputs", "reference", "shared"


class References:
    """Files of inputs and references in an attempt's work folder, a folder a fixture.

    Case 0 is what is timed; further cases are other inputs for the same graph, checked only. A job may have any of the
    attempt's fixtures.
    """

    def __init__(self, job: Job) -> None:
        self._root = Path(job.work)
        self._shared: dict[str, tuple[NDArray[Any], str]] = {}

    def save(
        self,
        fixture: str,
        case: int,
        kind: str,
        arrays: Mapping[str, NDArray[Any]],
        shared: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """Keep ``inputs`` or a ``reference`` for the attempt's later processes; their hashes.

        Of arrays with one key in ``shared`` (name to key) there is one file, to which the fixtures link.

        Raises
        ------
        InputError
            Two arrays of one key differ.
        """
        folder = self._folder(fixture, case, kind)
        folder.mkdir(parents=True, exist_ok=True)
        hashes = {}
        for name, array in arrays.items():
            key = (shared or {}).get(name)
            if key is None:
                np.save(folder / f"{name}.npy", array, allow_pickle=False)
                hashes[name] = sha256(array)
            else:
                hashes[name] = self._save_shared(folder / f"{name}.npy", key, array)
        prefix = f"case {case}/" if case else ""
        return {f"{prefix}{kind}/{name}": found for name, found in hashes.items()}

    def _save_shared(self, link: Path, key: str, array: NDArray[Any]) -> str:
        file = self._root / SHARED / f"{hashlib.sha256(key.encode()).hexdigest()}.npy"
        if key not in self._shared:
            file.parent.mkdir(parents=True, exist_ok=True)
            np.save(file, array, allow_pickle=False)
            self._shared[key] = array, sha256(array)
        first, found = self._shared[key]
        # Hashing gigabytes again is spared where the experiment hands out the very array.
        if array is not first and sha256(array) != found:
            raise InputError(
                f"inputs shared under {key!r} differ", where=link.stem, remedy="give them keys of their own"
            )
        link.symlink_to(os.path.relpath(file, link.parent))
        return found

    def shared_file(self, fixture: str, name: str) -> str | None:
        """Path of the file that an input shares with other fixtures; none for one of its own."""
        link = self._folder(fixture, 0, INPUTS) / f"{name}.npy"
        return str(link.resolve()) if link.is_symlink() else None

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
    shared = description.shared(seen, inputs)
    for case, arrays in enumerate([inputs, *description.cases(seen, inputs)]):
        hashes |= files.save(fixture.name, case, INPUTS, arrays, {} if case else shared)
        hashes |= files.save(fixture.name, case, REFERENCE, description.reference(seen, arrays))
    buffers = shapes.sizes()
    for arm in (job.arm(name) for name in fixture.arms):
        if not arm.in_python:
            description.kernels(arm.seen(), seen, buffers)
    moved, flops = description.bytes_and_flops(seen)
    return {"buffers": buffers, "sets": shapes.sets, "hashes": hashes, "bytes": moved, "flops": flops}


def _read(path: Path) -> NDArray[Any]:
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


def sha256(array: NDArray[Any]) -> str:
    """SHA-256 of an array's bytes in C order."""
    return hashlib.sha256(np.ascontiguousarray(array).reshape(-1).data).hexdigest()
