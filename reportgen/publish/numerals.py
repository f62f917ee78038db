"""What reads like a measurement, and which words say how one came out: the patterns that the lint of pages looks for."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "half": 0.5,
}  # fmt: skip
_LARGER = (
    "thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|"
    "million|billion|dozen"
)
_PARTS = "halves|half|thirds?|quarters?|fourths?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?|twelfths?|twentieths?|hundredths?|thousandths?"

_DIGITS = r"\.?\d[\d,.]*(?:[eE][+\-−]?\d+)?"
_FIGURE = rf"[+\-−±~≈]?{_DIGITS}(?:\s*(?:to|or|and|–|-|−)\s*[+\-−]?{_DIGITS})?"
_WORD = rf"\b(?i:(?:{'|'.join(WORDS)}|{_LARGER})(?:[ -](?:{'|'.join(WORDS)}|{_LARGER}))*)\b"
_SOME = rf"(?:(?<![\w.\-])(?:{_FIGURE}|(?:{_FIGURE}\s*,\s*)+{_FIGURE}\s*(?:and|or)\s*{_FIGURE})|{_WORD})"
_END = r"(?![\w])"
_FEW = rf"\b(?i:(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|{_LARGER})(?:[ -](?:{'|'.join(WORDS)}|{_LARGER}))*)"

_SHARE = (
    r"%|‰|‱|per[ -]?cents?\b|percentage points?\b|per ?milles?\b|promille\b|permil\b|basis points?\b|ppm\b|pct\b|pp\b"
)
_TIME = (
    r"(?:ps|ns|µs|μs|us|ms|s|h|min|[nmuµμ]?secs?|mins|hrs?|(?:nano|micro|milli|pico)?-?seconds?|micros|millis|nanos|minutes?|hours?|(?:clock )?cycles?|clocks|"
    r"(?:tenths?|hundredths?|thousandths?) of a (?:second|millisecond|microsecond))"
)
_COUNTABLE = (
    r"(?:[kKMGTPE]?(?:FLOPs?|FLOPS|flops?|[oO][pP][sS]?|OPs)|[kKMGTPE]?i?(?:B|b|bits?|bytes?|T)|(?:kilo|mega|giga|tera)(?:bytes?|bits?|flops?)|tokens?|tok|its?|iterations?|"
    r"requests?|req|queries|launches|items|frames|samples|elements|rows|instructions?|operations|transactions?|cycles|rounds)"
)
_PER = r"(?:/|(?:\s+|-)(?:per|a|an|each|every)\s+)"
_OVER = r"(?:s|sec|ms|us|µs|μs|ns|min|h|clk|cycles?|clocks?|(?:nano|micro|milli)?seconds?|minutes?|hours?|W|watts?|J|joules?|launch|byte|B|SM|op)"
_RATE = rf"(?:{_COUNTABLE}\s*{_PER}{_OVER}|[kKMGTPE]?(?:FLOPS|FLOPs|flops)|T?G?OPS|IOPS|[kKMG]?i?[bB]ps|[kMGT]?Hz|qps|rpm|per second)"
_BYTES = r"(?:B|[kKMGTP]i?B|bytes?|(?:kilo|mega|giga|tera|kibi|mebi|gibi|tebi)bytes?)"
_READ = r"(?:[mk]?W|watts?|kilowatts?|[mkµμ]?J|joules?|°\s?C|degrees)"
_COUNTED = r"(?:batch(?:es)?|repetitions?|comparisons?|checks?|measurements?|timings|samples|resamples|launches|replays|false alarms)"
_BETWEEN = r"(?:(?!(?:of|in|with|and|or|for|per|a|an|the|on|at|by|to|from|as|is|are|into|x|times|that|those|its|no)\b)[a-z][a-z-]*\s+){0,3}"

# What is measured of a kernel, for fractions and multiples in words: "half the time", "a third of its bytes".
_MEASURE = (
    r"(?:(?:run)?times?|run time|durations?|latenc(?:y|ies)|costs?|bandwidth|traffic|bytes|rate|throughput|cycles|speed|energy|power|instructions|"
    r"registers|baseline|incumbent|control|kernel|launch(?:es)?|footprint)"
)
_ITS = r"(?:(?:the|its|their|that|this|all|our|a|an)\s+)?(?:[a-z]+(?:'s)?\s+)?"
_PART = (
    rf"\b(?i:(?:half|twice|thrice|double|triple)\s+(?:as\s+[a-z]+(?:\s+again)?|{_ITS}{_MEASURE}|of\s+{_ITS}{_MEASURE}|what|that(?=\s+(?:of|much|many|long)))|"
    rf"(?:halv|doubl|tripl|quadrupl)(?:es|ed|ing)\s+(?:the|its|their|it|them|that|this|every|each)|"
    rf"{_MEASURE}\s+(?:has\s+|have\s+)?(?:halved|doubled|tripled|quadrupled)|"
    rf"(?:is|are|was|were|be|been|gets?|got|than|nearly|almost|about)\s+(?:halved|doubled|tripled|quadrupled)|"
    rf"(?:by|in)\s+half(?![\s-]+(?:precision|the\b|of\b|a\b|an\b|as\b))|"
    rf"(?:(?:an?|{'|'.join(WORDS)})[\s-])?(?:{_PARTS})\s+(?:less|more|longer|shorter|faster|slower|as\s+[a-z]+|(?:of\s+{_ITS}|(?:the|its|their)\s+){_MEASURE}|of\s+(?:what|it)\b)|"
    rf"(?:an?|{'|'.join(WORDS)})[\s-](?:{_PARTS})\s+of\s+an?\s+(?:mega|giga|kilo)byte|"
    rf"(?:{'|'.join(WORDS)}|{_LARGER})-?fold|(?:dozens|hundreds|thousands)\s+of\s+times|(?:(?:an?|one|two|three|several)\s+)?orders?\s+of\s+magnitude)\b"
)
_BY = rf"\b(?i:factor(?: of)? {_SOME}|ratio(?: of)? {_DIGITS}|by \d+\.\d+){_END}"
_PLAIN = r"(?<![\w.])(?:0\.\d+|1\.\d{2,}|\.\d{2,}|0,\d{2,}|\d+(?:\.\d+)?[eE][+\-−]?\d+)(?!\w|[.,]\d)"
_SLASH = "\N{FRACTION SLASH}"
_FRACTION = rf"\\[dt]?frac\s*\{{?\d+\}}?\s*\{{?\d+|(?<![\w./])\d+\s*[/{_SLASH}]\s*\d+(?=\s+(?:of|less|more|as|the|its|longer|shorter)\b)|(?<![\w{_SLASH}])\d*\s?\d{_SLASH}\d+(?!\w)|(?<![\w.,]:)(?<![\w.,:])\d+(?:\.\d+)?\s?:\s?1(?![\w.:]\d|\w)"
_COUNTS = tuple(word for word, value in WORDS.items() if value >= 1)
# A share said by two counts: one in twenty, nine times in ten, 3 out of 4, two of every five.
_IN = (
    rf"\b(?i:(?:{'|'.join(_COUNTS)}|{_LARGER}|\d+)(?:\s+times?|\s+cases?)?\s+(?:in|out\s+of(?:\s+every)?|of\s+every|in\s+every|of(?=\s+a\s+(?:hundred|thousand|million)))\s+"
    rf"(?:a\s+(?:hundred|thousand|million|dozen)|(?:{'|'.join(_COUNTS[1:])}|(?:{_LARGER})(?:-(?:{'|'.join(_COUNTS)}))?)|\d+))(?![\w-])"
)
_OF = r"(?<![\w.])\d*\.\d+\s+(?:of|times)\s+(?:the|its|their|that|this|what|a)\b"

CHANGE = "{{ change(...) }}, {{ interval(...) }}, {{ floor(...) }} or {{ study(...) }}"
TIME = '{{ protocol().… }}, {{ study("time", ...) }} or {{ table("times") }}'
COUNT = '{{ count("batches") }} or another count'
ANY = "a binding of the record"


@dataclass(frozen=True)
class Kind:
    """A kind of figure: its name, how it reads, and the bindings that say it."""

    name: str
    pattern: re.Pattern[str]
    binding: str


def _kind(name: str, pattern: str, binding: str) -> Kind:
    return Kind(name, re.compile(pattern), binding)


KINDS = (
    _kind("percentage", rf"\b(?i:half|an? (?:{_PARTS}|hundred)(?: of)?) an? per ?cent{_END}|(?:{_SOME}|\bno\b|\b[IVXLC]+)[\s-]*(?:{_SHARE})|(?:{_SOME}\s*|\b(?i:an?) )?\b(?:tenths?|hundredths?|thousandths?) of a (?:percent|per cent){_END}", CHANGE),
    _kind("rate", rf"(?:{_SOME}|\b(?i:half) an?)[\s-]*{_RATE}{_END}", ANY),
    _kind("ratio", rf"(?<!\w)[x×]\d+\.\d+|{_SOME}\s*(?:(?:×|x)(?!\s*\d)|times|fold|-fold){_END}|{_OF}|{_IN}|{_FRACTION}|{_PART}|{_BY}", CHANGE),
    _kind("number of bytes", rf"{_SOME}[\s-]*{_BYTES}{_END}", ANY),
    _kind("time", rf"(?:{_SOME}|\b(?i:half) an?)[\s-]*{_TIME}{_END}|\b(?:(?i:an?|every) )?(?:tenths?|hundredths?|thousandths?) of an? (?:second|millisecond|microsecond|minute){_END}", TIME),
    _kind("reading", rf"{_SOME}\s*{_READ}{_END}", ANY),
    _kind("ratio", _PLAIN, CHANGE),
    _kind("count", rf"(?:(?<![\w.\-=])\d[\d,.]*|{_FEW})\s+{_BETWEEN}{_COUNTED}{_END}", COUNT),
)  # fmt: skip
UNIT = re.compile(rf"\s*(?:{_SHARE}|(?:(?:×|x|times|fold|-fold|{_RATE}|{_BYTES}|{_TIME}|{_READ}){_END}))")
# A unit in the heading of a column, which makes measurements of the bare numbers below it.
HEAD_UNIT = re.compile(rf"(?:^|[\s(,])({_SHARE}|{_RATE}|{_BYTES}|{_TIME}|{_READ}|[x×])(?=[\s),]|$)")

OUTCOMES = re.compile(
    r"\b(?:faste[rs]t?|slowe[rs]t?|quicke[rs]t?|cheaper|no (?:measurable |significant |visible |real )?difference|passe[sd]|fails (?:the|this|that|its|every|a) gate|"
    r"thin margin|best|worst|wins?|won|winners?|beats?|beaten|beating|out-?perform(?:s|ed|ing)?|outruns?|outpaces?|outpaced|speedier|superior|inferior|on par|"
    r"speed[- ]?ups?|slow[- ]?downs?|regressions?|regresse[sd]|speeds up|sped up|slows down|slowed|accelerat(?:es|ed|ion)|(?:as|equally) (?:fast|quick))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Seen:
    """Something that reads like a measurement: the words, their kind, the bindings to use, where they begin."""

    text: str
    kind: str
    binding: str
    start: int


def plain(text: str) -> str:
    """Write a text as a reader sees it: wide, raised and foreign digits as plain ones, without what has no width.

    Line breaks keep their number.
    """
    shown = "".join(one for one in unicodedata.normalize("NFKC", text) if unicodedata.category(one) != "Cf")
    digits = "".join(str(unicodedata.decimal(one)) if one.isdecimal() else one for one in shown)
    return digits.replace("\N{ARABIC PERCENT SIGN}", "%").replace("\N{ARABIC DECIMAL SEPARATOR}", ".")


def measured(text: str) -> list[Seen]:
    """Find what reads like a measurement in a ``plain`` text; of two that overlap the first kind stands."""
    found: list[Seen] = []
    taken: set[int] = set()
    for kind in KINDS:
        for match in kind.pattern.finditer(text):
            place = set(range(*match.span()))
            if not place & taken:
                taken |= place
                found.append(Seen(" ".join(match.group().split()), kind.name, kind.binding, match.start()))
    return sorted(found, key=lambda seen: seen.start)


def figures_in(text: str) -> list[float]:
    """Read the numbers of a text: digits, and words up to twelve."""
    digits = [float(one.replace(",", "").rstrip(".")) for one in re.findall(r"\d[\d,]*\.?\d*", text)]
    return digits + [float(WORDS[word]) for word in re.findall(r"[a-z]+", text.lower()) if word in WORDS]
