"""The marks that charts are made of, as SVG: a path for all marks of one kind and colour, a group for texts of one style.

Places are in pixels from the top left, kept to a tenth of one. Nothing here measures a text, so the same bytes come out
wherever the program runs, whatever fonts are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape

from reportgen.publish import svg

SMALL = 12
NORMAL = 13
BASELINE = 0.3  # of the size of a text: so far below its middle stands its foot

Place = tuple[float, float]
Line = tuple[float, float, float, float]


def px(value: float) -> str:
    """Write a place: a tenth of a pixel, without zeros that say nothing."""
    said = f"{value:.1f}"
    said = said.removesuffix(".0")
    return "0" if said == "-0" else said


def texts(
    placed: Iterable[tuple[float, float, str]], colour: str = "quiet", *, align: str = "start", size: int = SMALL
) -> str:
    """Write texts, each ``(x, y, text)`` with its middle at ``y``; ``align`` is ``start``, ``middle`` or ``end``."""
    drop = BASELINE * size
    inside = "".join(
        f'<text x="{px(x)}" y="{px(y + drop)}">{escape(text, quote=False)}</text>' for x, y, text in placed
    )
    anchor = "" if align == "start" else f' text-anchor="{align}"'
    return f'<g font-size="{size}"{anchor} fill="{svg.paint(colour)}">{inside}</g>' if inside else ""


def boxes(corners: Iterable[Line], colour: str) -> str:
    """Fill boxes, each ``(left, top, right, bottom)``; one whose sides are swapped is the same box."""
    return _filled("".join(f"M{px(x)} {px(y)}H{px(x2)}V{px(y2)}H{px(x)}z" for x, y, x2, y2 in corners), colour)


def lines(ends: Iterable[Line], colour: str, width: float = 1, *, dash: str = "") -> str:
    """Draw straight lines, each ``(x, y, x2, y2)``; ``dash`` gives lengths of stroke and gap."""
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return _stroked("".join(_line(*line) for line in ends), colour, width, dashed)


def curve(places: Sequence[Place], colour: str, width: float = 1) -> str:
    """Join places by straight lines, in their order."""
    path = "L".join(f"{px(x)} {px(y)}" for x, y in places)
    return _stroked(f"M{path}" if path else "", colour, width, ' fill="none"')


def dots(places: Iterable[Place], colour: str, radius: float) -> str:
    """Draw filled dots: lines of no length that are seen as far as their round caps reach."""
    path = "".join(f"M{px(x)} {px(y)}h.01" for x, y in places)
    return _stroked(path, colour, 2 * radius, ' stroke-linecap="round"')


def rings(places: Iterable[Place], colour: str, radius: float, width: float = 1.5) -> str:
    """Draw rings, which let what lies beneath be seen."""
    r, d = px(radius), px(2 * radius)
    path = "".join(f"M{px(x - radius)} {px(y)}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0-{d} 0" for x, y in places)
    return _stroked(path, colour, width, ' fill="none"')


def crosses(places: Iterable[Place], colour: str, reach: float, width: float = 2) -> str:
    """Draw diagonal crosses that reach so far from their middle, along either axis."""
    d = px(2 * reach)
    path = "".join(f"M{px(x - reach)} {px(y - reach)}l{d} {d}m-{d} 0l{d}-{d}" for x, y in places)
    return _stroked(path, colour, width, "")


def squares(places: Iterable[Place], colour: str, reach: float) -> str:
    """Draw filled squares that reach so far from their middle."""
    return boxes(((x - reach, y - reach, x + reach, y + reach) for x, y in places), colour)


def triangles(places: Iterable[Place], colour: str, reach: float) -> str:
    """Draw filled triangles that point upwards."""
    d = px(2 * reach)
    path = "".join(f"M{px(x - reach)} {px(y + reach)}h{d}L{px(x)} {px(y - reach)}z" for x, y in places)
    return _filled(path, colour)


def arrow(x: float, y: float, way: int, colour: str) -> str:
    """Draw a filled head with its point at a place, to the left (``way`` -1) or to the right (1)."""
    return _filled(f"M{px(x)} {px(y)}L{px(x - 9 * way)} {px(y - 6)}V{px(y + 6)}z", colour)


def diamonds(places: Iterable[Place], colour: str, reach: float) -> str:
    """Draw filled squares that stand on a corner."""
    r = px(reach)
    return _filled("".join(f"M{px(x)} {px(y - reach)}l{r} {r}l-{r} {r}l-{r}-{r}z" for x, y in places), colour)


# Told apart by shape, whatever becomes of the colours: the order in which series of a chart take them.
SHAPES: Mapping[str, Callable[[Iterable[Place], str, float], str]] = {
    "dot": dots,
    "square": squares,
    "triangle": triangles,
    "diamond": diamonds,
    "cross": crosses,
    "ring": rings,
}


def _line(x: float, y: float, x2: float, y2: float) -> str:
    if y == y2:
        return f"M{px(x)} {px(y)}H{px(x2)}"
    return f"M{px(x)} {px(y)}V{px(y2)}" if x == x2 else f"M{px(x)} {px(y)}L{px(x2)} {px(y2)}"


def _filled(path: str, colour: str) -> str:
    return f'<path fill="{svg.paint(colour)}" d="{path}"/>' if path else ""


def _stroked(path: str, colour: str, width: float, further: str) -> str:
    return f'<path stroke="{svg.paint(colour)}" stroke-width="{px(width)}"{further} d="{path}"/>' if path else ""
