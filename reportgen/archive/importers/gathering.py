"""What a command line names: files, folders of a benchmark, folders of mixed files; what is sound, and why the rest is left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from reportgen.archive.importers import asv, criterion, registry
from reportgen.archive.importers.content import Content, read_content, readable
from reportgen.errors import InputError
from reportgen.model.imported import Source

_DEEPEST = 12


@dataclass(frozen=True)
class Read:
    """What one file or folder of a benchmark holds, with the files that it was read from: the first is the main one."""

    source: Source
    files: tuple[Content, ...]
    where: str


@dataclass(frozen=True)
class LeftOut:
    """A file of a folder that was not imported, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class Gathered:
    """Everything that was read, and what of a folder was left out."""

    found: tuple[Read, ...]
    left_out: tuple[LeftOut, ...] = ()


def gather(paths: Sequence[Path], wanted: str = registry.AUTO, unit: str = "") -> Gathered:
    """Read everything that ``paths`` name. Files named are all or nothing; of a folder what is sound is taken and the rest listed.

    Raises
    ------
    InputError
        A named file is broken or unknown, a folder holds nothing to import, or nothing is named.
    """
    if wanted not in (registry.AUTO, *registry.FORMATS):
        raise InputError(
            f"there is no importer called {wanted!r}", remedy=f"there are auto, {', '.join(registry.FORMATS)}"
        )
    indices: list[Content] = []
    for path in paths:
        with readable(path):
            if path.is_file() and _is_index(path, len(paths)):
                indices.append(read_content(path))
    found: list[Read] = []
    left_out: list[LeftOut] = []
    for path in (path for path in paths if path not in [one.path for one in indices]):
        with readable(path):
            if path.is_dir() and not _is_benchmark(path):
                inner, rest = _folder(path, wanted, unit)
                found += inner
                left_out += rest
            else:
                found.append(_one(path, wanted, unit, indices))
    if not found:
        raise InputError("nothing to import is named")
    return Gathered(tuple(found), tuple(left_out))


def _one(path: Path, wanted: str, unit: str, indices: Sequence[Content] = ()) -> Read:
    if path.is_dir():
        return _benchmark(path, wanted)
    content = read_content(path)
    if content.looks_json and asv.recognise(content) and wanted in (registry.AUTO, asv.NAME):
        index = next(iter(indices), None) or _asv_index(path)
        return Read(asv.read(content, index), (content, *([index] if index else [])), content.where)
    return Read(registry.read(content, wanted, unit), (content,), content.where)


def _is_index(path: Path, named: int) -> bool:
    """Whether a file is asv's index, given beside results."""
    if named == 1 or path.name != asv.INDEX:
        return False
    content = read_content(path)
    return content.looks_json and asv.recognise(content) and "results" not in content.json


def _asv_index(path: Path) -> Content | None:
    """Give the index of asv, where asv itself puts it: in the folder above that of the machine."""
    beside = path.resolve().parent.parent / asv.INDEX
    if not beside.is_file():
        return None
    content = read_content(beside)
    return content if content.looks_json and asv.recognise(content) and "results" not in content.json else None


def _is_benchmark(folder: Path) -> bool:
    """Whether a folder is that of one Criterion benchmark."""
    return (folder / criterion.SAMPLE).is_file() or (
        (folder / criterion.RAW).is_file() and (folder / criterion.NAMES).is_file()
    )


def _benchmark(folder: Path, wanted: str) -> Read:
    if wanted not in (registry.AUTO, criterion.NAME):
        raise InputError(f"is no result of {wanted}: it looks like {criterion.NAME}", where=str(folder))
    names = (*criterion.PARTS, criterion.RAW)
    parts = {name: read_content(folder / name) for name in names if (folder / name).is_file()}
    source = criterion.read_folder(parts, str(folder))
    used = [parts[name] for name in (criterion.SAMPLE, criterion.NAMES, criterion.ESTIMATES) if name in parts]
    source = msgspec.structs.replace(source, name=source.benchmarks[0].name)
    return Read(source, tuple(used or [parts[criterion.RAW]]), str(folder))


def _folder(folder: Path, wanted: str, unit: str) -> tuple[list[Read], list[LeftOut]]:
    """Read whatever is a result under ``folder``.

    Raises
    ------
    InputError
        Nothing is.
    """
    found: list[Read] = []
    left_out: list[LeftOut] = []
    for path in _walk(folder, 0, left_out):
        try:
            with readable(path):
                found.append(_one(path, wanted, unit))
        except InputError as fault:
            left_out.append(_left_out(path, fault))
    if not found:
        first = f": {left_out[0].path}: {left_out[0].reason}" if left_out else ""
        raise InputError(f"holds nothing to import{first}", where=str(folder))
    return found, left_out


def _left_out(path: Path, fault: InputError) -> LeftOut:
    return LeftOut(str(path), fault.one_line().removeprefix(f"{path}: ").removeprefix(f"{path}"))


def _walk(folder: Path, depth: int, left_out: list[LeftOut]) -> Iterator[Path]:
    """Yield files and folders of benchmarks under ``folder``, sorted; links and hidden ones are passed over.

    A folder that lies too deep or cannot be read goes to ``left_out``, and so does what is neither file nor folder.
    """
    if depth > _DEEPEST:
        left_out.append(LeftOut(str(folder), f"lies more than {_DEEPEST} folders deep"))
        return
    try:
        with readable(folder):
            inside = [(path, path.is_dir(), path.is_dir() and _is_benchmark(path)) for path in _seen(folder)]
    except InputError as fault:
        left_out.append(_left_out(folder, fault))
        return
    for path, is_folder, is_benchmark in inside:
        if is_folder and not is_benchmark:
            yield from _walk(path, depth + 1, left_out)
        else:
            yield path


def _seen(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.iterdir()) if not (path.name.startswith(".") or path.is_symlink())]
