"""Imported figures as text, for terminal and page alike: with their unit, their direction, and what they are."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.analysis.imported import Basis, Middle
from reportgen.archive.importers.assembling import labels
from reportgen.model.imported import Benchmark, ImportedCell, Measure
from reportgen.publish import wording
from reportgen.units import NS_PER_MS, NS_PER_S, NS_PER_US

IMPORTED = "Imported: measured elsewhere, by another program and protocol. Nothing of it was measured, checked or controlled here."
IMPORTED_ROWS = "Rows of kind imported were measured elsewhere, by other programs and protocols."
_UNITS = ((NS_PER_S, "s"), (NS_PER_MS, "ms"), (NS_PER_US, "\N{MICRO SIGN}s"), (1, "ns"))
_DIGITS = 5
_LONGEST = 120
_RATIOS: dict[str, str] = {
    Basis.SAMPLES: "medians of the values",
    Basis.GOOD_SAMPLES: "medians of the good values",
    Basis.REPORTED: "medians that the harness states",
    Basis.MEAN: "means, which are no medians",
}


def amount(value: float | None, one: Benchmark | ImportedCell) -> str:
    """Say a time in the unit that reads best, or a rate in its own; empty where there is none."""
    if value is None:
        return ""
    if one.measure is Measure.RATE:
        return f"{_digits(value)} {one.unit}"
    factor, unit = next(((factor, unit) for factor, unit in _UNITS if value >= factor), _UNITS[-1])
    return f"{_digits(value / factor)} {unit}"


def _digits(value: float) -> str:
    return f"{value:.{_DIGITS}g}" if value < 10**_DIGITS else wording.count(round(value))


def said_of(one: Benchmark, middle: Middle) -> str:
    """Say what a figure is: a median of how many values, a stated one, or a mean, which is no median."""
    if middle.value is None:
        return "a figure that cannot be told" if one.reported else "no figure"
    if one.good:
        return f"median of {wording.plural(len(one.good), 'value')}" if len(one.good) > 1 else "one value"
    return middle.basis


def direction(cell: ImportedCell, *, plain: bool = True) -> str:
    """Say a ratio as a change in the direction of its measure: less time, or more of a rate, is better."""
    if cell.ratio is None:
        return ""
    return f"{wording.change(cell.ratio, plain=plain)} {'time' if cell.measure is Measure.TIME else 'rate'}"


def rests_on(cell: ImportedCell) -> str:
    """Say what a ratio is a ratio of; where there is none, what is lacking."""
    if cell.ratio is None:
        return cell.lacking
    return _RATIOS.get(cell.basis, cell.basis)


def fixtures_said(cells: Sequence[ImportedCell]) -> list[str]:
    """Name what two arms share: by its name, and by the parameters that differ where several have one name."""
    return labels([Benchmark(name=cell.fixture, params=cell.params) for cell in cells])


def shown_name(name: str) -> str:
    """Give a name on one line; a long one loses its middle, and its length is said."""
    visible = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in name)
    if len(visible) <= _LONGEST:
        return visible
    return f"{visible[: _LONGEST // 2]} ... {visible[-_LONGEST // 4 :]} ({wording.count(len(name))} characters)"
