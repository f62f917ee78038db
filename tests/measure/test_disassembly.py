"""Machine code is compared in real objects of the system compiler."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from reportgen.errors import FindingError
from reportgen.measure.disassembly import compare_text, function_sha256, symbols, text_section_sha256
from reportgen.model.experiment import Arm, Role

ADD = "int {name}(const int *x, int n) {{ int s = 0; for (int i = 0; i < n; i++) s += x[i] * {factor}; return s; }}\n"
HELPED = """
static __attribute__((noinline)) int helper(int x) {{ return x * x + {constant}; }}
int {name}(int x) {{ return helper(x) + helper(x + 1); }}
"""


def compiled(folder: Path, name: str, source: str, *options: str) -> Path:
    """Compile C text to a shared object."""
    path = folder / f"{name}.so"
    (folder / f"{name}.c").write_text(source)
    command = ["cc", "-O2", "-fPIC", "-shared", *options, "-o", str(path), str(folder / f"{name}.c")]
    subprocess.run(command, check=True)
    return path


def an_arm(name: str, role: Role = Role.CANDIDATE, of: str | None = None, symbol: str | None = None) -> Arm:
    """Declare an arm with the symbol of its name."""
    return Arm(name=name, role=role, idea="-", of=of, symbol=symbol or name)


def test_the_text_hash_is_that_of_the_sections_bytes(tmp_path: Path) -> None:
    """Known right value by objcopy."""
    path = compiled(tmp_path, "add", ADD.format(name="add", factor=3))
    raw = tmp_path / "text.bin"
    subprocess.run(["objcopy", "-O", "binary", "--only-section=.text", str(path), str(raw)], check=True)
    assert hashlib.sha256(raw.read_bytes()).hexdigest() == text_section_sha256(path)


def test_functions_are_found_with_their_code(tmp_path: Path) -> None:
    """Exported and hidden ones; what the C runtime adds has no size and is left out."""
    found = symbols(compiled(tmp_path, "helped", HELPED.format(name="helped", constant=7)))
    assert {"helped": True, "helper": False} == {name: function.exported for name, function in found.items()}
    assert all(function.code for function in found.values())


def test_a_null_compiled_anew_equals_its_original(tmp_path: Path) -> None:
    """Same source and options, another object."""
    source = ADD.format(name="plain", factor=3)
    binaries = {name: compiled(tmp_path, name, source) for name in ("plain", "again")}
    arms = [an_arm("plain", Role.INCUMBENT), an_arm("again", Role.NULL, of="plain", symbol="plain")]
    assert [] == compare_text(arms, binaries).unequal_nulls


def test_a_null_with_other_code_is_found(tmp_path: Path) -> None:
    """As when its options slipped."""
    source = ADD.format(name="plain", factor=3)
    binaries = {"plain": compiled(tmp_path, "plain", source), "again": compiled(tmp_path, "again", source, "-O0")}
    arms = [an_arm("plain", Role.INCUMBENT), an_arm("again", Role.NULL, of="plain", symbol="plain")]
    assert [("again", "plain")] == compare_text(arms, binaries).unequal_nulls


def test_two_ideas_that_compile_to_one_are_announced(tmp_path: Path) -> None:
    """Symbols differ, code does not; a third with another factor is told apart. Nulls are not announced."""
    binaries = {
        "plain": compiled(tmp_path, "plain", ADD.format(name="plain", factor=3)),
        "same": compiled(tmp_path, "same", ADD.format(name="same", factor="(1 + 2)")),
        "other": compiled(tmp_path, "other", ADD.format(name="other", factor=5)),
        "again": compiled(tmp_path, "again", ADD.format(name="plain", factor=3)),
    }
    arms = [an_arm(name) for name in ("plain", "same", "other")] + [an_arm("again", Role.NULL, "plain", "plain")]
    assert [("plain", "same")] == compare_text(arms, binaries).identical


def test_arms_of_one_file_are_judged_by_their_own_functions(tmp_path: Path) -> None:
    """Each arm has an object of its own with all of the file's functions in it; still two ideas."""
    source = ADD.format(name="plain", factor=3) + ADD.format(name="other", factor=5)
    binaries = {name: compiled(tmp_path, name, source) for name in ("plain", "other")}
    assert [] == compare_text([an_arm("plain"), an_arm("other")], binaries).identical


def test_arms_that_differ_in_a_helper_only_are_not_announced(tmp_path: Path) -> None:
    """The exported functions are equal byte for byte; what they call is not."""
    binaries = {
        name: compiled(tmp_path, name, HELPED.format(name=name, constant=constant))
        for name, constant in (("plain", 7), ("other", 9))
    }
    assert function_sha256(binaries["plain"], "plain") == function_sha256(binaries["other"], "other")
    assert [] == compare_text([an_arm("plain"), an_arm("other")], binaries).identical


def test_arms_that_differ_in_a_further_kernel_only_are_not_announced(tmp_path: Path) -> None:
    """An operation of two functions, both exported: the first are equal, the second are not."""
    binaries = {
        name: compiled(tmp_path, name, ADD.format(name=name, factor=3) + ADD.format(name=f"{name}_then", factor=factor))
        for name, factor in (("plain", 5), ("other", 7))
    }
    assert function_sha256(binaries["plain"], "plain") == function_sha256(binaries["other"], "other")
    assert [] == compare_text([an_arm("plain"), an_arm("other")], binaries).identical


def test_an_object_without_the_symbol_is_a_finding(tmp_path: Path) -> None:
    """Named with file and symbol."""
    path = compiled(tmp_path, "add", ADD.format(name="add", factor=3))
    with pytest.raises(FindingError, match=r"add.so: the object defines no function 'sub'; export it"):
        function_sha256(path, "sub")


def test_a_stripped_object_still_shows_what_it_exports(tmp_path: Path) -> None:
    """The dynamic symbols remain."""
    path = compiled(tmp_path, "helped", HELPED.format(name="helped", constant=7), "-s")
    assert ["helped"] == list(symbols(path))


def test_what_is_no_object_is_a_finding(tmp_path: Path) -> None:
    """A compiler that wrote something else."""
    path = tmp_path / "x.so"
    path.write_text("no object")
    with pytest.raises(FindingError, match="is no object file"):
        text_section_sha256(path)
