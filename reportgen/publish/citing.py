"""How a page or a record is cited: a sentence, BibTeX, and ``CITATION.cff`` of a record."""

from __future__ import annotations

import json
import re

from reportgen.project import Settings
from reportgen.publish import wording
from reportgen.publish.context import Citation, Link
from reportgen.publish.frames import CATALOGUE, url
from reportgen.publish.library import root_of
from reportgen.publish.markdown import FrontMatter
from reportgen.publish.view import RecordView

CFF = "CITATION.cff"
_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)  # fmt: skip


def of_page(front: FrontMatter, settings: Settings, records: list[RecordView]) -> Citation:
    """Say how to cite a page that people wrote, with the records that it rests on."""
    pinned = [f"{record.name} (plan {record.plan.digest})" for record in records]
    said = f" Records: {wording.names(pinned)}." if pinned else ""
    stop = "" if front.title.endswith(("?", "!", ".")) else "."
    date = front.date.isoformat()
    text = f"{settings.title}: {front.title}{stop} {date}.{said}"
    key = front.address.strip("/") or "home"
    return Citation(text, _bibtex(key, front.title, date, settings, (front.address, ", ".join(pinned))), None)


def of_record(record: RecordView, settings: Settings) -> Citation:
    """Say how to cite a record: by the name that pins it, and by its plan."""
    text = f"{settings.title}: {record.title}. Record {record.name} (plan {record.plan.digest}). {record.date}."
    note = f"Record {record.name}, plan {record.plan.digest}, {settings.data_licence}"
    entry = _bibtex(record.name, record.title, record.date, settings, (record.address, note))
    return Citation(text, entry, Link(CFF, root_of(record.address) + folder(record) + CFF))


def folder(record: RecordView) -> str:
    """Name the folder beside the catalogue that describes a record; the record's own holds what its sums list."""
    return record.address.replace("records/", CATALOGUE, 1)


def authors(settings: Settings) -> list[str]:
    """Name who is cited: the people that the lab names, or else the lab."""
    return settings.authors or [settings.title]


def cff(record: RecordView, settings: Settings) -> bytes:
    """Write ``CITATION.cff`` (Citation File Format 1.2.0) of a record. JSON strings are YAML strings."""
    said = {
        "title": record.title,
        "abstract": record.plan.experiment.question,
        "version": record.slug,
        "date-released": record.date,
        "license": settings.data_licence,
        "url": url(settings, record.address),
        "repository-code": settings.repository,
    }
    lines = ["cff-version: 1.2.0", 'message: "If you use this record, please cite it."', "type: dataset"]
    lines += [f"{name}: {_text(value)}" for name, value in said.items() if value]
    lines += ["authors:", *(f"  - name: {_text(name)}" for name in authors(settings))]
    lines += ["identifiers:", "  - type: other", f"    value: {_text(f'{record.name}, plan {record.plan.digest}')}"]
    return "\n".join([*lines, ""]).encode()


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _bibtex(key: str, title: str, date: str, settings: Settings, place: tuple[str, str]) -> str:
    """Write one ``@misc`` entry; ``place`` are address and note."""
    address, note = place
    fields = {
        "author": " and ".join(f"{{{name.translate(_SPECIAL)}}}" for name in authors(settings)),
        "title": f"{{{title.translate(_SPECIAL)}}}",
        "year": date[:4],
        "month": str(int(date[5:7])),
        "publisher": settings.title.translate(_SPECIAL),
        "url": url(settings, address),
        "note": note.translate(_SPECIAL),
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@misc{{{re.sub(r'[^a-zA-Z0-9]+', '-', key).strip('-')},\n{lines}}}"
