"""Pure comparisons of what a kernel wrote with what it should have written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reportgen.calls import Output


@dataclass(frozen=True)
class Comparison:
    """Counts and errors of one comparison; errors are ``None`` where a difference is not finite."""

    elements: int
    mismatches: int
    max_abs: float | None
    rel_l2: float | None

    @property
    def passed(self) -> bool:
        """Whether no element differs beyond what is allowed."""
        return self.mismatches == 0


def compare_values(written: NDArray[np.uint8], reference: NDArray[np.float64], output: Output) -> Comparison:
    """Compare an output's bytes with its float64 reference under the output's stated tolerance.

    An element passes where ``|value - reference| <= absolute + relative |reference|``. NaN and infinity never pass, nor does anything
    against a reference that is not finite. Of an output with ``rows`` these alone are looked at and counted.
    """
    values = _chosen(_typed(written, output), output).astype(np.float64).ravel()
    wanted = reference.ravel()
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(values - wanted)
        passed = np.isfinite(values) & (difference <= output.absolute + output.relative * np.abs(wanted))
    mismatches = int(values.size - np.count_nonzero(passed))
    if not np.isfinite(difference).all():
        return Comparison(values.size, mismatches, None, None)
    return Comparison(values.size, mismatches, float(difference.max(initial=0.0)), _relative_l2(difference, wanted))


def compare_bits(written: NDArray[np.uint8], twin: NDArray[np.uint8], output: Output) -> Comparison:
    """Compare two outputs bit for bit; the errors are those of the values, for the reader."""
    width = np.dtype(output.dtype).itemsize
    unlike = (written.reshape(-1, width) != twin.reshape(-1, width)).any(axis=1)
    mismatches = int(np.count_nonzero(unlike))
    if mismatches == 0:
        return equal_bits(output)
    wanted = _typed(twin, output).astype(np.float64).ravel()
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(_typed(written, output).astype(np.float64).ravel() - wanted)
    if not np.isfinite(difference).all():
        return Comparison(unlike.size, mismatches, None, None)
    return Comparison(unlike.size, mismatches, float(difference.max()), _relative_l2(difference, wanted))


def equal_bits(output: Output) -> Comparison:
    """Outcome of comparing bits that are known to be equal."""
    return Comparison(int(np.prod(output.shape, dtype=np.int64)), 0, 0.0, 0.0)


def pooled(counts: Sequence[Comparison]) -> Comparison:
    """Add up comparisons of several copies: elements and mismatches together, errors of the worst.

    An error that one of them lacks (where a difference is not finite, or relative to nothing) is lacking.
    """
    absolutes, relatives = [one.max_abs for one in counts], [one.rel_l2 for one in counts]
    return Comparison(
        sum(one.elements for one in counts),
        sum(one.mismatches for one in counts),
        None if None in absolutes else max(known for known in absolutes if known is not None),
        None if None in relatives else max(known for known in relatives if known is not None),
    )


def size_bytes(output: Output) -> int:
    """Bytes that an output occupies."""
    return int(np.prod(output.shape, dtype=np.int64)) * np.dtype(output.dtype).itemsize


def reference_shape(output: Output) -> tuple[int, ...]:
    """Shape of the reference of an output: its own, or that of the rows that the reference gives."""
    return output.shape if output.rows is None else (len(output.rows), *output.shape[1:])


def _chosen(values: NDArray[np.generic], output: Output) -> NDArray[np.generic]:
    return values if output.rows is None else values.reshape(output.shape)[list(output.rows)]


def _typed(raw: NDArray[np.uint8], output: Output) -> NDArray[np.generic]:
    return raw[: size_bytes(output)].view(np.dtype(output.dtype))


def _relative_l2(difference: NDArray[np.float64], wanted: NDArray[np.float64]) -> float | None:
    # Scaled by the largest value: squares of large float64 values would overflow.
    scale = max(float(np.abs(wanted).max(initial=0.0)), float(difference.max(initial=0.0)))
    if scale == 0.0:
        return 0.0
    length = float(np.linalg.norm(wanted / scale))
    return float(np.linalg.norm(difference / scale)) / length if length > 0 else None
