r"""Verdicts for a paper. Every shape of these tables was compiled with pdfLaTeX and XeLaTeX; here a small reader of TeX holds them to the rules that this showed.

It knows the few commands of these tables and no other, counts braces, environments and cells, and gives back what would be set; so it fails where a name could say something to TeX.
"""

from __future__ import annotations

import re
import string
from typing import Any

import pytest

from reportgen.latex_tables import BEYOND, table
from reportgen.verdict_tables import written

COMMANDS = {
    r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", r"\textless{}": "<", r"\textgreater{}": ">",
    r"\textbar{}": "|", r"\textquotesingle{}": "'", r"\textasciigrave{}": "`", r"\textquotedblright{}": '"', r"\allowbreak{}": "",
    "-{}": "-", ",{}": ",", "?{}": "?", "!{}": "!", "{[}": "[", "{]}": "]", "{*}": "*", "$-$": "\N{MINUS SIGN}",
    r"\&": "&", r"\%": "%", r"\$": "$", r"\#": "#", r"\_": "_", r"\{": "{", r"\}": "}",
}  # fmt: skip
NAMES = [
    *string.printable.strip(), string.printable.strip(), "[a]*", "* star", "a--b---c", "``q''", "?`!`", "<<>>,,", r"\input{x}", r"\\[1cm]",
    "^^41", "&&&", r"\end{tabular}", "-1", "中文 名前", "ąę→😀", "é ñ ő ß ½", "x" * 3000, "a_b/" * 700, "中" * 300,
]  # fmt: skip


def row(arm: str, piece: str = "cache=same-set", **keys: Any) -> dict[str, Any]:
    """Give the verdict on an arm."""
    told = {"headline": 0.9, "estimate": 0.9, "low": 0.89, "high": 0.91, "verdict": "faster", "reason": "beyond_margin"}
    return {"slice": piece, "arm": arm, "baseline": "base"} | told | keys


def read(cell: str) -> str:
    """Give what a cell sets; what is no letter, digit or known command of these tables is refused."""
    signs = "|".join(re.escape(sign) for sign in sorted(COMMANDS, key=len, reverse=True))
    known = re.compile(
        rf"(?P<sign>{signs})|\\beyond\{{(?P<one>.)\}}\{{[0-9A-F]{{4,6}}\}}|(?P<plain>[A-Za-z0-9 +/().:;=@éñőß½→])"
    )
    found, at = [], 0
    while at < len(cell):
        match = known.match(cell, at)
        assert match is not None, f"TeX would read {cell[at : at + 12]!r}"
        found.append(COMMANDS.get(match["sign"] or "", match["one"] or match["plain"] or ""))
        at = match.end()
    return "".join(found)


def cells_of(text: str) -> list[list[str]]:
    """Give the cells of every row, heads and lines across included."""
    rows = [line.removesuffix(r" \\") for line in text.splitlines() if line.endswith(r"\\")]
    return [re.split(r"(?<!\\)&", one) for one in rows]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_name_says_nothing_to_tex(name: str) -> None:
    """Whatever stands in it, it is set as it is, one too long for any page without its middle; its row keeps its cells."""
    text = written([row(name)], "latex", f"{name}\nsecond line")
    head, across, one = cells_of(text)
    assert 6 == len(head) == len(one)
    assert 1 == len(across)
    shown = read(one[0].strip())
    assert name == shown if len(name) <= 100 else shown.endswith(" characters)")
    title, _, body = text.partition("\n")
    assert title.startswith("% ")
    assert [r"\begingroup", r"\begin", r"\end", r"\endgroup"] == re.findall(r"\\(?:begin|end)(?:group)?", body)
    assert (r"\beyond{" in text.replace(BEYOND, "")) == (BEYOND in text)


def test_slices_stand_above_their_rows_and_sentences_break() -> None:
    """One line for several rows of a slice; without slices there is none. A sentence has a column of a width, and a long name has one."""
    text = written([row("a"), row("b"), row("c", "cache=cold"), row("d" * 30, "cache=cold")], "latex", "x")
    assert ["cache = same-{}set", "cache = cold"] == re.findall(r"\{@\{\}l@\{\}\}\{(.*)\} \\\\", text)
    assert r"\begin{tabular}{@{}p{14em}lrrlp{7em}@{}}" in text
    assert r"d\allowbreak{}d" in text
    lacking = [
        {"arm": "a", "baseline": "b", "lacking": "one sample per arm; no null arm says how far it would come out again"}
    ]
    text = written(lacking, "latex", "x")
    assert "multicolumn" not in text
    assert r"a & b & -{} & -{} & none & one sample per arm;" in text


def test_without_candidates_there_is_a_sentence() -> None:
    """And no table without columns, which TeX refuses."""
    assert "% x: percent change of time, below 0 is less\nNo candidate was judged.\n" == table([], "x")
