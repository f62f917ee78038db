"""Rows to tables: dictionaries with the keys of ``model.columns`` become Arrow tables, Parquet bytes and data frames."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from reportgen.archive.encoding import check_version, damaged, read_bytes
from reportgen.errors import RecordError
from reportgen.model.columns import ORIGIN, TABLES, Column
from reportgen.model.record import SCHEMA_VERSION

Row = Mapping[str, Any]
_VERSION_KEY = b"schema_version"
_ARROW = {
    "string": pa.string(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
}
_PYTHON: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "int32": (int,),
    "int64": (int,),
    "float64": (float, int),
    "bool": (bool,),
}


def check_rows(name: str, rows: Iterable[Row], where: str) -> None:
    """Refuse a row that does not fit table ``name`` (``batches`` or ``checks``) before anything is archived.

    A nullable key may be missing.

    Raises
    ------
    RecordError
        A key is unknown or missing, or a value has another type than its column.
    """
    columns = {column.name: column for column in TABLES[name]}
    for index, row in enumerate(rows, start=1):
        unknown = sorted(set(row) - set(columns))
        if unknown:
            raise RecordError(f"{name} row {index} has the unknown key {unknown[0]!r}", where=where)
        for column in columns.values():
            _check_value(column, row.get(column.name), f"{name} row {index}", where)


def to_table(name: str, rows: Sequence[Row]) -> pa.Table:
    """Arrow table of ``rows``, one column for each of ``TABLES[name]``; units and meanings travel in its schema."""
    schema = schema_of(name)
    arrays = [
        pa.array([row.get(column.name) for row in rows], type=_ARROW[column.type], from_pandas=True)
        for column in TABLES[name]
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


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
        The file is missing, truncated or damaged, or its columns are not those of ``TABLES[name]``.
    SchemaVersionError
        It was written by a newer or older version.
    """
    data = read_bytes(path)
    try:
        table = pq.read_table(io.BytesIO(data))
    except (pa.ArrowException, OSError, ValueError) as fault:
        raise damaged(str(path), fault) from fault
    metadata = table.schema.metadata or {}
    version = metadata.get(_VERSION_KEY, b"")
    check_version(int(version) if version.isdigit() else None, SCHEMA_VERSION, str(path))
    if not table.schema.equals(schema_of(name, origin)):
        raise damaged(str(path), ValueError(f"its columns are not those of {name}"))
    return table


def to_frame(name: str, table: pa.Table) -> pd.DataFrame:
    """Turn a table into a data frame; whole numbers that may be missing are ``Int32`` or ``Int64``, the rest as pandas has it."""
    frame: pd.DataFrame = table.to_pandas()
    whole = {
        column.name: column.type.capitalize()
        for column in TABLES[name]
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
        for column in (*origin, *TABLES[name])
    ]
    return pa.schema(fields, metadata={_VERSION_KEY: str(SCHEMA_VERSION), b"table": name})
