"""A live service that shares the devices: how it is closed to new requests, asked, reopened, found and recognised."""

from __future__ import annotations

import enum
import re
from urllib.parse import urlsplit

import msgspec

Scalar = str | int | float | bool | None

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,59}")
_METHOD = re.compile(r"[A-Z]{3,10}")
_MOST_SECONDS = 24 * 3600.0
_MOST_PORT = 65535
_STATUSES = range(100, 600)


class Fact(enum.StrEnum):
    """What may be compared of a service before and after, beside its process id and start time, which always are."""

    COMMAND_LINE = "command_line"
    ENVIRONMENT = "environment"
    EXECUTABLE = "executable"
    LIBRARIES = "libraries"
    CHILDREN = "children"


_USUAL_FACTS = (Fact.COMMAND_LINE, Fact.ENVIRONMENT, Fact.EXECUTABLE, Fact.LIBRARIES)


class _Noun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A struct that accepts no key it does not know."""


class Action(_Noun, frozen=True, kw_only=True):
    """One command or one HTTP request.

    ``command`` is a list of words that no shell reads; it succeeds with exit status 0. A request goes to ``url`` and
    nowhere else (no proxy, no redirect) and succeeds with ``status``. ``header_variables`` maps a header to the name of
    the environment variable that holds its value, so that no secret stands in the file.
    """

    command: list[str] = []
    url: str = ""
    method: str = "POST"
    body: str = ""
    headers: dict[str, str] = {}
    header_variables: dict[str, str] = {}
    status: int = 200
    deadline_s: float = 10.0

    def __post_init__(self) -> None:
        if bool(self.command) == bool(self.url):
            raise ValueError("give either `command`, a list of words, or `url`")
        if not all(word and "\0" not in word for word in self.command[:1]):
            raise ValueError("the first word of `command` names a program")
        _check_seconds("deadline_s", self.deadline_s)
        if self.url:
            _check_url(self.url)
        elif self.body or self.headers or self.header_variables:
            raise ValueError("`body`, `headers` and `header_variables` belong to a `url`")
        if not _METHOD.fullmatch(self.method):
            raise ValueError(f"method {self.method!r} must be upper-case letters")
        if self.status not in _STATUSES:
            raise ValueError(f"status {self.status} is no HTTP status")


class Question(Action, frozen=True, kw_only=True):
    """Something that is answered with yes or no and changes nothing.

    ``expect`` maps fields, or JSON pointers (RFC 6901), of the answered JSON document to the values that mean yes; all must
    hold. A command without ``expect`` answers by its exit status: 0 is yes, 1 is no.
    """

    method: str = "GET"
    expect: dict[str, Scalar] = {}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.url and not self.expect:
            raise ValueError("`expect` says which values of the answer mean yes; a question with a `url` needs it")


class Find(_Noun, frozen=True, kw_only=True):
    """Where the service's main process is named: one of a file with its id, a systemd unit, a TCP port it listens on.

    ``user_unit`` asks the user's own systemd. ``address`` limits the port to one local address.
    """

    pid_file: str | None = None
    unit: str | None = None
    user_unit: bool = False
    port: int | None = None
    address: str | None = None

    def __post_init__(self) -> None:
        if sum(key is not None for key in (self.pid_file, self.unit, self.port)) != 1:
            raise ValueError("give one of `pid_file`, `unit` and `port`")
        if self.port is not None and not 0 < self.port <= _MOST_PORT:
            raise ValueError(f"port {self.port} is no TCP port")
        if self.address is not None and self.port is None:
            raise ValueError("`address` belongs to a `port`")
        if self.user_unit and self.unit is None:
            raise ValueError("`user_unit` belongs to a `unit`")
        if self.unit is not None and (not self.unit or self.unit.startswith("-")):
            raise ValueError(f"unit {self.unit!r} is no name of a unit")


class StatusDocument(_Noun, frozen=True, kw_only=True):
    """A JSON document the service tells of itself; its hash belongs to the identity but for the fields of ``leave_out``."""

    url: str
    headers: dict[str, str] = {}
    header_variables: dict[str, str] = {}
    leave_out: list[str] = []
    deadline_s: float = 10.0

    def __post_init__(self) -> None:
        _check_url(self.url)
        _check_seconds("deadline_s", self.deadline_s)


class Profile(_Noun, frozen=True, kw_only=True):
    """By what the service is recognised after the window."""

    facts: list[Fact] = msgspec.field(default_factory=lambda: [*_USUAL_FACTS])
    status: StatusDocument | None = None


class Service(_Noun, frozen=True, kw_only=True):
    """A ``[[service]]`` of ``reportgen.toml``.

    ``close`` stops new requests, ``open`` lets them in again; either may be done twice without harm. ``closed`` asks whether
    new requests are kept out, ``idle`` whether none is under way. ``devices`` are the ids of those it shares, all if
    empty. The deadlines limit how long it may take after ``close`` to be closed, then to be idle, after ``open`` to be open.
    """

    name: str
    close: Action
    closed: Question
    idle: Question
    open: Action
    find: Find
    profile: Profile = Profile()
    devices: list[str] = []
    close_deadline_s: float = 10.0
    idle_deadline_s: float = 60.0
    open_deadline_s: float = 10.0
    poll_s: float = 0.2

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(
                f"service name {self.name!r} must be lower-case letters, digits, - and _, and start with a letter"
            )
        for key in ("close_deadline_s", "idle_deadline_s", "open_deadline_s", "poll_s"):
            _check_seconds(key, getattr(self, key))

    def shares(self, device_id: str) -> bool:
        """Whether it uses that device."""
        return not self.devices or device_id in self.devices


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"url {url!r} must begin with http:// or https:// and name a host")
    if parts.username or parts.password:
        raise ValueError("a url holds no password here; name a variable in `header_variables`")
    if any(character <= " " or character == "\x7f" for character in url):
        raise ValueError("a url holds no spaces or control characters")


def _check_seconds(key: str, value: float) -> None:
    if not 0 < value <= _MOST_SECONDS:
        raise ValueError(f"`{key}` must be between 0 and {_MOST_SECONDS:g} seconds")
