"""What every compiling backend asks of the code that its arms became."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from reportgen.errors import InputError
from reportgen.measure.disassembly import compare_text, symbols
from reportgen.model.experiment import Arm


def compare_code(arms: Sequence[Arm], files: Mapping[str, Path], remedy: str) -> list[str]:
    """Announce arms that became the same machine code; ``remedy`` says how to export a missing entry point.

    Raises
    ------
    InputError
        A null's code is not that of the arm that it repeats, or an arm does not export its entry point.
    """
    for arm in arms:
        function = symbols(files[arm.name]).get(arm.symbol or "")
        if function is None or not function.exported:
            raise InputError(
                f"arm {arm.name!r} exports no function {arm.symbol!r}", where=arm.file or "", remedy=remedy
            )
    found = compare_text(arms, files)
    for null, original in found.unequal_nulls:
        raise InputError(
            f"null {null!r} became other machine code than {original!r}",
            remedy="remove what makes compiling the same source differ, such as the time of day or a counter",
        )
    return [f"arms {_listed(group)} are identical machine code" for group in _groups(found.identical)]


def _groups(pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Join pairs of equals, which come in the order of the arms, to groups: one line for each code."""
    groups: list[list[str]] = []
    for one, other in pairs:
        known = next((group for group in groups if one in group), None)
        if known is None:
            groups.append([one, other])
        elif other not in known:
            known.append(other)
    return groups


def _listed(names: Sequence[str]) -> str:
    quoted = [repr(name) for name in names]
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"
