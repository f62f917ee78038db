"""Rows of verdicts as a LaTeX table that every engine compiles, with no package and whatever stands in a name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

from reportgen.publish.imported_words import shown_name

# What means something to TeX, makes another sign of itself in its usual fonts, or joins its neighbour there.
_SIGNS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "'": r"\textquotesingle{}", "`": r"\textasciigrave{}", '"': r"\textquotedblright{}", "-": "-{}", ",": ",{}",
    "[": "{[}", "]": "{]}", "*": "{*}", "?": "?{}", "!": "!{}", "\N{MINUS SIGN}": "$-$",
}  # fmt: skip
# Beyond ASCII: what LaTeX sets in its first font encoding without being told to.
_ACCENTS = frozenset("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327")
_KNOWN = frozenset("ßæÆœŒøØ£§©®°±²³¹µ·×÷¼½¾–—…†‡•‰→←€™")
_LAST_LATIN = "\u017f"
BEYOND = r"\providecommand{\beyond}[2]{\ifdefined\Umathcode#1\else U+#2\fi}"
_NUMBERS, _SENTENCES = ("change of time", "interval"), ("because", "promotion")
_WIDE, _PAGE_WIDE = 24, 72  # characters beyond which a column, and a line across all of them, breaks its lines


def table(rows: Sequence[Mapping[str, str]], title: str) -> str:
    """Write rows of one key each a column as a ``tabular``; ``slice`` stands above those that share it.

    Numbers stand to the right and have true minus signs; columns of long names and of sentences break their lines. A character that
    LaTeX's first font encoding lacks is set as itself by engines that take any (XeLaTeX, LuaLaTeX), and as its number by others.
    """
    columns = [key for key in dict.fromkeys(key for row in rows for key in row) if key != "slice"]
    shown = [{key: _shown(key, text) for key, text in row.items()} for row in rows]
    head = f"% {_comment(title)}: percent change of time, below 0 is less"
    if not rows:
        return f"{head}\nNo candidate was judged.\n"
    forms = [_form(key, [row.get(key, "") for row in shown]) for key in columns]
    names = [_escaped(key.partition(" of ")[0]) for key in columns]
    lines = [rf"\begin{{tabular}}{{@{{}}{''.join(forms)}@{{}}}}", r"\hline", _row(names), r"\hline"]
    for before, row in zip([{}, *shown], shown, strict=False):
        if (piece := row.get("slice", "")) != before.get("slice", ""):
            across = "l" if len(piece) <= _PAGE_WIDE else "p{36em}"
            lines.append(rf"\multicolumn{{{len(columns)}}}{{@{{}}{across}@{{}}}}{{{_cell(piece, across)}}} \\")
        lines.append(_row([_cell(row.get(key, ""), form) for key, form in zip(columns, forms, strict=True)]))
    body = "\n".join([*lines, r"\hline", r"\end{tabular}%"])
    defined = [BEYOND] if r"\beyond{" in body else []
    return "\n".join([head, r"\begingroup\footnotesize\setlength{\tabcolsep}{3pt}%", *defined, body, r"\endgroup", ""])


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _shown(key: str, text: str) -> str:
    """Give true minus signs to numbers, and shorten a name that no page could hold."""
    if key in _NUMBERS:
        return re.sub(r"-(?=\d)", "\N{MINUS SIGN}", text)
    return text if key in _SENTENCES else shown_name(text)


def _form(key: str, texts: Sequence[str]) -> str:
    if key in _NUMBERS:
        return "r"
    longest = max(map(len, texts), default=0)
    if longest <= _WIDE and key not in _SENTENCES:
        return "l"
    return f"p{{{7 if longest <= _WIDE else 14}em}}"


def _cell(text: str, form: str) -> str:
    """Let a cell that breaks its lines break them where a name has no spaces, too."""
    if not form.startswith("p"):
        return _escaped(text)
    parts = re.split(r"(?<=[_/:=.,;])(?=\S)|(?<=[^\W_]{20})", text)
    return r"\allowbreak{}".join(map(_escaped, parts))


def _escaped(text: str) -> str:
    return "".join(map(_sign, text))


def _sign(one: str) -> str:
    if one in _SIGNS or not one.isprintable():
        return _SIGNS.get(one, " ")
    return one if one.isascii() or _is_known(one) else rf"\beyond{{{one}}}{{{ord(one):04X}}}"


def _is_known(one: str) -> bool:
    apart = unicodedata.normalize("NFD", one)
    base, accent = apart[:1], apart[1:]
    return one in _KNOWN or (one <= _LAST_LATIN and base.isascii() and accent in _ACCENTS)


def _comment(text: str) -> str:
    return "".join(one for one in text if one.isprintable())
