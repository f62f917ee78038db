"""Commands and requests that a declaration holds: what is a yes, what a no, and what neither."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from reportgen.errors import FindingError
from reportgen.measure.asking import MOST_ANSWER_BYTES, ask, perform, value_at
from reportgen.model.service import Action, Question
from tests.measure.serving import children


class Handler(BaseHTTPRequestHandler):
    """Answers by path, and remembers who asked for what."""

    seen: ClassVar[list[tuple[str, str | None]]] = []

    def do_GET(self) -> None:
        """Answer."""
        self.seen.append((self.path, self.headers.get("Authorization")))
        status, body = {
            "/moved": (302, b""),
            "/text": (200, b"all is well"),
            "/deep": (200, b'{"queue": {"a/b": [0, 7]}, "one": 1, "yes": true}'),
            "/busy": (503, b'{"one": 1}'),
            "/bytes": (200, bytes(range(256))),
            "/cut": (200, b'{"other": 1}'),
            "/huge": (200, b'{"other": 1}' + b" " * MOST_ANSWER_BYTES),
        }.get(self.path, (404, b""))
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/deep")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.removesuffix(b"}") if self.path == "/cut" else body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    """Serve on loopback."""
    Handler.seen.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def python(program: str, **keys: float) -> Question:
    """Ask by a program."""
    return Question(command=[sys.executable, "-S", "-c", program], **keys)  # type: ignore[arg-type]


@pytest.mark.parametrize(("status", "answer"), [(0, True), (1, False)])
def test_a_command_answers_by_its_exit_status(status: int, *, answer: bool) -> None:
    """0 is yes, 1 is no."""
    assert answer is ask(python(f"raise SystemExit({status})"), "s")


def test_a_command_that_ends_otherwise_or_does_not_exist_answers_nothing() -> None:
    """Neither may be taken for a no."""
    with pytest.raises(FindingError, match="answered with exit status 2"):
        ask(python("raise SystemExit(2)"), "s")
    with pytest.raises(FindingError, match="s: '/nowhere/x' cannot be started: No such file"):
        ask(Question(command=["/nowhere/x"]), "s")


def test_a_command_may_answer_with_a_document() -> None:
    """Then its exit status must be 0."""
    question = Question(command=[sys.executable, "-S", "-c", "print('{\"n\": 0}')"], expect={"n": 0})
    assert ask(question, "s")


def test_a_command_that_hangs_is_ended_with_all_that_it_started() -> None:
    """It has a group of its own; nothing of it is left."""
    before = {child.pid for child in children()}
    began_s = time.monotonic()
    with pytest.raises(FindingError, match=r"did not answer within 0\.5 s"):
        perform(Action(command=["sh", "-c", "sleep 60 & sleep 60"], deadline_s=0.5), "s")
    assert time.monotonic() - began_s < 30
    assert before >= {child.pid for child in children()}


def test_a_command_that_writes_without_end_is_ended_long_before_memory_is_full() -> None:
    """Nobody reads more than an answer may hold."""
    before = {child.pid for child in children()}
    with pytest.raises(FindingError, match="s: 'yes' answered with more than 4 MiB"):
        ask(Question(command=["yes"], deadline_s=60), "s")
    assert before >= {child.pid for child in children()}


def test_a_command_that_closes_its_output_and_stays_is_ended_at_its_deadline() -> None:
    """What it said does not matter before it has ended."""
    with pytest.raises(FindingError, match=r"did not answer within 0\.5 s"):
        ask(python("import os, time; os.close(1); time.sleep(60)", deadline_s=0.5), "s")


def test_a_command_does_not_carry_the_mark_of_the_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it leaves running, as a service that it starts anew, is not the run's by its mark."""
    monkeypatch.setenv("REPORTGEN_ATTEMPT", "x")
    assert ask(python("import os; raise SystemExit('REPORTGEN_ATTEMPT' in os.environ)"), "s")


@pytest.mark.parametrize(
    ("pointer", "wanted", "answer"),
    [
        ("/queue/a~1b/1", 7, True),
        ("/queue/a~1b/0", 7, False),
        ("one", 1, True),
        ("one", True, False),
        ("yes", 1, False),
        ("yes", True, True),
    ],
)
def test_a_document_answers_by_its_values(url: str, pointer: str, wanted: int, *, answer: bool) -> None:
    """A number is no truth value, nor the other way round."""
    assert answer is ask(Question(url=f"{url}/deep", expect={pointer: wanted}), "s")


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/moved", "answered with status 302"),
        ("/none", "answered with status 404"),
        ("/text", "its answer is no JSON"),
        ("/deep", "its answer has no 'other'"),
        ("/bytes", "its answer is no JSON"),
        ("/cut", "its answer is no JSON"),
        ("/huge", r"/huge answered with more than 4 MiB"),
    ],
)
def test_an_answer_that_is_neither_yes_nor_no_is_an_error(url: str, path: str, says: str) -> None:
    """A redirect is one: where it leads was not declared, and nobody goes there."""
    with pytest.raises(FindingError, match=says):
        ask(Question(url=f"{url}{path}", expect={"other": 1}), "s")
    assert [(path, None)] == Handler.seen


def test_a_status_that_the_declaration_names_may_be_that_of_an_error(url: str) -> None:
    """A service that is closed may tell so with 503; its document is read all the same."""
    assert ask(Question(url=f"{url}/busy", status=503, expect={"one": 1}), "s")
    assert not ask(Question(url=f"{url}/busy", status=503, expect={"one": 2}), "s")


def test_no_proxy_of_the_environment_is_used(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing listens there."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert ask(Question(url=f"{url}/deep", expect={"one": 1}), "s")


def test_a_header_may_stand_in_the_environment(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its value is sent and told nowhere; without it nothing is sent."""
    question = Question(url=f"{url}/deep", header_variables={"Authorization": "LIVE_TOKEN"}, expect={"one": 1})
    with pytest.raises(FindingError, match="environment variable LIVE_TOKEN is not set"):
        ask(question, "s")
    monkeypatch.setenv("LIVE_TOKEN", "Bearer x")
    assert ask(question, "s")
    assert [("/deep", "Bearer x")] == Handler.seen


def test_nobody_there_is_one_line() -> None:
    """It names address and reason."""
    with pytest.raises(FindingError, match=r"s: http://127\.0\.0\.1:9/x cannot be asked: Connection refused"):
        perform(Action(url="http://127.0.0.1:9/x"), "s")


@pytest.mark.parametrize("pointer", ["/list/x", "/list/9", "/word/0", "/absent"])
def test_a_pointer_that_leads_nowhere_is_a_lookup_error(pointer: str) -> None:
    """Whatever is in its way."""
    with pytest.raises(LookupError):
        value_at({"list": [1], "word": "w"}, pointer)
