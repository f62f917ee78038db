"""The colours of verdicts can be told apart by readers who lack one kind of cone, in light and in dark, and stand out from their ground.

No verdict is told by colour alone: a mark and a word stand with it. This holds the colours to what they can do.
"""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from reportgen.publish import svg
from reportgen.publish.theme_folders import default_theme

Vector = npt.NDArray[np.float64]
TONES = ("faster", "slower", "equivalent", "inconclusive", "invalid")
GROUNDS = ("paper", "margin", "noise")
LEAST_DISTANCE = 12.0  # in CIELAB; about 2 are seen side by side
LEAST_CONTRAST = 3.0  # WCAG 2.2, success criterion 1.4.11: parts of graphics

# Linear RGB as seen without one kind of cone: Machado, Oliveira and Fernandes, A physiologically-based model for simulation of color
# vision deficiency, IEEE TVCG 15 (2009), severity 1.
SEEN = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
# sRGB (IEC 61966-2-1) to CIE XYZ, whose row of luminance is the second.
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def linear(colour: str) -> Vector:
    """Light of a colour ``#rrggbb``, its curve taken off."""
    value = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(light: Vector) -> Vector:
    """CIELAB of linear RGB."""
    ratio = XYZ @ light / WHITE
    root = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def distance(one: str, other: str, seen: str) -> float:
    """How far two colours lie apart as they are seen."""
    first, second = (lab(np.clip(SEEN[seen] @ linear(colour), 0, 1)) for colour in (one, other))
    return float(np.linalg.norm(first - second))


def contrast(one: str, other: str) -> float:
    """Contrast of two colours as WCAG has it, 1 to 21."""
    dark, light = sorted(float(XYZ[1] @ linear(colour)) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def test_distances_and_contrasts_are_what_they_are_known_to_be() -> None:
    """White is 100 from black and 21 to 1; of red and green little but their lightness is left to a deuteranope."""
    assert 100 == pytest.approx(distance("#ffffff", "#000000", "all cones"), abs=0.01)
    assert 21 == pytest.approx(contrast("#ffffff", "#000000"))
    assert 4.54 == pytest.approx(contrast("#767676", "#ffffff"), abs=0.01)
    assert distance("#b35900", "#5e7d00", "all cones") > 4 * distance("#b35900", "#5e7d00", "deuteranopia")


@pytest.mark.parametrize("palette", [svg.LIGHT, svg.DARK], ids=["light", "dark"])
@pytest.mark.parametrize("seen", SEEN)
def test_every_two_verdicts_differ_whatever_cones_are_missing(palette: dict[str, str], seen: str) -> None:
    """Of five colours any two lie at least so far apart."""
    near = {
        pair: found
        for pair in combinations(TONES, 2)
        if (found := distance(palette[pair[0]], palette[pair[1]], seen)) < LEAST_DISTANCE
    }
    assert {} == near


@pytest.mark.parametrize("palette", [svg.LIGHT, svg.DARK], ids=["light", "dark"])
def test_marks_stand_out_from_whatever_they_lie_on(palette: dict[str, str]) -> None:
    """Paper, margin and noise floor."""
    low = {
        (tone, ground): found
        for tone in (*TONES, "ink", "quiet")
        for ground in GROUNDS
        if (found := contrast(palette[tone], palette[ground])) < LEAST_CONTRAST
    }
    assert {} == low


def test_pages_have_the_colours_of_the_charts() -> None:
    """The style sets each tone to what a chart's own file has, first in light, then in dark."""
    style = (default_theme() / "static" / "style.css").read_text("utf-8")
    for name in set(svg.LIGHT) - {"paper"}:
        said = name if name in TONES else f"chart-{name}"
        assert [svg.LIGHT[name], svg.DARK[name]] == re.findall(rf"--{said}: (#[0-9a-f]{{6}})", style), name
