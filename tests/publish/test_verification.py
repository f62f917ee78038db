"""Verification: every kind of fault is found and named by the program in the record and by the command alike."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reportgen.archive import layout
from reportgen.archive.load import list_attempts, load_attempt
from reportgen.archive.notes import exclude
from reportgen.archive.select import find_record, records
from reportgen.archive.sums import files_under, sums_of
from reportgen.errors import InputError
from reportgen.model.columns import ORIGIN, TABLES
from reportgen.model.experiment import Gate, GateKind
from reportgen.model.record import Device, Provenance
from reportgen.publish.downloads import DownloadFile, write_record
from reportgen.publish.verification import VerificationReport, verify_path
from reportgen.publish.verify_evidence import HEADERS
from reportgen.scoring import score
from tests.factories import (
    RATIOS,
    STARTED,
    make_experiment,
    make_header,
    make_plan,
    make_rows,
    open_attempt,
    sealed_attempt,
)

GATES = [
    Gate(name="pays", kind=GateKind.EVERY_FIXTURE, arms=["candidate"], vs="incumbent", threshold=0.02),
    Gate(name="headline", kind=GateKind.HEADLINE, arms=["candidate"], vs="control", threshold=0.03),
    Gate(name="safe", kind=GateKind.NO_REGRESSION, arms=["candidate", "control"], vs="incumbent", threshold=0.002),
    Gate(
        name="saves",
        kind=GateKind.EVERY_FIXTURE,
        arms=["candidate"],
        vs="incumbent",
        threshold=1e4,
        quantity="saved_ns",
    ),
]


def publish(folder: Path) -> Path:
    """Publish the record of the attempts under ``folder``."""
    record = find_record(list_attempts(folder / "runs"), "sample")
    write_record(record, score(record), folder / "record")
    return folder / "record"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Publish a record in which a repetition was left out and gates of every kind are asked."""
    folder = tmp_path_factory.mktemp("published")
    plan = make_plan(make_experiment(gates=GATES, axes={"rows": [256, 512], "cache": ["same-set", "rotating"]}))
    sealed_attempt(folder / "runs", plan=plan, repetitions=13, left_out={4: "throttled"})
    return publish(folder)


@pytest.fixture
def record(published: Path, tmp_path: Path) -> Path:
    """Copy the published record, to be tampered with."""
    return Path(shutil.copytree(published, tmp_path / "record"))


@pytest.fixture
def attempt(record: Path) -> Path:
    """Name the folder of the record's first attempt."""
    return next(path.parent for path in sorted(record.glob("*/manifest.json")))


def run_verifier(folder: Path) -> list[str]:
    """Run the record's own program, isolated, in its folder; give its findings, and check its exit status."""
    command = [sys.executable, "-I", str(folder / "verify.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    assert not done.stderr
    *findings, last = done.stdout.splitlines()
    assert (0, "every file and every number agrees") == (done.returncode, last) or (
        done.returncode == 1 and last == f"{len(findings)} findings"
    )
    return findings


def expect(folder: Path, *patterns: str) -> None:
    """Check that both programs name every fault."""
    for findings in (run_verifier(folder), list(verify_path(folder).findings)):
        for pattern in patterns:
            assert any(re.search(pattern, line) for line in findings), f"{pattern} in\n" + "\n".join(findings)
        assert all("\n" not in line for line in findings)


def forge_sums(record: Path, *attempts: Path) -> None:
    """Write every SHA256SUMS anew, as a forger would."""
    for folder in (*attempts, record):
        (folder / layout.SUMS).unlink()
        names = [line for line in sums_of(folder).splitlines(keepends=True) if b"  record.zip\n" not in line]
        (folder / layout.SUMS).write_bytes(b"".join(names))
    (record / "record.zip").unlink(missing_ok=True)


def change_csv(path: Path, choose: Callable[[dict[str, str]], bool], **values: str) -> int:
    """Change the first row that ``choose`` picks; give its line."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    at = next(number for number, row in enumerate(rows) if choose(row))
    rows[at] |= values
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return at + 2


def is_scored(row: dict[str, str], arm: str = "candidate", repetition: str = "3") -> bool:
    """Pick the first pass of an arm in a repetition."""
    return (row["arm"], row["repetition"], row["warmup"], row["pass"]) == (arm, repetition, "false", "1")


def test_a_good_record_passes_alone_in_a_folder_of_its_own(record: Path) -> None:
    """No package, no network, no configuration: the folder and a Python."""
    assert [] == run_verifier(record)
    assert (("record record",), ()) == (verify_path(record).checked, verify_path(record).findings)


@pytest.mark.parametrize(("model", "ratio"), [("Sample CPU", 0.952), ("Sample CPU", 0.97), ("Other CPU", 0.97)])
def test_a_good_record_of_two_devices_passes(tmp_path: Path, model: str, ratio: float) -> None:
    """Devices that agree, devices of one model that disagree, and devices of two models."""
    second = Device(id="cpu-ba9876543210", model=model, kind="cpu")
    header = {"device": second, "started": STARTED + timedelta(hours=1)}
    sealed_attempt(tmp_path / "runs")
    sealed_attempt(tmp_path / "runs", seed=7, ratios=RATIOS | {"candidate": ratio}, header=header)
    assert [] == run_verifier(publish(tmp_path))
    assert verify_path(tmp_path / "record").ok


def test_a_record_with_a_failed_arm_passes(tmp_path: Path) -> None:
    """Invalid is a result like any other, here of the candidate and of everything against the control."""
    sealed_attempt(tmp_path / "runs", failed_arms=["candidate", "control"])
    assert [] == run_verifier(publish(tmp_path))
    assert verify_path(tmp_path / "record").ok


def test_a_record_sealed_by_an_earlier_version_passes(tmp_path: Path) -> None:
    """Its plan lacks what later versions write out by default; it is published as it was sealed."""
    attempt = sealed_attempt(tmp_path / "runs").path
    path = attempt / layout.PLAN
    lines = [line for line in path.read_text().splitlines(keepends=True) if line != "harness = []\n"]
    assert path.read_text() != "".join(lines)
    path.write_text("".join(lines))
    (attempt / layout.SUMS).write_bytes(sums_of(attempt))
    assert [] == run_verifier(publish(tmp_path))
    assert verify_path(tmp_path / "record").ok


def test_a_good_zip_passes_and_holds_what_lies_beside_it(record: Path, tmp_path: Path) -> None:
    """Unpacked by the usual library it passes too; so it does inside one further folder."""
    assert VerificationReport(("record record.zip",), ()) == verify_path(record / "record.zip")
    with zipfile.ZipFile(record / "record.zip") as archive:
        archive.extractall(tmp_path / "taken" / "home")
    assert [] == run_verifier(tmp_path / "taken" / "home")
    nested = shutil.make_archive(str(tmp_path / "nested"), "zip", tmp_path / "taken")
    assert verify_path(Path(nested)).ok


def test_a_flipped_byte_is_found_in_every_kind_of_file(record: Path) -> None:
    """One bit in the middle of each file, at the top and in the folder of an attempt."""
    names = [name for name in files_under(record) if name not in {"SHA256SUMS", "record.zip", "verify.py"}]
    assert len(names) > 15
    for name in names:
        data = bytearray((record / name).read_bytes())
        data[len(data) // 2] ^= 1
        (record / name).write_bytes(data)
    expect(record, *(rf"^{re.escape(name)}: does not have the SHA-256 listed in SHA256SUMS" for name in names))


def test_a_flipped_byte_in_the_program_itself_is_found_by_the_command(record: Path) -> None:
    """A program cannot vouch for itself."""
    with (record / "verify.py").open("ab") as file:
        file.write(b"#")
    assert ("verify.py: does not have the SHA-256 listed in SHA256SUMS",) == verify_path(record).findings[:1]


def test_missing_files_are_named(record: Path, attempt: Path) -> None:
    """Tables, results, plan, and files of an attempt."""
    paths = [record / name for name in ("batches.csv", "results.json", "plan.toml")]
    paths += [attempt / name for name in ("batches.parquet", "manifest.json", "artifacts/sources/sample/sample.c")]
    for path in paths:
        path.unlink()
    expect(record, *(rf"^{re.escape(path.relative_to(record).as_posix())}: is missing" for path in paths))


def test_extra_files_are_named(record: Path, attempt: Path) -> None:
    """At the top and inside an attempt; a page of the site that lies there is none."""
    for folder in (record, attempt, attempt / "artifacts"):
        (folder / "extra.txt").write_text("more")
    (record / "index.html").write_text("a page")
    (attempt / "index.html").write_text("a page")
    inside = rf"^{attempt.name}/artifacts/extra\.txt: is not listed in"
    expect(record, r"^extra\.txt: is not listed in", rf"^{attempt.name}/extra\.txt: is not listed in", inside)
    assert not any("index.html" in line for line in verify_path(record).findings)


def test_what_a_site_keeps_beside_a_record_is_no_extra_file(record: Path, attempt: Path) -> None:
    """The counters that a page of an attempt offers, where pages of attempts lie and nowhere else."""
    beside = record / "attempts" / "20260101T000000Z-cuda-abcdef"
    beside.mkdir(parents=True)
    for name in ("index.html", "counters.csv"):
        (beside / name).write_text("of the site")
    assert [] == run_verifier(record)
    assert verify_path(record).ok
    for folder in (beside / "deeper", attempt):
        folder.mkdir(exist_ok=True)
        (folder / "counters.csv").write_text("of nobody")
    expect(
        record, r"^attempts/.*/deeper/counters\.csv: is not listed", rf"^{attempt.name}/counters\.csv: is not listed"
    )


def test_a_finding_stays_on_its_line_whatever_a_file_is_called(record: Path) -> None:
    """Spaces, quotes, markup and other alphabets as they are; control characters made visible."""
    for name in ("with space", 'it\'s "quoted"', "<script>", "größe", "two\nlines"):
        (record / name).write_text("more")
    found = [re.escape(f"{name}: is not listed") for name in ("with space", 'it\'s "quoted"', "<script>", "größe")]
    expect(record, *found, r"two\\nlines: is not listed")


def test_a_missing_listing_is_named(record: Path) -> None:
    """Without SHA256SUMS nothing can be vouched for."""
    (record / layout.SUMS).unlink()
    expect(record, "SHA256SUMS: (is missing|cannot be read)")


def test_a_changed_row_is_found_though_the_sums_were_forged(record: Path) -> None:
    """The results do not follow from the rows any more; the command names line and column."""
    line = change_csv(record / "batches.csv", is_scored, elapsed_ns="1999")
    forge_sums(record)
    assert any(
        re.match(r"results\.json, .*candidate.*: published .*, recomputed", found) for found in run_verifier(record)
    )
    assert [f"batches.csv:{line}: elapsed_ns is '1999', sealed was"] == [
        found[: found.index(" was ") + 4] for found in verify_path(record).findings
    ]


def test_a_swapped_arm_name_in_one_row_is_found_though_the_sums_were_forged(record: Path) -> None:
    """The row's place is taken, and its own is empty: both are named with fixture, arm and repetition."""
    line = change_csv(record / "batches.csv", is_scored, arm="control")
    forge_sums(record)
    expect(
        record,
        rf"batches\.csv:{line}: arm is 'control'|batches\.csv:\d+: .*arm control, repetition 3: pass 1 stands twice",
    )
    assert any("arm candidate, repetition 3, pass 1: is missing" in line for line in run_verifier(record))


def test_a_batch_of_another_number_of_launches_is_found_though_the_sums_were_forged(record: Path) -> None:
    """The protocol times all arms and repetitions of a fixture with one number of launches."""
    change_csv(record / "batches.csv", is_scored, launches="7")
    forge_sums(record)
    assert any("batches of unlike numbers of launches: 7, " in line for line in run_verifier(record))


def test_two_arms_swapped_throughout_are_found_though_the_sums_were_forged(record: Path) -> None:
    """A consistent forgery of the table contradicts the published results, and the sealed rows."""
    path = record / "batches.csv"
    names = {",candidate,": ",control,", ",control,": ",candidate,"}
    path.write_text(re.sub("|".join(names), lambda match: names[match[0]], path.read_text()))
    forge_sums(record)
    expected = "results.json, comparisons [candidate incumbent cache=same-set {}], verdict: published 'faster'"
    assert any(line.startswith(expected) for line in run_verifier(record))
    expected = r"batches\.csv:\d+: arm is 'control', sealed was 'candidate'"
    assert any(re.match(expected, line) for line in verify_path(record).findings)


def test_a_forged_verdict_is_found(record: Path) -> None:
    """The published sentence does not follow from the rows."""
    path = record / "results.json"
    results = json.loads(path.read_text())
    results["comparisons"][0]["verdict"] = "faster"
    results["promotions"][0]["outcome"] = "adopt as rewrite"
    results["gates"][1]["estimate"] += 1e-9
    path.write_text(json.dumps(results))
    forge_sums(record)
    expect(
        record,
        r"verdict: published 'faster', recomputed 'equivalent'",
        r"promotions \[candidate cache=same-set\], outcome: published 'adopt as rewrite'",
        r"gates \[headline cache=same-set candidate\], estimate",
    )


def test_a_gate_younger_than_its_data_is_said_aloud_and_a_forged_time_is_found(tmp_path: Path) -> None:
    """The program computes both times from the attempts; young is no fault, and is no secret."""
    late = Provenance(known="declared", commit="0" * 40, dirty=False, frozen_at="2026-03-02T09:00:00Z")
    sealed_attempt(tmp_path / "runs", plan=make_plan(make_experiment(gates=GATES[:1])), header={"provenance": late})
    record = publish(tmp_path)
    done = subprocess.run([sys.executable, "-I", "verify.py"], capture_output=True, text=True, check=False, cwd=record)
    assert 0 == done.returncode
    assert "gate pays of candidate, cache=same-set: YOUNGER THAN ITS DATA: last changed 2026-03-02T09:00" in done.stdout
    path = record / "results.json"
    path.write_text(path.read_text().replace("2026-03-02T09:00:00Z", "2026-02-02T09:00:00Z"))
    forge_sums(record)
    expect(record, r"gates \[pays cache=same-set candidate\], frozen_at: published '2026-02-02T09:00:00Z', recomputed")


def reseal(attempt: Path, table: str, change: Callable[[pd.DataFrame], None]) -> None:
    """Change a sealed table as a forger would who keeps its columns."""
    path = attempt / f"{table}.parquet"
    sealed = pq.read_table(path)
    frame = sealed.to_pandas()
    change(frame)
    pq.write_table(pa.Table.from_pandas(frame, schema=sealed.schema, preserve_index=False), path)


def publish_forged(record: Path, attempt: Path) -> None:
    """Publish a forged attempt anew with the program itself: every table, number and sum follows from it."""
    (attempt / layout.SUMS).write_bytes(sums_of(attempt))
    forged = load_attempt(attempt)
    found = records([forged])[0]
    write_record(found, score(found), record.parent / "published")


def test_two_arms_swapped_everywhere_contradict_the_orders_noted(record: Path, attempt: Path) -> None:
    """Tables, results and sums agree with one another, and not with what was drawn before each repetition."""
    names = {"candidate": "control", "control": "candidate"}
    reseal(attempt, "batches", lambda frame: frame.__setitem__("arm", frame["arm"].replace(names)))
    publish_forged(record, attempt)
    expect(record.parent / "published", r"repetition 1: arms were timed in the order .*; repetitions\.jsonl notes ")


def test_a_check_that_passed_in_spite_of_mismatches_is_found(record: Path, attempt: Path) -> None:
    """A failed check called passed."""
    reseal(attempt, "checks", lambda frame: frame.__setitem__("mismatches", [7, *frame["mismatches"][1:]]))
    publish_forged(record, attempt)
    expect(record.parent / "published", r"checks\.\w+: .*passed with 7 mismatches")


def test_a_repetition_dropped_with_all_that_counts_it_is_found(record: Path, attempt: Path) -> None:
    """The declared protocol says how many there must be."""
    path = attempt / "manifest.json"
    path.write_text(path.read_text().replace('"repetitions_planned": 12', '"repetitions_planned": 11'))
    publish_forged(record, attempt)
    expect(record.parent / "published", r"manifest\.json: 11 repetitions planned, the plan's protocol asks for 12")


@pytest.mark.parametrize(
    ("old", "new"), [("smallest_effect = 0.005", "smallest_effect = 0.0001"), ('title = "Sample"', 'title = "Other"')]
)
def test_a_plan_changed_after_its_declaration_is_found(record: Path, attempt: Path, old: str, new: str) -> None:
    """The plan's digest covers the declaration; the plan must say the same."""
    path = attempt / layout.PLAN
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    publish_forged(record, attempt)
    expect(record.parent / "published", rf"sample/experiment\.toml: declares {old.partition(' ')[0]} as ")


def test_a_column_more_is_found(record: Path) -> None:
    """What the record format does not know has no place in its tables."""
    path = record / "checks.csv"
    path.write_text("".join(f"{line},more\n" for line in path.read_text().splitlines()))
    forge_sums(record)
    expect(record, r"checks\.csv:1: the columns are not those of the record format")


def test_the_columns_that_the_program_expects_are_those_of_the_registry() -> None:
    """It carries them along, since it reads no other file of ours."""
    for name, columns in TABLES.items():
        assert ",".join(column.name for column in (*ORIGIN, *columns)) == HEADERS[f"{name}.csv"]


def test_a_table_that_is_no_text_is_a_finding(record: Path) -> None:
    """Neither program shows a traceback."""
    (record / "batches.csv").write_bytes(b"\x00\xff" * 100)
    forge_sums(record)
    assert run_verifier(record)
    assert not verify_path(record).ok


def test_a_forged_source_is_found_by_the_plans_digest(record: Path, attempt: Path) -> None:
    """Other code than the plan froze, every sum written anew."""
    source = attempt / "artifacts" / "sources" / "sample" / "sample.c"
    source.write_text("void candidate(void) { /* another idea */ }\n")
    forge_sums(record, attempt)
    expect(record, r"artifacts/sources/sample/sample\.c: does not have the SHA-256 that plan\.toml lists")


def test_forged_machine_code_is_found(record: Path, attempt: Path) -> None:
    """The arm is named, though every sum was written anew."""
    (attempt / "artifacts" / "binaries" / "candidate.bin").write_bytes(b"other code")
    forge_sums(record, attempt)
    expect(record, r"artifacts/binaries: no file has the SHA-256 of arm candidate")


def test_an_order_that_is_not_mirrored_is_found(tmp_path: Path) -> None:
    """Two neighbours of one pass with their names exchanged: fixture and repetition are named."""
    rows = make_rows(make_plan())
    one, other = rows[5].batches[-2:]
    one["arm"], other["arm"] = other["arm"], one["arm"]
    findings = verify_path(sealed_attempt(tmp_path, repetitions=rows).path).findings
    where = f"group main, fixture {one['fixture']}, repetition 5"
    assert (f"batches.parquet: {where}: pass 2 is not the mirror of pass 1",) == findings


def test_a_forged_count_is_found(record: Path, attempt: Path) -> None:
    """The manifest must count what the tables hold."""
    path = attempt / "manifest.json"
    path.write_text(re.sub(r'"batches": \d+', '"batches": 5', path.read_text()))
    forge_sums(record, attempt)
    expect(record, r"624 batches, its manifest counts 5|counts 5 batches, the tables hold 624")


@pytest.mark.parametrize("name", ["results.json", "plan.toml", "*/manifest.json"])
def test_a_newer_schema_version_is_refused(record: Path, attempt: Path, name: str) -> None:
    """The file is named, nothing is guessed."""
    path = min(record.glob(name))
    path.write_text(re.sub(r"(schema_version\"?( =|:) ?)1", r"\g<1>9", path.read_text(), count=1))
    forge_sums(record, attempt)
    expect(record, re.escape(path.name) + ".*schema_version")


def test_an_excluded_attempt_is_found(record: Path, attempt: Path) -> None:
    """An exclusion that travels along forbids the record to rest on it."""
    exclude(attempt, "the fan was unplugged")
    forge_sums(record)
    assert any("the attempt is excluded" in line for line in run_verifier(record))
    assert any("do not form one record" in line for line in verify_path(record).findings)


def test_a_table_that_was_forged_with_its_results_is_found_by_the_command(record: Path) -> None:
    """What the standard library cannot see: the CSV contradicts the sealed Parquet."""
    row = change_csv(record / "checks.csv", lambda row: row["passed"] == "true", output="in")
    forge_sums(record)
    assert [] == run_verifier(record)
    assert (f"checks.csv:{row}: output is 'in', sealed was 'out'",) == verify_path(record).findings


@pytest.mark.parametrize("garbage", ["", "[]", '{"schema_version": 1}'])
@pytest.mark.parametrize("name", ["results.json", "plan.toml", "batches.csv", "*/manifest.json"])
def test_garbage_gives_a_finding_and_no_traceback(record: Path, name: str, garbage: str) -> None:
    """Whatever a file was replaced by."""
    min(record.glob(name)).write_text(garbage)
    forge_sums(record)
    assert run_verifier(record)
    assert not verify_path(record).ok


def test_a_sealed_attempt_passes_and_a_tampered_one_does_not(attempt: Path) -> None:
    """An attempt folder is verified by itself."""
    assert VerificationReport((f"attempt {attempt.name}",), ()) == verify_path(attempt)
    (attempt / "events.jsonl").write_text("")
    assert ("events.jsonl: does not have the SHA-256 listed in SHA256SUMS",) == verify_path(attempt).findings


def test_an_attempt_must_agree_with_itself(tmp_path: Path) -> None:
    """A lost batch, a batch of another plan and a repetition that nobody lists are each named."""
    plan = make_plan()
    rows = make_rows(plan)
    lost = rows[3].batches.pop()
    rows[4].batches.append(rows[4].batches[-1] | {"arm": "control", "fixture": "rows=1,cache=same-set"})
    folder = sealed_attempt(tmp_path, plan=plan, repetitions=rows).path
    findings = verify_path(folder).findings
    where = f"group main, fixture {lost['fixture']}, arm {lost['arm']}, repetition 3, pass 2: is missing"
    assert f"batches.parquet: {where}" in findings
    assert any(
        "rows=1,cache=same-set, arm control, repetition 4, pass 2: is not in the plan" in line for line in findings
    )
    assert sum("is not the mirror" in line for line in findings) == len(findings) - 2


def test_an_open_attempt_is_checked_for_a_readable_journal(tmp_path: Path) -> None:
    """It passes as what it is, and a damaged line is named."""
    plan = make_plan()
    with open_attempt(tmp_path, plan, make_rows(plan, repetitions=2), make_header(plan)) as journal:
        folder = journal.folder
    assert verify_path(folder).ok
    file = folder / layout.JOURNAL
    file.write_bytes(file.read_bytes().replace(b'"launches":10', b'"launches":11', 1))
    assert any("journal.jsonl:1: is damaged" in line for line in verify_path(folder).findings)


def test_what_is_no_record_is_bad_input(tmp_path: Path) -> None:
    """Nothing, an empty folder, a file that is no zip, a truncated zip."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.zip").write_text("no zip")
    for path, message in (
        (tmp_path / "nowhere", "no such file"),
        (tmp_path / "empty", "holds no attempt, published record or site"),
        (tmp_path / "text.zip", "is no whole zip"),
    ):
        with pytest.raises(InputError, match=message):
            verify_path(path)


def test_a_truncated_zip_is_bad_input(record: Path) -> None:
    """A download that broke off."""
    path = record / "record.zip"
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(InputError, match=r"is no whole zip.*download it again"):
        verify_path(path)


def test_a_flipped_byte_inside_a_zip_names_the_member(record: Path) -> None:
    """The zip's own checksum speaks first, then the sums."""
    path = record / "record.zip"
    with zipfile.ZipFile(path) as archive:
        at = archive.getinfo("checks.csv").header_offset + 2_000
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    assert any(line.startswith("checks.csv: is damaged inside the zip") for line in verify_path(path).findings)


@pytest.mark.parametrize(
    "name", ["../outside.txt", "/outside.txt", "a/../../outside.txt", "C:/outside.txt", "a\\..\\b", "x\x01"]
)
def test_a_zip_that_leads_out_of_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    """Before a byte is written."""
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), "text")
    with pytest.raises(InputError, match=r"member .* has a"):
        verify_path(tmp_path / "bad.zip")
    assert ["bad.zip"] == [path.name for path in tmp_path.iterdir()]


def test_a_zip_with_a_link_is_refused(tmp_path: Path) -> None:
    """A link may point anywhere."""
    entry = zipfile.ZipInfo("manifest.json")
    entry.create_system, entry.external_attr = 3, 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(InputError, match="is a link or a device"):
        verify_path(tmp_path / "link.zip")


def test_a_zip_bomb_is_refused(tmp_path: Path) -> None:
    """A hundred million zeros in a hundred thousand bytes."""
    with (
        zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("zeros", "w") as file,
    ):
        for _ in range(100):
            file.write(bytes(1_000_000))
    with pytest.raises(InputError, match="expands to far more than it holds"):
        verify_path(tmp_path / "bomb.zip")


def make_site(record: Path, folder: Path) -> Path:
    """Make the part of a built site that verification reads."""
    address = "records/sample/0a1b2c/"
    shutil.copytree(record, folder / address)
    (folder / address / "index.html").write_text("the record's page")
    files = [path for path in sorted((folder / address).rglob("*")) if path.is_file() and path.name != "index.html"]
    listed = [
        {
            "path": path.relative_to(folder).as_posix(),
            "bytes": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in files
    ]
    index = {"schema_version": 1, "records": [{"name": "sample", "address": address, "files": listed}]}
    (folder / "data").mkdir()
    (folder / "data" / "index.json").write_text(json.dumps(index))
    return folder


def test_a_site_is_verified_record_by_record(record: Path, tmp_path: Path) -> None:
    """Every listed file, then each record as a whole."""
    site = make_site(record, tmp_path / "site")
    assert VerificationReport(("site", "record sample"), ()) == verify_path(site)
    path = site / "records/sample/0a1b2c/batches.parquet"
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    (site / "records/sample/0a1b2c/README.txt").unlink()
    findings = verify_path(site).findings
    assert any(
        "batches.parquet: does not have the length or SHA-256 that data/index.json lists" in line for line in findings
    )
    assert any("README.txt: is missing, data/index.json lists it" in line for line in findings)
    assert any("record.zip: README.txt is not the file beside it" in line for line in findings)


def test_a_site_whose_index_leads_out_is_found(record: Path, tmp_path: Path) -> None:
    """Addresses from an index are not trusted."""
    site = make_site(record, tmp_path / "site")
    index = site / "data" / "index.json"
    index.write_text(index.read_text().replace('"address": "records', '"address": "../records'))
    assert any("leads out of the site" in line for line in verify_path(site).findings)


def test_the_same_record_gives_the_same_bytes(published: Path, tmp_path: Path) -> None:
    """Zip included: no clock, no order of the file system, no permission of this machine."""
    again = find_record(list_attempts(published.parent / "runs"), "sample")
    files = write_record(again, score(again), tmp_path / "again")
    assert all(isinstance(file, DownloadFile) for file in files)
    for file in files:
        assert (published / file.path).read_bytes() == (tmp_path / "again" / file.path).read_bytes(), file.path
