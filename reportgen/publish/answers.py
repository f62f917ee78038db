"""What a record says in words: the answer in a sentence, then what to do with each arm, slice by slice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from reportgen.model.result import NoiseResult, Promotion, PromotionResult, Reason, Verdict
from reportgen.publish import lookup, wording
from reportgen.publish.context import Phrase, Saying, SliceAnswer
from reportgen.publish.linked import linked
from reportgen.publish.view import RecordView

REWRITE = (
    "Not for the ideas. The matched control alone takes less time than the kernel in use: adopt it as a rewrite, "
    "where the lines below say so."
)
NOTHING = "No. Nothing tested earned its place: the kernel in use stays."
UNDECIDED = (
    "Not shown. Some comparisons with the kernel in use remain undecided in this record, and nothing tested earned its place: "
    "the kernel in use stays."
)
NOT_ATTRIBUTABLE = (
    "Not for the ideas. What takes less time than the kernel in use is not shown to take less than a matched control: "
    "the gain may come with the rewriting alone."
)
KEPT = {
    Verdict.SLOWER: "It takes more time than the kernel in use.",
    Verdict.EQUIVALENT: "It takes as much time as the kernel in use, within the smallest effect of interest.",
    Verdict.INCONCLUSIVE: "It is not shown to take less time than the kernel in use.",
}
UNCLEAR = {
    Reason.BASELINE_FAILED_CHECK: "The kernel in use failed a correctness check, so there is no verdict.",
    Reason.ARM_FAILED_CHECK: "It failed a correctness check, so its times say nothing.",
}
NO_VERDICT = "There is no verdict against the kernel in use."
_MOST_LINES = 4  # beyond that a list by arm says the same thing again and again


def lead(record: RecordView) -> Saying:
    """Answer in a sentence or two."""
    promotions = record.result.promotions
    adopted = [one for one in promotions if one.outcome is Promotion.ADOPT]
    if not promotions:
        return _plain(_study_said(record) or "No candidate was judged.")
    if not adopted:
        rewrite = any(one.outcome is Promotion.ADOPT_AS_REWRITE for one in promotions)
        return _plain(REWRITE if rewrite else _nothing_adopted(record))
    pieces = list(dict.fromkeys(one.slice for one in promotions))
    places = {
        arm: [one.slice for one in adopted if one.arm == arm] for arm in dict.fromkeys(one.arm for one in adopted)
    }
    if all(len(found) == len(pieces) for found in places.values()):
        return Saying((Phrase("Yes. "), *_named(places), Phrase(f" {_earns(len(places))} everywhere tested.")))
    return Saying((Phrase("In part. "), *_by_place(places), Phrase(_elsewhere(promotions))))


def _study_said(record: RecordView) -> str:
    """Say what an A/A study came to: false alarms by way of measuring; empty where there is none."""
    study = record.result.null_study
    asked = [line for line in study.modes if line.comparisons] if study else []
    if not asked:
        return ""
    said = [f"{wording.of_total(one.alarms, one.comparisons)} with {wording.WAYS[one.mode]}" for one in asked]
    return f"Of comparisons of identical code, so many are false alarms: {wording.names(said)}."


def _plain(text: str) -> Saying:
    return Saying((Phrase(text),))


def _earns(arms: int) -> str:
    return "earns its place" if arms == 1 else "earn their place"


def _named(names: Iterable[str]) -> list[Phrase]:
    """Join names in fixed width as a sentence does: ``a``, ``b`` and ``c``."""
    arms = list(names)
    said: list[Phrase] = []
    for place, arm in enumerate(arms):
        said.append(Phrase(arm, code=True))
        if place < len(arms) - 1:
            said.append(Phrase(" and " if place == len(arms) - 2 else ", "))
    return said


def _by_place(places: dict[str, list[str]]) -> list[Phrase]:
    """Say which arms earn their place where; arms of the same slices share a clause."""
    clauses: dict[tuple[str, ...], list[str]] = {}
    for arm, found in places.items():
        clauses.setdefault(tuple(found), []).append(arm)
    said: list[Phrase] = []
    for place, (pieces, sharing) in enumerate(clauses.items()):
        where = " and ".join(f"with {wording.slice_name(piece)}" for piece in pieces)
        said += [Phrase("; ")] if place else []
        said += [*_named(sharing), Phrase(f" {_earns(len(sharing))} {where}")]
    return said


def _elsewhere(promotions: Sequence[PromotionResult]) -> str:
    """Say what holds of the slices in which nothing is adopted, if there are any."""
    decided = {one.slice for one in promotions if one.outcome is Promotion.ADOPT}
    rest = [one for one in promotions if one.slice not in decided]
    if not rest:
        return "."
    if any(one.outcome is Promotion.ADOPT_AS_REWRITE for one in rest):
        return "; elsewhere no idea does, though a matched control may: the lines below say where."
    return "; elsewhere the kernel in use stays."


def _nothing_adopted(record: RecordView) -> str:
    if any(one.outcome is Promotion.NOT_ATTRIBUTABLE for one in record.result.promotions):
        return NOT_ATTRIBUTABLE
    judged = [one for one in record.result.comparisons if one.role == "candidate" and one.baseline_role == "incumbent"]
    undecided = {Verdict.INCONCLUSIVE, Verdict.INVALID}
    return UNDECIDED if any(one.verdict in undecided for one in judged) else NOTHING


def slices(record: RecordView, page: str = "") -> tuple[SliceAnswer, ...]:
    """Say slice by slice what to do with each candidate, and why; the noise floor stands at the slice's name and leads to the record's ``page``."""
    if not record.result.promotions and record.result.null_study is not None:
        return ()
    return tuple(_slice(record, piece.name, page) for piece in lookup.slices(record))


def _slice(record: RecordView, piece: str, page: str) -> SliceAnswer:
    line = lookup.noise_of(record, piece)
    promotions = [one for one in record.result.promotions if one.slice == piece]
    why = {one.arm: _why(record, one) for one in promotions}
    said = _gathered(why) if len(why) > _MOST_LINES else tuple(_saying([arm], found) for arm, found in why.items())
    return SliceAnswer(
        title=wording.slice_name(piece),
        floor=_floor_said(record, line, page),
        lines=said or (_plain("No candidate was judged."),),
    )


def _floor_said(record: RecordView, line: NoiseResult | None, page: str) -> Markup:
    if line is None or line.floor is None:
        return Markup("no noise floor known")
    place = f"{page}#{lookup.floor_anchor(record, line)}"
    return Markup("noise floor {}").format(linked(wording.share(line.floor), line.floor, place))


def _gathered(why: Mapping[str, tuple[Phrase, ...]]) -> tuple[Saying, ...]:
    """Say once what is said of several candidates; the first of them decides where."""
    sharing: dict[tuple[Phrase, ...], list[str]] = {}
    for arm, found in why.items():
        sharing.setdefault(found, []).append(arm)
    return tuple(_saying(arms, found) for found, arms in sharing.items())


def _saying(arms: Sequence[str], why: Sequence[Phrase]) -> Saying:
    if len(arms) > 1:
        why = [Phrase(one.text.replace(" It is not ", " None is ").replace(" It ", " Each "), one.code) for one in why]
    return Saying((*_named(arms), *why))


def _why(record: RecordView, promotion: PromotionResult) -> tuple[Phrase, ...]:
    say = {
        Promotion.ADOPT: _adopt,
        Promotion.ADOPT_AS_REWRITE: _rewrite,
        Promotion.NOT_ATTRIBUTABLE: _not_attributable,
        Promotion.KEEP_INCUMBENT: _keep,
    }[promotion.outcome]
    return (*say(record, promotion), *_gates(record, promotion))


def _adopt(_record: RecordView, promotion: PromotionResult) -> list[Phrase]:
    both = [Phrase(" and than its matched control "), Phrase(promotion.control, code=True)] if promotion.control else []
    return [Phrase(": adopt. It takes less time than the kernel in use"), *both, Phrase(".")]


def _rewrite(_record: RecordView, promotion: PromotionResult) -> list[Phrase]:
    control = Phrase(promotion.control or "", code=True)
    return [
        Phrase(": adopt its matched control "),
        control,
        Phrase(" as a rewrite: that alone takes less time than the kernel in use."),
    ]


def _not_attributable(_record: RecordView, promotion: PromotionResult) -> list[Phrase]:
    if promotion.control is None:
        return [Phrase(": not attributable. It takes less time than the kernel in use, yet has no matched control.")]
    return [
        Phrase(": not attributable. It takes less time than the kernel in use, yet is not shown to take less than "),
        Phrase(promotion.control, code=True),
        Phrase(", its matched control."),
    ]


def _keep(record: RecordView, promotion: PromotionResult) -> list[Phrase]:
    if lookup.holding(record, promotion):
        return [Phrase(": keep the incumbent.")]
    found = [
        one
        for one in record.result.comparisons
        if (one.arm, one.baseline, one.slice) == (promotion.arm, promotion.incumbent, promotion.slice)
    ]
    why = NO_VERDICT
    if found:
        why = KEPT.get(found[0].verdict) or UNCLEAR.get(found[0].reason, NO_VERDICT)
    return [Phrase(f": keep the incumbent. {why}")]


def _gates(record: RecordView, promotion: PromotionResult) -> list[Phrase]:
    """Name the required gates that hold back a candidate which beats both its baselines."""
    said: list[Phrase] = []
    for place, gate in enumerate(lookup.holding(record, promotion)):
        said += [
            Phrase(" and gate " if place else " It takes less time than both baselines, yet gate "),
            Phrase(gate.name, code=True),
            Phrase(f" {wording.GATE_CLAUSES[gate.outcome]}"),
        ]
    return [*said, Phrase(".")] if said else []
