"""The GPU backend, controller's half: one cubin an arm, compiled by NVRTC, and NVIDIA's management library. Opens no context."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reportgen.errors import InputError
from reportgen.measure.backends.cubin import code_facts, warnings_of
from reportgen.measure.backends.cuda_options import OPTIONS, keywords
from reportgen.measure.backends.interface import Built, BuiltArm
from reportgen.measure.backends.machine_code import compare_code
from reportgen.measure.backends.nvml import Gpu, chosen, driver_version, gpus, open_nvml
from reportgen.measure.backends.python_source import described
from reportgen.measure.compiling import Patience, compile_one
from reportgen.measure.environment import PACKAGE_ROOT
from reportgen.measure.identity import file_sha256, governor
from reportgen.model.experiment import Arm
from reportgen.model.plan import Plan
from reportgen.model.record import Device
from reportgen.project import ExperimentFolder

HERE = Path(__file__).parent
HARNESS = "cuda_harness"
HARNESS_SYMBOLS = ("reportgen_checksums", "reportgen_copy", "reportgen_fill", "reportgen_spin")
MOST_COMPILERS = 16
COMPILER = "reportgen.measure.backends.cuda_compile"
DISTRIBUTIONS = (
    "cupy-cuda13x",
    "cupy-cuda12x",
    "cuda-core",
    "cuda-bindings",
    "nvidia-cuda-nvrtc",
    "nvidia-cuda-runtime",
    "nvidia-ml-py",
    "jax",
    "jaxlib",
    "torch",
    "triton",
)
REMEDY = 'declare it there as extern "C" __global__, or correct the arm\'s `symbol`'


class CudaBuilder:
    """See :class:`reportgen.measure.backends.interface.Builder`."""

    name = "cuda"
    options: tuple[str, ...] = OPTIONS
    measures_peers = True

    def build(self, plan: Plan, folder: ExperimentFolder, out_dir: Path, patience: Patience) -> Built:
        """Compile every arm that is not in Python and the harness's own kernels, read what they became, compare the machine code of the arms."""
        options = [option for option in plan.backend_options if not option.startswith("backend=")]
        keywords(options)
        arms = plan.compiled_arms
        described_arms = {arm.name: described(arm, folder.folder) for arm in plan.python_arms}
        files = {arm.name: out_dir / f"{arm.name}.cubin" for arm in arms}
        _each_core(lambda arm: compile_arm(arm, options, folder.folder, files[arm.name], patience), arms)
        harness = out_dir / f"{HARNESS}.cubin"
        _compile(_Unit(f"{HARNESS}.cu", HERE, harness, _target(options), "the harness's kernels"), patience)
        warnings = compare_code(arms, files, REMEDY)
        told = {name: json.loads(_facts_file(path).read_text(encoding="utf-8")) for name, path in files.items()}
        warnings += [f"arm {name!r}: {line}" for name, one in told.items() for line in warnings_of(one["log"])]
        hashes = {name: file_sha256(path) for name, path in files.items()}
        return Built(
            {arm.name: BuiltArm(str(files[arm.name]), hashes[arm.name], arm.symbol or "") for arm in arms}
            | {arm.name: _python(arm, folder.folder, described_arms[arm.name]) for arm in plan.python_arms},
            options={"cubins": hashes, "harness": str(harness)},
            warnings=warnings,
            artifacts={
                **{f"binaries/{name}.cubin": path.read_bytes() for name, path in files.items()},
                **{f"binaries/{name}.json": text for name, text in described_arms.items()},
                f"binaries/{HARNESS}.cubin": harness.read_bytes(),
                "code.json": _code_facts(arms, files, told),
            },
            watched={
                **{f"binary/{name}": path for name, path in files.items()},
                "binary/(harness)": harness,
                **_installed_records(),
            },
        )

    def device(self, selector: str | None) -> Device:
        """Name a GPU: ``selector`` is its number in ``nvidia-smi`` or its UUID; the first that may be used by default."""
        for module, title in (("cupy", "CuPy"), ("pynvml", "nvidia-ml-py")):
            if not installed(module):
                raise InputError(
                    f"{title} is not installed, which the cuda backend needs", remedy="pip install 'reportgen[cuda]'"
                )
        library = open_nvml()
        uuid, model = chosen(gpus(library), selector, os.environ.get("CUDA_VISIBLE_DEVICES"))
        facts = {"driver": driver_version(library), **Gpu(library, uuid).facts(), **_attributes(uuid)}
        return Device(id=uuid, model=model, kind="gpu", facts=facts)

    def variables(self, device: Device) -> dict[str, str]:
        """Make the one device visible, and have every kernel on it before the first launch."""
        return {
            "CUDA_VISIBLE_DEVICES": device.id,
            "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
            "CUDA_MODULE_LOADING": "EAGER",
        }

    def versions(self) -> dict[str, str]:
        """Driver and distributions."""
        found = {name: version for name in DISTRIBUTIONS if (version := _version(name)) is not None}
        try:
            return found | {"nvidia driver": driver_version(open_nvml())}
        except InputError:
            return found

    def environment(self) -> dict[str, Any]:
        """State of the host, whose core must keep the device fed."""
        return {"governor": governor(), "load_1min": os.getloadavg()[0], "cores": os.cpu_count()}


def compile_arm(arm: Arm, options: Sequence[str], folder: Path, cubin: Path, patience: Patience) -> None:
    """Compile one arm's source to ``cubin``, with its macros; ``<cubin>.json`` beside it says how.

    Raises
    ------
    InputError
        It does not compile; ``where`` is file and line.
    """
    if arm.file is None or arm.symbol is None:
        raise InputError(f"arm {arm.name!r} lacks `file` or `symbol`", remedy="name its source and entry point")
    defines = [f"-D{name}={value}" for name, value in arm.defines.items()]
    _compile(_Unit(arm.file, folder, cubin, [*options, *defines], f"arm {arm.name!r}"), patience)


def _python(arm: Arm, folder: Path, text: bytes) -> BuiltArm:
    """Give the file that the timed process loads, and the hash of what stands for its code."""
    return BuiltArm(str(folder.resolve() / str(arm.file)), hashlib.sha256(text).hexdigest(), arm.symbol or "")


def _each_core(work: Callable[[Arm], None], arms: Sequence[Arm]) -> None:
    """Work on as many arms at a time as there are cores, up to 16; the first complaint in the order of the arms is raised."""
    with ThreadPoolExecutor(min(os.cpu_count() or 1, MOST_COMPILERS)) as pool:
        try:
            list(pool.map(work, arms))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def disassembler() -> str | None:
    """Path of NVIDIA's disassembler: the one of the ``compile`` extra, or one on the path."""
    try:
        from cuda import pathfinder  # noqa: PLC0415 - absent without the extra
    except ImportError:
        return shutil.which("nvdisasm")
    found: str | None = pathfinder.find_nvidia_binary_utility("nvdisasm")
    return found or shutil.which("nvdisasm")


@dataclass(frozen=True)
class _Unit:
    """One source to be compiled; ``what`` names it in a complaint."""

    source: str
    folder: Path
    cubin: Path
    options: Sequence[str]
    what: str


def _compile(unit: _Unit, patience: Patience) -> None:
    if not installed("cuda.core") or not installed("cuda.bindings"):
        raise InputError("cuda.core is not installed, which compiles CUDA", remedy="pip install 'reportgen[compile]'")
    includes = os.pathsep.join(str(place.resolve()) for place in (unit.folder, unit.folder.parent, HERE))
    command = [sys.executable, "-P", "-m", COMPILER, unit.source, str(unit.cubin), includes, *unit.options]
    compile_one(command, unit.folder, unit.what, patience, {"PYTHONPATH": str(PACKAGE_ROOT)})


def _target(options: Sequence[str]) -> list[str]:
    """Compile the harness for the arms' device, and otherwise as always."""
    return [*OPTIONS, f"--gpu-architecture={keywords(options)['arch']}"]


def _facts_file(cubin: Path) -> Path:
    return cubin.with_name(f"{cubin.name}.json")


def _code_facts(arms: Sequence[Arm], files: dict[str, Path], told: dict[str, dict[str, Any]]) -> bytes:
    tool = disassembler()
    facts = {
        arm.name: {
            **code_facts(files[arm.name], arm.symbol or "", told[arm.name]["log"], tool),
            "options": told[arm.name]["options"],
            "nvrtc": told[arm.name]["nvrtc"],
        }
        for arm in arms
    }
    return json.dumps(facts, indent=2, sort_keys=True).encode() + b"\n"


def _attributes(uuid: str) -> dict[str, int | None]:
    """Read sizes that only CUDA itself tells; no context is made."""
    from reportgen.measure.backends.cuda_attributes import attributes  # noqa: PLC0415 - loads the driver

    return attributes(uuid)


def installed(module: str) -> bool:
    """Whether a package is there; it is looked up, not imported."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _installed_records() -> dict[str, Path]:
    """Per installed distribution its installer's list of files with their hashes."""
    found = {}
    for name in DISTRIBUTIONS:
        if _version(name) is not None:
            files = importlib.metadata.distribution(name).files or []
            record = next((file for file in files if file.name == "RECORD"), None)
            if record is not None:
                found[f"package/{name}"] = Path(str(record.locate()))
    return found
