"""The page about injected faults, made of what a run of them wrote: no cell of it is typed by hand."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

from tests.measure.fault_table import TABLE, Cannot
from tests.measure.guarded import PHASES
from tests.measure.injecting import FULL_DISK

ROOT = Path(__file__).resolve().parents[2]
DATA, PAGE = ROOT / "docs" / "faults.json", ROOT / "site" / "faults.md"

HEAD = """+++
title = "Faults injected, and what was left after each"
address = "faults/"
kind = "note"
summary = "A run beside a live service is broken in each of its phases: what became of the attempt, of the service, and of what had been measured."
date = {date}
+++

A run that measures beside a live service closes it to new requests and must open it again, whatever happens. Here real runs of
the command line, of simulated times but with all their processes, stood in a phase beside a small HTTP service on the same machine, and
something was broken. The table is made of what that program wrote down (`docs/faults.json`), not by hand: {machine}, reportgen
{version}, {span}.

In every cell that was run, these held as well: no process of the run was alive, no guard had anything left to do, every attempt could be
read, each with a reason unless it is scored, every row measured before the fault was unchanged, and a second `reportgen recover`
found nothing to mend.

| what is broken | {phases} |
| --- | {rule} |
"""

TAIL = """
**Scored**: the attempt was completed; a repetition that the fault cost was made good by a spare. **Aborted**: it is open, and can be resumed.
**Invalid**: it is archived and counts for nothing, because the service was no longer who it was. **No attempt**: the fault came before one began.
*Reopened* by the run itself; *recover*, *vouch*: it stayed closed until `reportgen recover`, or until its operator vouched for it with
`reportgen recover --reopen`; *gone*: there was no service to open.

## What cannot happen

{cannot}

## What stands for what

- **Full disk**: {disk}
- **Opening**: the service is opened by a command, whose exit status is 1 from the fault on, or by a request, which it answers with status 500 or not within its deadline. The run
  tries twice. `reportgen recover` fails in the same way, says so, and works once the service does.
- **Memory**: the timed process has an address space little larger than what it takes already, and takes memory until it is refused. Being chosen by the kernel is the SIGKILL above.
- **Clock**: both guards have a library preloaded that shifts the time of day by a day while they run. Timed processes read no time of day, and
  no decision of a guard rests on one: deadlines and ages count on the monotonic clock, processes are known by clock ticks since boot.
- **Operator**: an exception is raised in the controller's main thread, wherever that is.
- **Power**: the journal is cut behind each byte of its last line in turn after both guards were killed. What a disk does with
  blocks that it said were written is not tested.
"""


ON_A_DISK = """the lab and the temporary files of the run lie on a file system of their own (a small tmpfs), which is filled to its last byte. Every process of the
  run meets the refusal, and no room is made until everything was looked at; with room again each attempt was completed."""
UNDER_A_LIMIT = """no file system could be mounted for these runs. From the fault on, the system refuses every byte that either guard writes to a file
  (`RLIMIT_FSIZE`), an error of another name than that of a full disk."""


def page_of(document: dict[str, Any]) -> str:
    """Write the page's source."""
    days = sorted({cell["at"][:10] for cell in document["cells"]})
    head = HEAD.format(
        date=days[-1],
        machine=document["machine"],
        version=document["reportgen"],
        span=days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}",
        phases=" | ".join(PHASES),
        rule=" | ".join(["---"] * len(PHASES)),
    )
    tail = TAIL.format(cannot="\n".join(_reasons()), disk=_disk(document))
    return head + "\n".join(_rows(document)) + "\n" + tail


def _disk(document: dict[str, Any]) -> str:
    """Say with what disk the cells were run, as the refusals tell."""
    said = {cell["said"] for cell in document["cells"] if cell["fault"] == FULL_DISK}
    return ON_A_DISK if said == {os.strerror(errno.ENOSPC)} else UNDER_A_LIMIT


def printed(document: dict[str, Any]) -> str:
    """Lay the table out for a terminal."""
    lines = [["", *PHASES], *(line.strip("| ").split(" | ") for line in _rows(document))]
    widths = [max(len(line[place]) for line in lines) for place in range(len(PHASES) + 1)]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _rows(document: dict[str, Any]) -> list[str]:
    seen = {(cell["fault"], cell["phase"]): _said(cell) for cell in document["cells"]}
    return [
        f"| {fault} | {' | '.join(seen.get((fault, phase), 'cannot happen') for phase in PHASES)} |" for fault in TABLE
    ]


def _said(cell: dict[str, Any]) -> str:
    mends = {"": "reopened", "reportgen recover": "recover", "reportgen recover --reopen inference": "vouch"}
    service = "gone" if cell["service"] == "gone" and not cell["mend"] else mends[cell["mend"]]
    if cell["phase"] == "before close" and not cell["attempt"]:
        service = "never closed"
    return f"{cell['attempt'] or 'no attempt'}, {service}"


def _reasons() -> list[str]:
    lines = []
    for fault, row in TABLE.items():
        for reason in dict.fromkeys(cell.why for cell in row if isinstance(cell, Cannot)):
            phases = [
                phase
                for phase, cell in zip(PHASES, row, strict=True)
                if isinstance(cell, Cannot) and cell.why == reason
            ]
            lines.append(f"- {fault} ({', '.join(phases)}): {reason}.")
    return lines
