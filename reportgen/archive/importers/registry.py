"""Every format with its recogniser and reader, and the choice among them by content, never by the name of a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reportgen.archive.importers import (
    asv,
    benchmarkdotnet,
    criterion,
    generic,
    google_benchmark,
    hyperfine,
    jmh,
    kernel_tables,
    llama_bench,
    nvbench,
    nvbench_tables,
    pyperf,
    pytest_benchmark,
    strangers,
)
from reportgen.archive.importers.content import Content
from reportgen.errors import InputError
from reportgen.model.imported import Source

AUTO = "auto"


@dataclass(frozen=True)
class Rendering:
    """One form of a format: what it looks like, and how it is read."""

    format: str
    recognise: Callable[[Content], bool]
    read: Callable[[Content], Source]


_JSON = (
    Rendering(nvbench.NAME, nvbench.recognise, nvbench.read),
    Rendering(pyperf.NAME, pyperf.recognise, pyperf.read),
    Rendering(pytest_benchmark.NAME, pytest_benchmark.recognise, pytest_benchmark.read),
    Rendering(google_benchmark.NAME, google_benchmark.recognise, google_benchmark.read),
    Rendering(benchmarkdotnet.NAME, benchmarkdotnet.recognise, benchmarkdotnet.read),
    Rendering(hyperfine.NAME, hyperfine.recognise, hyperfine.read),
    Rendering(asv.NAME, asv.recognise, asv.read),
    Rendering(jmh.NAME, jmh.recognise, jmh.read),
    Rendering(llama_bench.NAME, llama_bench.recognise, llama_bench.read),
    Rendering(criterion.NAME, criterion.recognise_part, criterion.refuse_part),
)
_MARKDOWN = (
    Rendering(nvbench.NAME, nvbench_tables.recognise_markdown, nvbench_tables.read_markdown),
    Rendering(llama_bench.NAME, llama_bench.recognise_markdown, llama_bench.read_markdown),
)
_TABLES = (
    Rendering(criterion.NAME, criterion.recognise_table, criterion.read_table),
    Rendering(nvbench.NAME, nvbench_tables.recognise_table, nvbench_tables.read_table),
    Rendering(llama_bench.NAME, llama_bench.recognise_table, llama_bench.read_table),
    Rendering(jmh.NAME, jmh.recognise_table, jmh.read_table),
    Rendering(kernel_tables.NCU, kernel_tables.recognise_ncu, kernel_tables.read_ncu),
    Rendering(kernel_tables.NSYS, kernel_tables.recognise_nsys, kernel_tables.read_nsys),
    Rendering(kernel_tables.ROCPROF, kernel_tables.recognise_rocprof, kernel_tables.read_rocprof),
)
FORMATS = (
    *dict.fromkeys(one.format for one in (*_JSON, *_MARKDOWN, *_TABLES)),
    generic.CSV,
    generic.JSONL,
)


def read(content: Content, wanted: str = AUTO, unit: str = "") -> Source:
    """Read a file as ``wanted``, or as what its content shows it to be; ``unit`` is that of a generic column that says none.

    Raises
    ------
    InputError
        No format can be told, it is another than ``wanted``, it has no importer, or the file is broken.
    """
    rendering = _find(content, unit)
    if wanted not in (AUTO, rendering.format):
        raise InputError(f"is no file of {wanted}: it looks like {rendering.format}", where=content.where)
    return rendering.read(content)


def _find(content: Content, unit: str) -> Rendering:
    """Choose the one rendering that the content shows."""
    if content.looks_json:
        candidates = (
            *_JSON,
            Rendering(generic.JSONL, generic.recognise_json, lambda one: generic.read_json(one, unit)),
        )
        found = next((one for one in candidates if one.recognise(content)), None)
        return found or _stranger(content, _empty(content))
    found = next((one for one in _MARKDOWN if one.recognise(content)), None)
    if found:
        return found
    _refuse_stranger(content, early=True)
    found = next((one for one in _TABLES if one.recognise(content)), None)
    if found:
        return found
    _refuse_stranger(content, early=False)
    return Rendering(generic.CSV, lambda _: True, lambda one: generic.read_table(one, unit))


def _empty(content: Content) -> str:
    found = content.json
    lists = [key for key, value in found.items() if value == []] if isinstance(found, dict) else []
    if lists:
        return f"holds an empty list called {lists[0][:40]!r}: no format can be told, and there is nothing to import"
    return "is JSON of a kind that is not known"


def _stranger(content: Content, otherwise: str) -> Rendering:
    _refuse_stranger(content, early=False)
    raise InputError(otherwise, where=content.where, remedy=f"known formats are {', '.join(FORMATS)}")


def _refuse_stranger(content: Content, *, early: bool) -> None:
    """Refuse a known format without an importer; ``early`` are those that are no tables at all."""
    if early and not content.text.lstrip().startswith(("window.", "BENCHMARK_DATA", "=====")):
        return
    found = strangers.recognised(content)
    if found:
        name, remedy = found
        raise InputError(f"is {name}, for which there is no importer", where=content.where, remedy=remedy)
