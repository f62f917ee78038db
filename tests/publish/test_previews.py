"""Pictures of link previews: whole PNG files with known pixels, and tags that lead to them where the site has an address."""

from __future__ import annotations

import hashlib
import struct
import zlib

import numpy as np
import pytest

from reportgen.project import Settings
from reportgen.publish import letters
from reportgen.publish.frames import Framer, Subject
from reportgen.publish.png import SIGNATURE, deflate, png
from reportgen.publish.preview import HEIGHT, WIDTH, Line, Picture, draw
from tests.publish.conftest import Built

SHOWN = Picture(
    site="A lab",
    title="Do fewer loads pay? A title that is longer than one line of the picture, and than two of them as well, by some words",
    lead="Yes.",
    of="Change in time",
    lines=[Line("candidate", -0.05, -0.04, -0.03, "−4.00% ↓ faster", "faster")],
    band=0.01,
    sides=("less time", "more time"),
    foot="A device",
)
# Read once, after the picture had been looked at: other bytes are another picture, or the same one on a machine that draws otherwise.
SHA256 = "bc670f6c9b7c7afee03fff6d51287f9685ac91acbd9c0bb17486ace7e596a268"


def unpacked(data: bytes) -> tuple[int, int, bytes]:
    """Read width, height and filtered rows of a PNG, its checksums held."""
    assert data.startswith(SIGNATURE)
    place, chunks = len(SIGNATURE), {}
    while place < len(data):
        length, name = struct.unpack(">I4s", data[place : place + 8])
        content = data[place + 8 : place + 8 + length]
        assert struct.unpack(">I", data[place + 8 + length : place + 12 + length])[0] == zlib.crc32(name + content)
        chunks[name] = content
        place += 12 + length
    assert [b"IHDR", b"PLTE", b"IDAT", b"IEND"] == list(chunks)
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    return width, height, zlib.decompress(chunks[b"IDAT"])


@pytest.mark.parametrize(
    "data",
    [
        b"a",
        b"aaa",
        b"abab" * 9,
        b"\xff" * 1000,
        bytes(range(256)),
        b"x" + b"y" * 259 + b"z" * 3,
        b"q" * 258,
        b"q" * 261,
    ],
    ids=[
        "one",
        "three",
        "no runs",
        "long run",
        "every byte",
        "a run of the longest and one",
        "shorter by one",
        "two runs",
    ],
)
def test_any_inflater_reads_what_is_packed_here(data: bytes) -> None:
    """Literals of both lengths of code, and runs of every kind."""
    assert data == zlib.decompress(deflate(data), -15)


def test_a_png_holds_its_pixels() -> None:
    """Rows as differences from the row above."""
    pixels = np.array([[0, 1, 1], [0, 2, 1]], np.uint8)
    assert (3, 2, bytes([2, 0, 1, 1, 2, 0, 1, 0])) == unpacked(png(pixels, [(0, 0, 0), (1, 1, 1), (2, 2, 2)]))


def test_a_shape_covers_its_area() -> None:
    """A square with a hole, between pixels; the way round makes the hole."""
    square = [(0.5, 1.0), (4.5, 1.0), (4.5, 5.0), (0.5, 5.0)]
    hole = [(1.5, 2.0), (1.5, 4.0), (3.5, 4.0), (3.5, 2.0)]
    covered = letters.filled([square, hole], 6, 6)
    assert 16 - 4 == pytest.approx(covered.sum())
    assert [0.5, 1.0, 1.0, 1.0, 0.5, 0.0] == covered[1].tolist()


def test_text_is_as_wide_as_its_letters_and_breaks_between_words() -> None:
    """What the fonts lack takes the room of a question mark."""
    assert letters.width("ab", "sans", 20) == pytest.approx(
        letters.width("a", "sans", 20) + letters.width("b", "sans", 20)
    )
    assert letters.width("?", "serif", 20) == letters.width("\N{SNOWMAN}", "serif", 20)
    assert ["one two", "three"] == letters.wrapped("one two three", "sans", 20, letters.width("one two", "sans", 20))


def test_a_picture_has_the_size_that_previews_want_and_the_same_bytes_anywhere() -> None:
    """Ink stands where text does, and a title too long for it ends in dots."""
    data = draw(SHOWN)
    width, height, rows = unpacked(data)
    assert (WIDTH, HEIGHT, HEIGHT * (WIDTH + 1)) == (width, height, len(rows))
    assert 20_000 < len(data) < 120_000
    assert hashlib.sha256(data).hexdigest() == SHA256


def test_each_report_has_its_picture_and_no_other_page(built: Built) -> None:
    """Beside the page; nothing refers to it by a whole address where the lab names none."""
    pictures = sorted(path.parent.name for path in built.out.rglob("preview.png"))
    assert ["made-up", "report"] == pictures
    assert "og:" not in built.page("report")
    assert "canonical" not in built.page("report")


def test_a_site_with_an_address_leads_previews_to_the_picture() -> None:
    """By whole addresses, in words for those who do not see it."""
    framer = Framer(Settings(title="A lab", address="https://example.org/lab"), ())
    frame = framer.frame(Subject("report/", "T", "S.", "report", "2026-03-02", "x.md", picture="report/preview.png"))
    assert frame.picture is not None
    assert ("https://example.org/lab/report/", True) == (frame.url, frame.feed)
    assert ("T: S.", "https://example.org/lab/report/preview.png") == (frame.picture.text, frame.picture.href)
    assert framer.frame(Subject("a/", "T", "S.", "note", "", "x.md")).picture is None
