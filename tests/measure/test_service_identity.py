"""By what a service is recognised, read from real processes."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from reportgen.errors import FindingError, InputError
from reportgen.measure.finding import find_process
from reportgen.measure.marks import Liveness, liveness, mark_of, own_mark, read_stat
from reportgen.measure.service_identity import first_difference, identify, identity_facts
from reportgen.model.admission import FileFact, Identity, ProcessMark
from reportgen.model.service import Fact, Find, Service
from reportgen.project import open_project
from tests.measure.serving import wait_until

DO = {"command": ["true"]}


def declared(pid_file: Path, *facts: Fact) -> Service:
    """Declare a service that is only ever looked at."""
    return msgspec.convert(
        {
            "name": "sleeper",
            **dict.fromkeys(("close", "closed", "idle", "open"), DO),
            "find": {"pid_file": str(pid_file)},
            "profile": {"facts": list(facts or Fact)},
        },
        Service,
    )


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a copy of a program, with a variable of its own."""
    program = tmp_path / "my (sleeper) program"
    shutil.copy(shutil.which("sleep") or "", program)
    process = subprocess.Popen([program, "60"], env={"SECRET_TOKEN": "do not tell", "PATH": "/bin"})
    (tmp_path / "pid").write_text(f"{process.pid}\n", "ascii")
    wait_until(lambda: Path(f"/proc/{process.pid}/exe").readlink() == program)
    yield process
    process.kill()
    process.wait()


def test_an_identity_names_variables_and_hashes_code(sleeper: subprocess.Popen[bytes], tmp_path: Path) -> None:
    """The hash is that of the file, the value of a variable is nowhere, and nothing is unreadable to its owner."""
    identity = identify(declared(tmp_path / "pid"))
    program = tmp_path / "my (sleeper) program"
    assert [str(program), "60"] == identity.command_line
    assert ["PATH", "SECRET_TOKEN"] == identity.environment
    assert FileFact(sha256=hashlib.sha256(program.read_bytes()).hexdigest()) == identity.executable
    libraries = identity.libraries or {}
    libc = next(path for path in libraries if "libc.so" in path or "libc-" in path)
    assert hashlib.sha256(Path(libc).read_bytes()).hexdigest() == libraries[libc].sha256
    assert ({}, []) == (identity.unreadable, identity.children)
    assert b"do not tell" not in msgspec.json.encode(identity)
    assert sleeper.pid == identity.process.pid


def test_nothing_differs_between_two_looks_and_a_mark_survives_the_disk(
    sleeper: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    """What was written down before is compared with what is read afterwards."""
    identity = identify(declared(tmp_path / "pid"))
    kept = msgspec.json.decode(msgspec.json.encode(identity), type=Identity)
    assert first_difference(kept, identify(declared(tmp_path / "pid"))) is None
    assert Liveness.ALIVE == liveness(kept.process)
    sleeper.kill()
    sleeper.wait()
    assert Liveness.GONE == liveness(kept.process)


def test_a_program_deleted_while_it_runs_is_hashed_and_said(sleeper: subprocess.Popen[bytes], tmp_path: Path) -> None:
    """Its bytes are still there for the kernel; the difference is named."""
    before = identify(declared(tmp_path / "pid"))
    program = tmp_path / "my (sleeper) program"
    program.unlink()
    after = identify(declared(tmp_path / "pid"))
    assert before.executable is not None
    assert FileFact(sha256=before.executable.sha256, note="deleted since it was loaded") == after.executable
    assert "(deleted since it was loaded)" in (first_difference(before, after) or "")
    assert sleeper.poll() is None


def mark(pid: int = 7, started_ticks: int = 1, boot: str = "b", host: str = "h") -> ProcessMark:
    """Mark some process."""
    return ProcessMark(pid=pid, started_ticks=started_ticks, boot=boot, host=host, namespace=1)


A, B = FileFact(sha256="a" * 64), FileFact(sha256="b" * 64)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ({}, {"process": mark(pid=8)}, "its process id was 7 and is 8"),
        ({}, {"process": mark(started_ticks=2)}, "process 7 was started anew"),
        ({}, {"process": mark(boot="c")}, "the machine was started anew, or is another one"),
        ({"command_line": ["a", "b"]}, {"command_line": ["a", "c"]}, "word 2 of its command line changed"),
        ({"command_line": ["a"]}, {"command_line": []}, "its command line had 1 words and has 0"),
        ({"environment": ["A"]}, {"environment": ["A", "B"]}, "its environment has a variable B that it had not"),
        ({"environment": ["A"]}, {"environment": []}, "its environment has lost variable A"),
        ({"executable": A}, {"executable": B}, f"its executable was {'a' * 12} and is {'b' * 12}"),
        ({"libraries": {"/l": A}}, {"libraries": {"/l": B}}, f"its library /l was {'a' * 12} and is {'b' * 12}"),
        ({"libraries": {"/l": A}}, {"libraries": {}}, "its library /l is no longer loaded"),
        ({"libraries": {}}, {"libraries": {"/l": A}}, "it has loaded library /l meanwhile"),
        ({"children": [(8, 1)]}, {"children": [(8, 2)]}, "its child process 8 is gone or was started anew"),
        ({"children": []}, {"children": [(8, 2)]}, "it has started child process 8 meanwhile"),
        ({"status": "a"}, {"status": "b"}, "its status document changed"),
        (
            {"libraries": {}},
            {"unreadable": {"libraries": "Permission denied"}},
            "its libraries could be read before and could not be read (Permission denied) now",
        ),
        ({"unreadable": {"environment": "x"}}, {"unreadable": {"environment": "x"}}, None),
        ({}, {}, None),
    ],
)
def test_the_first_difference_is_named(before: dict[str, object], after: dict[str, object], says: str | None) -> None:
    """One sentence for each fact."""
    one, other = (Identity(**{"process": mark(), **facts}) for facts in (before, after))  # type: ignore[arg-type]
    assert says == first_difference(one, other)


def test_what_the_record_tells_holds_no_path_and_no_word(sleeper: subprocess.Popen[bytes], tmp_path: Path) -> None:
    """Hashes and counts go to everyone, paths and words do not."""
    facts = identity_facts(identify(declared(tmp_path / "pid")))
    assert {"pid", "started_ticks", "identity_sha256", "executable_sha256", "libraries", "unreadable"} == facts.keys()
    assert str(tmp_path) not in str(facts)
    assert sleeper.pid == facts["pid"]


def test_a_name_with_parentheses_does_not_hide_the_start(sleeper: subprocess.Popen[bytes]) -> None:
    """The kernel puts the name in parentheses, whatever is in it."""
    stat = read_stat(sleeper.pid)
    assert stat is not None
    assert (os.getpid(), False) == (stat.ppid, stat.ended)
    assert stat.started_ticks >= own_mark().started_ticks


def test_an_id_that_another_process_got_is_not_the_marked_one(sleeper: subprocess.Popen[bytes]) -> None:
    """Start times tell them apart; another boot, container or machine is never mistaken for this one."""
    now = mark_of(sleeper.pid)
    assert now is not None
    replace = msgspec.structs.replace
    assert Liveness.GONE == liveness(replace(now, started_ticks=now.started_ticks - 1))
    assert Liveness.GONE == liveness(replace(now, boot="an earlier one"))
    assert Liveness.ELSEWHERE == liveness(replace(now, namespace=now.namespace + 1))
    assert Liveness.ELSEWHERE == liveness(replace(now, host="another"))


def test_a_service_is_found_by_the_port_it_listens_on() -> None:
    """A free port names nobody, and an address that it does not listen on neither."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert own_mark() == find_process(Find(port=port), "service s")
        assert own_mark() == find_process(Find(port=port, address="127.0.0.1"), "service s")
        with pytest.raises(FindingError, match=rf"nothing listens on 127\.0\.0\.2:{port}"):
            find_process(Find(port=port, address="127.0.0.2"), "service s")
    with pytest.raises(FindingError, match=rf"nothing listens on port {port}"):
        find_process(Find(port=port), "service s")


@pytest.mark.parametrize(
    ("text", "says"), [(None, "cannot be read: No such file"), ("none", "holds no process id"), ("4194305", "not run")]
)
def test_a_pid_file_that_names_nobody_is_one_line(tmp_path: Path, text: str | None, says: str) -> None:
    """It names file or process."""
    if text is not None:
        (tmp_path / "pid").write_text(text, "ascii")
    with pytest.raises(FindingError, match=says):
        find_process(Find(pid_file=str(tmp_path / "pid")), "service s")


def test_systemd_is_asked_for_the_main_process_of_a_unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in that checks its words: no machine of the tests need run systemd."""
    stand_in = tmp_path / "systemctl"
    words = "--user show --property=MainPID --value -- live.service"
    stand_in.write_text(f'#!/bin/sh\n[ "$*" = "{words}" ] && echo {os.getpid()} || echo 0\n', "ascii")
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert own_mark() == find_process(Find(unit="live.service", user_unit=True), "service s")
    with pytest.raises(FindingError, match=r"unit other\.service has no main process"):
        find_process(Find(unit="other.service"), "service s")


HEAD = (
    '[[service]]\nname = "s"\nclosed = {command = ["true"]}\nidle = {command = ["true"]}\nopen = {command = ["true"]}\n'
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('close = {command = ["x"], url = "http://h/"}\nfind = {port = 1}', "give either `command`"),
        ('close = {url = "file:///etc/passwd"}\nfind = {port = 1}', "must begin with http"),
        ('close = {url = "http://u:p@h/"}\nfind = {port = 1}', "holds no password"),
        ('close = {command = ["x"], body = "b"}\nfind = {port = 1}', "belong to a `url`"),
        ('close = {command = ["x"], deadline_s = 0}\nfind = {port = 1}', "`deadline_s` must be between"),
        ('close = {command = ["x"]}\nfind = {port = 1, unit = "u"}', "give one of"),
        ('close = {command = ["x"]}\nfind = {port = 70000}', "is no TCP port"),
        ('close = {command = ["x"]}\nfind = {unit = "--x"}', "is no name of a unit"),
        ('close = {command = ["x"]}\nfind = {port = 1}\nidle_deadline_s = -1', "`idle_deadline_s` must be between"),
        ('close = {command = ["x"]}\nfind = {port = 1}\nprofile = {facts = ["colour"]}', "colour"),
        ('close = {command = ["x"]}\nfind = {port = 1}\nshut = 1', "unknown field `shut`"),
        (
            f'close = {{command = ["x"]}}\nfind = {{port = 1}}\n{HEAD}close = {{command = ["x"]}}\nfind = {{port = 1}}',
            "same name",
        ),
    ],
)
def test_a_declaration_that_cannot_be_meant_is_refused(tmp_path: Path, text: str, says: str) -> None:
    """The line names the file."""
    (tmp_path / "reportgen.toml").write_text(f"{HEAD}{text}\n", "utf-8")
    with pytest.raises(InputError, match=says) as caught:
        open_project(tmp_path)
    assert str(tmp_path / "reportgen.toml") in caught.value.one_line()


def test_this_interpreter_is_recognised(tmp_path: Path) -> None:
    """A process with many libraries, looked at whole."""
    (tmp_path / "pid").write_text(str(os.getpid()), "ascii")
    identity = identify(declared(tmp_path / "pid", Fact.EXECUTABLE, Fact.LIBRARIES))
    assert identity.executable is not None
    assert hashlib.sha256(Path(sys.executable).resolve().read_bytes()).hexdigest() == identity.executable.sha256
    assert {"", "deleted since it was loaded"} >= {fact.note for fact in (identity.libraries or {}).values()}
    assert len(identity.libraries or {}) > 3
    assert identity.environment is None
