"""A bench for the C kernels of an experiment: each arm compiled by itself with the plan's options, and called on buffers as the plan says."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from numpy.typing import NDArray

from reportgen.calls import Arm, Buffer, Fixture, KernelCall, Output
from reportgen.model.experiment import Arm as Declared
from reportgen.model.experiment import Experiment
from reportgen.project import find_experiment, open_project, read_experiment

ROOT = Path(__file__).parents[2]
HEADERS = ROOT / "reportgen" / "measure" / "backends"
POISON = np.float32(np.nan)

Arrays = dict[str, NDArray[Any]]


class Argument(ctypes.Union):
    """``reportgen_arg``."""

    _fields_ = (("p", ctypes.c_void_p), ("i", ctypes.c_int64), ("f", ctypes.c_double))


@dataclass
class Bench:
    """An experiment's functions, its declaration and its arms, compiled in ``out`` when they are first asked for."""

    name: str
    out: Path
    functions: Any = field(init=False)
    declared: Experiment = field(init=False)
    folder: Path = field(init=False)
    libraries: dict[str, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        found = find_experiment(open_project(ROOT), self.name)
        self.folder, self.declared = found.folder, read_experiment(found)
        self.functions = load_functions(self.name)

    def original(self, name: str) -> Declared:
        """Find a declared arm, for a null the one it repeats."""
        arms = {arm.name: arm for arm in self.declared.arms}
        return arms[arms[name].of or name]

    def symbol(self, name: str) -> str:
        """Name the entry point of an arm."""
        return str(self.original(name).symbol)

    def library(self, name: str) -> Path:
        """Compile a declared arm once, a null from the file of the arm it repeats."""
        if name not in self.libraries:
            self.libraries[name] = self.compile(name, self.folder, self.out / f"{name}.so")
        return self.libraries[name]

    def compile(self, name: str, sources: Path, library: Path) -> Path:
        """Compile an arm from a folder of sources with the system compiler, the plan's options and every warning an error."""
        compiler, arm = shutil.which("cc"), self.original(name)
        assert compiler is not None
        warnings = ["-Wall", "-Wextra", "-Wconversion", "-Wno-sign-conversion", "-Werror"]
        defines = [f"-D{macro}={value}" for macro, value in arm.defines.items()]
        shared = ["-shared", "-fPIC", f"-I{HEADERS}", str(sources / str(arm.file)), "-o", str(library)]
        subprocess.run([compiler, *self.declared.compile.options, *warnings, *defines, *shared], check=True)
        return library

    def run(self, name: str, fixture: Fixture, arrays: Arrays) -> NDArray[np.float32]:
        """Return the arm's output, poisoned before."""
        return self.run_library(self.library(name), self.symbol(name), fixture, arrays)

    def run_library(self, library: Path, symbol: str, fixture: Fixture, arrays: Arrays) -> NDArray[np.float32]:
        """Call one arm as the experiment's own ``kernels`` says."""
        (call,) = self.calls(symbol, fixture)
        (output,) = self.functions.outputs(fixture).values()
        buffers = {**arrays, "y": np.full(output.shape, POISON, output.dtype)}
        arguments = (Argument * len(call.args))()
        for slot, value in zip(arguments, call.args, strict=True):
            if isinstance(value, Buffer):
                slot.p = buffers[value.name].ctypes.data
            else:
                slot.i = value
        getattr(ctypes.CDLL(str(library)), call.symbol)(arguments)
        return buffers["y"]

    def calls(self, symbol: str, fixture: Fixture) -> list[KernelCall]:
        """Ask the experiment for the calls of an arm with this entry point."""
        answer: list[KernelCall] = self.functions.kernels(Arm("arm", "candidate", symbol), fixture, {})
        return answer

    def inputs(self, fixture: Fixture) -> Arrays:
        """Draw the inputs that belong to a fixture's seed."""
        arrays: Arrays = self.functions.inputs(fixture, np.random.default_rng(fixture.seed))
        return arrays


def load_functions(name: str) -> Any:
    """Load an experiment's functions by path, as the timed process does."""
    path = find_experiment(open_project(ROOT), name).folder / "experiment.py"
    spec = importlib.util.spec_from_file_location(f"{name}_experiment", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def failures(output: Output, got: NDArray[np.float32], wanted: NDArray[np.float64]) -> int:
    """Count elements outside the tolerance; NaN is always outside."""
    error = np.abs(got.astype(np.float64) - wanted)
    return int(np.count_nonzero(~(error <= output.absolute + output.relative * np.abs(wanted))))


def elf_text(library: Path) -> bytes:
    """Read the machine code of a shared object."""
    with library.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".text")
        assert section is not None
        return bytes(section.data())


def elf_entry_points(library: Path) -> list[str]:
    """List the functions that a shared object exports."""
    with library.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".dynsym")
        assert isinstance(section, SymbolTableSection)
        return [
            symbol.name
            for symbol in section.iter_symbols()
            if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_shndx"] != "SHN_UNDEF"
        ]
