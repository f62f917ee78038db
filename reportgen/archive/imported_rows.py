"""Imported benchmarks as tables and back: nothing is lost between the two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from reportgen.archive import layout
from reportgen.archive.encoding import UNREADABLE, damaged
from reportgen.archive.rows import read_table, to_parquet, to_table
from reportgen.model.imported import Benchmark, Sample

BENCHMARKS, SAMPLES = "imported_benchmarks", "imported_samples"
_JSON_FIELDS = ("params", "reported", "notes")
_PLAIN_FIELDS = (
    "arm",
    "name",
    "status",
    "reason",
    "measure",
    "better",
    "unit",
    "repetitions",
    "iterations",
    "median_word",
)
_SAMPLE_FIELDS = ("order", "repetition", "value", "told", "unit", "iterations", "status", "reason")


def tables(found: Sequence[tuple[int, Benchmark]]) -> dict[str, bytes]:
    """Give the Parquet files of benchmarks and samples by their names under ``artifacts/``."""
    benchmarks = [_benchmark_row(number, source, one) for number, (source, one) in enumerate(found, start=1)]
    samples = [
        _sample_row(number, one) for number, (_, benchmark) in enumerate(found, start=1) for one in benchmark.samples
    ]
    return {
        layout.IMPORTED_BENCHMARKS: to_parquet(to_table(BENCHMARKS, benchmarks)),
        layout.IMPORTED_SAMPLES: to_parquet(to_table(SAMPLES, samples)),
    }


def _benchmark_row(number: int, source: int, one: Benchmark) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(one, name) for name in _PLAIN_FIELDS}
    row |= {name: _json(getattr(one, name)) for name in _JSON_FIELDS}
    return row | {"benchmark": number, "source": source}


def _sample_row(number: int, one: Sample) -> dict[str, Any]:
    row = {name: getattr(one, name) for name in _SAMPLE_FIELDS}
    return row | {"benchmark": number, "origin": one.place, "beside": _json(one.beside)}


def _json(value: Any) -> str:
    return msgspec.json.encode(value, order="deterministic").decode()


def read_imported(folder: Path) -> tuple[tuple[int, Benchmark], ...]:
    """Read the benchmarks of the imported attempt in ``folder``, each with the number of its source.

    Raises
    ------
    RecordError
        A table is missing or damaged.
    SchemaVersionError
        It was written by a newer or older version.
    """
    artifacts = layout.artifacts_dir(folder)
    benchmarks = read_table(BENCHMARKS, artifacts / layout.IMPORTED_BENCHMARKS).to_pylist()
    samples: dict[int, list[Sample]] = {}
    try:
        for row in read_table(SAMPLES, artifacts / layout.IMPORTED_SAMPLES).to_pylist():
            samples.setdefault(row["benchmark"], []).append(_sample(row))
        return tuple(_benchmarks(benchmarks, samples))
    except UNREADABLE as fault:
        raise damaged(str(artifacts / layout.IMPORTED), fault) from fault


def _benchmarks(rows: Sequence[dict[str, Any]], samples: dict[int, list[Sample]]) -> Iterator[tuple[int, Benchmark]]:
    for row in rows:
        plain = {name: row[name] for name in _PLAIN_FIELDS}
        nested = {name: msgspec.json.decode(row[name]) for name in _JSON_FIELDS}
        own = msgspec.to_builtins(samples.get(row["benchmark"], []))
        yield row["source"], msgspec.convert(plain | nested | {"samples": own}, Benchmark)


def _sample(row: dict[str, Any]) -> Sample:
    plain = {name: row[name] for name in _SAMPLE_FIELDS}
    return msgspec.convert(plain | {"place": row["origin"], "beside": msgspec.json.decode(row["beside"])}, Sample)
