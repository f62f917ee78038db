"""What the machine code of an arm holds, as counted when it was built."""

from __future__ import annotations

import msgspec


class CodeFacts(msgspec.Struct, frozen=True):
    """Static counts of an arm's entry kernel; ``opcodes`` counts each by its full name, such as ``SHFL.IDX``.

    What a backend does not count is missing: a compiler for a CPU tells nothing but the length of the text. ``opcodes`` are null where there was no
    disassembler, or it failed.
    """

    entry_bytes: int | None = None
    registers: int | None = None
    instructions: int | None = None
    spill_load_bytes: int | None = None
    spill_store_bytes: int | None = None
    stack_bytes: int | None = None
    shared_bytes: int | None = None
    opcodes: dict[str, int] | None = {}
    text_sha256: str = ""

    def of(self, what: str) -> int | None:
        """Give a count by the name of its field, or how many instructions have an opcode or family of opcodes.

        ``SHFL`` counts all shuffles, ``SHFL.IDX`` those by an index, in whatever variant. None where nothing was counted.
        """
        if what in COUNTED:
            found: int | None = getattr(self, what)
            return found
        if not self.opcodes:
            return None
        return sum(number for name, number in self.opcodes.items() if name == what or name.startswith(f"{what}."))


COUNTED = tuple(name for name in CodeFacts.__struct_fields__ if name not in ("opcodes", "text_sha256"))
