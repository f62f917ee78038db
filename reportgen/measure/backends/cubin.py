"""What a cubin is made of, read without a GPU: what the assembler used, and which instructions there are."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reportgen.measure.disassembly import symbols, text_section_sha256

INSTRUCTION_BYTES = 16
PADDING = "NOP"
_DEADLINE_S = 300  # for a cubin of dozens of kernels on a machine that does other things too

_ENTRY = re.compile(r"Compiling entry function '(?P<symbol>[^']+)'.*?(?=Compiling entry function|\Z)", re.DOTALL)
_NUMBERS = {
    "registers": re.compile(r"Used (\d+) registers"),
    "stack_bytes": re.compile(r"(\d+) bytes stack frame"),
    "spill_store_bytes": re.compile(r"(\d+) bytes spill stores"),
    "spill_load_bytes": re.compile(r"(\d+) bytes spill loads"),
    "shared_bytes": re.compile(r"(\d+) bytes smem"),
    "barriers": re.compile(r"used (\d+) barriers"),
}
_NOTEWORTHY = re.compile(r"^.*(?:warning|Potential Performance Loss).*$", re.MULTILINE | re.IGNORECASE)


def code_facts(path: Path, symbol: str, log: str, disassembler: str | None) -> dict[str, Any]:
    """Facts of an arm's cubin.

    Parameters
    ----------
    log:
        What the assembler said with ``-v``.
    disassembler:
        Path of ``nvdisasm``; without it there are sizes and no counts by instruction.

    Returns
    -------
    dict
        ``text_sha256``, ``entry_bytes``; ``registers`` a thread, ``stack_bytes``, ``spill_store_bytes`` and ``spill_load_bytes`` a thread,
        static ``shared_bytes`` a block, ``barriers``; ``instructions`` without the padding at the end and ``opcodes``, how often each
        stands in the code (null without a disassembler). ``further_kernels`` holds, by name, size and resources of the cubin's other
        kernels, of which an operation may consist as well.
    """
    opcodes = instruction_counts(path, symbol, disassembler) if disassembler else None
    sizes = {name: len(function.code) for name, function in symbols(path).items()}
    further = sorted(match["symbol"] for match in _ENTRY.finditer(log) if match["symbol"] in sizes.keys() - {symbol})
    return {
        "text_sha256": text_section_sha256(path),
        "entry_bytes": sizes[symbol],
        **resources(log, symbol),
        "further_kernels": {name: {"entry_bytes": sizes[name], **resources(log, name)} for name in further},
        "instructions": sum(opcodes.values()) if opcodes is not None else None,
        "opcodes": opcodes,
    }


def resources(log: str, symbol: str) -> dict[str, int | None]:
    """Numbers that the assembler told of one kernel; shared memory and barriers are 0 where it is silent, the others null."""
    told = next((match[0] for match in _ENTRY.finditer(log) if match["symbol"] == symbol), "")
    silent = {"shared_bytes": 0, "barriers": 0} if told else {}
    found = {name: pattern.search(told) for name, pattern in _NUMBERS.items()}
    return {name: int(match[1]) if match else silent.get(name) for name, match in found.items()}


def warnings_of(log: str) -> list[str]:
    """Lines of a compilation log that a kernel's author must see."""
    return [line.strip() for line in _NOTEWORTHY.findall(log)]


def instruction_counts(path: Path, symbol: str, disassembler: str) -> dict[str, int] | None:
    """How often each instruction stands in a kernel's code, padding left out; null if the disassembler fails."""
    try:
        told = subprocess.run(  # noqa: S603 - NVIDIA's own tool on a file written here
            [disassembler, "-json", str(path)], capture_output=True, timeout=_DEADLINE_S, check=True
        )
        functions = json.loads(told.stdout)[1]
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None
    found: Mapping[str, Any] | None = next((one for one in functions if one["function-name"] == symbol), None)
    if found is None:
        return None
    counts = Counter(one["opcode"] for one in found["sass-instructions"] if one["opcode"] != PADDING)
    return dict(sorted(counts.items()))
