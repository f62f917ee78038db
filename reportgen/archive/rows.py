"""Rows to tables: dictionaries with the keys of ``model.columns`` become Arrow tables, Parquet bytes and data frames."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from reportgen.archive.encoding import check_version, damaged, read_bytes
from reportgen.errors import RecordError
from reportgen.model.columns import EVERY_TABLE, ORIGIN, Column
from reportgen.model.record import SCHEMA_VERSION
from reportgen.units import BYTES_PER_MIB

Row = Mapping[str, Any]
_VERSION_KEY = b"schema_version"
_MOST_DIGITS = 9
# A table of a million rows whose columns hardly vary takes hundreds of times less in the file than in memory.
_SMALL_BYTES = 256 * BYTES_PER_MIB
_MOST_EXPANSION = 1_000
_LEAST_ROW_BYTES = 200
_ARROW = {
    "string": pa.string(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
}
_RANGES = {f"int{bits}": range(-(1 << bits - 1), 1 << bits - 1) for bits in (32, 64)}
_INT32 = msgspec.Meta(ge=_RANGES["int32"].start, le=_RANGES["int32"].stop - 1)
_INT64 = msgspec.Meta(ge=_RANGES["int64"].start, le=_RANGES["int64"].stop - 1)
_JSON: dict[str, Any] = {
    "string": str,
    "int32": Annotated[int, _INT32],
    "int64": Annotated[int, _INT64],
    "float64": float,
    "bool": bool,
}
_PYTHON: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "int32": (int,),
    "int64": (int,),
    "float64": (float, int),
    "bool": (bool,),
}


def _row(name: str) -> type[msgspec.Struct]:
    """Make the struct of a row; the keys are those of the registry, one of which is a keyword of Python."""
    fields = [
        (f"c_{column.name}", _JSON[column.type] | None, None)
        if column.nullable
        else (f"c_{column.name}", _JSON[column.type])
        for column in EVERY_TABLE[name]
    ]
    return msgspec.defstruct(
        name,
        sorted(fields, key=len),
        rename={f"c_{column.name}": column.name for column in EVERY_TABLE[name]},
        forbid_unknown_fields=True,
    )


_ROWS = {name: _row(name) for name in EVERY_TABLE}


def check_rows(name: str, rows: Iterable[Row], where: str) -> None:
    """Refuse a row that does not fit table ``name`` (``batches``, ``checks`` or ``counters``) before anything is archived.

    A nullable key may be missing.

    Raises
    ------
    RecordError
        A key is unknown or missing, or a value has another type than its column.
    """
    columns = {column.name: column for column in EVERY_TABLE[name]}
    for index, row in enumerate(rows, start=1):
        unknown = sorted(set(row) - set(columns))
        if unknown:
            raise RecordError(f"{name} row {index} has the unknown key {unknown[0]!r}", where=where)
        for column in columns.values():
            _check_value(column, row.get(column.name), f"{name} row {index}", where)


def check_types(name: str, rows: Sequence[Row]) -> None:
    """Refuse rows read from anywhere that do not fit table ``name``, in a fraction of the time of :func:`check_rows`.

    Raises
    ------
    msgspec.ValidationError
        A key is unknown or missing, or a value has another type than its column or does not fit into it.
    """
    kind: Any = _ROWS[name]
    msgspec.convert(rows, list[kind])


def to_table(name: str, rows: Sequence[Row]) -> pa.Table:
    """Arrow table of ``rows``, one column for each of ``EVERY_TABLE[name]``; units and meanings travel in its schema."""
    schema = schema_of(name)
    arrays = [
        pa.array(_values(column, rows), type=_ARROW[column.type], from_pandas=True) for column in EVERY_TABLE[name]
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _values(column: Column, rows: Sequence[Row]) -> list[Any]:
    values = [row.get(column.name) for row in rows]
    if column.type == "float64":  # a whole number beyond 2^53 is no float yet, and Arrow would refuse it
        return [None if value is None else float(value) for value in values]
    return values


def to_parquet(table: pa.Table) -> bytes:
    """Parquet of a table: the same rows give the same bytes on one version of Arrow."""
    buffer = io.BytesIO()
    pq.write_table(
        table,
        buffer,
        version="2.6",
        data_page_version="1.0",
        compression="zstd",
        compression_level=9,
        use_dictionary=True,
        write_statistics=True,
        row_group_size=1 << 20,
    )
    return buffer.getvalue()


def read_table(name: str, path: Path, origin: Sequence[Column] = ()) -> pa.Table:
    """Arrow table out of a Parquet file; ``origin`` lists columns that stand in front of the table's own.

    Raises
    ------
    RecordError
        The file is missing, truncated or damaged, or its columns are not those of ``EVERY_TABLE[name]``.
    SchemaVersionError
        It was written by a newer or older version.
    """
    data = read_bytes(path)
    try:
        table = _read(data)
    except (pa.ArrowException, OSError, MemoryError, ValueError) as fault:
        raise damaged(str(path), fault) from fault
    metadata = table.schema.metadata or {}
    version = metadata.get(_VERSION_KEY, b"")
    known = version.isdigit() and len(version) <= _MOST_DIGITS
    check_version(int(version) if known else None, SCHEMA_VERSION, str(path))
    if not table.schema.equals(schema_of(name, origin)):
        raise damaged(str(path), ValueError(f"its columns are not those of {name}"))
    for field, column in zip(table.schema, table.columns, strict=True):
        if column.null_count and not field.nullable:
            raise damaged(str(path), ValueError(f"a row has no {field.name!r}"))
    return table


def _read(data: bytes) -> pa.Table:
    """Read Parquet whose footer does not promise more than the file may hold; text must be UTF-8."""
    file = pq.ParquetFile(io.BytesIO(data))
    groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
    most = max(_SMALL_BYTES, _MOST_EXPANSION * len(data))
    if file.metadata.num_rows * _LEAST_ROW_BYTES > most or sum(group.total_byte_size for group in groups) > most:
        raise ValueError("it expands to far more than it holds")
    table = file.read()
    table.validate(full=True)
    return table


def to_frame(name: str, table: pa.Table) -> pd.DataFrame:
    """Turn a table into a data frame; whole numbers that may be missing are ``Int32`` or ``Int64``, the rest as pandas has it."""
    frame: pd.DataFrame = table.to_pandas()
    whole = {
        column.name: column.type.capitalize()
        for column in EVERY_TABLE[name]
        if column.nullable and column.type.startswith("int")
    }
    return frame.astype(whole)


def with_origin(name: str, frames: Sequence[tuple[str, str, pd.DataFrame]]) -> pa.Table:
    """Join tables of several attempts, given as (device, attempt, frame), with the columns ``model.columns.ORIGIN`` in front."""
    parts = [
        pa.Table.from_arrays(
            [pa.array([device] * len(frame)), pa.array([attempt] * len(frame)), *_own(name, frame)],
            schema=schema_of(name, ORIGIN),
        )
        for device, attempt, frame in frames
    ]
    return pa.concat_tables(parts).combine_chunks()


def _own(name: str, frame: pd.DataFrame) -> list[pa.ChunkedArray]:
    columns: list[pa.ChunkedArray] = (
        pa.Table.from_pandas(frame, schema=schema_of(name), preserve_index=False).combine_chunks().columns
    )
    return columns


def _check_value(column: Column, value: Any, which: str, where: str) -> None:
    if isinstance(value, int) and column.type in _RANGES and value not in _RANGES[column.type]:
        raise RecordError(f"{which}: {column.name!r} is {value}, beyond {column.type}", where=where)
    if value is None:
        if not column.nullable:
            raise RecordError(f"{which} has no {column.name!r}", where=where)
        return
    fits = isinstance(value, _PYTHON[column.type]) and (isinstance(value, bool) == (column.type == "bool"))
    if not fits:
        raise RecordError(f"{which}: {column.name!r} is {value!r}, not of type {column.type}", where=where)


def schema_of(name: str, origin: Sequence[Column] = ()) -> pa.Schema:
    """Arrow schema of table ``name``, with further columns in front."""
    fields = [
        pa.field(
            column.name,
            _ARROW[column.type],
            nullable=column.nullable,
            metadata={"unit": column.unit, "meaning": column.meaning},
        )
        for column in (*origin, *EVERY_TABLE[name])
    ]
    return pa.schema(fields, metadata={_VERSION_KEY: str(SCHEMA_VERSION), b"table": name})
