"""Files that are none, or made to harm: refused in one line, within bounds of memory; in a folder they are listed, and stop nothing."""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path

import pytest

from reportgen.archive.importers import content, gathering, registry
from reportgen.archive.importers.content import Content, readable
from reportgen.archive.importers.gathering import gather
from reportgen.errors import InputError

AB = Path(__file__).resolve().parent.parent / "data" / "importing" / "generic" / "made-up-ab.csv"
HEAD = b"arm,fixture,repetition,time_ns\n"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (gzip.compress(HEAD + b"a,f,1,5\n") + b"more", "has bytes behind its gzip"),
        (gzip.compress(HEAD + b"a,f,1,5\n")[:-9], "is gzip that was cut off"),
        (gzip.compress(b" " * (17 << 20)), "expands beyond measure"),
        (gzip.compress(gzip.compress(HEAD)), "line 1: is not UTF-8"),
        (HEAD + b"a,f,1,5\na,f\0,2,5\n", "line 3: holds a NUL"),
        (b"\0" * 5000, "line 1: holds a NUL"),
        (HEAD.decode().encode("utf-16-le"), "line 1: holds a NUL"),
        (b"x" * 3001, "is no"),
        (b"\xef\xbb\xbf", "is empty"),
    ],
    ids=[
        "more behind",
        "cut off",
        "expands",
        "gzip in gzip",
        "a NUL",
        "all NUL",
        "UTF-16",
        "one long word",
        "a mark alone",
    ],
)
def test_bytes_that_are_no_result_are_refused(monkeypatch: pytest.MonkeyPatch, data: bytes, said: str) -> None:
    """With the line, where there are lines; the longest cell is made short here, to be quick."""
    monkeypatch.setattr(content, "_LARGEST_CELL", 3000)
    with pytest.raises(InputError) as fault:
        registry.read(Content("some.csv", data))
    assert said in fault.value.one_line()


def test_gzip_in_several_parts_is_one_file() -> None:
    """As ``cat a.gz b.gz`` makes it, and padded with zeros as a tape does; none of it is lost."""
    data = gzip.compress(HEAD + b"a,f,1,5\n") + gzip.compress(b"b,f,1,6\n") + b"\0" * 512
    assert {"a", "b"} == {one.arm for one in registry.read(Content("t.csv.gz", data)).benchmarks}


def test_what_the_system_says_of_a_path_is_one_line(tmp_path: Path) -> None:
    """A name of 3,000 characters, a pipe, a link to itself, a device."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for path, said in (
        (Path("x" * 3000), "cannot be read: File name too long"),
        (tmp_path / "pipe", "is no plain file"),
        (tmp_path / "loop", "no such file"),
        (Path("/dev/zero"), "is no plain file"),
        (tmp_path / "no\0name", "no such file"),
    ):
        with pytest.raises(InputError) as fault:
            gather([path])
        assert said in fault.value.one_line()
        assert len(fault.value.one_line()) < 500


def test_a_folder_lists_what_cannot_be_read_and_takes_the_rest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A pipe, folders without permission or too deep, a file without permission; links are passed over."""
    lab = tmp_path / "lab"
    for name in ("closed", "good", "/".join("d" * 14)):
        (lab / name).mkdir(parents=True)
    for name in ("good/a.csv", "closed/a.csv", "secret.csv"):
        shutil.copy(AB, lab / name)
    os.mkfifo(lab / "pipe")
    (lab / "good" / "round").symlink_to(lab)
    refused = {"closed", "secret.csv"}
    seen, read = gathering._seen, Path.read_bytes

    def allowed(path: Path) -> Path:
        if path.name in refused:
            raise PermissionError(13, "Permission denied", str(path))
        return path

    monkeypatch.setattr(gathering, "_seen", lambda folder: seen(allowed(folder)))
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(allowed(path)))
    found = gather([lab])
    assert [str(lab / "good/a.csv")] == [one.where for one in found.found]
    left = {Path(one.path).relative_to(lab).as_posix(): one.reason for one in found.left_out}
    assert {"closed", "secret.csv", "pipe", "/".join("d" * 13)} == set(left)
    assert ["cannot be read: Permission denied"] * 2 == [left["closed"], left["secret.csv"]]
    assert ("is no plain file", "lies more than 12 folders deep") == (left["pipe"], left["/".join("d" * 13)])


def test_a_fault_of_the_system_is_bad_input(tmp_path: Path) -> None:
    """Whatever it is."""
    with pytest.raises(InputError, match="cannot be read: Input/output error"), readable(tmp_path):
        raise OSError(5, "Input/output error")
