"""Nouns to bytes and back, with the file named and its schema version asked first."""

from __future__ import annotations

import functools
import stat
import tomllib
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import tomli_w

from reportgen.errors import RecordError, SchemaVersionError, shortened

T = TypeVar("T")

# A number of 5,000 digits is a ValueError of its own, a float beyond all floats an OverflowError, brackets without end a RecursionError.
UNREADABLE = (ValueError, OverflowError, RecursionError, msgspec.MsgspecError)


def encode_json(noun: Any) -> bytes:
    """JSON of a noun on one line, keys in a fixed order."""
    return msgspec.json.encode(noun, order="deterministic")


def encode_json_pretty(noun: Any) -> bytes:
    """JSON of a noun for people to read, keys in a fixed order, with a newline at the end."""
    return msgspec.json.format(encode_json(noun), indent=2) + b"\n"


def encode_toml(noun: Any) -> bytes:
    """TOML of a noun; what is null is left out, since TOML knows no null and every such field defaults to it."""
    return tomli_w.dumps(_without_null(msgspec.to_builtins(noun, order="deterministic"))).encode()


def decode_json(data: bytes, kind: type[T], newest: int, where: str) -> T:
    """Noun of type ``kind`` out of JSON ``data``; ``where`` names file (and line) in an error.

    Raises
    ------
    SchemaVersionError
        The schema version is newer or older than ``newest``.
    RecordError
        The data is no JSON, or not of this kind.
    """
    try:
        plain = msgspec.json.decode(data)
    except UNREADABLE as fault:
        raise damaged(where, fault) from fault
    return _convert(plain, kind, newest, where)


def decode_toml(data: bytes, kind: type[T], newest: int, where: str) -> T:
    """Noun of type ``kind`` out of TOML ``data``; raises as :func:`decode_json` does."""
    try:
        plain = _toml(data)
    except UNREADABLE as fault:
        raise damaged(where, fault) from fault
    return _convert(plain, kind, newest, where)


@functools.lru_cache(maxsize=8)
def _toml(data: bytes) -> dict[str, Any]:
    """Read TOML, which takes long; attempts of one plan hold the same text. What is returned is never changed."""
    return tomllib.loads(data.decode())


def read_bytes(path: Path) -> bytes:
    """Contents of a file of a record.

    Raises
    ------
    RecordError
        It is missing, cannot be read, or is a pipe or a device, which might never end.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise RecordError("is no plain file", where=str(path), remedy="restore the record from a copy")
        return path.read_bytes()
    except FileNotFoundError as fault:
        raise RecordError("is missing", where=str(path), remedy="restore the record from a copy") from fault
    except OSError as fault:
        raise damaged(str(path), fault) from fault


def check_version(found: object, newest: int, where: str) -> None:
    """Refuse a schema version that this program does not read.

    Raises
    ------
    SchemaVersionError
        ``found`` is newer or older than ``newest``, or no version at all.
    """
    if not isinstance(found, int) or isinstance(found, bool):
        raise SchemaVersionError("has no schema_version", where=where, remedy="restore the record from a copy")
    if found > newest:
        raise SchemaVersionError(
            f"schema_version {found} is newer than this program reads ({newest})",
            where=where,
            remedy="use a newer reportgen",
        )
    if found < newest:
        raise SchemaVersionError(
            f"schema_version {found} is older than this program reads ({newest})",
            where=where,
            remedy="run `reportgen upgrade`",
        )


def damaged(where: str, fault: Exception) -> RecordError:
    """Error for a file of a record that cannot be understood."""
    return RecordError(f"is damaged: {shortened(str(fault))}", where=where, remedy="restore the record from a copy")


def _convert(plain: Any, kind: type[T], newest: int, where: str) -> T:
    if not isinstance(plain, dict):
        raise RecordError("is damaged: holds no object", where=where, remedy="restore the record from a copy")
    check_version(plain.get("schema_version"), newest, where)
    try:
        return msgspec.convert(plain, kind)
    except UNREADABLE as fault:
        raise damaged(where, fault) from fault


def _without_null(plain: Any) -> Any:
    if isinstance(plain, dict):
        return {key: _without_null(value) for key, value in plain.items() if value is not None}
    if isinstance(plain, list):
        return [_without_null(value) for value in plain]
    return plain
