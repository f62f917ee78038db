"""What stands of a slice's verdicts when all its candidates are read together, in words."""

from __future__ import annotations

from collections.abc import Sequence

from reportgen.analysis.multiplicity import ERROR_RATE
from reportgen.model.result import ComparisonResult, Verdict
from reportgen.publish import lookup
from reportgen.publish.view import RecordView


def against(comparison: ComparisonResult) -> str:
    """Name a baseline with its role, or once where both are the same word."""
    role, name = comparison.baseline_role, comparison.baseline
    return name if role == name else f"{name} ({role})"


def holm_said(record: RecordView, piece: str) -> str:
    """Say in words how many verdicts against each baseline stand when all candidates are read together."""
    families: dict[str, list[ComparisonResult]] = {}
    for one in lookup.judged(record, piece):
        decided = one.verdict in (Verdict.FASTER, Verdict.SLOWER)
        families.setdefault(against(one), []).extend([one] if decided else [])
    return " ".join(_family_said(name, found) for name, found in families.items())


def _family_said(baseline: str, found: Sequence[ComparisonResult]) -> str:
    if not found:
        return f"No candidate is shown faster or slower than {baseline}."
    stand = sum(one.holm_p is not None and one.holm_p <= ERROR_RATE for one in found)
    read = f"After Holm at {100 * ERROR_RATE:.0f}%,"
    if len(found) == 1:
        return f"{read} the one faster or slower verdict against {baseline} {'stands' if stand else 'does not stand'}."
    return (
        f"{read} {stand or 'none'} of the {len(found)} faster or slower verdicts against {baseline} "
        f"{'stands' if stand == 1 else 'stand'}."
    )
