"""Number to text, once: the terminal, pages, charts and CSV all say a figure in the same words.

``plain=True`` gives ASCII for terminals and CSV; pages take the true minus sign and the micro sign.
Nothing here decides: verdicts come from the analysis, this module only names them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reportgen.errors import InputError
from reportgen.model.record import Manifest
from reportgen.model.result import ComparisonResult, GateOutcome, GateResult, Promotion, Reason, Verdict
from reportgen.units import BYTES_PER_KIB, BYTES_PER_MIB, NS_PER_MS, NS_PER_S, NS_PER_US

MINUS = "\N{MINUS SIGN}"
NOT_COMPUTED = "\N{EN DASH}"
LESS_TIME = "negative: less time"
LESS_RATIO = "below 1: less time"
SAVED = "positive: time saved"
DIRECTION = "time ratio candidate / baseline; below 1, or a negative percentage, is less time"
SIMULATED = "Simulated: these times were made up by a program to test the tools. No device was measured."
SIMULATED_ROWS = "Rows marked SIMULATED were made up by a program to test the tools. No device was measured for them."

VERDICTS = {
    Verdict.FASTER: "faster",
    Verdict.SLOWER: "slower",
    Verdict.EQUIVALENT: "equivalent",
    Verdict.INCONCLUSIVE: "inconclusive",
    Verdict.INVALID: "invalid",
}

MARKS = {
    Verdict.FASTER: "\N{DOWNWARDS ARROW}",
    Verdict.SLOWER: "\N{UPWARDS ARROW}",
    Verdict.EQUIVALENT: "=",
    Verdict.INCONCLUSIVE: "~",
    Verdict.INVALID: "\N{MULTIPLICATION SIGN}",
}

REASONS = {
    Reason.BASELINE_FAILED_CHECK: "The baseline failed a correctness check, so nothing is compared with it.",
    Reason.ARM_FAILED_CHECK: "The arm failed a correctness check, so its times say nothing.",
    Reason.CELL_WITHOUT_DATA: "A fixture has no complete pair of batches.",
    Reason.NO_NOISE_FLOOR: "No null arm is valid here, so the noise floor is unknown.",
    Reason.TOO_FEW_REPETITIONS: "Too few repetitions for an interval of the planned confidence.",
    Reason.BEYOND_MARGIN: "The whole interval lies beyond the margin.",
    Reason.WITHIN_MARGIN: "The whole interval lies within the smallest effect of interest.",
    Reason.NOISE_FLOOR: "Not beyond the noise floor, by which identical code differed.",
    Reason.FIXTURES_DIFFER: "Fixtures differ among themselves, so one figure does not speak for all of them.",
    Reason.DEVICES_DISAGREE: "Devices of one model disagree, so one figure does not speak for all of them.",
    Reason.DIRECTION_ONLY: "The interval excludes no change, yet not the margin: a direction without a size worth acting on.",
    Reason.TOO_WIDE: "The interval is too wide: it reaches from less time to more time.",
}

PROMOTIONS = {
    Promotion.ADOPT: "adopt: less time than the kernel in use and than its matched control, with every required gate passed",
    Promotion.ADOPT_AS_REWRITE: "adopt as rewrite: less time than the kernel in use, without any of the ideas",
    Promotion.NOT_ATTRIBUTABLE: "not attributable: less time than the kernel in use, yet not than its matched control",
    Promotion.KEEP_INCUMBENT: "keep incumbent: not shown to take less time than the kernel in use, or held back by a gate that the plan requires",
}

GATES = {
    GateOutcome.PASSES: "passes",
    GateOutcome.THIN_MARGIN: "thin margin",
    GateOutcome.FAILS: "fails",
    GateOutcome.INVALID: "invalid",
}

GATE_CLAUSES = {
    GateOutcome.PASSES: "passes",
    GateOutcome.THIN_MARGIN: "has a thin margin",
    GateOutcome.FAILS: "fails",
    GateOutcome.INVALID: "could not be decided",
}

WAYS = {
    "process": "fresh process",
    "layout": "fresh layout",
    "placement": "one placement",
    "peer": "fresh process, peers beside the incumbent",
}

ROLES = {
    "incumbent": "the kernel in use",
    "control": "launch and bookkeeping as the candidates need, without the idea",
    "candidate": "an idea under test",
    "null": "the same code again, separately compiled and loaded",
    "ceiling": "work deleted: an upper bound, never adoptable",
    "probe": "a deliberate handicap",
    "peer": "an implementation of others, never adoptable",
    "floor": "an empty kernel",
}


def change(ratio: float | None, *, decimals: int = 2, plain: bool = False) -> str:
    """Say a time ratio as a percent change with its sign: ``-3.10%`` is less time.

    Parameters
    ----------
    ratio:
        Time of the candidate over time of the baseline, without unit.
    decimals:
        Digits after the point.
    plain:
        ASCII minus sign.
    """
    if ratio is None:
        return "-" if plain else NOT_COMPUTED
    return signed(100 * (ratio - 1), decimals=decimals, plain=plain) + "%"


def signed(value: float, *, decimals: int = 2, plain: bool = False) -> str:
    """Say a number with its sign; what rounds to zero has none."""
    digits = f"{abs(value):.{decimals}f}"
    if not digits.strip("0."):
        return digits
    minus = "-" if plain else MINUS
    return ("+" if value > 0 else minus) + digits


def share(value: float | None, *, decimals: int = 2, plain: bool = False) -> str:
    """Say a share of the baseline's time as a percentage either way: ``±0.50%``."""
    if value is None:
        return "-" if plain else NOT_COMPUTED
    return ("+-" if plain else "\N{PLUS-MINUS SIGN}") + f"{100 * value:.{decimals}f}%"


def percent(value: float | None, *, decimals: int = 1) -> str:
    """Say a share of a whole: ``96.1%``."""
    return NOT_COMPUTED if value is None else f"{100 * value:.{decimals}f}%".replace("-", MINUS)


def error(value: float | None, *, plain: bool = False) -> str:
    """Say how far an estimate is from the truth, either way: three decimals below a tenth of a percent, else two."""
    if value is None:
        return "-" if plain else NOT_COMPUTED
    return f"{100 * value:.{3 if abs(value) < 0.001 else 2}f}%"  # noqa: PLR2004 - a tenth of a percent


def signed_error(value: float | None) -> str:
    """Say a mean error with its sign, in thousandths of a percent."""
    return NOT_COMPUTED if value is None else signed(100 * value, decimals=3) + "%"


def of_total(part: int, total: int) -> str:
    """Say a part of a count: ``17 of 432``."""
    return f"{count(part)} of {count(total)}"


def interval(low: float | None, high: float | None, *, plain: bool = False) -> str:
    """Say an interval of ratios as percent changes."""
    if low is None or high is None:
        return "-" if plain else NOT_COMPUTED
    return f"{change(low, plain=plain)} to {change(high, plain=plain)}"


def time(duration_ns: float | None, *, plain: bool = False) -> str:
    """Say a duration with four significant digits in ns, us, ms or s."""
    if duration_ns is None:
        return "-" if plain else NOT_COMPUTED
    micro = "us" if plain else "\N{MICRO SIGN}s"
    for unit_ns, unit in ((NS_PER_S, "s"), (NS_PER_MS, "ms"), (NS_PER_US, micro)):
        if duration_ns >= unit_ns:
            return f"{_four_digits(duration_ns / unit_ns)} {unit}"
    return f"{_four_digits(duration_ns)} ns"


def signed_time(duration_ns: float) -> str:
    """Say a duration that may be negative, with a true minus sign."""
    return (MINUS if duration_ns < 0 else "") + time(abs(duration_ns))


def plain_number(value: float) -> str:
    """Say a number as short as it is: ``43``, ``0.5``, with a true minus sign and thousands apart."""
    return f"{value:,.10g}".replace("-", MINUS)


UNITS_NS: Mapping[str, int] = {"ns": 1, "us": NS_PER_US, "ms": NS_PER_MS, "s": NS_PER_S}


def saving(value: float, *, in_time: bool, unit: str = "") -> str:
    """Say what an arm saves: a share of the baseline's time, or a duration, which is in ``unit`` where one is named.

    Raises
    ------
    InputError
        A unit that is not known; the line lists those that are.
    """
    if unit and unit not in UNITS_NS:
        raise InputError(f"no unit {unit!r} of time", remedy=f"units are: {', '.join(UNITS_NS)}")
    if not in_time:
        return percent(value, decimals=2)
    return f"{number(value / UNITS_NS[unit], decimals=4)} {unit_name(unit)}" if unit else signed_time(value)


def unit_name(unit: str) -> str:
    """Write a unit of time as pages do."""
    return "\N{MICRO SIGN}s" if unit == "us" else unit


def _four_digits(value: float) -> str:
    before_point = len(str(int(value)))
    return f"{value:.{max(0, 4 - before_point)}f}"


def ratio(value: float | None) -> str:
    """Say a time ratio with the digits that a derivation needs."""
    return NOT_COMPUTED if value is None else f"{value:.6f}"


def number(value: float | None, *, decimals: int = 2) -> str:
    """Say a number that is neither a ratio nor a duration, with a true minus sign."""
    return NOT_COMPUTED if value is None else f"{value:.{decimals}f}".replace("-", MINUS)


def count(value: int | None) -> str:
    """Say a count, thousands apart."""
    return NOT_COMPUTED if value is None else f"{value:,}"


def probability(value: float | None) -> str:
    """Say a p-value with two significant digits."""
    smallest = 1e-6
    if value is None:
        return NOT_COMPUTED
    if value >= 1:
        return "1"
    if value < smallest:
        return "< 0.000001"
    leading_zeros = len(f"{value:.6f}".split(".")[1]) - len(f"{value:.6f}".split(".")[1].lstrip("0"))
    return f"{value:.{leading_zeros + 2}f}"


def size(length_bytes: int) -> str:
    """Say a size in binary units; the exact count of bytes stands beside it wherever it matters."""
    if length_bytes >= BYTES_PER_MIB:
        return f"{length_bytes / BYTES_PER_MIB:.1f} MiB"
    if length_bytes >= BYTES_PER_KIB:
        return f"{length_bytes / BYTES_PER_KIB:.1f} KiB"
    return plural(length_bytes, "byte")


def rate(bytes_per_s: float) -> str:
    """Say a rate of bytes with three significant digits, in decimal units as makers of memory do."""
    for unit_bytes, unit in ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s")):
        if bytes_per_s >= unit_bytes:
            return f"{bytes_per_s / unit_bytes:#.3g} {unit}".replace(". ", " ")
    return f"{bytes_per_s:.0f} B/s"


def brief(value: float, units: Sequence[tuple[float, str]]) -> str:
    """Say a round figure in the largest of the units (factor and name, largest first) that it reaches: ``10 MB``."""
    factor, name = next((unit for unit in units if value >= unit[0]), units[-1])
    return f"{value / factor:g}\N{NO-BREAK SPACE}{name}"


def range_of(low: str, high: str) -> str:
    """Say two ends, or the one where they read alike."""
    return low if low == high else f"{low} to {high}"


def plural(value: int, noun: str) -> str:
    """Say a count with its noun: ``1 device``, ``2 devices``."""
    ending = "" if value == 1 else "s"
    return f"{count(value)} {noun}{ending}"


def verdict(value: Verdict, *, plain: bool = False) -> str:
    """Say a verdict; on pages the template sets its mark beside the word."""
    return VERDICTS[value] if plain else f"{MARKS[value]}\N{NO-BREAK SPACE}{VERDICTS[value]}"


def reason(comparison: ComparisonResult, smallest_effect: float, noise_floor: float | None) -> str:
    """Say why a verdict is what it is, with the slice's figures where the noise floor decided.

    ``smallest_effect`` and ``noise_floor`` are shares of the baseline's time.
    """
    if comparison.reason is not Reason.NOISE_FLOOR or comparison.low is None or comparison.high is None:
        return REASONS[comparison.reason]
    least, floor = share(smallest_effect), share(noise_floor)
    if comparison.high < 1 - smallest_effect or comparison.low > 1 + smallest_effect:
        return f"Beyond {least}, yet not beyond the {floor} by which identical code differed."
    return f"Within {least}, yet identical code differed by {floor}: this record cannot tell."


def freezing(gates: Sequence[GateResult], digest: str) -> str:
    """Say when the rules of a plan were last changed, and whether that was before their data.

    ``digest`` is the plan's.
    """
    frozen = {gate.frozen_at for gate in gates if gate.frozen_at}
    began = {gate.began_at for gate in gates if gate.began_at}
    changed = f"was last changed {moment(max(frozen))}" if frozen else "was last changed at a time that no commit tells"
    said = f"Plan {digest[:12]} {changed}; its first attempt began {moment(min(began, default=None))}."
    younger = names(sorted({gate.name for gate in gates if gate.younger}))
    return f"{said} YOUNGER THAN ITS DATA: {younger} was changed after the first batch." if younger else said


def day(stamp: str | None) -> str:
    """Take the date from an ISO 8601 time in UTC."""
    return NOT_COMPUTED if not stamp else stamp[:10]


def moment(stamp: str | None) -> str:
    """Say an ISO 8601 time in UTC for reading."""
    return NOT_COMPUTED if not stamp else stamp[:16].replace("T", " ") + " UTC"


def names(items: list[str]) -> str:
    """Join names as a sentence does: ``a, b and c``."""
    if len(items) < 2:  # noqa: PLR2004 - one name needs no conjunction
        return "".join(items)
    return ", ".join(items[:-1]) + " and " + items[-1]


def kind(manifest: Manifest) -> str:
    """Say what an attempt was made for: of one that times nothing the tool and how much it looked at, of an imported one the formats."""
    looked = manifest.sanitizer or manifest.profile
    if manifest.imported is not None:
        formats = dict.fromkeys(source.format for source in manifest.imported.sources)
        return f"{manifest.kind.value}: {names(list(formats))}"
    if looked is None:
        return manifest.kind.value
    arms = ""
    if manifest.profile is not None:
        arms = f", {count(len(manifest.profile.arms))} of {plural(manifest.profile.of_arms, 'arm')}"
    said = f"{looked.tool}, {count(len(looked.fixtures))} of {plural(looked.of, 'fixture')}"
    return f"{manifest.kind.value}: {said}{arms}"


def slice_name(name: str) -> str:
    """Say a slice: ``axis=value`` pairs apart; a plan that slices by nothing has one slice, all fixtures."""
    return "all fixtures" if name == "all" else name.replace(",", ", ").replace("=", " = ")


def within(fixture: str, piece: str) -> str:
    """Say a fixture beneath its slice: the ``axis=value`` pairs that the slice names already are left out."""
    said = piece.partition(" @ ")[0].split(",")
    return ",".join(pair for pair in fixture.split(",") if pair not in said) or fixture


def short_fixture(fixture: str) -> str:
    """Say a fixture by its value alone where one axis names it."""
    return fixture.partition("=")[2] if fixture.count("=") == 1 else fixture


def answer(comparison: ComparisonResult, *, plain: bool = False) -> str:
    """Say a whole comparison in one line: change, interval, verdict."""
    change_text = change(comparison.headline, plain=plain)
    ends = interval(comparison.low, comparison.high, plain=plain)
    return f"{comparison.arm} against {comparison.baseline}: {change_text} ({ends}), {VERDICTS[comparison.verdict]}"
