"""What machine code an arm became: whether nulls are the same code, and ideas are not."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from reportgen.errors import FindingError
from reportgen.model.experiment import Arm

_EXECUTABLE = 0x4  # SHF_EXECINSTR of the ELF specification


@dataclass(frozen=True)
class Function:
    """A function defined in an object: its machine code, and whether other objects can see it."""

    code: bytes
    exported: bool


@dataclass(frozen=True)
class CodeComparison:
    """What comparing the arms' code found: pairs of arm names.

    Parameters
    ----------
    unequal_nulls:
        (null, arm it repeats) whose text sections differ: the null is none.
    identical:
        Two arms that should differ and have the same code.
    """

    unequal_nulls: list[tuple[str, str]]
    identical: list[tuple[str, str]]


def text_section_sha256(path: Path) -> str:
    """SHA-256 of an object's ``.text`` section (of several ``.text*``, as cubins have, of their bytes in order).

    Raises
    ------
    FindingError
        ``path`` is no ELF file, or has no such section.
    """
    with path.open("rb") as stream:
        elf = _elf(stream, path)
        sections = [part for part in elf.iter_sections() if part.name == ".text" or part.name.startswith(".text.")]
        if not sections:
            raise FindingError("the object has no .text section", where=str(path), remedy="look at its compiler's log")
        return hashlib.sha256(b"".join(part.data() for part in sections)).hexdigest()


def symbols(path: Path) -> dict[str, Function]:
    """Functions that an object defines, by name, in the order of their addresses.

    Those without size (which the C runtime adds) are left out. Where the symbol table was stripped, the exported ones
    are all there is.

    Raises
    ------
    FindingError
        ``path`` is no ELF file.
    """
    with path.open("rb") as stream:
        elf = _elf(stream, path)
        tables = [part for part in elf.iter_sections() if isinstance(part, SymbolTableSection)]
        tables.sort(key=lambda table: table.name != ".symtab")
        entries = [symbol for table in tables[:1] for symbol in table.iter_symbols()]
        found = [symbol for symbol in entries if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_size"] > 0]
        found.sort(key=lambda symbol: (symbol["st_value"], symbol.name))
        return {
            symbol.name: Function(_code(elf, symbol), symbol["st_info"]["bind"] != "STB_LOCAL")
            for symbol in found
            if isinstance(symbol["st_shndx"], int)
        }


def function_sha256(path: Path, symbol: str) -> str:
    """SHA-256 of one function's machine code.

    Raises
    ------
    FindingError
        ``path`` is no ELF file, or does not define the function.
    """
    functions = symbols(path)
    if symbol not in functions:
        raise FindingError(
            f"the object defines no function {symbol!r}",
            where=str(path),
            remedy="export it, or correct the arm's `symbol`",
        )
    return hashlib.sha256(functions[symbol].code).hexdigest()


def compare_text(arms: Sequence[Arm], binaries: Mapping[str, Path]) -> CodeComparison:
    """Compare nulls with the arms they repeat, and all other arms with each other.

    A null must equal in the whole text section. Two other arms count as identical where their own function and all other
    functions of their objects (which it may call, or which are further kernels of the operation) are equal byte for byte; since
    calls are relative, code that merely lies elsewhere can count as different, never the other way round.

    Parameters
    ----------
    binaries:
        Arm name to its object.
    """
    present = [arm for arm in arms if arm.name in binaries]
    unequal = [
        (arm.name, arm.of)
        for arm in present
        if arm.of is not None
        and arm.of in binaries
        and text_section_sha256(binaries[arm.name]) != text_section_sha256(binaries[arm.of])
    ]
    codes = {arm.name: _own_code(binaries[arm.name], arm.symbol) for arm in present if arm.of is None and arm.symbol}
    identical = [(a, b) for a, b in itertools.combinations(codes, 2) if codes[a] == codes[b]]
    return CodeComparison(unequal_nulls=unequal, identical=identical)


def _own_code(path: Path, symbol: str) -> tuple[str, list[bytes]]:
    others = sorted(function.code for name, function in symbols(path).items() if name != symbol)
    return function_sha256(path, symbol), others


def _elf(stream: IO[bytes], path: Path) -> ELFFile:
    try:
        return ELFFile(stream)
    except ELFError as fault:
        raise FindingError("is no object file", where=str(path), remedy="look at its compiler's log") from fault


def _code(elf: ELFFile, symbol: Any) -> bytes:
    value, size, index = symbol["st_value"], symbol["st_size"], symbol["st_shndx"]
    section = elf.get_section(index)
    if not section["sh_flags"] & _EXECUTABLE:
        return b""
    start = value - section["sh_addr"]
    return bytes(section.data()[start : start + size])
