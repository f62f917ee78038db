"""Which tables of a page wait behind a line of their own until a reader asks for them: evidence, which few read and nobody reads first."""

from __future__ import annotations

ALWAYS = "always"
NARROW = "narrow"  # where the page is too narrow to set the table beside anything: on a phone

# By what a page asks for. What is not listed is the answer itself, and stands open.
KINDS = {
    "changes": NARROW,
    "gates": NARROW,
    "savings": NARROW,
    "ceilings": NARROW,
    "bands": NARROW,
    "arms": NARROW,
    "noise": NARROW,
    "peers": NARROW,
    "bandwidth": NARROW,
    "kernels": NARROW,
    "harnesses": NARROW,
    "planted_kernels": NARROW,
    "holm": ALWAYS,
    "fixtures": ALWAYS,
    "times": ALWAYS,
    "times_along": ALWAYS,
    "checks": ALWAYS,
    "code": ALWAYS,
    "counters": ALWAYS,
}


def of(kind: str, *, folded: bool | None) -> str:
    """Say when tables of a kind are folded; ``folded`` is what the page asks for, None where it leaves that to the kind."""
    if folded is None:
        return KINDS.get(kind, "")
    return ALWAYS if folded else ""
