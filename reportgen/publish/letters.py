"""Text as coverage of pixels, from outlines of the bundled fonts: the same on every machine, whatever fonts it has.

Outlines are filled by the nonzero rule on eight lines a pixel row, exact along each line. Letters are not kerned.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

UNITS = 1000  # of an em
LINES = 8  # a pixel row
STEPS = 6  # straight pieces of a curve
UNKNOWN = "?"
_PIECE = re.compile(r"([MLQ])([-\d ]+)")

Point = tuple[float, float]


@functools.cache
def _outlines() -> dict[str, dict[str, tuple[int, str]]]:
    found = Path(__file__).with_name("letters.json").read_bytes()
    return msgspec.json.decode(found, type=dict[str, dict[str, tuple[int, str]]])


def width(text: str, style: str, size: float) -> float:
    """Give the width of a text in pixels; ``size`` is that of an em."""
    letters = _outlines()[style]
    return sum(letters.get(letter, letters[UNKNOWN])[0] for letter in text) * size / UNITS


def wrapped(text: str, style: str, size: float, most: float) -> list[str]:
    """Break a text into lines no wider than ``most`` pixels, where its words allow."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width(longer, style, size) <= most:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def letters(text: str, style: str, size: float) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
    """Give each letter's coverage (rows by columns, 0 to 1) with the place of its first column and row from the text's left end and base line."""
    left, known = 0.0, _outlines()[style]
    for letter in text:
        name = letter if letter in known else UNKNOWN
        across, down, drawn = _drawn(style, name, size)
        yield round(left) + across, down, drawn
        left += known[name][0] * size / UNITS


@functools.lru_cache(maxsize=512)
def _drawn(style: str, letter: str, size: float) -> tuple[int, int, NDArray[np.float64]]:
    loops = [[(x * size / UNITS, -y * size / UNITS) for x, y in loop] for loop in _loops(_outlines()[style][letter][1])]
    points = [point for loop in loops for point in loop]
    if not points:
        return 0, 0, np.zeros((0, 0))
    left, top = (int(np.floor(min(point[axis] for point in points))) for axis in (0, 1))
    right, bottom = (int(np.ceil(max(point[axis] for point in points))) for axis in (0, 1))
    moved = [[(x - left, y - top) for x, y in loop] for loop in loops]
    return left, top, filled(moved, right - left, bottom - top)


def _loops(outline: str) -> list[list[Point]]:
    """Read an outline as closed loops of straight pieces."""
    found: list[list[Point]] = []
    for sign, said in _PIECE.findall(outline):
        numbers = [float(number) for number in said.split()]
        if sign == "M":
            found.append([])
        if sign == "Q":
            found[-1] += _curve(found[-1][-1], (numbers[0], numbers[1]), (numbers[2], numbers[3]))
        else:
            found[-1].append((numbers[0], numbers[1]))
    return found


def _curve(start: Point, control: Point, end: Point) -> list[Point]:
    return [
        (
            (1 - t) ** 2 * start[0] + 2 * t * (1 - t) * control[0] + t**2 * end[0],
            (1 - t) ** 2 * start[1] + 2 * t * (1 - t) * control[1] + t**2 * end[1],
        )
        for t in (step / STEPS for step in range(1, STEPS + 1))
    ]


def filled(loops: Sequence[Sequence[Point]], columns: int, rows: int) -> NDArray[np.float64]:
    """Give the coverage of each pixel by what closed loops enclose."""
    change = np.zeros((rows, columns + 2))
    for line, found in enumerate(_crossings(loops, rows * LINES)):
        winding = 0
        for place, turn in sorted(found):
            before, winding = winding, winding + turn
            if (before == 0) != (winding == 0):
                _edge(change[line // LINES], place, 1.0 if before == 0 else -1.0)
    return np.minimum(np.cumsum(change, axis=1)[:, :columns] / LINES, 1.0)


def _crossings(loops: Sequence[Sequence[Point]], lines: int) -> list[list[tuple[float, int]]]:
    """Give, line by line, where an outline crosses its middle, and whether downwards (1) or upwards (-1)."""
    found: list[list[tuple[float, int]]] = [[] for _ in range(lines)]
    for loop in loops:
        for a, b in zip(loop, [*loop[1:], loop[0]], strict=True):
            first, last = sorted((math.ceil(a[1] * LINES - 0.5), math.ceil(b[1] * LINES - 0.5)))
            for line in range(max(first, 0), min(last, lines)):
                across = a[0] + ((line + 0.5) / LINES - a[1]) * (b[0] - a[0]) / (b[1] - a[1])
                found[line].append((across, 1 if b[1] > a[1] else -1))
    return found


def _edge(row: NDArray[np.float64], place: float, sign: float) -> None:
    """Begin or end coverage at a place of a row whose running sum is the coverage."""
    column = int(place)
    row[column] += sign * (column + 1 - place)
    row[column + 1] += sign * (place - column)
