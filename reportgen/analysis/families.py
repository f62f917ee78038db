"""Holm's figures: a family is all candidates of the plan against one baseline in one slice."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from reportgen.analysis.multiplicity import holm, resolvable
from reportgen.model.experiment import Role
from reportgen.model.result import ComparisonResult, Verdict


def holm_families(results: Sequence[ComparisonResult]) -> list[ComparisonResult]:
    """Give every candidate its adjusted p, rank, family size and whether n could resolve it; order is kept."""
    families: dict[tuple[str, str], list[int]] = {}
    for at, result in enumerate(results):
        if result.role == Role.CANDIDATE.value:
            families.setdefault((result.slice, result.baseline), []).append(at)
    adjusted = list(results)
    for family in families.values():
        for at, (p, rank) in zip(family, holm([_p(results[at]) for at in family]), strict=True):
            n = results[at].n
            adjusted[at] = msgspec.structs.replace(
                results[at],
                holm_p=p,
                holm_rank=rank,
                family_size=len(family),
                resolvable=None if n is None else resolvable(n, len(family)),
            )
    return adjusted


def _p(result: ComparisonResult) -> float:
    """Let an invalid comparison, or one without any process value, enter with 1."""
    if result.verdict is Verdict.INVALID or result.p_against_margin is None:
        return 1.0
    return result.p_against_margin
