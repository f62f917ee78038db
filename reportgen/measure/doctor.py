"""What this machine can measure, and what is missing."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from reportgen.errors import InputError
from reportgen.measure.backends.cuda import compile_arm, disassembler, installed
from reportgen.measure.backends.cuda_options import OPTIONS
from reportgen.measure.backends.nvml import chosen, gpus, open_nvml
from reportgen.measure.compiling import Patience
from reportgen.measure.harnesses import lacking
from reportgen.measure.identity import cpu_device, governor
from reportgen.measure.nvidia_tools import find_tool
from reportgen.measure.profiler import PROGRAM as PROFILER
from reportgen.measure.sanitizers import PROGRAM as SANITIZER
from reportgen.measure.timers.catalogue import CATALOGUE
from reportgen.model.experiment import Arm, Role
from reportgen.units import BYTES_PER_MIB

LEAST_PYTHON = (3, 11)
LEAST_FREE_MIB = 512
COARSEST_CLOCK_NS = 1000
MOST_LOAD_PER_CORE = 0.5
_COMPILE_DEADLINE_S = 20
_PROBE = "void reportgen_probe(void) {}\n"


@dataclass(frozen=True)
class Finding:
    """One thing looked at.

    Parameters
    ----------
    name:
        What was looked at.
    sentence:
        What was found, in one sentence.
    ok:
        Whether it is as measuring wants it.
    remedy:
        What to do; empty where nothing has to be done.
    needed_for:
        What cannot be measured, or is measured worse, without it.
    """

    name: str
    sentence: str
    ok: bool = field(kw_only=True)
    remedy: str = ""
    needed_for: str = ""


def examine(runs: Path) -> list[Finding]:
    """Look at everything once; ``runs`` is the archive's folder, which need not exist yet."""
    checks: list[Callable[[], Finding]] = [
        check_python,
        check_cpu,
        check_compiler,
        check_pinning,
        check_governor,
        check_load,
        check_clock,
        lambda: check_disk(runs),
        check_git,
        check_gpu,
        check_gpu_answers,
        lambda: check_module("cupy", "CuPy", "cuda"),
        lambda: check_module("pynvml", "nvidia-ml-py", "cuda"),
        lambda: check_module("cuda.core", "cuda.core", "compile"),
        check_cuda_compiler,
        check_disassembler,
        check_harnesses,
        lambda: check_tool(SANITIZER, "run --sanitize"),
        lambda: check_tool(PROFILER, "run --profile"),
    ]
    return [check() for check in checks]


def check_python() -> Finding:
    """See whether the interpreter is recent enough."""
    ok = sys.version_info >= LEAST_PYTHON
    wanted = ".".join(map(str, LEAST_PYTHON))
    remedy = "" if ok else f"install Python {wanted} or newer"
    return Finding("python", f"Python {platform.python_version()} runs this program.", remedy, "everything", ok=ok)


def check_cpu() -> Finding:
    """See whether the kernel tells what CPU this is."""
    device = cpu_device()
    ok = bool(device.facts["caches_bytes"])
    caches = ", ".join(f"{name} {size // 1024} KiB" for name, size in device.facts["caches_bytes"].items())
    told = f"with {caches}" if ok else "whose caches the kernel does not show"
    remedy = "" if ok else "state cache sizes in the experiment's README; pages cannot say what fits"
    sentence = f"{device.model} ({device.facts['cores']} cores), {told}, is device {device.id}."
    return Finding("cpu", sentence, remedy, "the native backend", ok=ok)


def check_compiler(compiler: str = "cc") -> Finding:
    """See whether the system compiler makes a shared object."""
    remedy = "install a C compiler (Debian and Ubuntu: apt-get install gcc libc6-dev)"
    path = shutil.which(os.environ.get("CC") or compiler)
    if path is None:
        return Finding("compiler", "There is no C compiler on the path.", remedy, "the native backend", ok=False)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.c")
        source.write_text(_PROBE)
        command = [path, "-shared", "-fPIC", "-o", str(Path(folder, "probe.so")), str(source)]
        ok = _succeeds(command)
    sentence = f"{path} makes shared objects." if ok else f"{path} does not make a shared object."
    return Finding("compiler", sentence, "" if ok else remedy, "the native backend", ok=ok)


def check_pinning() -> Finding:
    """See whether a process may be kept on one core."""
    what, why = "pinned core", "steady times of the native backend"
    if not hasattr(os, "sched_setaffinity"):
        return Finding(what, "This system cannot pin a process to a core.", "measure on Linux", why, ok=False)
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, allowed)
    except OSError:
        return Finding(what, "Pinning a process to a core is forbidden here.", "allow sched_setaffinity", why, ok=False)
    return Finding(what, f"A process may be pinned to any of {len(allowed)} cores.", "", why, ok=True)


def check_governor(sysfs: Path = Path("/sys")) -> Finding:
    """See whether the clock governor is known, and the steady one."""
    found, why = governor(sysfs), "steady clocks"
    if found is None:
        sentence = "The kernel shows no clock governor, as is usual in a virtual machine."
        return Finding("governor", sentence, "expect wider intervals; the null arms show by how much", why, ok=False)
    ok = found == "performance"
    remedy = "" if ok else "if you may: cpupower frequency-set -g performance (this program never sets it)"
    return Finding("governor", f"The clock governor is {found}.", remedy, why, ok=ok)


def check_load() -> Finding:
    """See whether the machine is otherwise idle."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    ok = load <= MOST_LOAD_PER_CORE * cores
    remedy = "" if ok else "end other work first; load is recorded with every batch"
    return Finding(
        "load", f"The load of the last minute is {load:.2f} on {cores} cores.", remedy, "steady times", ok=ok
    )


def check_clock() -> Finding:
    """See whether the monotonic clock resolves a batch."""
    resolution_ns = round(time.get_clock_info("perf_counter").resolution * 1e9)
    ok = resolution_ns <= COARSEST_CLOCK_NS
    remedy = "" if ok else "raise protocol.least_batch_ms to a thousand times that, or measure elsewhere"
    return Finding("clock", f"The monotonic clock resolves {resolution_ns} ns.", remedy, "the native backend", ok=ok)


def check_disk(runs: Path) -> Finding:
    """See whether there is room for an archive."""
    place = next(folder for folder in (runs, *runs.absolute().parents) if folder.is_dir())
    free_mib = shutil.disk_usage(place).free // BYTES_PER_MIB
    ok = free_mib >= LEAST_FREE_MIB and os.access(place, os.W_OK)
    remedy = "" if ok else f"free {LEAST_FREE_MIB} MiB there, and see that you may write"
    return Finding("disk", f"{free_mib} MiB are free in {place}.", remedy, "the archive", ok=ok)


def check_git() -> Finding:
    """See whether the age of sources can be observed."""
    path = shutil.which("git")
    sentence = "Git can tell when sources were last changed." if path else "There is no git on the path."
    remedy = "" if path else "install git, or bring a provenance file (run NAME --provenance FILE)"
    return Finding("git", sentence, remedy, "provenance of sources", ok=path is not None)


def check_gpu(dev: Path = Path("/dev"), proc: Path = Path("/proc")) -> Finding:
    """See whether there is an NVIDIA GPU with its driver."""
    boards = sorted(path.name for path in dev.glob("nvidia[0-9]*"))
    version = proc / "driver/nvidia/version"
    if not boards or not version.is_file():
        sentence = "There is no NVIDIA GPU, or no driver for it."
        return Finding("gpu", sentence, "nothing, unless you want the cuda backend", "the cuda backend", ok=False)
    driver = version.read_text(errors="replace").splitlines()[0].split(":", 1)[-1].strip()
    return Finding("gpu", f"{len(boards)} NVIDIA device(s); driver: {driver}.", "", "the cuda backend", ok=True)


def check_gpu_answers() -> Finding:
    """Ask the management library for the GPUs that may be used."""
    what, why = "gpu names", "the cuda backend"
    try:
        library = open_nvml()
        uuid, name = chosen(gpus(library), None, os.environ.get("CUDA_VISIBLE_DEVICES"))
    except InputError as fault:
        return Finding(what, f"The GPUs cannot be named: {fault.what}.", fault.remedy, why, ok=False)
    found = f"{len(gpus(library))} GPU(s), the first that may be used is {name}, {uuid}"
    return Finding(what, f"NVIDIA's management library names {found}.", "", why, ok=True)


def check_cuda_compiler() -> Finding:
    """See whether NVRTC makes a cubin; no GPU is needed."""
    what, why = "cuda compiler", "compiling for the cuda backend"
    arm = Arm(name="probe", role=Role.PROBE, idea="-", file="probe.cu", symbol="reportgen_probe")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "probe.cu").write_text(f'extern "C" __global__ {_PROBE}')
        try:
            patience = Patience(_COMPILE_DEADLINE_S, lambda: None)
            compile_arm(arm, OPTIONS, Path(folder), Path(folder, "probe.cubin"), patience)
        except InputError as fault:
            remedy = "pip install 'reportgen[compile]', if you want the cuda backend"
            return Finding(what, f"No cubin is made: {fault.what}.", remedy, why, ok=False)
    return Finding(what, f"NVRTC makes cubins ({OPTIONS[0].partition('=')[2]}).", "", why, ok=True)


def check_disassembler() -> Finding:
    """See whether machine code can be counted by instruction."""
    what, why = "disassembler", "counts of a kernel's instructions"
    if disassembler() is None:
        return Finding(
            what, "There is no nvdisasm.", "pip install 'reportgen[compile]', if you want them", why, ok=False
        )
    return Finding(what, "nvdisasm lists the machine code of cubins.", "", why, ok=True)


def check_module(module: str, title: str, extra: str) -> Finding:
    """Is a package of an extra installed? It is looked up, not imported."""
    ok = installed(module)
    sentence = f"{title} is installed." if ok else f"{title} is not installed."
    remedy = "" if ok else f"pip install 'reportgen[{extra}]', if you want the cuda backend"
    return Finding(module, sentence, remedy, f"the {extra} backend", ok=ok)


def check_tool(program: str, needed_for: str) -> Finding:
    """See whether a program of NVIDIA's toolkit that kernels are looked at with is there and starts."""
    try:
        found = find_tool(program)
    except InputError as fault:
        return Finding(program, f"{fault.what}.", fault.remedy, needed_for, ok=False)
    return Finding(program, f"{found.path} is there, {found.version}.", "", needed_for, ok=True)


def check_harnesses() -> Finding:
    """See which timing programs of others a timed process could load."""
    what, why = "harnesses", "studies that ask what other timing programs report"
    absent = lacking(CATALOGUE)
    here = ", ".join(name for name in CATALOGUE if name not in absent)
    if not absent:
        return Finding(what, f"Other timing programs at hand: {here}.", "", why, ok=True)
    packages = dict.fromkeys(title for titles in absent.values() for title in titles)
    sentence = f"Other timing programs at hand: {here}; not {', '.join(absent)}."
    return Finding(what, sentence, f"pip install {' '.join(packages)}, if you want them", why, ok=False)


def _succeeds(command: list[str]) -> bool:
    try:
        answer = subprocess.run(command, capture_output=True, timeout=_COMPILE_DEADLINE_S, check=False)  # noqa: S603 - the system compiler on a file written here
    except (OSError, subprocess.SubprocessError):
        return False
    return answer.returncode == 0
