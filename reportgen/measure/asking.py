"""Doing to a service, or asking of it, what ``reportgen.toml`` declares: one command or one HTTP request, within a deadline.

Nothing is contacted that is not declared: no proxy of the environment, no redirect, no shell.
"""

from __future__ import annotations

import os
import queue
import selectors
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException
from typing import IO, Any

import msgspec

from reportgen.errors import FindingError
from reportgen.measure.environment import ATTEMPT
from reportgen.model.service import Action, Question, Scalar

MOST_ANSWER_BYTES = 1 << 22
_READ_BYTES = 1 << 16
_COMMAND_SAYS_NO = 1
_MOST_WORDS = 120


@dataclass(frozen=True)
class Answered:
    """What came back: HTTP status or exit status, and the bytes."""

    status: int
    body: bytes


def perform(action: Action, where: str) -> None:
    """Do it.

    Raises
    ------
    FindingError
        It does not succeed within its deadline; ``where`` names service and step.
    """
    answered = _carry_out(action, where)
    wanted = 0 if action.command else action.status
    if answered.status != wanted:
        raise _refused(action, answered, where)


def ask(question: Question, where: str) -> bool:
    """Whether the answer is yes.

    Raises
    ------
    FindingError
        There is no answer within the deadline, or one that is neither yes nor no.
    """
    answered = _carry_out(question, where)
    if question.command and not question.expect and answered.status == _COMMAND_SAYS_NO:
        return False
    if answered.status != (0 if question.command else question.status):
        raise _refused(question, answered, where)
    return not question.expect or _holds(question.expect, answered.body, where)


def fetch(url: str, headers: Mapping[str, str], deadline_s: float, where: str) -> bytes:
    """Bytes of the document at ``url``.

    Raises
    ------
    FindingError
        It does not answer with status 200 within the deadline.
    """
    action = Question(url=url, headers=dict(headers), deadline_s=deadline_s, expect={"-": None})
    answered = _carry_out(action, where)
    if answered.status != action.status:
        raise _refused(action, answered, where)
    return answered.body


def headers_of(plain: Mapping[str, str], variables: Mapping[str, str], where: str) -> dict[str, str]:
    """All headers, those that stand in the environment included.

    Raises
    ------
    FindingError
        A variable is not set.
    """
    for name in variables.values():
        if name not in os.environ:
            raise FindingError(f"environment variable {name} is not set", where=where, remedy="set it and repeat")
    return dict(plain) | {header: os.environ[name] for header, name in variables.items()}


def value_at(document: Any, pointer: str) -> Any:
    """Value of a field, or at a JSON pointer, of a decoded document.

    Raises
    ------
    LookupError
        There is none.
    """
    for part in pointer_parts(pointer):
        if isinstance(document, dict):
            document = document[part]
        elif isinstance(document, list) and part.isdecimal():
            document = document[int(part)]
        else:
            raise LookupError(part)
    return document


def pointer_parts(pointer: str) -> list[str]:
    """Keys on the way to a value: of a JSON pointer (RFC 6901), or the one field named."""
    if not pointer.startswith("/"):
        return [pointer]
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]


def _carry_out(action: Action, where: str) -> Answered:
    return _command(action, where) if action.command else _request(action, where)


def _command(action: Action, where: str) -> Answered:
    """Run it in a group of its own, which ends with its deadline; it is not marked as a part of the attempt."""
    variables = {name: value for name, value in os.environ.items() if name != ATTEMPT}
    try:
        process = subprocess.Popen(  # noqa: S603 - the words of the user's own file, no shell
            action.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=variables,
            start_new_session=True,
        )
    except OSError as fault:
        raise FindingError(f"{action.command[0]!r} cannot be started: {fault.strerror}", where=where) from fault
    with process:
        until_s = time.monotonic() + action.deadline_s
        try:
            body = _written(process, until_s)
            if len(body) <= MOST_ANSWER_BYTES:
                process.wait(max(until_s - time.monotonic(), 0))
                return Answered(process.returncode, body)
        except subprocess.TimeoutExpired as fault:
            os.killpg(process.pid, signal.SIGKILL)
            raise _silent(action, where) from fault
        os.killpg(process.pid, signal.SIGKILL)
    raise _too_long(action, where)


def _written(process: subprocess.Popen[bytes], until_s: float) -> bytes:
    """Read what a command writes until it closes its output, or has written more than anyone reads.

    Raises
    ------
    subprocess.TimeoutExpired
        It goes on for longer.
    """
    assert process.stdout is not None  # noqa: S101 - asked for
    body, handle = b"", process.stdout.fileno()
    with selectors.DefaultSelector() as selector:
        selector.register(handle, selectors.EVENT_READ)
        while len(body) <= MOST_ANSWER_BYTES:
            if not selector.select(max(until_s - time.monotonic(), 0)):
                raise subprocess.TimeoutExpired(process.args, 0)
            chunk = os.read(handle, _READ_BYTES)
            if not chunk:
                break
            body += chunk
    return body


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Leaves a redirect as the answer that it is: its address was not declared."""

    def redirect_request(  # noqa: PLR0913, PLR0917 - the signature is the library's
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        """Follow nothing."""


def _request(action: Action, where: str) -> Answered:
    """Ask in a thread: the library limits each wait for bytes, not the whole answer."""
    headers = headers_of(action.headers, action.header_variables, where)
    request = urllib.request.Request(  # noqa: S310 - the declaration admits http and https only
        action.url, data=action.body.encode() or None, headers=headers, method=action.method
    )
    answers: queue.SimpleQueue[Answered | Exception] = queue.SimpleQueue()
    threading.Thread(target=_exchange, args=(request, action.deadline_s, answers), daemon=True).start()
    try:
        answer = answers.get(timeout=action.deadline_s)
    except queue.Empty as fault:
        raise _silent(action, where) from fault
    if isinstance(answer, TimeoutError):
        raise _silent(action, where) from answer
    if isinstance(answer, Exception):
        raise FindingError(f"{action.url} cannot be asked: {_why(answer)}", where=where) from answer
    if len(answer.body) > MOST_ANSWER_BYTES:
        raise _too_long(action, where)
    return answer


def _exchange(
    request: urllib.request.Request, deadline_s: float, answers: queue.SimpleQueue[Answered | Exception]
) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect)
    try:
        with opener.open(request, timeout=deadline_s) as reply:
            answers.put(Answered(reply.status, reply.read(MOST_ANSWER_BYTES + 1)))
    except urllib.error.HTTPError as reply:
        with reply:  # a status that is declared may be one of those that the library takes for an error
            answers.put(Answered(reply.code, _body_of(reply)))
    except Exception as fault:  # noqa: BLE001 - whatever the library raises is the asker's to word
        answers.put(fault)


def _body_of(reply: urllib.error.HTTPError) -> bytes:
    try:
        return reply.read(MOST_ANSWER_BYTES + 1)
    except (OSError, HTTPException):
        return b""


def _why(fault: Exception) -> str:
    reason = getattr(fault, "reason", fault)
    return getattr(reason, "strerror", None) or str(reason) or type(reason).__name__


def _holds(expect: Mapping[str, Scalar], body: bytes, where: str) -> bool:
    try:
        document = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        raise FindingError(f"its answer is no JSON: {fault}", where=where) from fault
    answer = True
    for pointer, wanted in expect.items():
        try:
            found = value_at(document, pointer)
        except LookupError as fault:
            raise FindingError(
                f"its answer has no {pointer!r}", where=where, remedy="correct `expect` in reportgen.toml"
            ) from fault
        answer = answer and isinstance(found, bool) == isinstance(wanted, bool) and found == wanted
    return answer


def _named(action: Action) -> str:
    return repr(action.command[0]) if action.command else f"{action.method} {action.url}"


def _refused(action: Action, answered: Answered, where: str) -> FindingError:
    said = "exit status" if action.command else "status"
    return FindingError(f"{_named(action)} answered with {said} {answered.status}"[:_MOST_WORDS], where=where)


def _too_long(action: Action, where: str) -> FindingError:
    return FindingError(f"{_named(action)} answered with more than {MOST_ANSWER_BYTES >> 20} MiB", where=where)


def _silent(action: Action, where: str) -> FindingError:
    return FindingError(f"{_named(action)} did not answer within {action.deadline_s:g} s", where=where)
