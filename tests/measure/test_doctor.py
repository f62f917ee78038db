"""The doctor looks at the real machine, and at machines laid out for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reportgen.measure import doctor


def test_every_finding_is_a_sentence_and_a_missing_thing_has_a_remedy(tmp_path: Path) -> None:
    """Whatever this machine is like."""
    findings = doctor.examine(tmp_path / "runs")
    names = [finding.name for finding in findings]
    assert len(set(names)) == len(names) == 19
    for finding in findings:
        assert finding.sentence.endswith(".")
        assert "\n" not in finding.sentence
        assert finding.needed_for
        assert finding.ok or finding.remedy


def test_looking_for_the_cuda_packages_does_not_import_them(tmp_path: Path) -> None:
    """Importing CuPy takes seconds and touches the device."""
    program = (
        "import sys; from pathlib import Path; from reportgen.measure.doctor import examine; "
        f"examine(Path({str(tmp_path)!r})); print(sorted({{'cupy', 'cuda.core'}} & set(sys.modules)))"
    )
    root = Path(__file__).parents[2]
    finished = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert "[]" == finished.stdout.strip()


def test_the_compiler_that_made_these_tests_is_found() -> None:
    """It compiles a probe to say so."""
    assert doctor.check_compiler("cc").ok


def test_a_missing_compiler_is_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a bare container."""
    monkeypatch.delenv("CC", raising=False)
    finding = doctor.check_compiler("no-such-compiler")
    assert not finding.ok
    assert "install a C compiler" in finding.remedy


def test_a_compiler_that_makes_nothing_is_not_called_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Being on the path is not enough."""
    broken = tmp_path / "broken-cc"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    finding = doctor.check_compiler()
    assert not finding.ok
    assert "does not make a shared object" in finding.sentence


def test_a_forbidden_pin_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some sandboxes refuse the call."""

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    assert not doctor.check_pinning().ok


@pytest.mark.parametrize(("found", "ok"), [("performance", True), ("powersave", False), (None, False)])
def test_a_governor_is_judged(tmp_path: Path, found: str | None, *, ok: bool) -> None:
    """Only the steady one is as measuring wants it."""
    if found is not None:
        folder = tmp_path / "devices/system/cpu/cpu0/cpufreq"
        folder.mkdir(parents=True)
        (folder / "scaling_governor").write_text(found)
    assert ok == doctor.check_governor(tmp_path).ok


@pytest.mark.parametrize(("load", "ok"), [(0.9, True), (1.1, False)])
def test_load_is_judged_by_the_number_of_cores(monkeypatch: pytest.MonkeyPatch, load: float, *, ok: bool) -> None:
    """Half a busy core each is the bar."""
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert ok == doctor.check_load().ok


def test_a_full_disk_is_told_before_it_hurts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The archive's folder need not exist yet."""
    monkeypatch.setattr(doctor, "LEAST_FREE_MIB", 1 << 40)
    finding = doctor.check_disk(tmp_path / "not" / "yet")
    assert not finding.ok
    assert str(tmp_path) in finding.sentence


def test_a_gpu_is_seen_by_its_device_file_and_driver(tmp_path: Path) -> None:
    """One without the other is not enough."""
    (tmp_path / "nvidia0").touch()
    assert not doctor.check_gpu(tmp_path, tmp_path).ok
    version = tmp_path / "driver/nvidia/version"
    version.parent.mkdir(parents=True)
    version.write_text("NVRM version: Example Kernel Module 1.2\nGCC version: 3\n")
    finding = doctor.check_gpu(tmp_path, tmp_path)
    assert finding.ok
    assert finding.sentence == "1 NVIDIA device(s); driver: Example Kernel Module 1.2."


def test_tools_that_look_at_kernels_are_found_or_missed_with_what_they_are_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is on the path and tells its version; one that is not."""
    (tmp_path / "ncu").write_text("#!/bin/sh\necho 'Version 2025.3.1.0 (build 1)'\n")
    (tmp_path / "ncu").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.delenv("CUDA_HOME", raising=False)
    found, missing = doctor.check_tool("ncu", "run --profile"), doctor.check_tool("compute-sanitizer", "run --sanitize")
    assert (True, f"{tmp_path}/ncu is there, Version 2025.3.1.0 (build 1).") == (found.ok, found.sentence)
    assert (False, "compute-sanitizer is neither on PATH nor under CUDA_HOME.") == (missing.ok, missing.sentence)
    assert ("run --sanitize", True) == (missing.needed_for, missing.remedy.startswith("install NVIDIA's CUDA toolkit"))
