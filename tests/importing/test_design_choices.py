"""Each rule by which a file of another harness is read, seen at work on a file that puts it to the test; numbers as in ``expected.json``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reportgen.archive.importers import registry
from reportgen.archive.importers.content import Content
from reportgen.archive.importers.gathering import gather
from reportgen.errors import EXIT_MISUSE, InputError
from reportgen.foreign import imported_source

FOLDER = Path(__file__).resolve().parent.parent / "data" / "importing"
RULES = json.loads((FOLDER / "expected.json").read_text("utf-8"))["design_choices"]
GOOGLE = {"name": "a", "run_type": "iteration", "iterations": 4, "real_time": 5.0, "cpu_time": 4.0, "time_unit": "us"}


def of(name: str) -> dict[str, Any]:
    """Sum up a file of the folder."""
    return imported_source(gather([FOLDER / name]).found[0].source)


def written(text: str | bytes, name: str = "some.file") -> dict[str, Any]:
    """Sum up a text."""
    return imported_source(registry.read(Content(name, text if isinstance(text, bytes) else text.encode())))


def google(*rows: dict[str, Any]) -> dict[str, Any]:
    """Sum up rows of google-benchmark, each changed from one that is sound."""
    return written(json.dumps({"context": {}, "benchmarks": [GOOGLE | row for row in rows]}))


def refused(read: Callable[[], object]) -> str:
    """Give the line with which something is refused; the exit status is that of bad input."""
    with pytest.raises(InputError) as fault:
        read()
    assert fault.value.exit_status == EXIT_MISUSE
    return fault.value.one_line()


def row(found: dict[str, Any], name: str) -> dict[str, Any]:
    """Give the one row of a name."""
    (one,) = (each for each in found["rows"] if each["name"] == name)
    return dict(one)


def table(*rows: str, head: str = "arm,fixture,repetition,time_ns") -> str:
    """Write the generic form."""
    return "\n".join([head, *rows]) + "\n"


def test_d01_the_main_time_is_the_wall_clock_or_the_cold_gpu_mean() -> None:
    """The others stand beside it."""
    read = registry.read(Content("g.json", json.dumps({"context": {}, "benchmarks": [GOOGLE]}).encode()))
    (sample,) = read.benchmarks[0].samples
    assert (5000.0, {"cpu_ns": 4000.0}) == (sample.value, sample.beside)
    nvbench = of("nvbench/pair-a-v1.0.0.json")["rows"]
    told = next(one["reported"] for one in nvbench if "batch_mean_ns" in one["reported"])
    assert {"mean_ns", "cpu_mean_ns", "batch_mean_ns"} <= set(told)


def test_d02_rows_of_one_name_and_index_are_repetitions() -> None:
    """Each is one sample."""
    rows = [{"real_time": value, "family_index": 0, "per_family_instance_index": 0} for value in (1.0, 3.0, 2.0)]
    assert [(3, 2000.0)] == [(one["samples"], one["median_ns"]) for one in google(*rows)["rows"]]


def test_d03_one_name_for_two_benchmarks_is_told_apart_or_refused() -> None:
    """Nothing is merged or replaced."""
    found = google({"family_index": 0}, {"family_index": 1, "real_time": 7.0})
    assert [5000.0, 7000.0] == sorted(found["medians_ns"].values())
    twice = table("a,f,1,5", "a,f,1,6", "b,f,1,5", "b,f,1,6")
    assert "line 3" in refused(lambda: written(twice))


def test_d04_aggregates_stay_aggregates() -> None:
    """No sample, and a median only where the file has one."""
    found = of("tricky/gb-aggregates-only.json")
    assert 0 == found["raw_samples"]
    assert {"reported"} == {one["median_from"] for one in found["rows"] if one["median_ns"] is not None}


def test_d05_a_mean_is_never_a_median() -> None:
    """It stays empty."""
    found = of("nvbench/pair-a-v1.0.0.json")["rows"]
    assert [None] * len(found) == [one["median_ns"] for one in found]
    assert any("mean_ns" in one["reported"] for one in found)


def test_d06_rates_stay_rates_with_their_direction() -> None:
    """In the unit of the source, without a time."""
    found = written(table("a,f,1,5.5,GB/s", "b,f,1,6.5,GB/s", head="arm,fixture,repetition,rate,unit"))["rows"]
    assert [("rate", "GB/s", "higher", None)] * 2 == [
        (one["measure"], one["unit"], one["better"], one["median_ns"]) for one in found
    ]


def test_d07_a_rate_is_turned_into_no_time() -> None:
    """Though a test's tokens are known."""
    found = of("llama-bench/tables.md")
    assert {} == found["medians_ns"]
    assert {"rate"} == {one["measure"] for one in found["rows"]}


@pytest.mark.parametrize("name", ["tricky/llama-cut-off.jsonl", "own/jsonl-cut-off.jsonl"])
def test_d08_a_file_that_was_cut_off_is_refused_whole(name: str) -> None:
    """With the line of the cut."""
    assert "line " in refused(lambda: of(name))


def test_d09_what_is_no_number_is_an_error_in_a_time_and_dropped_elsewhere() -> None:
    """Bare NaN and Infinity are read."""
    found = google({"real_time": float("nan")}, {"name": "b", "cpu_time": float("inf")})
    assert ("error", 0) == (row(found, "a")["status"], row(found, "a")["samples"])
    assert ("ok", False) == (row(found, "b")["status"], "cpu_mean_ns" in row(found, "b")["reported"])
    assert {"skipped"} <= {one["status"] for one in of("tricky/asv-v2-with-samples.json")["rows"]}


def test_d10_a_stated_skip_is_skipped_and_a_failure_an_error() -> None:
    """By what the reason says."""
    assert {"ok": 1, "skipped": 1, "error": 1} == of("tricky/gb-error-and-skip.json")["status"]
    assert of("nvbench/2021-12-error-as-skip.json")["status"]["error"] > 0


def test_d11_a_failed_run_keeps_its_time_and_counts_for_nothing() -> None:
    """The benchmark has the worst status of its rows."""
    found = written('{"results": [{"command": "x", "mean": 2, "times": [1.0, 2.0], "exit_codes": [0, 1]}]}')["rows"][0]
    assert ("error", 1, [1]) == (found["status"], found["samples"], found["bad_samples"])


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "9223372036854775807", "1e300"])
def test_d12_absurd_times_are_errors(value: str) -> None:
    """Kept, with their status."""
    found = written(table(f"a,f,1,{value}", "b,f,1,5"))
    assert ["error", "ok"] == [one["status"] for one in found["rows"]]


def test_d12_a_time_of_zero_stays_with_a_warning() -> None:
    """It lies below the clock, and is no failure."""
    found = written(table("a,f,1,0", "b,f,1,5"))["rows"][0]
    assert ("ok", 0.0) == (found["status"], found["median_ns"])
    assert found["notes"]


def test_d13_values_that_are_not_all_there_are_no_samples() -> None:
    """What the harness sums up is imported instead."""
    found = row(of("own/pytest-partial.json"), "t.py::short")
    assert (0, "reported") == (found["samples"], found["median_from"])


@pytest.mark.parametrize("name", ["tricky/csv-no-unit.csv", "own/gb-no-unit.json", "own/nsys-no-unit.csv"])
def test_d14_no_unit_is_guessed(name: str) -> None:
    """The column or key that lacks one is named."""
    assert "unit" in refused(lambda: of(name))


def test_d15_what_is_no_time_is_left_out_with_a_note() -> None:
    """And refused where nothing else is there."""
    assert of("tricky/pyperf-time-and-count.json")["not_time"]
    assert "byte" in refused(lambda: of("pyperf/unit-byte.json"))


@pytest.mark.parametrize(
    "name",
    [
        "own/bdn-report.csv",
        "own/serving.json",
        "own/data.js",
        "own/loadgen-summary.txt",
        "own/triton-perf-report.csv",
        "kernel-tuner/cache-10-clocks.json",
    ],
)
def test_d16_a_format_without_an_importer_is_recognised_and_refused(name: str) -> None:
    """Never read as a neighbour."""
    assert refused(lambda: of(name))


def test_d17_a_comma_is_read_only_where_it_is_certain() -> None:
    """Else the line is named."""
    assert "line " in refused(lambda: of("tricky/csv-decimal-comma-unquoted.csv"))
    assert "line " in refused(lambda: of("own/ncu-ambiguous.csv"))
    assert of("tricky/csv-bom-semicolon-crlf.csv")["raw_samples"] > 0


def test_d18_every_parameter_tells_rows_apart() -> None:
    """One that no importer knows, too."""
    found = of("tricky/llama-same-but-ubatch.jsonl")
    assert len(found["rows"]) == len({one["label"] for one in found["rows"]}) > 1
    unknown = json.loads((FOLDER / "llama-bench/keys-28.json").read_text("utf-8"))[0]
    two = written(json.dumps([unknown | {"new_setting": value} for value in (1, 2)]))
    assert [1, 2] == [one["params"]["new_setting"] for one in two["rows"]]


def test_d19_named_files_are_all_or_nothing_and_a_folder_is_not(tmp_path: Path) -> None:
    """What is no result is listed."""
    (tmp_path / "good.csv").write_text(table("a,f,1,5", "b,f,1,6"), "utf-8")
    (tmp_path / "notes.txt").write_text("nothing", "utf-8")
    assert "notes.txt" in refused(lambda: gather([tmp_path / "good.csv", tmp_path / "notes.txt"]))
    found = gather([tmp_path])
    assert (1, ["notes.txt"]) == (len(found.found), [Path(one.path).name for one in found.left_out])


@pytest.mark.parametrize(
    "name", ["tricky/benchmarks-empty-list.json", "tricky/pyperf-only-warmups.json", "own/asv-machine.json"]
)
def test_d20_nothing_to_import_is_said(name: str) -> None:
    """With status 2."""
    assert refused(lambda: of(name))


def test_d21_without_its_index_only_asvs_names_in_time_are_times() -> None:
    """What one number of the old form is, is not in the file."""
    found = of("asv/flat-v1/results/host-q/05d283b9-py2.7-Cython-numpy1.8.json")
    assert all(one["name"].rpartition(".")[2].startswith(("time_", "timeraw_")) for one in found["rows"])
    assert found["rows"]


@pytest.mark.parametrize("name", ["tricky/array-named-jsonl.jsonl", "tricky/jsonl-named-json.json"])
def test_d23_content_decides_not_the_name(name: str) -> None:
    """It is read."""
    assert of(name)["rows"]


def test_d24_encodings_with_a_mark_are_read_and_others_refused_with_the_line() -> None:
    """UTF-8 with and without one, UTF-16 with one."""
    text = table("ä,f,1,5", "b,f,1,6")
    for data in (text.encode(), text.encode("utf-8-sig"), text.encode("utf-16")):
        assert ["ä", "b"] == [one["arm"] for one in written(data)["rows"]]
    assert "line 2" in refused(lambda: written(text.encode("latin-1")))
    assert "line 1" in refused(lambda: written(table("a,f,1,5").encode("utf-16-le")))


@pytest.mark.parametrize("unit", ["ns", "us", "ms", "s"])
def test_d25_the_generic_form_names_its_unit_in_the_column(unit: str) -> None:
    """Other columns are parameters."""
    head = f"arm,fixture,repetition,time_{unit},n,status"
    found = written(table("a,f,1,2,64,ok", "b,f,1,3,64,failed", head=head))["rows"]
    factor = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]
    assert (2 * factor, "64", "error") == (found[0]["median_ns"], str(found[0]["params"]["n"]), found[1]["status"])


def test_d26_an_old_name_with_mean_is_an_aggregate_only_beside_its_benchmark() -> None:
    """Without ``run_type``."""
    rows = [
        {key: value for key, value in GOOGLE.items() if key != "run_type"} | {"name": name}
        for name in ("a", "a_mean", "b_mean")
    ]
    found = written(json.dumps({"context": {}, "benchmarks": rows}))
    assert {"a", "b_mean"} == {one["name"] for one in found["rows"]}


def test_d31_lines_that_cannot_be_a_record_are_counted_and_one_that_breaks_off_is_refused() -> None:
    """Noise is noted."""
    found = of("own/llama-noise.jsonl")
    assert any("line" in note for note in found["notes"])
    assert of("own/llama-table-in-a-log.log")["rows"]
    assert "line " in refused(lambda: of("own/jsonl-cut-off.jsonl"))


def test_d33_summaries_give_aggregates_traces_samples_and_api_tables_are_refused() -> None:
    """Each says what it is."""
    assert 0 == of("own/nsys-kern-sum.csv")["raw_samples"]
    assert of("own/nsys-gpu-trace.csv")["raw_samples"] > 0
    for name in ("own/nsys-api-sum.csv", "own/rocprof-api-stats.csv", "rocprof/v3-hip-api-stats.csv"):
        assert "API" in refused(lambda name=name: of(name))  # type: ignore[misc]


@pytest.mark.parametrize("name", ["own/nvbench-two.csv", "own/nvbench-two.md", "own/jmh-thrpt-crlf.csv"])
def test_d34_renderings_beside_json_are_read(name: str) -> None:
    """CSV and Markdown of NVBench, CSV of JMH."""
    assert of(name)["rows"]


def test_every_rule_has_a_test() -> None:
    """By its number; those that are not in the document (22, 27 to 30, 32) do not exist."""
    tested = {f"D{name[6:8]}" for name in globals() if name.startswith("test_d") and name[6:8].isdigit()}
    assert set(RULES) == tested
