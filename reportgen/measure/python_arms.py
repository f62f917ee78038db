"""Arms in Python in the timed process: each file loaded on its own, its function prepared on every set of buffers, and what it compiled to."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from reportgen.calls import Fixture
from reportgen.errors import InputError
from reportgen.measure.backends.triton_code import kernels_in
from reportgen.measure.faults import REMEDY, guarded, load_module
from reportgen.measure.job import JobArm

FOLDER = "python-code"

Code = dict[str, list[dict[str, Any]]]


class PythonArms:
    """The modules of one process's arms in Python: a null's is the same file loaded once more, with kernels of its own."""

    def __init__(self) -> None:
        self._modules: dict[str, ModuleType] = {}
        self._arms: dict[str, JobArm] = {}

    def load(self, arms: Iterable[JobArm]) -> None:
        """Load every arm's file in the given order.

        Raises
        ------
        InputError
            A file raises, or has no function of the arm's symbol.
        """
        for arm in arms:
            path = Path(arm.file)
            module = load_module(path, f"reportgen_arm_{arm.name}")
            if not callable(getattr(module, arm.symbol, None)):
                raise InputError(
                    f"defines no function {arm.symbol}, which arm {arm.name!r} is", where=str(path), remedy=REMEDY
                )
            self._modules[arm.name], self._arms[arm.name] = module, arm

    def module(self, arm: str) -> ModuleType:
        """Give the module that an arm was loaded as."""
        return self._modules[arm]

    def prepare(
        self, arm: str, fixture: Fixture, buffers: Mapping[str, Any], stream: int, *, stepped: bool
    ) -> Callable[[int], Any]:
        """Let an arm prepare itself on one set of buffers; what it returns takes the step's number, its own callable only where there are several.

        Raises
        ------
        InputError
            It raises, now or when it is called, or returns no callable; ``where`` is the line.
        """
        path, what = Path(self._arms[arm].file), f"arm {arm!r}"
        function = getattr(self.module(arm), self._arms[arm].symbol)
        made = guarded(path, what, function, fixture, dict(buffers), stream)
        if not callable(made):
            raise InputError(
                f"{what} must return a callable that makes one execution, not {made!r}", where=str(path), remedy=REMEDY
            )
        return lambda step: guarded(path, what, made, *([step] if stepped else []))

    def code(self, work: Path) -> Code:
        """Tell which machine code Triton made of each arm so far, and keep it under ``work``.

        Returns
        -------
        dict
            Per arm its kernels by name and hash, with what their compiler tells of them. What other libraries launch is not among them.

        Raises
        ------
        InputError
            A null became other machine code than the arm that it repeats.
        """
        found: Code = {}
        for arm, module in sorted(self._modules.items()):
            found[arm] = []
            for kernel in kernels_in(module):
                sha256 = hashlib.sha256(kernel.cubin).hexdigest()
                _keep(work / FOLDER / f"{sha256}.cubin", kernel.cubin)
                found[arm].append({"kernel": kernel.name, "sha256": sha256, **kernel.facts})
            found[arm].sort(key=lambda one: (one["kernel"], one["sha256"]))
        for arm, one in self._arms.items():
            if one.of in found and _hashes(found[arm]) != _hashes(found[one.of]):
                raise InputError(
                    f"null {arm!r} became other machine code than {one.of!r}",
                    where=one.file,
                    remedy="let both meet the same shapes and alignments",
                )
        return found


def _hashes(kernels: list[dict[str, Any]]) -> list[str]:
    return [one["sha256"] for one in kernels]


def _keep(path: Path, cubin: bytes) -> None:
    if not path.is_file():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(cubin)
