"""What the arms of a fixture wrote: contents with one checksum are downloaded once and compared once."""

from __future__ import annotations

from typing import NamedTuple

from reportgen.calls import Output
from reportgen.measure.backends.session import Bytes
from reportgen.measure.correctness import Comparison, compare_bits, compare_values, equal_bits
from reportgen.measure.rig import Rig


class Content(NamedTuple):
    """What a buffer held: the output's name, and the checksum of its bytes."""

    output: str
    checksum: str


# Contents of each output, set by set.
Written = dict[str, list[Content]]


class Outputs:
    """Outputs of one fixture (under inputs ``case``) over all sets and arms.

    Sets hold the same inputs, and arms often the same bits: checksums, computed where the buffers lie, say which contents are alike. What differs in one bit
    is downloaded and compared on its own.
    """

    def __init__(self, rig: Rig, fixture: str, case: int = 0) -> None:
        self._rig, self.fixture, self._case = rig, fixture, case
        self._bytes: dict[Content, Bytes] = {}
        self._values: dict[tuple[Content, Output], Comparison] = {}
        self._bits: dict[tuple[Content, Content], Comparison] = {}

    def read(self) -> Written:
        """Read the outputs of every set as they are now: checksums of all of them, bytes of what was not seen before."""
        slots = self._rig.output_slots(self.fixture)
        written: Written = {name: [] for name in self._rig.shapes[self.fixture].outputs}
        for slot, checksum in zip(slots, self._rig.session.checksums(slots), strict=True):
            content = Content(slot.name, checksum)
            if content not in self._bytes:
                self._bytes[content] = self._rig.session.download(slot)
            written[slot.name].append(content)
        return written

    def against_reference(self, content: Content, output: Output) -> Comparison:
        """Compare a content with the float64 reference under a tolerance."""
        if (content, output) not in self._values:
            reference = self._rig.files.reference(self.fixture, content.output, self._case)
            self._values[content, output] = compare_values(self._bytes[content], reference, output)
        return self._values[content, output]

    def against_twin(self, content: Content, twin: Content) -> Comparison:
        """Compare two contents bit for bit; their bytes are looked at only where the checksums differ."""
        pair = content, twin
        if pair not in self._bits:
            output = self._rig.shapes[self.fixture].outputs[content.output]
            alike = content == twin
            self._bits[pair] = (
                equal_bits(output) if alike else compare_bits(self._bytes[content], self._bytes[twin], output)
            )
        return self._bits[pair]
