"""What the arms of a fixture wrote: contents with one checksum are downloaded once and compared once."""

from __future__ import annotations

from reportgen.measure.backends.session import Bytes, Slot
from reportgen.measure.correctness import Comparison, compare_bits, compare_values
from reportgen.measure.rig import Rig

Written = dict[Slot, Bytes]


class Outputs:
    """Outputs of one fixture (under inputs ``case``) over all sets and arms.

    Sets hold the same inputs, and arms often the same bits: checksums, computed where the buffers lie, say which contents are alike. What differs in one bit
    is downloaded and compared on its own.
    """

    def __init__(self, rig: Rig, fixture: str, case: int = 0) -> None:
        self._rig, self._fixture, self._case = rig, fixture, case
        self._contents: dict[tuple[str, str], Bytes] = {}
        self._values: dict[int, Comparison] = {}
        self._bits: dict[tuple[int, int], Comparison] = {}

    def read(self) -> Written:
        """Read the outputs of every set as they are now; equal contents are one array."""
        session, shapes = self._rig.session, self._rig.shapes[self._fixture]
        written = {}
        for slot in self._rig.written_slots(self._fixture):
            if slot.name in shapes.outputs:
                key = slot.name, session.checksum(slot)
                if key not in self._contents:
                    self._contents[key] = session.download(slot)
                written[slot] = self._contents[key]
        return written

    def against_reference(self, slot: Slot, raw: Bytes) -> Comparison:
        """Compare a content with the float64 reference under the output's tolerance."""
        if id(raw) not in self._values:
            reference = self._rig.files.reference(self._fixture, slot.name, self._case)
            self._values[id(raw)] = compare_values(raw, reference, self._rig.shapes[self._fixture].outputs[slot.name])
        return self._values[id(raw)]

    def against_twin(self, slot: Slot, raw: Bytes, twin: Bytes) -> Comparison:
        """Compare two contents bit for bit."""
        pair = id(raw), id(twin)
        if pair not in self._bits:
            self._bits[pair] = compare_bits(raw, twin, self._rig.shapes[self._fixture].outputs[slot.name])
        return self._bits[pair]
