"""Writes ``reportgen/publish/letters.json``: outlines of the theme's bundled fonts, for the pictures of link previews.

Run by hand where the fonts changed: ``python -m tests.make_letters`` with fonttools and brotli at hand. The outlines stay under
the fonts' licence (SIL Open Font License 1.1, beside the fonts in ``templates/static/fonts``).
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import msgspec
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.ttLib import TTFont

ROOT = Path(__file__).resolve().parents[1]
FONTS = {"serif": "source-serif-4-400", "sans": "source-sans-3-400"}
SIGNS = {"moveTo": "M", "lineTo": "L", "qCurveTo": "Q"}
LAST = 0xFF
BEYOND = "\u2013\u2014\u2018\u2019\u201c\u201d\u2026\u2191\u2193\u2212"


def outline(font: TTFont, name: str) -> str:
    """Write a glyph as ``M x y``, ``L x y`` and ``Q x y x y`` (off the line, then on it), whole units, y upwards."""
    glyphs = font.getGlyphSet()
    pen = DecomposingRecordingPen(glyphs)
    glyphs[name].draw(pen)
    said = []
    for operator, points in pen.value:
        if operator == "qCurveTo":
            *off, last = points
            between = [((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for a, b in pairwise(off)]
            for control, end in zip(off, [*between, last], strict=True):
                said.append("Q" + " ".join(str(round(one)) for one in (*control, *end)))
        elif operator in SIGNS:
            said += [SIGNS[operator] + " ".join(str(round(one)) for one in point) for point in points]
    return "".join(said)


def main() -> None:
    """Write the file."""
    wanted = [chr(code) for code in range(0x20, LAST + 1)] + list(BEYOND)
    told: dict[str, dict[str, tuple[int, str]]] = {}
    for style, file in FONTS.items():
        told[style] = {}
        for part in ("", "-more"):
            font = TTFont(ROOT / "templates" / "static" / "fonts" / f"{file}{part}.woff2")
            names, metrics = font.getBestCmap(), font["hmtx"]
            for letter in wanted:
                if ord(letter) in names:
                    name = names[ord(letter)]
                    told[style].setdefault(letter, (metrics[name][0], outline(font, name)))
        told[style] = dict(sorted(told[style].items()))
    out = ROOT / "reportgen" / "publish" / "letters.json"
    out.write_bytes(msgspec.json.format(msgspec.json.encode(told), indent=0) + b"\n")


if __name__ == "__main__":
    main()
