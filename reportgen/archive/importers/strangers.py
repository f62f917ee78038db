"""Formats that are known and have no importer: each is named, and what would serve instead; none is read as its neighbour."""

from __future__ import annotations

import re
from collections.abc import Callable

from reportgen.archive.importers.content import Content
from reportgen.archive.importers.quantities import number

_SERVING = ("ttft_ms", "tpot_ms", "itl_ms", "e2e_latency_ms")
_SCRIPT = re.compile(r"\s*(window\.)?BENCHMARK_DATA\s*=")
_FEWEST_COLUMNS = 2


def recognised(content: Content) -> tuple[str, str] | None:
    """Name of the format, and what to do; None where it is none of these."""
    for name, (looks, remedy) in (_JSON if content.looks_json else _TEXT).items():
        if looks(content):
            return name, remedy
    return None


def _kernel_tuner(content: Content) -> bool:
    found = content.json
    return isinstance(found, dict) and {"tune_params_keys", "cache"} <= set(found)


def _serving(content: Content) -> bool:
    found = content.json
    row = found[0] if isinstance(found, list) and found else found
    return isinstance(row, dict) and any(str(key).endswith(_SERVING) for key in row)


def _script(content: Content) -> bool:
    return bool(_SCRIPT.match(content.text))


def _loadgen(content: Content) -> bool:
    return "MLPerf Results Summary" in content.text[:1000]


def _report(content: Content) -> bool:
    return content.table.has("Method", "Job", "Mean")


def _perf_report(content: Content) -> bool:
    """Numbers under bare names, and nothing that is an arm, a fixture, a time or a unit."""
    table = content.table
    bare = len(table.header) >= _FEWEST_COLUMNS and not {"arm", "fixture", "repetition"} & set(table.header)
    named = not any(name.startswith("time") for name in table.header)
    return (
        bare
        and named
        and bool(table.lines)
        and all(number(cell) is not None for line in table.lines for cell in line.cells)
    )


Looks = tuple[Callable[[Content], bool], str]
_JSON: dict[str, Looks] = {
    "a Kernel Tuner cache": (_kernel_tuner, "write its times as CSV with arm, fixture, repetition and time_ms"),
    "a serving benchmark of vLLM or SGLang": (
        _serving,
        "write its latencies as CSV with arm, fixture, repetition and time_ms",
    ),
}
_TEXT: dict[str, Looks] = {
    "the script of github-action-benchmark": (_script, "import what the benchmark itself wrote"),
    "a summary of MLPerf LoadGen": (_loadgen, "write the latencies of its detail log as CSV"),
    "the report table of BenchmarkDotNet": (_report, "export its full JSON (JsonExporter.Full)"),
    "a table of rates of Triton's perf_report": (
        _perf_report,
        "write times as CSV with arm, fixture, repetition and time_ms: its unit stands nowhere",
    ),
}
