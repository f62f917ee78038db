"""What exactly was run, and on what: hashes that bracket an attempt, and the identity of the CPU."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from reportgen.model.record import Device
from reportgen.units import BYTES_PER_KIB, BYTES_PER_MIB

PACKAGES = ("reportgen", "numpy", "msgspec", "pyarrow", "psutil", "filelock", "pyelftools")
GONE = "absent"

_SIZE = re.compile(r"(\d+)([KM]?)")
_UNITS = {"": 1, "K": BYTES_PER_KIB, "M": BYTES_PER_MIB}
_CACHE_LETTERS = {"Data": "d", "Instruction": "i", "Unified": ""}


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes in lower-case hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def hash_bracket(paths: Mapping[str, Path], packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Hash all that must not change between the first batch and the last.

    Parameters
    ----------
    paths:
        Label (such as ``source/q6k_dot/experiment.py`` or ``binary/<arm>``) to file.
    packages:
        Distributions to add as ``package/<name>``.

    Returns
    -------
    dict
        Label to SHA-256, or ``absent`` for a file or package that is not there; sorted by label. ``interpreter`` is the
        file of the running Python. A package's hash is that of its installer's list of files with their hashes
        (``RECORD``) after its version; this program's own is that of its modules, which may lie beside no such list.
    """
    found = {label: _sha256_or_gone(path) for label, path in paths.items()}
    found["interpreter"] = _sha256_or_gone(Path(sys.executable).resolve())
    for package in packages:
        found[f"package/{package}"] = own_sha256() if package == "reportgen" else _package_sha256(package)
    return dict(sorted(found.items()))


def first_difference(before: Mapping[str, str], after: Mapping[str, str]) -> str | None:
    """Name, in a sentence without full stop, the first label whose hash differs; null if none does."""
    for label in sorted({*before, *after}):
        was, now = before.get(label, GONE), after.get(label, GONE)
        if was != now:
            verb = "vanished" if now == GONE else "appeared" if was == GONE else "changed"
            return f"{label} {verb} while it was measured (SHA-256 {was[:12]} before, {now[:12]} after)"
    return None


def versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Versions of the interpreter, the C library and the packages that are installed, sorted by name."""
    found = {"python": platform.python_version(), "libc": " ".join(platform.libc_ver()).strip()}
    for package in packages:
        if package != "reportgen" and (version := _version(package)) is not None:
            found[package] = version
    return dict(sorted(found.items()))


def own_sha256() -> str:
    """Hash this program: ``path NUL sha256 LF`` of each of its modules, C and CUDA files, by path within the package."""
    package = Path(__file__).resolve().parents[1]
    files = sorted(path for path in package.rglob("*") if path.suffix in (".py", ".c", ".cu", ".h") and path.is_file())
    lines = [f"{path.relative_to(package).as_posix()}\0{file_sha256(path)}\n" for path in files]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _sha256_or_gone(path: Path) -> str:
    return file_sha256(path) if path.is_file() else GONE


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _package_sha256(package: str) -> str:
    version = _version(package)
    if version is None:
        return GONE
    record = importlib.metadata.distribution(package).read_text("RECORD") or ""
    return hashlib.sha256(f"{version}\n{record}".encode()).hexdigest()


def cpu_device(proc: Path = Path("/proc"), sysfs: Path = Path("/sys")) -> Device:
    """Identify this machine's CPU.

    The id is ``cpu-`` and the first 12 hexadecimal digits of the SHA-256 of ``model NUL stepping NUL caches NUL cores``:
    the model's name, its stepping, the first core's caches as ``L1d=32768`` joined by commas in the order of their names,
    and how many cores the machine has (as ``cores x threads``). Two machines that agree in these are one device.

    Parameters
    ----------
    proc, sysfs:
        Where the kernel tells of itself.

    Returns
    -------
    Device
        With facts ``model, stepping, cores, threads, caches_bytes, governor, microcode, kernel, memory_bytes``; what
        the kernel does not tell is null.
    """
    processors = _processors(proc)
    first = processors[0] if processors else {}
    model = _model(first)
    stepping = first.get("stepping", first.get("CPU revision", ""))
    caches = _caches_bytes(sysfs)
    threads = len(processors) or os.cpu_count() or 1
    cores = len({(cpu.get("physical id"), cpu.get("core id", cpu.get("processor"))) for cpu in processors}) or threads
    named = ",".join(f"{name}={size}" for name, size in caches.items())
    identity = "\0".join([model, stepping, named, f"{cores} x {threads}"])
    facts: dict[str, Any] = {
        "model": model,
        "stepping": stepping or None,
        "cores": cores,
        "threads": threads,
        "caches_bytes": caches,
        "governor": governor(sysfs),
        "microcode": first.get("microcode"),
        "kernel": f"{platform.system()} {platform.release()}",
        "memory_bytes": _memory_bytes(proc),
    }
    digits = hashlib.sha256(identity.encode()).hexdigest()[:12]
    return Device(id=f"cpu-{digits}", model=model, kind="cpu", facts=facts)


def governor(sysfs: Path = Path("/sys")) -> str | None:
    """Frequency governors of the cores, joined by ``+`` where they differ; null where the kernel shows none."""
    files = sysfs.glob("devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
    return "+".join(sorted({text for path in files if (text := _read(path))})) or None


def _processors(proc: Path) -> list[dict[str, str]]:
    """Blocks of cpuinfo that describe a processor; lines are ``key : value``."""
    blocks = (_read(proc / "cpuinfo") or "").split("\n\n")
    pairs = [[line.partition(":") for line in block.splitlines()] for block in blocks]
    found = [{key.strip(): value.strip() for key, _, value in lines} for lines in pairs]
    return [block for block in found if "processor" in block]


def _model(first: Mapping[str, str]) -> str:
    if "model name" in first:
        return " ".join(first["model name"].split())
    if "CPU part" in first:
        return f"{platform.machine()} implementer {first.get('CPU implementer', '?')} part {first['CPU part']}"
    return platform.processor() or platform.machine() or "unknown"


def _caches_bytes(sysfs: Path) -> dict[str, int]:
    found = {}
    for index in sorted(sysfs.glob("devices/system/cpu/cpu0/cache/index*")):
        size = _SIZE.fullmatch(_read(index / "size") or "")
        if size is not None:
            letter = _CACHE_LETTERS.get(_read(index / "type") or "", "")
            found[f"L{_read(index / 'level')}{letter}"] = int(size[1]) * _UNITS[size[2]]
    return dict(sorted(found.items()))


def _memory_bytes(proc: Path) -> int | None:
    found = re.search(r"^MemTotal:\s+(\d+) kB", _read(proc / "meminfo") or "", re.MULTILINE)
    return int(found[1]) * BYTES_PER_KIB if found else None


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
