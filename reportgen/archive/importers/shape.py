"""The shape that a format promises: a missing or misshapen key is named, never guessed."""

from __future__ import annotations

from typing import Any

from reportgen.errors import InputError

_SHOWN = 40


def items_of(found: Any, key: str, where: str) -> list[dict[str, Any]]:
    """Give the list of objects under ``key``.

    Raises
    ------
    InputError
        There is none, or an entry is no object; the key is named.
    """
    rows = found.get(key) if isinstance(found, dict) else None
    if not isinstance(rows, list):
        raise InputError(f"{key!r} is no list", where=where)
    return objects(rows, f"{where}: {key}")


def objects(rows: list[Any], where: str) -> list[dict[str, Any]]:
    """``rows`` once each of them is known to be an object (else InputError)."""
    for at, row in enumerate(rows):
        if not isinstance(row, dict):
            raise InputError(f"is no object but {str(row)[:_SHOWN]!r}", where=f"{where}[{at}]")
    return rows


def object_of(found: dict[str, Any], key: str, where: str) -> dict[str, Any]:
    """Give the object under ``key``, empty where it is missing or null.

    Raises
    ------
    InputError
        Something else stands there.
    """
    value = found.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"{key!r} is no object", where=where)
    return value


def text_of(row: dict[str, Any], key: str, where: str) -> str:
    """Give the text under ``key``.

    Raises
    ------
    InputError
        It is missing, empty or no text.
    """
    value = row.get(key)
    if not isinstance(value, str) or not value:
        raise InputError(f"has no {key!r}", where=where)
    return value


def listed(found: dict[str, Any], key: str, where: str) -> list[Any]:
    """Give the list under ``key``, empty where it is missing or null.

    Raises
    ------
    InputError
        Something else stands there.
    """
    value = found.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise InputError(f"{key!r} is no list", where=where)
    return value
