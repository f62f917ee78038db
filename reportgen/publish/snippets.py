"""Lines of other programs that read a record's batches from the site, as the catalogue shows them."""

from __future__ import annotations

from reportgen.project import Settings
from reportgen.publish import frames
from reportgen.publish.list_context import Snippet
from reportgen.publish.view import RecordView

SERVED = "http://127.0.0.1:8000/"
TEXTS = {
    "pandas": """import pandas as pd

rows = pd.read_parquet("{url}batches.parquet")
rows = rows[~rows["warmup"] & (rows["tag"] == "")]
rows["ns"] = rows["elapsed_ns"] / rows["launches"]
found = rows.groupby(["mode", "fixture", "arm"])["ns"].median()
print(found)""",
    "polars": """import io
import urllib.request

import polars as pl

with urllib.request.urlopen("{url}batches.parquet") as sent:
    rows = pl.read_parquet(io.BytesIO(sent.read()))
rows = rows.filter(~pl.col("warmup"), pl.col("tag") == "")
found = rows.group_by("mode", "fixture", "arm").agg((pl.col("elapsed_ns") / pl.col("launches")).median().alias("ns"))
print(found.sort("mode", "fixture", "arm"))""",
    "DuckDB": """import urllib.request

import duckdb

urllib.request.urlretrieve("{url}batches.parquet", "batches.parquet")
found = duckdb.sql('''
    select mode, fixture, arm, median(elapsed_ns / launches) as ns
    from 'batches.parquet' where not warmup and tag = '' group by all order by all
''')
print(found)""",
    "R": """rows <- read.csv("{url}batches.csv")
rows <- subset(rows, !warmup & (is.na(tag) | tag == ""))
rows$ns <- rows$elapsed_ns / rows$launches
print(aggregate(ns ~ mode + fixture + arm, data = rows, FUN = median))""",
}


def words(settings: Settings) -> str:
    """Say what the lines compute, and which site they read where the lab names no address."""
    said = "The median time of a launch by mode, fixture and arm, from the batches that count."
    return said if settings.address else f"{said} They read the site that reportgen serve shows on this machine."


def snippets(record: RecordView | None, settings: Settings) -> tuple[Snippet, ...]:
    """Read the scored batches of a record: the median time of a launch by mode, fixture and arm."""
    if record is None:
        return ()
    url = frames.url(settings, record.address) or SERVED + record.address
    return tuple(Snippet(name, text.replace("{url}", url)) for name, text in TEXTS.items())
