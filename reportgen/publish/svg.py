"""From a drawn chart to one SVG that follows the page's colours, in light and in dark.

Colours become custom properties with the light value as fallback, fonts come from the page. Nothing in the result
depends on how many charts were drawn before, or on which fonts a machine has.
"""

from __future__ import annotations

import re
from html import escape

from reportgen.publish.chart_data import AnyChart

LIGHT = {
    "ink": "#1c1b19",
    "quiet": "#66615a",
    "grid": "#dedad2",
    "margin": "#eeeae1",
    "noise": "#ddd6c8",
    "zero": "#8a8378",
    "faster": "#0b6b57",
    "slower": "#a8401f",
    "equivalent": "#3a5a8c",
    "inconclusive": "#6b6358",
    "invalid": "#6f4a7c",
    "paper": "#fdfcfa",
}
DARK = {
    "ink": "#ece8e1",
    "quiet": "#a9a297",
    "grid": "#3a3733",
    "margin": "#2b2926",
    "noise": "#3d3932",
    "zero": "#8f887c",
    "faster": "#5fc9ae",
    "slower": "#f0906a",
    "equivalent": "#8fb4ec",
    "inconclusive": "#b5ab9d",
    "invalid": "#c9a2d8",
    "paper": "#191816",
}

_CLUTTER = re.compile(
    r' (?:class|role|aria-[a-z]+|pointer-events|stroke-miterlimit|font-family|opacity)="[^"]*"'
    r'|<path d="[^"]*" display="none"/>|<rect [^<>]*fill="transparent"/>'
)
_EMPTY = re.compile(r"<g[^<>]*></g>|<g/>|<defs></defs>|<defs/>")
_PLAIN_GROUP = re.compile(r"<path d=\"M0,0h0v0h0Z\"/>")
_SHAPES = re.compile(r"^<svg[^>]*>(.*)</svg>$", re.DOTALL)


def colour(name: str) -> str:
    """Return the light value of a named colour, which :func:`dress` turns into a custom property."""
    return LIGHT[name]


def dress(drawn: str, size: tuple[int, int], chart: AnyChart) -> str:
    """Strip a drawn SVG to its shapes, and give it colours by name, a title and a description."""
    (width, height), anchor = size, chart.anchor
    match = _SHAPES.match(drawn.strip())
    shapes = _strip(match.group(1) if match else drawn)
    for name, value in LIGHT.items():
        shapes = shapes.replace(f'"{value}"', f'"var(--chart-{name},{value})"')
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-labelledby="{anchor}-title {anchor}-desc">'
    )
    named = f'<title id="{anchor}-title">{escape(chart.title)}</title><desc id="{anchor}-desc">{escape(chart.description)}</desc>'
    return f"{head}{named}{shapes}</svg>"


def _strip(shapes: str) -> str:
    shapes = _CLUTTER.sub("", _PLAIN_GROUP.sub("", _CLUTTER.sub("", shapes)))
    while True:
        fewer = _EMPTY.sub("", shapes)
        if fewer == shapes:
            return shapes.replace(' transform="translate(0,0)"', "")
        shapes = fewer


def standalone(inline: str) -> str:
    """Make the inline chart a file of its own that brings its colours along."""
    light = ";".join(f"--chart-{name}:{value}" for name, value in LIGHT.items())
    dark = ";".join(f"--chart-{name}:{value}" for name, value in DARK.items())
    style = (
        f"<style>svg{{{light};background:var(--chart-paper)}}text{{font-family:'Source Sans 3',sans-serif}}"
        f"@media (prefers-color-scheme:dark){{svg{{{dark}}}}}</style>"
    )
    return inline.replace("<title", style + "<title", 1) + "\n"
