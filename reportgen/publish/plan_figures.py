"""What a plan knows: its fields by name, and by the words in which a sentence speaks of them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from reportgen.errors import InputError
from reportgen.model.experiment import Experiment
from reportgen.publish.numerals import figures_in

# The first words that fit say which field is meant.
WORDS: Sequence[tuple[str, str]] = (
    (r"quick (?:attempt|repetition)s?", "protocol.quick_repetitions"),
    (r"repetitions? (?:of|in|per) (?:(?:a|each|every|one) )?block|(?:a|each|every) block of", "protocol.block_repetitions"),
    (r"spares?|spare repetitions?", "protocol.spares"),
    (r"launches (?:(?:of|in|per) )?(?:(?:a|each|every|one) )?(?:batch|graph|replay)", "protocol.launches_per_graph"),
    (r"lead-?in|untimed replays?", "protocol.lead_in_replays"),
    (r"(?:shortest|least) batch|length of a batch|batch of at least", "protocol.least_batch_ms"),
    (r"padding", "protocol.most_padding_mib"),
    (r"warm-?up of the clock|clock warm-?up", "protocol.clock_warm_up_s"),
    (r"smallest effect", "smallest_effect"),
    (r"planted", "arm.planted"),
    (r"repetitions?", "protocol.repetitions"),
)  # fmt: skip


def held(text: str, words: str, plans: Mapping[str, Experiment], field: str | None) -> None:
    """Hold the figures of a text against a field of a plan: the one that is named, or that the words speak of.

    Each figure must be the field's value, one of its values where it has several, their number, or such a value as a percentage. Where several
    ``plans`` are meant, it is enough that one of them agrees.

    Raises
    ------
    InputError
        The figures are others, no plan has the field, or the words name the plan and no field.
    """
    figures = figures_in(text)
    named, found = _named(field, words, plans)
    if not figures or (not named and not re.search(r"\bplan\b", words)):
        return
    if not named:
        raise InputError(
            f"{text!r} is said to be set in the plan, and nothing tells where",
            remedy='name the field: plan="protocol.repetitions"',
        )
    known = {name: list(dict.fromkeys(_numbers(value))) for name, value in found.items()}
    if not any(all(_among(figure, numbers) for figure in figures) for numbers in known.values()):
        said = "; ".join(
            f"{', '.join(f'{one:g}' for one in numbers)} in the plan of {name}" for name, numbers in known.items()
        )
        raise InputError(
            f"{text!r} is stated of {named}, which is {said}",
            remedy='correct it, or name the field that is meant: plan="…"',
        )


def _named(field: str | None, words: str, plans: Mapping[str, Experiment]) -> tuple[str, dict[str, Any]]:
    if field is not None:
        name, colon, path = field.rpartition(":")
        chosen = {key: plan for key, plan in plans.items() if not colon or key == name}
        found = {key: value for key, plan in chosen.items() if (value := value_of(plan, path)) is not None}
        if not found:
            said = ", ".join(chosen) or "none of this page"
            raise InputError(
                f"the plan has no field {path!r} ({said})",
                remedy="name one as in protocol.repetitions, axes.rows or gate.pays.threshold",
            )
        return path, found
    for named in _spoken_of(words, plans):
        found = {
            key: value
            for key, plan in plans.items()
            if (value := value_of(plan, named)) is not None and list(_numbers(value))
        }
        if found:
            return named, found
    return "", {}


def _spoken_of(words: str, plans: Mapping[str, Experiment]) -> Iterator[str]:
    """Give the fields that words can mean, the likeliest first: a constant of the protocol, a gate's threshold, an axis."""
    yield from (named for pattern, named in WORDS if re.search(rf"\b(?:{pattern})\b", words, re.IGNORECASE))
    for plan in plans.values():
        if re.search(r"\bthreshold\b", words):
            yield from (f"gate.{gate.name}.threshold" for gate in plan.gates if gate.name in words)
        yield from (f"axes.{axis}" for axis in plan.axes if re.search(rf"\b{axis.replace('_', '[ _]')}s?\b", words))


def value_of(plan: Experiment, path: str) -> Any:
    """Look a field up by its path: keys, and names of arms and gates; of a list without a name what all its parts have there."""
    value: Any = msgspec.to_builtins(plan)
    for key in path.split("."):
        value = _step(value, key)
        if value is None:
            return None
    return value


def _step(value: Any, key: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(key)
    if isinstance(value, list):
        called = [one for one in value if isinstance(one, Mapping) and one.get("name") == key]
        every = [one[key] for one in value if isinstance(one, Mapping) and one.get(key) is not None]
        return called[0] if called else (every or None)
    return None


def _numbers(value: Any) -> Iterator[float]:
    """Give the numbers of a value; of a list also how many it has."""
    if isinstance(value, list):
        yield from (number for one in value for number in _numbers(one) if not isinstance(one, Mapping))
        yield float(len(value))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)


def _among(figure: float, numbers: Sequence[float]) -> bool:
    return any(math.isclose(figure, one, rel_tol=1e-9) for number in numbers for one in (number, 100 * number))
