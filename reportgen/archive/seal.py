"""From an open attempt to a sealed one, in one atomic rename.

The sealed folder is put together in a hidden sibling; the open folder is not touched until ``<id>`` stands on the
disk. Killed or refused at any step, either the journal is whole and sealing can be repeated, or the attempt is sealed.
"""

from __future__ import annotations

import shutil
from operator import attrgetter
from pathlib import Path

from reportgen.archive import layout
from reportgen.archive.counting import count, facts_of
from reportgen.archive.durable import refused, sync_folder, sync_tree, write_durable
from reportgen.archive.encoding import encode_json, encode_json_pretty, encode_toml
from reportgen.archive.journal import Journal, JournalContents, read_journal
from reportgen.archive.rows import to_parquet, to_table
from reportgen.archive.sums import files_under, sums_of
from reportgen.errors import InputError
from reportgen.model.record import Manifest, Status


def seal(journal: Journal | Path, manifest: Manifest) -> Path:
    """Seal the open attempt and return its folder ``<id>``; an open :class:`Journal` is closed first.

    Raises
    ------
    InputError
        An attempt of this id is sealed already, the manifest speaks of another attempt or counts other rows, or
        another process writes to the journal.
    RecordError
        The journal is damaged, or the disk refuses; the open folder is as it was.
    """
    if isinstance(journal, Journal):
        journal.close()
        folder = journal.folder
    else:
        folder = journal
    sealed = layout.sealed_dir_of(folder)
    if sealed.exists():
        raise InputError("is sealed already; a sealed attempt is never written again", where=str(sealed))
    with Journal.resume(folder):
        contents = read_journal(folder)
        _check_manifest(manifest, contents, folder)
        staging = layout.staging_dir(folder, "sealing")
        try:
            shutil.rmtree(staging, ignore_errors=True)
            _fill(staging, folder, contents, manifest)
            sync_tree(staging)
            staging.rename(sealed)
            sync_folder(sealed.parent)
        except OSError as fault:
            shutil.rmtree(staging, ignore_errors=True)
            raise refused(sealed, fault) from fault
        _discard(folder)
    return sealed


def _fill(staging: Path, folder: Path, contents: JournalContents, manifest: Manifest) -> None:
    repetitions = sorted(contents.repetitions, key=attrgetter("repetition"))
    staging.mkdir()
    for name in files_under(layout.artifacts_dir(folder)):
        target = layout.artifacts_dir(staging) / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(layout.artifacts_dir(folder) / name, target)
    write_durable(staging / layout.MANIFEST, encode_json_pretty(manifest))
    write_durable(staging / layout.PLAN, encode_toml(contents.plan))
    for name, file, rows in (
        ("batches", layout.BATCHES, [row for repetition in repetitions for row in repetition.batches]),
        ("checks", layout.CHECKS, [row for repetition in repetitions for row in repetition.checks]),
    ):
        write_durable(staging / file, to_parquet(to_table(name, rows)))
    write_durable(staging / layout.REPETITIONS, b"".join(encode_json(facts_of(one)) + b"\n" for one in repetitions))
    write_durable(staging / layout.EVENTS, b"".join(encode_json(event) + b"\n" for event in contents.events))
    write_durable(staging / layout.SUMS, sums_of(staging))


def _discard(folder: Path) -> None:
    """Remove the open folder once the sealed one stands; first hidden in one step, so that no half of it is ever seen."""
    gone = layout.staging_dir(folder, "sealed")
    shutil.rmtree(gone, ignore_errors=True)
    try:
        folder.rename(gone)
    except OSError:
        return  # readers prefer the sealed folder of the same id
    shutil.rmtree(gone, ignore_errors=True)


def _check_manifest(manifest: Manifest, contents: JournalContents, folder: Path) -> None:
    header = contents.header
    for field in ("id", "experiment", "plan", "binaries_digest"):
        if getattr(manifest, field) != getattr(header, field):
            raise InputError(f"the manifest's {field} is not that of the header", where=str(folder))
    if (manifest.status is Status.SCORED) == bool(manifest.reason.strip()):
        raise InputError("a status other than scored needs a reason, and scored has none", where=str(folder))
    if header.plan != contents.plan.digest:
        raise InputError("the plan's digest is not that of the header", where=str(folder))
    if manifest.counts != count(contents.repetitions):
        raise InputError("the manifest counts other rows than the journal holds", where=str(folder))
