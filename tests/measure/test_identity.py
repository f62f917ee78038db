"""What was run is bracketed by hashes, and a CPU has an identity that its facts explain."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reportgen.measure.identity import cpu_device, file_sha256, first_difference, hash_bracket, own_sha256, versions

CPUINFO = """\
processor\t: 0
model name\t: Example  CPU 9000
stepping\t: 3
microcode\t: 0x2b
physical id\t: 0
core id\t: 0

processor\t: 1
model name\t: Example  CPU 9000
stepping\t: 3
physical id\t: 0
core id\t: 0

processor\t: 2
model name\t: Example  CPU 9000
stepping\t: 3
physical id\t: 0
core id\t: 1
"""


@pytest.fixture
def machine(tmp_path: Path) -> tuple[Path, Path]:
    """Lay out what a kernel would tell: two cores, three threads, three caches, a governor."""
    proc, sysfs = tmp_path / "proc", tmp_path / "sys"
    proc.mkdir()
    (proc / "cpuinfo").write_text(CPUINFO)
    (proc / "meminfo").write_text("MemTotal:       1024 kB\nMemFree:  1 kB\n")
    for index, (level, kind, size) in enumerate([(1, "Data", "32K"), (1, "Instruction", "48K"), (3, "Unified", "2M")]):
        folder = sysfs / f"devices/system/cpu/cpu0/cache/index{index}"
        folder.mkdir(parents=True)
        for name, text in (("level", str(level)), ("type", kind), ("size", size)):
            (folder / name).write_text(text + "\n")
    for cpu in (0, 1):
        folder = sysfs / f"devices/system/cpu/cpu{cpu}/cpufreq"
        folder.mkdir(parents=True)
        (folder / "scaling_governor").write_text("performance\n")
    return proc, sysfs


def test_a_cpu_id_is_the_hash_of_what_the_docstring_names(machine: tuple[Path, Path]) -> None:
    """Known right value by hand."""
    text = "Example CPU 9000\x003\x00L1d=32768,L1i=49152,L3=2097152\x002 x 3"
    device = cpu_device(*machine)
    assert "cpu-" + hashlib.sha256(text.encode()).hexdigest()[:12] == device.id
    assert ("cpu", "Example CPU 9000") == (device.kind, device.model)


def test_a_cpu_has_its_facts(machine: tuple[Path, Path]) -> None:
    """Sizes in bytes; the kernel's release is the running one's and is left out here."""
    facts = cpu_device(*machine).facts
    expected = {
        "model": "Example CPU 9000",
        "stepping": "3",
        "cores": 2,
        "threads": 3,
        "caches_bytes": {"L1d": 32768, "L1i": 49152, "L3": 2097152},
        "governor": "performance",
        "microcode": "0x2b",
        "memory_bytes": 1048576,
    }
    assert expected == {key: value for key, value in facts.items() if key != "kernel"}


@pytest.mark.parametrize(
    ("old", "new"), [("Example", "Other"), ("stepping\t: 3", "stepping\t: 4"), ("id\t: 1", "id\t: 0")]
)
def test_another_cpu_has_another_id(machine: tuple[Path, Path], old: str, new: str) -> None:
    """Model, stepping and cores each tell machines apart."""
    before = cpu_device(*machine).id
    (machine[0] / "cpuinfo").write_text(CPUINFO.replace(old, new))
    assert before != cpu_device(*machine).id


def test_microcode_and_governor_do_not_make_another_device(machine: tuple[Path, Path]) -> None:
    """They change on one machine; they are facts, not identity."""
    before = cpu_device(*machine).id
    (machine[0] / "cpuinfo").write_text(CPUINFO.replace("0x2b", "0x2c"))
    (machine[1] / "devices/system/cpu/cpu0/cpufreq/scaling_governor").write_text("powersave\n")
    device = cpu_device(*machine)
    assert before == device.id
    assert device.facts["governor"] == "performance+powersave"


def test_a_kernel_that_tells_nothing_still_gives_a_device(tmp_path: Path) -> None:
    """As in a jail without /proc and /sys."""
    facts = cpu_device(tmp_path, tmp_path).facts
    assert ({}, None, None) == (facts["caches_bytes"], facts["governor"], facts["memory_bytes"])
    assert facts["cores"] >= 1


def test_this_machine_is_the_same_device_twice() -> None:
    """The id does not move with time or load."""
    assert cpu_device() == cpu_device()


def test_a_bracket_names_the_first_thing_that_changed(tmp_path: Path) -> None:
    """Changed, vanished and appeared files are told apart."""
    source, binary = tmp_path / "a.c", tmp_path / "a.so"
    source.write_text("one")
    paths = {"source/a.c": source, "binary/a": binary}
    before = hash_bracket(paths)
    assert first_difference(before, hash_bracket(paths)) is None
    source.write_text("two")
    assert str(first_difference(before, hash_bracket(paths))).startswith("source/a.c changed while it was measured")
    source.unlink()
    assert str(first_difference(before, hash_bracket(paths))).startswith("source/a.c vanished")
    binary.write_text("new")
    assert str(first_difference(before, hash_bracket(paths))).startswith("binary/a appeared")


def test_a_bracket_holds_interpreter_and_packages() -> None:
    """The interpreter is the real file behind the link; a package that is missing is said to be."""
    found = hash_bracket({}, packages=["numpy", "reportgen", "no-such-package"])
    assert hashlib.sha256(Path(sys.executable).resolve().read_bytes()).hexdigest() == found["interpreter"]
    assert ("absent", own_sha256()) == (found["package/no-such-package"], found["package/reportgen"])
    assert 64 == len(found["package/numpy"])
    assert sorted(found) == list(found)


def test_the_programs_own_hash_follows_its_modules(tmp_path: Path) -> None:
    """A copy hashes alike; a changed copy does not (shown by running the copy)."""
    package = Path(__file__).parents[2] / "reportgen"
    shutil.copytree(package, tmp_path / "reportgen", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-c", "from reportgen.measure.identity import own_sha256; print(own_sha256())"]

    def copied() -> str:
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()

    assert own_sha256() == copied()
    with (tmp_path / "reportgen" / "units.py").open("a") as stream:
        stream.write("\n")
    assert own_sha256() != copied()


def test_a_files_hash_is_that_of_its_bytes(tmp_path: Path) -> None:
    """Known value of SHA-256 (FIPS 180-2, "abc")."""
    (tmp_path / "abc").write_bytes(b"abc")
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert expected == file_sha256(tmp_path / "abc")


def test_versions_name_what_is_installed() -> None:
    """Python always, a package only where it is there."""
    found = versions(["numpy", "no-such-package"])
    assert ["libc", "numpy", "python"] == list(found)
