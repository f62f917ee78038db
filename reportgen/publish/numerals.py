"""What reads like a measurement, and which words say how one came out: the patterns that the lint of pages looks for."""

from __future__ import annotations

import re
from dataclasses import dataclass

WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "half": 0.5,
}  # fmt: skip

_FIGURE = r"[+\-−±~≈]?\d[\d,.]*(?:[eE][+\-−]?\d+)?(?:\s*(?:to|or|and|–|-|−)\s*[+\-−]?\d[\d,.]*)?"
_WORD = rf"\b(?i:{'|'.join(WORDS)})\b"
_SOME = rf"(?:(?<![\w.\-=])(?:{_FIGURE}|(?:{_FIGURE}\s*,\s*)+{_FIGURE}\s*(?:and|or)\s*{_FIGURE})|{_WORD})"
_END = r"(?![\w])"
_PART = (
    r"\b(?i:(?:twice|thrice) as (?:long|fast)|(?:half|double) the time|"
    r"(?:(?:a|one|two|three)[ -])?(?:thirds?|quarters?|fifths?|tenths?) (?:less|more|of the time))\b"
)
_BY = rf"\b(?i:factor(?: of)? {_SOME}|ratio(?: of)? \d[\d,.]*){_END}"
_TIME = (
    r"(?:ns|µs|μs|us|ms|s|h|min|nanoseconds?|microseconds?|milliseconds?|seconds?|minutes?|hours?|cycles?|"
    r"(?:tenths?|hundredths?|thousandths?) of a (?:second|millisecond|microsecond))"
)
_RATE = (
    r"(?:[kKMGTP]i?B/s|[kMGTP]?FLOPS?(?:/s)?|[kMGT]?Hz|(?:tokens|launches|items|bytes|requests|frames)(?:/s| (?:a|per) second)|"
    r"per second)"
)
_BYTES = r"(?:B|[kKMGTP]i?B|bytes?|kilobytes?|megabytes?|gigabytes?)"
_COUNTED = r"(?:batch(?:es)?|repetitions?|comparisons?|checks?|measurements?|samples|launches|replays|false alarms)"
_FEW = r"\b(?i:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"

CHANGE = "{{ change(...) }}, {{ interval(...) }}, {{ floor(...) }} or {{ study(...) }}"
TIME = '{{ protocol().… }}, {{ study("time", ...) }} or {{ table("times") }}'
COUNT = '{{ count("batches") }} or another count'


@dataclass(frozen=True)
class Kind:
    """A kind of figure: its name, how it reads, and the bindings that say it."""

    name: str
    pattern: re.Pattern[str]
    binding: str


def _kind(name: str, pattern: str, binding: str) -> Kind:
    return Kind(name, re.compile(pattern), binding)


KINDS = (
    _kind("percentage", rf"\b(?i:half|a (?:third|quarter|fifth|tenth)(?: of)?) an? per ?cent{_END}|{_SOME}\s*(?:%|per ?cents?{_END}|percentage points?{_END}|(?:tenths?|hundredths?) of a percent{_END})", CHANGE),
    _kind("ratio", rf"{_SOME}\s*(?:(?:×|x)(?!\s*\d)|times|fold|-fold){_END}|(?<![\w.])[01]\.\d{{2,}}(?![\w.])|{_PART}|{_BY}", CHANGE),
    _kind("rate", rf"{_SOME}\s*{_RATE}{_END}", "a binding of the record"),
    _kind("number of bytes", rf"{_SOME}[\s-]*{_BYTES}{_END}", "a binding of the record"),
    _kind("time", rf"{_SOME}[\s-]*{_TIME}{_END}", TIME),
    _kind(
        "count",
        rf"(?:(?<![\w.\-=])\d[\d,.]*|{_FEW})\s+(?:(?:scored|timing|timed|planned|null|independent|careful)\s+)?{_COUNTED}{_END}",
        COUNT,
    ),
)  # fmt: skip

OUTCOMES = re.compile(
    r"\b(?:faste[rs]t?|slowe[rs]t?|quicke[rs]t?|no difference|passe[sd]|fails the gate|best|worst|wins?|won|beats?|outperforms?|"
    r"speed-?ups?|slowdowns?|regressions?|regresse[sd]|(?:as|equally) fast)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Seen:
    """Something that reads like a measurement: the words, their kind, the bindings to use, where they begin."""

    text: str
    kind: str
    binding: str
    start: int


def measured(text: str) -> list[Seen]:
    """Find what reads like a measurement; of two that overlap the first kind stands."""
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
