"""The picture of a link preview: a report's title, its answer, and the intervals behind it, as PNG of 1200 by 630 pixels."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from reportgen.publish import answers, chart_data, letters, lookup, svg, wording
from reportgen.publish.png import png
from reportgen.publish.view import RecordView

WIDTH, HEIGHT, EDGE = 1200, 630, 64
LEVELS = 15  # of an ink over the paper
MOST_LINES = 5
STUDY = "Comparisons of identical code that see a difference"
PAPER, BAND, RULE = "paper", "margin", "grid"
INKS = ("ink", "quiet", "faster", "slower", "equivalent", "inconclusive", "invalid")
TITLE, LEAD, SMALL = 56.0, 31.0, 25.0
_PLOT = (470, 880)  # first and last column of the intervals


class Line(msgspec.Struct, frozen=True):
    """An interval with its mark: what it is of, its ends and middle, what it says, and a tone that never carries meaning alone."""

    name: str
    low: float
    middle: float
    high: float
    says: str
    tone: str


class Picture(msgspec.Struct, frozen=True):
    """What a picture shows: ``band`` is the half width of what is shaded around nothing, ``sides`` word both directions."""

    site: str
    title: str
    lead: str
    of: str
    lines: list[Line]
    band: float
    sides: tuple[str, str]
    foot: str


def address(page: str) -> str:
    """Give the address of the picture of the page at an address."""
    return f"{page}preview.png"


def picture(title: str, site: str, record: RecordView) -> Picture:
    """Take from a record what the picture of a report on it shows: its first slice against the first baseline, or an A/A study's modes."""
    said = "".join(phrase.text for phrase in answers.lead(record).phrases)
    foot = f"{wording.names(record.devices)} · {record.date} · {wording.count(record.batches)} scored batches"
    study = record.result.null_study
    if study is not None:
        lines = [_way(wording.WAYS[one.mode], one.alarms, one.comparisons) for one in study.modes if one.comparisons]
        return Picture(site, title, said, STUDY, lines, 0.0, ("0%", "false alarms"), foot)
    piece = lookup.slices(record)[0]
    found = next(iter(chart_data.by_baseline(record, piece).values()), [])
    margins = [one.margin for one in found if one.margin is not None]
    lines = [
        Line(one.arm, one.low - 1, one.estimate - 1, one.high - 1, f"{wording.change(one.estimate)} {wording.verdict(one.verdict)}", one.verdict.value)
        for one in found
        if one.low is not None and one.high is not None and one.estimate is not None
    ]  # fmt: skip
    of = f"Change in time against {found[0].baseline}, {wording.slice_name(piece.name)}" if lines else ""
    return Picture(
        site, title, said, of, lines[:MOST_LINES], max(margins, default=0.0), ("less time", "more time"), foot
    )


def _way(name: str, alarms: int, comparisons: int) -> Line:
    share = alarms / comparisons
    return Line(name, 0.0, share, share, f"{wording.percent(share)} false alarms", "invalid")


class _Canvas:
    """Pixels as numbers of colours: the paper, flat colours, then each ink in levels over the paper."""

    def __init__(self) -> None:
        self.pixels: NDArray[np.uint8] = np.zeros((HEIGHT, WIDTH), np.uint8)
        paper, *flat = (_rgb(svg.LIGHT[name]) for name in (PAPER, BAND, RULE))
        self.palette = [paper, *flat]
        for name in INKS:
            ink = _rgb(svg.LIGHT[name])
            self.palette += [_blend(paper, ink, level) for level in range(1, LEVELS + 1)]

    def text(self, at: tuple[float, float], text: str, style: str, size: float, ink: str = "ink") -> None:
        """Write from a left end and base line."""
        base = 2 + INKS.index(ink) * LEVELS
        left, line = round(at[0]), round(at[1])
        for across, down, drawn in letters.letters(text, style, size):
            rows, columns = drawn.shape
            level = np.rint(drawn * LEVELS).astype(np.uint8)
            place = self.pixels[line + down : line + down + rows, left + across : left + across + columns]
            shown = np.where(level > 0, base + level, 0).astype(np.uint8)[: place.shape[0], : place.shape[1]]
            np.maximum(place, shown, out=place)

    def box(self, left: float, top: float, right: float, bottom: float, colour: str) -> None:
        """Fill whole pixels."""
        flat = {BAND: 1, RULE: 2}
        number = flat.get(colour) or 2 + (INKS.index(colour) + 1) * LEVELS
        self.pixels[round(top) : round(bottom), round(left) : max(round(right), round(left) + 1)] = number


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _blend(paper: tuple[int, int, int], ink: tuple[int, int, int], level: int) -> tuple[int, int, int]:
    red, green, blue = ((a * (LEVELS - level) + b * level) // LEVELS for a, b in zip(paper, ink, strict=True))
    return red, green, blue


def draw(shown: Picture) -> bytes:
    """Draw a picture; the same one gives the same bytes on any machine."""
    canvas, most = _Canvas(), WIDTH - 2 * EDGE
    canvas.text((EDGE, 78), shown.site, "sans", SMALL, "quiet")
    line = 158.0
    for words in _cut(letters.wrapped(shown.title, "serif", TITLE, most), 2):
        canvas.text((EDGE, line), words, "serif", TITLE)
        line += TITLE * 1.16
    line += 8
    for words in _cut(letters.wrapped(shown.lead, "sans", LEAD, most), 2 if shown.lines else 6):
        canvas.text((EDGE, line), words, "sans", LEAD)
        line += LEAD * 1.35
    if shown.lines:
        canvas.text((EDGE, line + 8), shown.of, "sans", SMALL, "quiet")
        _plot(canvas, shown, line + 30)
    canvas.text((EDGE, HEIGHT - 40), shown.foot, "sans", SMALL, "quiet")
    return png(canvas.pixels, canvas.palette)


def _cut(lines: Sequence[str], most: int) -> list[str]:
    """Keep so many lines; what was cut shows."""
    return [*lines[: most - 1], f"{lines[most - 1]} …"] if len(lines) > most else list(lines)


def _plot(canvas: _Canvas, shown: Picture, top: float) -> None:
    """Draw the intervals below each other around the line of no change."""
    bottom = HEIGHT - 108.0
    step = min((bottom - top) / len(shown.lines), 48.0)
    bottom = top + step * len(shown.lines)
    ends = [0.0, -shown.band, shown.band, *(one.low for one in shown.lines), *(one.high for one in shown.lines)]
    least, room = min(ends), max(max(ends) - min(ends), 1e-9)

    def across(value: float) -> float:
        return _PLOT[0] + (value - least) / room * (_PLOT[1] - _PLOT[0])

    if shown.band:
        canvas.box(across(-shown.band), top, across(shown.band), bottom, BAND)
    canvas.box(across(0) - 1, top, across(0) + 1, bottom, "quiet")
    for place, one in enumerate(shown.lines):
        middle = top + step * (place + 0.5)
        canvas.box(across(one.low), middle - 4, across(one.high), middle + 4, one.tone)
        canvas.box(across(one.middle) - 8, middle - 8, across(one.middle) + 8, middle + 8, one.tone)
        canvas.text((EDGE, middle + SMALL / 3), _fitted(one.name, _PLOT[0] - EDGE - 24), "sans", SMALL)
        canvas.text((_PLOT[1] + 28, middle + SMALL / 3), one.says, "sans", SMALL, one.tone)
    canvas.text((_PLOT[0], bottom + 24), shown.sides[0], "sans", 20.0, "quiet")
    right = _PLOT[1] - letters.width(shown.sides[1], "sans", 20.0)
    canvas.text((right, bottom + 24), shown.sides[1], "sans", 20.0, "quiet")


def _fitted(name: str, most: float) -> str:
    """Cut a name that is too wide: it has no words to break at."""
    while letters.width(name, "sans", SMALL) > most:
        name = f"{name[:-2]}…"
    return name
