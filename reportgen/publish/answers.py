"""What a record says in words: promotions by slice, and where its files are."""

from __future__ import annotations

from urllib.parse import quote

from reportgen.model.result import Promotion, Verdict
from reportgen.publish import lookup, wording
from reportgen.publish.context import Download
from reportgen.publish.view import FileFact, RecordView
from reportgen.units import BYTES_PER_KIB

ORDER = (Promotion.ADOPT, Promotion.ADOPT_AS_REWRITE, Promotion.NOT_ATTRIBUTABLE, Promotion.KEEP_INCUMBENT)
REWRITE = (
    "Not for the ideas. The matched control alone takes less time than the kernel in use: adopt it as a rewrite, "
    "where the lines below say so."
)
NOTHING = "No. Nothing tested earned its place: the kernel in use stays."
UNDECIDED = (
    "Not shown. Some comparisons with the kernel in use remain undecided in this record, and nothing tested earned its place: "
    "the kernel in use stays."
)
ZIP = "record.zip"
NOT_ATTRIBUTABLE = (
    "Not for the ideas. What takes less time than the kernel in use is not shown to take less than a matched control: "
    "the gain may come with the rewriting alone."
)
HOLDS = {
    "record.zip": "everything below in one file, with the attempts as archived and the program that checks them",
    "batches.csv": "every timing batch, warm-up included",
    "batches.parquet": "every timing batch, warm-up included",
    "checks.csv": "every correctness check",
    "checks.parquet": "every correctness check",
    "results.json": "every ratio, interval and verdict",
    "plan.toml": "the plan, frozen before the first batch",
    "verify.py": "recomputes everything from the CSV files; needs only Python",
    "manifest.json": "an attempt's identity, device, hashes and counts",
    "repetitions.jsonl": "what each process drew and saw",
    "events.jsonl": "what the controller did, in order",
    "README.txt": "how to read and check the record",
    "SHA256SUMS": "hashes of the files",
}


def lead(record: RecordView) -> str:
    """Answer in a sentence or two."""
    promotions = record.result.promotions
    adopted = [one for one in promotions if one.outcome is Promotion.ADOPT]
    rewrite = [one for one in promotions if one.outcome is Promotion.ADOPT_AS_REWRITE]
    if not promotions:
        return "No candidate was judged."
    if not adopted:
        return REWRITE if rewrite else _nothing_adopted(record)
    arms = wording.names(list(dict.fromkeys(one.arm for one in adopted)))
    slices = {one.slice for one in promotions}
    everywhere = all({one.slice for one in adopted if one.arm == arm.arm} == slices for arm in adopted)
    return f"Yes, everywhere tested: {arms}." if everywhere else f"In part: {arms}, where the lines below say so."


def _nothing_adopted(record: RecordView) -> str:
    if any(one.outcome is Promotion.NOT_ATTRIBUTABLE for one in record.result.promotions):
        return NOT_ATTRIBUTABLE
    judged = [one for one in record.result.comparisons if one.role == "candidate" and one.baseline_role == "incumbent"]
    undecided = {Verdict.INCONCLUSIVE, Verdict.INVALID}
    return UNDECIDED if any(one.verdict in undecided for one in judged) else NOTHING


def lines(record: RecordView) -> list[str]:
    """Say the outcomes of each slice: ``With size = l2: adopt: hoist; keep incumbent: pair and both``."""
    return [_line(record, piece.name) for piece in lookup.slices(record)]


def _line(record: RecordView, piece: str) -> str:
    said = []
    for outcome in ORDER:
        arms = [one.arm for one in record.result.promotions if one.slice == piece and one.outcome is outcome]
        if arms:
            said.append(f"{outcome.value}: {wording.names(arms)}")
    held: dict[str, list[str]] = {}
    for one in record.result.promotions:
        if one.slice == piece:
            held.setdefault(lookup.held_back(record, one), []).append(one.arm)
    said += [f"{wording.names(arms)} held back by {gates}" for gates, arms in held.items() if gates]
    line = lookup.noise_of(record, piece)
    known = "" if line is None else f"; noise floor {wording.share(line.floor)}"
    return f"With {wording.slice_name(piece)}: {'; '.join(said) or 'no candidate judged'}{known}"


def downloads(record: RecordView, page: str, *, everything: bool = False) -> tuple[Download, ...]:
    """List the files of a record with what each holds: the zip first, then the joined files, then (or not) the attempts'."""
    found = sorted(record.downloads, key=lambda file: (file.path != ZIP, "/" in file.path, file.path))
    return tuple(download(file, page) for file in found if everything or "/" not in file.path)


def download(file: FileFact, page: str) -> Download:
    """Describe one file for downloading."""
    return Download(
        name=file.path,
        href=page + quote(file.path),
        holds=HOLDS.get(file.path.rsplit("/", maxsplit=1)[-1], _holds(file.path)),
        length=wording.size(file.length_bytes),
        length_bytes=f"{wording.count(file.length_bytes)} bytes" if file.length_bytes >= BYTES_PER_KIB else "",
        sha256=file.sha256,
    )


def _holds(path: str) -> str:
    if "/sources/" in path:
        return "a source as it was measured"
    return "notes written after sealing" if path.endswith(".notes.jsonl") else "part of an attempt"
