"""Kinds of gates with their rules, their keys and their outcomes."""

from __future__ import annotations

import inspect

import msgspec

from reportgen.analysis import band, ceiling
from reportgen.analysis.gates import RULES
from reportgen.model.experiment import Gate, GateKind, Stage
from reportgen.model.result import GateOutcome
from reportgen.reference.docstrings import cell, page, told

LEAD = (
    "A gate is a rule that a plan freezes before the first batch. Each is asked of an arm in a slice; what cannot be computed is `invalid`, never passed. "
    "[Writing an experiment](../writing-experiments.md#gate) says when to use which, [Statistics](../statistics.md#gates) has the formulas."
)


def gates() -> str:
    """Make the page of gates."""
    modules = {GateKind.CEILING: ceiling, GateKind.BAND: band}
    rules = [
        f"### `{kind.value}`\n\n{told(modules.get(kind, rule)) if kind in modules else told(rule)}"
        for kind, rule in RULES.items()
    ]
    outcomes = "\n".join(f"- `{outcome.value}`" for outcome in GateOutcome)
    return page(
        "Gates",
        LEAD,
        [
            "## Kinds",
            *rules,
            f"## Keys of a gate\n\n<!-- figures: rules of the plan -->\n\n{told(Gate)}\n\n{_keys(Gate)}",
            f"## Keys of `stage`\n\n{told(Stage)}\n\n{_keys(Stage)}",
            f"## Outcomes\n\n{outcomes}",
        ],
    )


def _keys(kind: type[msgspec.Struct]) -> str:
    hints = inspect.get_annotations(kind)
    rows = [
        f"| `{field.encode_name}` | {cell(str(hints[field.name]))} | {_default(field)} |"
        for field in msgspec.structs.fields(kind)
    ]
    return "\n".join(["| key | type | default |", "| --- | --- | --- |", *rows])


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.default is not msgspec.NODEFAULT:
        return f"`{getattr(field.default, 'value', field.default)!r}`"
    return "required" if field.default_factory is msgspec.NODEFAULT else f"`{field.default_factory()!r}`"
