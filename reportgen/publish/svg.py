"""One SVG for light and dark: the colours of charts by name, and what stands around the shapes of each.

Colours are custom properties with the light value as fallback, fonts come from the page.
"""

from __future__ import annotations

from html import escape
from typing import Protocol

FONT = "../static/fonts/source-sans-3-400.woff2"  # from the folder of charts
LIGHT = {
    "ink": "#1c1b19",
    "quiet": "#66615a",
    "grid": "#dedad2",
    "margin": "#eeeae1",
    "noise": "#ddd6c8",
    "zero": "#8a8378",
    "faster": "#0a5242",
    "slower": "#a8401f",
    "equivalent": "#2f55a8",
    "inconclusive": "#736c60",
    "invalid": "#7a3a72",
    "paper": "#fdfcfa",
}
DARK = {
    "ink": "#ece8e1",
    "quiet": "#a9a297",
    "grid": "#3a3733",
    "margin": "#2b2926",
    "noise": "#3d3932",
    "zero": "#8f887c",
    "faster": "#8fe3c8",
    "slower": "#f0906a",
    "equivalent": "#7ba3f2",
    "inconclusive": "#a39a8c",
    "invalid": "#e0a8e0",
    "paper": "#191816",
}


class Named(Protocol):
    """What every chart says of itself: the id it has on a page, its title, and its finding in words."""

    @property
    def anchor(self) -> str:
        """Id on a page, and name of its file."""

    @property
    def title(self) -> str:
        """What is shown."""

    @property
    def description(self) -> str:
        """What is seen there, for those who do not see it."""


def paint(name: str) -> str:
    """Name a colour as charts use it: a custom property, with its light value where nothing sets it."""
    return f"var(--chart-{name},{LIGHT[name]})"


def dress(shapes: str, size: tuple[int, int], chart: Named) -> str:
    """Give shapes a frame, a title and a description: inline SVG that takes its colours and its font from the page."""
    (width, height), anchor = size, chart.anchor
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-labelledby="{anchor}-title {anchor}-desc">'
    )
    named = f'<title id="{anchor}-title">{escape(chart.title)}</title><desc id="{anchor}-desc">{escape(chart.description)}</desc>'
    return f"{head}{named}{shapes}</svg>"


def _properties(colours: dict[str, str]) -> str:
    return ";".join(f"--chart-{name}:{value}" for name, value in colours.items())


# The same in every chart that is a file: a site's policy allows it by its hash.
STYLE = (
    f"svg{{{_properties(LIGHT)};background:var(--chart-paper)}}text{{font-family:'Source Sans 3',sans-serif}}"
    f"@font-face{{font-family:'Source Sans 3';src:url({FONT}) format('woff2')}}"
    f"@media (prefers-color-scheme:dark){{svg{{{_properties(DARK)}}}}}"
)


def standalone(inline: str) -> str:
    """Make the inline chart a file of its own that brings its colours along."""
    return inline.replace("<title", f"<style>{STYLE}</style><title", 1) + "\n"
