"""Damage of every kind, most of it behind the first check: after a change the line's hash, the CRC or the footer is made anew.

Every function draws from the ``random.Random`` it is given, so that an input follows from a seed.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import pickle
import random
import tomllib
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import tomli_w

Mutate = Callable[[bytes, random.Random], bytes]
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 3.5, -0.0, 1e308, float("inf"), float("nan"), 2**31, 2**53 + 1, 2**63, 2**64, 10**30,
    10**400, "", " ", "\0", "\n", "process", "incumbent", "candidate", "../../etc/passwd", "/etc/passwd", "a\\b", "\x1b[2J",
    "\u202e\u2028", "1", "nan", "2026-02-30T25:00:00Z", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "x" * 20_000,
    [], {}, [[]], [None], {"": {}}, [{}] * 300, datetime(2026, 3, 1, tzinfo=UTC),
)  # fmt: skip
CHANGES_MOST = 3


def flip(data: bytes, draw: random.Random) -> bytes:
    """Flip bits, cut, double, blank or splice somewhere; nothing is repaired."""
    made = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        at, length = draw.randrange(len(made) + 1), draw.choice((1, 1, 2, 4, 16, 200))
        kind = draw.randrange(6)
        if kind == 0 and at < len(made):
            made[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del made[at:]
        elif kind == 2:
            del made[at : at + length]
        elif kind == 3:
            made[at:at] = made[at : at + length]
        elif kind == 4:
            made[at : at + length] = bytes([draw.choice((0, 10, 34, 91, 123, 127, 255))]) * length
        else:
            other = draw.randrange(len(made) + 1)
            made[at : at + length] = made[other : other + length]
    return bytes(made)


def safely(change: Mutate, data: bytes, draw: random.Random) -> bytes:
    """Apply a change that needs a file it can parse; to any other flip bits instead."""
    try:
        return change(data, draw)
    except Exception:  # noqa: BLE001 - an earlier change may have left anything
        return flip(data, draw)


def alter(document: Any, draw: random.Random) -> Any:
    """Change a few places of a document of dictionaries and lists: leave out, double, rename, swap, replace by something odd."""
    for _ in range(draw.randint(1, CHANGES_MOST)):
        holder, key = _place(document, draw)
        if holder is None:
            return draw.choice(ODD)
        _change(holder, key, draw)
    return document


def _place(document: Any, draw: random.Random) -> tuple[Any, Any]:
    """Walk to a random place: the container and the key in it."""
    holder, key, here = None, None, document
    while isinstance(here, dict | list) and here:
        holder, key = here, draw.choice(list(here)) if isinstance(here, dict) else draw.randrange(len(here))
        here = here[key]
        if draw.random() < 0.25:
            break
    return holder, key


def _change(holder: Any, key: Any, draw: random.Random) -> None:
    kind = draw.randrange(8)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[str(draw.choice(ODD))[:99]] = holder.pop(key)
    elif kind == 1:
        holder.insert(key, holder[draw.randrange(len(holder))])
    elif kind == 2:
        other = draw.choice(list(holder)) if isinstance(holder, dict) else draw.randrange(len(holder))
        holder[key], holder[other] = holder[other], holder[key]
    elif kind == 3:
        holder[key] = deep(draw.choice((3, 50, 150, 700)), draw)
    elif kind == 4 and isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
        holder[key] = holder[key] % (1 << 62) + draw.choice((-1, 1, 0.5, 1 << 31, -(1 << 31), 1 << 62))
    elif kind == 5 and isinstance(holder[key], str):
        at = draw.randrange(len(holder[key]) + 1)
        holder[key] = (
            holder[key][:at] + draw.choice(("", "\0", "\n", "x", "/", "..", "\N{BOM}", "=")) + holder[key][at + 1 :]
        )
    else:
        holder[key] = draw.choice(ODD)


def deep(levels: int, draw: random.Random) -> Any:
    """Nest lists or dictionaries."""
    made: Any = 1
    for _ in range(levels):
        made = [made] if draw.random() < 0.5 else {"a": made}
    return made


def to_json(document: Any) -> bytes:
    """JSON of anything that mutations make; deep nesting by hand, since the encoder would refuse it."""
    try:
        return json.dumps(document, default=str, separators=(",", ":")).encode()
    except (RecursionError, ValueError):
        return b'{"schema_version":1,"facts":' + b"[" * 5_000 + b"]" * 5_000 + b"}"


def json_file(data: bytes, draw: random.Random) -> bytes:
    """Change a JSON document; what is written parses."""
    return to_json(alter(json.loads(data), draw))


def toml_file(data: bytes, draw: random.Random) -> bytes:
    """Change a TOML document; what is written parses, but for a few that are nested or numbered beyond measure."""
    if draw.random() < 0.03:
        key = draw.choice((".".join("a" * 2_000), "x"))
        return data + b"\n" + key.encode() + b" = " + draw.choice((b"9" * 5_000, b"[" * 900 + b"]" * 900, b"1")) + b"\n"
    document = _without_null(alter(pickle.loads(_parsed(data)), draw))  # noqa: S301 - of our own making
    try:
        return tomli_w.dumps(document).encode()
    except (
        RecursionError,
        AttributeError,
        TypeError,
        ValueError,
    ):  # what the writer cannot put down, the reader never meets
        return flip(data, draw)


@lru_cache(maxsize=64)
def _parsed(data: bytes) -> bytes:
    return pickle.dumps(tomllib.loads(data.decode()))


def _without_null(document: Any) -> Any:
    if isinstance(document, dict):
        return {str(key): _without_null(value) for key, value in document.items() if value is not None}
    if isinstance(document, list):
        return [_without_null(value) for value in document if value is not None]
    return document


def json_lines(data: bytes, draw: random.Random) -> bytes:
    """Change a line of JSON, or leave out, double or reorder lines."""
    return _lines(data, draw, lambda line: to_json(alter(json.loads(line), draw)))


def journal(data: bytes, draw: random.Random) -> bytes:
    """Change a repetition and write its hash anew; or the envelope; or the order of lines; or cut the last one."""

    def changed(line: bytes) -> bytes:
        envelope = json.loads(line)
        if draw.random() < 0.1:
            return to_json(alter(envelope, draw))
        text = to_json(alter(envelope["repetition"], draw))
        return b'{"schema_version":1,"sha256":"%s","repetition":%s}' % (hashlib.sha256(text).hexdigest().encode(), text)

    made = _lines(data, draw, changed)
    return made[: -draw.randint(1, 500)] if draw.random() < 0.05 else made


def _lines(data: bytes, draw: random.Random, change: Callable[[bytes], bytes]) -> bytes:
    lines = data.splitlines()
    at, kind = draw.randrange(len(lines)), draw.randrange(10)
    if kind == 0:
        lines.insert(at, lines[draw.randrange(len(lines))])
    elif kind == 1:
        del lines[at]
    elif kind == 2:
        draw.shuffle(lines)
    else:
        lines[at] = change(lines[at])
    return b"".join(line + b"\n" for line in lines)


def sums(data: bytes, draw: random.Random) -> bytes:
    """Change a line of ``SHA256SUMS`` so that it stays one."""
    lines = data.decode().splitlines()
    at = draw.randrange(len(lines))
    name = draw.choice(
        ("../up", "/etc/passwd", "a/../b", "no such", "artifacts", "x" * 5_000, "\u2028", "manifest.json", ".")
    )
    sha256, _, old = lines[at].partition("  ")
    lines[at] = draw.choice((f"{'0' * 64}  {old}", f"{sha256}  {name}", f"{sha256}  {old}\n{sha256}  {old}", ""))
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")


def csv_file(data: bytes, draw: random.Random) -> bytes:
    """Change fields of a CSV file behind its header."""
    rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
    for _ in range(draw.randint(1, CHANGES_MOST)):
        row = draw.choice(rows[1:] or rows)
        kind = draw.randrange(5)
        if kind == 0:
            row.append("more")
        elif kind == 1 and row:
            row.pop()
        elif kind == 2:
            rows.append(list(row))
        elif row:
            row[draw.randrange(len(row))] = draw.choice(
                ("", "-1", "nan", "1e999", "x", "9" * 5_000, "y" * 200_000, "\0", "\N{ARABIC-INDIC DIGIT ONE}")
            )
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows(rows)
    return made.getvalue().encode()


def parquet(data: bytes, draw: random.Random) -> bytes:
    """Write valid Parquet with wrong columns, types, nulls, values, metadata or row groups; now and then cut or flip its footer."""
    table = pq.read_table(pa.BufferReader(data))
    table.validate(full=True)
    for _ in range(draw.randint(1, CHANGES_MOST)):
        table = _other_table(table, draw)
    made = io.BytesIO()
    most = max(1, table.num_rows)
    pq.write_table(
        table,
        made,
        compression=draw.choice(("none", "zstd", "gzip", "snappy")),
        row_group_size=draw.choice((1 + most // 7, most)),
        use_dictionary=draw.random() < 0.5,
        version=draw.choice(("1.0", "2.6")),
        data_page_version=draw.choice(("1.0", "2.0")),
    )
    written = made.getvalue()
    kind = draw.randrange(8)
    if kind == 0:
        return written[: -draw.randint(1, 200)]
    if kind == 1:  # inside the footer, whose length stands in the last eight bytes
        at = len(written) - 9 - draw.randrange(min(len(written) - 8, 4_000))
        return written[:at] + bytes([draw.randrange(256)]) + written[at + 1 :]
    if kind == 2:  # inside the pages
        at = draw.randrange(4, len(written) - 8)
        return written[:at] + bytes([draw.randrange(256)]) + written[at + 1 :]
    return written


def _other_table(table: pa.Table, draw: random.Random) -> pa.Table:  # noqa: PLR0911 - one kind of damage each
    if not table.num_columns:
        return table
    at, kind = draw.randrange(table.num_columns), draw.randrange(11)
    field = table.schema.field(at)
    if kind == 0:
        return table.remove_column(at)
    if kind == 1:
        return table.append_column(draw.choice((field.name, "more")), table.column(at))
    if kind == 2:
        metadata = dict(table.schema.metadata or {})
        metadata[draw.choice(list(metadata) or [b"x"])] = draw.choice(
            (b"2", b"", b"-1", b"\xb2", b"1" * 5_000, b"ARROW")
        )
        return table.replace_schema_metadata(metadata)
    if kind == 3:
        return table.slice(draw.randrange(table.num_rows + 1))
    if kind == 4:
        return pa.concat_tables([table] * draw.choice((2, 3)))
    if kind == 5:
        return table.set_column(at, pa.field(field.name, field.type), pa.nulls(table.num_rows, field.type))
    return table.set_column(at, *_other_column(table, at, draw))


def _other_column(table: pa.Table, at: int, draw: random.Random) -> tuple[pa.Field, pa.Array]:
    field, values = table.schema.field(at), _plain(table.column(at))
    odd: Any = draw.choice((0, -1, 2**31 - 1, 2**62, float("nan"), float("inf"), "", "incumbent", "\0", None, True))
    kind = draw.choice((pa.string(), pa.int64(), pa.int32(), pa.float64(), pa.bool_(), pa.binary(), pa.large_string()))
    if draw.random() < 0.7:
        kind = field.type
    if values:
        values[draw.randrange(len(values))] = odd
    try:
        made = pa.array(values, type=kind)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        made = pa.array([b"\xff\xfe"] * len(values), type=pa.binary())
        if draw.random() < 0.5:
            made = made.view(pa.string())
    same = made.type == field.type and not (made.null_count and not field.nullable)
    return (field if same else pa.field(field.name, made.type)), made


def _plain(column: pa.ChunkedArray) -> list[Any]:
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:  # damaged by an earlier change
        return [""] * len(column)


def zip_file(data: bytes, draw: random.Random) -> bytes:
    """Write the members of a zip anew with other names, kinds, lengths and packing; the CRC is that of what is stored."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(each, archive.read(each)) for each in archive.infolist()]
    for _ in range(draw.randint(1, CHANGES_MOST)):
        entry, content = members.pop(draw.randrange(len(members)))
        members.append(_other_member(entry, content, members, draw))
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for entry, content in members:
            archive.writestr(entry, content)
    written = made.getvalue()
    # The central directory stands behind the last member: lengths, flags, offsets and names are not under any CRC.
    if draw.random() < 0.5:
        start = written.rfind(b"PK\5\6")
        begin = int.from_bytes(written[start + 16 : start + 20], "little")
        at = draw.randrange(begin, len(written))
        return written[:at] + bytes([draw.randrange(256)]) + written[at + 1 :]
    return written


def _other_member(
    entry: zipfile.ZipInfo, content: bytes, others: list[tuple[zipfile.ZipInfo, bytes]], draw: random.Random
) -> tuple[zipfile.ZipInfo, bytes]:
    names = (
        "../up",
        "/abs",
        "a\\b",
        "C:x",
        "x/../../y",
        "plan.toml/x",
        "n" * 300,
        "é",
        "\x01",
        ".",
        "./plan.toml",
        "a//b",
        "d/",
    )
    known = [each.filename for each, _ in others]
    kind = draw.randrange(6)
    changed = zipfile.ZipInfo(draw.choice((*names, *known)) if kind < 3 else entry.filename)
    changed.external_attr = (
        draw.choice((0, 0o120777, 0o100644, 0o010644, 0o020644)) << 16 if kind == 3 else entry.external_attr
    )
    changed.compress_type = draw.choice((0, 8, 12, 14)) if kind == 4 else 0
    if kind == 5:
        changed.compress_type = 8
        content = bytes(draw.choice((1_000, 2_000_000)))
    return changed, content
