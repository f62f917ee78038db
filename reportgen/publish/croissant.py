"""A record as schema.org ``Dataset`` with the fields of Croissant 1.0, for search engines and loaders of data sets.

https://docs.mlcommons.org/croissant/docs/croissant-spec.html
"""

from __future__ import annotations

from typing import Any

import msgspec
from markupsafe import Markup

from reportgen.model.columns import TABLES, Column
from reportgen.project import Settings
from reportgen.publish import citing, frames
from reportgen.publish.data_package import MEDIA_TYPES, columns_of
from reportgen.publish.record_files import HOLDS
from reportgen.publish.view import FileFact, RecordView

NAME = "croissant.json"
CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
TYPES = {
    "string": "sc:Text", "bool": "sc:Boolean", "int32": "sc:Integer", "int64": "sc:Integer", "float64": "sc:Float",
}  # fmt: skip
_TERMS = (
    "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet", "format", "includes", "isLiveDataset", "jsonPath",
    "key", "md5", "parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate", "separator", "source",
    "subField", "transform",
)  # fmt: skip
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "citeAs": "cr:citeAs",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{name: f"cr:{name}" for name in _TERMS},
}


def dataset(record: RecordView, settings: Settings, place: str = "") -> dict[str, Any]:
    """Describe a record as a data set.

    Where the lab names no address, ``place`` leads to the record's folder from where this is read.
    """
    base = frames.url(settings, record.address) or place
    said = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": record.name,
        "description": f"{record.title}. {record.plan.experiment.question}",
        "url": base or "./",
        "license": f"https://spdx.org/licenses/{settings.data_licence}.html",
        "creator": [{"@type": "Organization", "name": name} for name in citing.authors(settings)],
        "datePublished": record.date,
        "version": f"1.0.0+{record.slug}",
        "identifier": record.plan.digest,
        "isAccessibleForFree": True,
        "keywords": ["benchmark", "performance", record.experiment, *record.devices],
        "citeAs": citing.of_record(record, settings).bibtex,
        "measurementTechnique": f"Batches of launches timed under a frozen plan on {', '.join(record.devices)}",
        "variableMeasured": [_measured(column) for column in columns_of("batches.csv") if column.unit],
        "distribution": [_file(file, base) for file in record.downloads if "/" not in file.path],
    }
    names = {file.path for file in record.downloads}
    return said | {"recordSet": [_records(name) for name in TABLES if f"{name}.csv" in names]}


def markup(said: dict[str, Any]) -> Markup:
    """Write JSON-LD into a page: a data block, which no browser runs; nothing in it can end the block."""
    text = msgspec.json.encode(said).decode()
    return Markup(text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e"))  # noqa: S704


def file(said: dict[str, Any]) -> bytes:
    """Write the same as a file, which loaders of data sets take."""
    return msgspec.json.format(msgspec.json.encode(said), indent=2) + b"\n"


def _measured(column: Column) -> dict[str, str]:
    return {
        "@type": "PropertyValue", "name": column.name, "description": column.meaning, "unitText": column.unit,
    }  # fmt: skip


def _file(fact: FileFact, base: str) -> dict[str, Any]:
    kind = fact.path.rpartition(".")[2] if "." in fact.path else ""
    return {
        "@type": "cr:FileObject",
        "@id": fact.path,
        "name": fact.path,
        "description": HOLDS.get(fact.path, "part of the record"),
        "contentUrl": base + fact.path,
        "contentSize": f"{fact.length_bytes} B",
        "encodingFormat": MEDIA_TYPES.get(kind, "text/plain"),
        "sha256": fact.sha256,
    }


def _records(name: str) -> dict[str, Any]:
    file_name = f"{name}.csv"
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": HOLDS[file_name],
        "field": [_field(name, file_name, column) for column in columns_of(file_name)],
    }


def _field(name: str, file_name: str, column: Column) -> dict[str, Any]:
    unit = f" [{column.unit}]" if column.unit else ""
    return {
        "@type": "cr:Field",
        "@id": f"{name}/{column.name}",
        "name": column.name,
        "description": column.meaning + unit,
        "dataType": TYPES[column.type],
        "source": {"fileObject": {"@id": file_name}, "extract": {"column": column.name}},
    }
