"""The journal: what it holds is on the disk, and what was torn or damaged is told apart."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from reportgen.archive import layout
from reportgen.archive.journal import Journal, decode_repetition, read_journal
from reportgen.archive.lines import read_growing
from reportgen.archive.load import list_attempts, load_attempt
from reportgen.errors import InputError, RecordError, SchemaVersionError
from reportgen.model.record import Status
from tests.factories import make_experiment, make_header, make_plan, make_rows, open_attempt

PLAN = make_plan()
ROWS = make_rows(PLAN, repetitions=3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Leave an interrupted attempt: the calibration and three repetitions."""
    with open_attempt(tmp_path, PLAN, ROWS, make_header(PLAN)) as journal:
        return journal.folder


def test_what_was_appended_is_read_back(folder: Path) -> None:
    """Repetitions, events and header come back as they went in."""
    contents = read_journal(folder)
    assert tuple(ROWS) == contents.repetitions
    assert [event.facts["repetition"] for event in contents.events] == [0, 1, 2, 3]
    assert make_header(PLAN) == contents.header
    assert contents.plan == PLAN
    assert not contents.torn


def test_an_interrupted_attempt_reads_as_aborted_with_its_whole_repetitions(folder: Path) -> None:
    """Status, reason and counts say what is there."""
    attempt = load_attempt(folder)
    assert Status.ABORTED is attempt.status
    assert attempt.reason == "interrupted after 3 of 12 repetitions"
    assert 3 * 6 * 6 * 2 == attempt.manifest.counts.batches == int((~attempt.batches["warmup"]).sum())
    assert [facts.repetition for facts in attempt.repetitions] == [0, 1, 2, 3]


@pytest.mark.parametrize("kept", [1, 30, 5_000])
def test_a_torn_last_line_is_dropped(folder: Path, kept: int) -> None:
    """A kill in the middle of a line loses that repetition and no other."""
    file = folder / layout.JOURNAL
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:3]) + lines[3][:kept])
    contents = read_journal(folder)
    assert [repetition.repetition for repetition in contents.repetitions] == [0, 1, 2]
    assert contents.torn


def test_a_tail_of_zeros_is_dropped(folder: Path) -> None:
    """What a file system may leave after a power cut: the length was written, the text was not."""
    file = folder / layout.JOURNAL
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:3]) + bytes(4096))
    assert len(read_journal(folder).repetitions) == 3


def test_cut_at_any_byte_of_its_last_block_every_earlier_repetition_is_as_it_was(tmp_path: Path) -> None:
    """Whatever the file system kept of the last 4,096 bytes; at every hundredth of them the whole attempt is read."""
    plan = make_plan(make_experiment(axes={"rows": [256], "cache": ["same-set"]}))
    rows = make_rows(plan, repetitions=3)
    with open_attempt(tmp_path, plan, rows, make_header(plan)) as journal:
        folder = journal.folder
    whole = (folder / layout.JOURNAL).read_bytes()
    for length in reversed(range(len(whole) - 4096, len(whole))):
        os.truncate(folder / layout.JOURNAL, length)
        kept = whole[:length].count(b"\n")
        found = read_growing(folder / layout.JOURNAL, decode_repetition)
        assert (tuple(rows[:kept]), not whole[:length].endswith(b"\n")) == (found.nouns, found.torn), length
        if length % 100 == 0:
            attempt = load_attempt(folder)
            assert (Status.ABORTED, kept) == (attempt.status, len(attempt.repetitions))


@pytest.mark.parametrize("back", [1, 2, 700, 4096])
def test_cut_in_its_last_block_an_attempt_resumes_to_what_it_would_have_been(folder: Path, back: int) -> None:
    """The repetition in flight is measured again, and then nothing tells that anything had happened."""
    file = folder / layout.JOURNAL
    whole = file.read_bytes()
    os.truncate(file, len(whole) - back)
    attempt = load_attempt(folder)
    assert (Status.ABORTED, "interrupted after 2 of 12 repetitions") == (attempt.status, attempt.reason)
    assert [0, 1, 2] == [facts.repetition for facts in attempt.repetitions]
    with Journal.resume(folder) as journal:
        journal.append(ROWS[3])
    assert whole == file.read_bytes()


def test_a_damaged_earlier_line_is_named(folder: Path) -> None:
    """A changed digit inside an earlier line is found by the line's own hash."""
    file = folder / layout.JOURNAL
    lines = file.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"launches":10', b'"launches":11', 1)
    file.write_bytes(b"".join(lines))
    with pytest.raises(RecordError, match=r"journal\.jsonl:2: is damaged: .*SHA-256"):
        read_journal(folder)


def test_a_damaged_earlier_line_that_is_no_json_is_named(folder: Path) -> None:
    """So is one that was overwritten."""
    file = folder / layout.JOURNAL
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + b"\xff\xfe\n" + lines[2])
    with pytest.raises(RecordError, match=r"journal\.jsonl:2: is damaged"):
        read_journal(folder)


def test_a_newer_line_is_refused_even_where_it_is_the_last(folder: Path) -> None:
    """A newer program's line must not be dropped as if it were torn."""
    file = folder / layout.JOURNAL
    lines = file.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b'"schema_version":1', b'"schema_version":2', 1)
    file.write_bytes(b"".join(lines))
    with pytest.raises(SchemaVersionError, match=r"journal\.jsonl:4: schema_version 2 is newer"):
        read_journal(folder)


def test_resuming_cuts_the_torn_line_and_goes_on(folder: Path) -> None:
    """The next repetition starts on a line of its own."""
    file = folder / layout.JOURNAL
    file.write_bytes(file.read_bytes()[:-40])
    with Journal.resume(folder) as journal:
        journal.append(ROWS[3])
        journal.event("resumed")
    contents = read_journal(folder)
    assert tuple(ROWS) == contents.repetitions
    assert contents.events[-1].event == "resumed"
    assert not contents.torn


def test_two_writers_are_refused(folder: Path) -> None:
    """The second one is told that another process writes."""
    with Journal.resume(folder), pytest.raises(InputError, match="another process is writing"):
        Journal.resume(folder)


def test_resuming_something_else_is_refused(tmp_path: Path) -> None:
    """A folder that is not there, or is sealed, is no open attempt."""
    with pytest.raises(InputError, match="is no open attempt"):
        Journal.resume(tmp_path / "20260301T120000Z-fake-1a2b3c.partial")


def test_an_id_is_opened_once(folder: Path) -> None:
    """A second attempt of the same id is refused, and the first is untouched."""
    before = (folder / layout.JOURNAL).read_bytes()
    with pytest.raises(InputError, match="an attempt of this id exists"):
        Journal.create(folder, make_header(PLAN), PLAN)
    assert before == (folder / layout.JOURNAL).read_bytes()


def test_a_row_that_fits_no_column_is_refused_before_it_is_archived(folder: Path) -> None:
    """An unknown key, a missing one and a wrong type each name row and key."""
    good = ROWS[1].batches[0]
    for row, message in (
        (good | {"colour": 1}, "batches row 1 has the unknown key 'colour'"),
        ({key: value for key, value in good.items() if key != "arm"}, "batches row 1 has no 'arm'"),
        (good | {"elapsed_ns": 1.5}, "batches row 1: 'elapsed_ns' is 1.5, not of type int64"),
        (good | {"launches": True}, "batches row 1: 'launches' is True, not of type int64"),
    ):
        with Journal.resume(folder) as journal, pytest.raises(RecordError) as caught:
            journal.append(type(ROWS[1])(repetition=4, batches=[row], checks=[], facts={}))
        assert message in str(caught.value)
    assert len(read_journal(folder).repetitions) == 4


def test_half_an_artifact_is_never_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fills, or a kill, while one is written must not keep the attempt from being resumed."""
    with Journal.resume(folder) as journal:
        kept = set(folder.rglob("*"))
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", _refuse)
            with pytest.raises(RecordError, match="No space left on device"):
                journal.artifact("plan.txt", b"whole")
        assert kept == set(folder.rglob("*"))
        (journal.artifacts / ".plan.txt.new").write_bytes(b"who")  # as a kill leaves it
        assert b"whole" == journal.artifact("plan.txt", b"whole").read_bytes()
        assert [] == list(folder.rglob(".*"))


def _refuse(_: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_artifacts_stay_inside_and_are_written_once(folder: Path) -> None:
    """A name with `..` is refused, the same content again is fine, another one is not."""
    with Journal.resume(folder) as journal:
        path = journal.artifact("logs/compile.txt", b"ok")
        assert path == journal.artifact("logs/compile.txt", b"ok")
        with pytest.raises(RecordError, match="another content"):
            journal.artifact("logs/compile.txt", b"changed")
        for name in ("../outside", "/etc/outside", "a/../../b", "", "two\nlines"):
            with pytest.raises(InputError, match="leads out of the folder"):
                journal.artifact(name, b"")


def test_a_full_disk_keeps_the_earlier_lines_and_the_next_append_works(folder: Path) -> None:
    """A real limit on file size refuses the fourth repetition half-way; lifted, the same journal goes on."""
    script = textwrap.dedent("""
        import resource, sys
        from pathlib import Path
        from reportgen.archive.journal import Journal
        from reportgen.errors import RecordError
        from tests.factories import make_plan, make_rows

        folder = Path(sys.argv[1])
        row = make_rows(make_plan(), repetitions=4)[4]
        journal = Journal.resume(folder)
        size = (folder / "journal.jsonl").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 1000, resource.RLIM_INFINITY))
        try:
            journal.append(row)
        except RecordError as fault:
            print(fault)
        assert size == (folder / "journal.jsonl").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        journal.append(row)
    """)
    done = subprocess.run([sys.executable, "-c", script, folder], capture_output=True, text=True, check=True)
    assert "cannot be written: File too large; make room" in done.stdout
    assert [repetition.repetition for repetition in read_journal(folder).repetitions] == [0, 1, 2, 3, 4]


def test_a_killed_writer_loses_at_most_the_repetition_in_flight(folder: Path) -> None:
    """A process that appends without end is killed at once after each report; what it reported is there."""
    script = textwrap.dedent("""
        import os, sys
        from itertools import count
        from pathlib import Path
        from reportgen.archive.journal import Journal
        from reportgen.model.record import Repetition

        journal = Journal.resume(Path(sys.argv[1]))
        for number in count(4):
            journal.append(Repetition(repetition=number, batches=[], checks=[], facts={"text": "x" * 200_000}))
            os.write(1, b"%d\\n" % number)
    """)
    for _ in range(3):
        already = len(read_journal(folder).repetitions)
        with subprocess.Popen([sys.executable, "-c", script, folder], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            for _line in range(3):
                reported = int(writer.stdout.readline())
            os.kill(writer.pid, signal.SIGKILL)
            rest = writer.stdout.read().split()
        found = read_journal(folder).repetitions
        assert max([reported, *map(int, rest)]) in {repetition.repetition for repetition in found}
        assert len(found) >= already + 3
        assert Status.ABORTED is load_attempt(folder).status


def test_a_journal_line_carries_the_hash_of_its_own_text(folder: Path) -> None:
    """Anyone can check a line with a hash tool: the text between the key and the closing brace."""
    line = (folder / layout.JOURNAL).read_bytes().splitlines()[1]
    text = line.partition(b'"repetition":')[2][:-1]
    assert json.loads(line)["sha256"] == hashlib.sha256(text).hexdigest()


def test_killed_while_opening_the_attempt_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    """A real process is killed at its first, second ... change to the disk until one survives."""
    script = textwrap.dedent("""
        import os, signal, sys
        from pathlib import Path
        from reportgen.archive import layout
        from reportgen.archive.journal import Journal
        from tests.factories import make_header, make_plan

        plan = make_plan()
        header = make_header(plan)

        def kill_at(step):
            seen = 0
            def watch(event, arguments):
                nonlocal seen
                if event in {"os.mkdir", "os.rename"} or (event == "open" and arguments[2] & os.O_ACCMODE):
                    seen += 1
                    if seen == step:
                        os.kill(os.getpid(), signal.SIGKILL)
            sys.addaudithook(watch)

        step, status = 0, 1
        while status:
            step += 1
            runs = Path(sys.argv[1], str(step))
            child = os.fork()
            if child == 0:
                kill_at(step)
                Journal.create(layout.open_dir(runs, "sample", header.id), header, plan)
                os._exit(0)
            status = os.waitpid(child, 0)[1]
        print(step)
    """)
    done = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=True)
    steps = int(done.stdout)
    found = [list_attempts(tmp_path / str(step)) for step in range(1, steps + 1)]
    assert steps > 8
    assert {0, 1} == {len(attempts) for attempts in found}
    assert all(attempt.plan == PLAN and attempt.status is Status.ABORTED for attempts in found for attempt in attempts)
    for step in range(1, steps + 1):
        header = make_header(PLAN)
        folder = layout.open_dir(tmp_path / str(step), "sample", header.id)
        if not folder.exists():
            Journal.create(folder, header, PLAN).close()
        assert (PLAN, ()) == (read_journal(folder).plan, read_journal(folder).repetitions)
