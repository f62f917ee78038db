"""The tables of an A/A study as CSV, held against what was computed again from the rows: standard library, plain loops."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reportgen.publish.verify_evidence import left_out_of
from reportgen.publish.verify_intervals import Facts

BLOCK = ("mode", "device", "slice", "null", "of", "block")
STUDY_TABLES = {
    "null_comparisons.csv": BLOCK,
    "planted_comparisons.csv": ("mode", "device", "slice", "arm", "baseline", "block"),
    "harness_figures.csv": ("harness", "device", "fixture", "arm", "repetition"),
    "one_placement.csv": (*BLOCK, "repetition"),
}


def study_rows_due(study: Facts, rows: list[Facts], manifests: dict[str, Facts]) -> dict[str, list[Facts]]:
    """Give what each table should hold."""
    ratios = {
        tuple(str(one[key]) for key in ("harness", "device", "fixture", "null", "repetition")): one
        for one in study["harness_ratios"]
    }
    figures = []
    for row in rows:
        lost = left_out_of(manifests[row["attempt"]], row["mode"])
        if row["group"] == "harness" and row["warmup"] == "false" and int(row["repetition"]) not in lost:
            key = (row["mode"], row["device"], row["fixture"], row["arm"], row["repetition"])
            paired = ratios.get(key, {"of": "", "ratio": None})
            figure: Facts = dict(zip(STUDY_TABLES["harness_figures.csv"], key, strict=True))
            figure["time_ns"] = int(row["elapsed_ns"]) / int(row["launches"])
            figures.append(figure | {name: paired[name] for name in ("of", "ratio")})
    shown = [
        {name: one[name] for name in BLOCK}
        | {"repetition": (one["block"] - 1) * study["block_repetitions"] + at, "ratio": value}
        for one in study["shown"]
        for at, value in enumerate(one["h"], start=1)
    ]
    return dict(zip(STUDY_TABLES, (study["nulls"], study["planted"], figures, shown), strict=True))


def study_contradictions(
    folder: Path, study: Facts | None, rows: list[Facts], manifests: dict[str, Facts]
) -> Iterator[str]:
    """Compare each table with what it should hold, row by row; ``study`` is what results.json should hold of it."""
    due = study_rows_due(study, rows, manifests) if study else {name: [] for name in STUDY_TABLES}
    for name, lines in due.items():
        path = folder / name
        if not path.is_file():
            yield from [f"{name}: is missing"] if lines else []
            continue
        with path.open(encoding="utf-8", newline="") as file:
            written = list(csv.DictReader(file))
        identity = STUDY_TABLES[name]
        expected = {tuple(str(line[key]) for key in identity): line for line in lines}
        if len(written) != len(expected):
            yield f"{name}: holds {len(written)} rows, {len(expected)} follow from batches.csv"
        for number, row in enumerate(written, start=2):
            line = expected.get(tuple(str(row.get(key)) for key in identity))
            if line is None:
                yield f"{name}:{number}: no such row follows from batches.csv"
                continue
            for key, value in line.items():
                if not says(row.get(key), value):
                    yield f"{name}:{number}: {key} is {row.get(key)!r}, recomputed {value!r}"


def says(text: str | None, value: Any) -> bool:
    """Tell whether a cell of a table holds a value, numbers to 1e-12."""
    if text is None or value is None or isinstance(value, str):
        return text == ("" if value is None else value)
    if isinstance(value, bool):
        return text == str(value).lower()
    try:
        return bool(abs(float(text) - value) <= 1e-12 * max(1.0, abs(value)))
    except ValueError:
        return False
