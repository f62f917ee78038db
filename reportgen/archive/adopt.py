"""Taking in a sealed attempt from elsewhere: copied beside its place, checked there, shown by one rename."""

from __future__ import annotations

import shutil
from pathlib import Path

from reportgen.archive import layout
from reportgen.archive.durable import refused, sync_folder, sync_tree, write_whole
from reportgen.archive.notes import read_notes
from reportgen.archive.sums import check_sums
from reportgen.errors import InputError, RecordError


def adopt(source: Path, runs: Path, experiment: str) -> Path:
    """Copy the sealed attempt in folder ``source`` into the archive, with the notes beside it, and return its new folder.

    Raises
    ------
    InputError
        An attempt of this id is here, open or sealed.
    RecordError
        The copy does not have the sums that it lists, or the disk refuses; nothing is seen of it then.
    """
    target = layout.attempt_dir(runs, experiment, source.name)
    if target.exists() or layout.open_dir(runs, experiment, source.name).exists():
        raise InputError("an attempt of this id exists", where=str(target))
    staging = layout.staging_dir(target, "merging")
    try:
        shutil.rmtree(staging, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, staging, symlinks=True)
        findings = check_sums(staging)
        if findings:
            raise RecordError(f"changed while it was copied: {findings[0]}", where=str(source))
        sync_tree(staging)
        adopt_notes(source, target)  # before the attempt is seen: an excluded one must not count for a moment
        staging.rename(target)
        sync_folder(target.parent)
    except OSError as fault:
        raise refused(target, fault) from fault
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return target


def adopt_notes(source: Path, target: Path) -> bool:
    """Bring the notes beside ``target`` up to those beside ``source``; whether there was anything to bring.

    Raises
    ------
    InputError
        Either side has notes that the other lacks: they were written apart, and only people can tell which come first.
    RecordError
        Notes are damaged, or the disk refuses.
    """
    theirs, ours = layout.notes_file(source), layout.notes_file(target)
    read_notes(source)
    new = theirs.read_bytes() if theirs.exists() else b""
    old = ours.read_bytes() if ours.exists() else b""
    if old.startswith(new):
        return False
    if not new.startswith(old):
        raise InputError(
            f"its notes and those in {ours.name} here were written apart",
            where=str(source),
            remedy="exclude it by hand where that is still to be done",
        )
    try:
        write_whole(ours, new)
    except OSError as fault:
        raise refused(ours, fault) from fault
    return True
