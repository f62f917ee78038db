"""Static evidence: counts of an arm's machine code by opcode and family, in a table and one by one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from reportgen.errors import InputError
from reportgen.model.code import CodeFacts
from reportgen.publish import code_tables, tables
from reportgen.publish.view import AttemptView, RecordView

OPCODES = {"SHFL.IDX": 3, "SHFL.BFLY": 4, "LDG.E.128": 5, "LDGSTS.E": 21, "MUFU.EX2": 6}
SHUFFLES, PLAIN = CodeFacts(registers=122, instructions=689, opcodes=OPCODES), CodeFacts(entry_bytes=2333)


def a_record(code: dict[str, CodeFacts]) -> RecordView:
    """Give as much of a record as the table reads: two arms, the second first by name."""
    arms = [SimpleNamespace(name=name) for name in ("shuffles", "plain")]
    view = SimpleNamespace(
        name="sample@1a2b3c",
        plan=SimpleNamespace(name="sample", experiment=SimpleNamespace(arms=arms)),
        attempts=[SimpleNamespace(code=code, address="records/sample/1a2b3c/attempts/one/")],
    )
    return cast("RecordView", cast("Any", view))


@pytest.mark.parametrize(
    ("what", "count"),
    [("SHFL", 7), ("SHFL.IDX", 3), ("LDG", 5), ("LDGSTS", 21), ("MUFU.RCP", 0), ("registers", 122)],
)
def test_a_family_counts_all_of_its_variants_and_no_other(what: str, count: int) -> None:
    """``LDG`` is not ``LDGSTS``; an opcode that does not occur is zero."""
    assert count == SHUFFLES.of(what)


def test_what_nobody_counted_is_unknown_and_not_zero() -> None:
    """A backend that does not disassemble knows the length of the text alone."""
    assert (None, None, 2333) == (PLAIN.of("SHFL"), PLAIN.of("registers"), PLAIN.of("entry_bytes"))


def test_a_figure_leads_to_the_arms_row_on_the_attempts_page() -> None:
    """By arm and count."""
    record = a_record({"shuffles": SHUFFLES})
    assert (7, "records/sample/1a2b3c/attempts/one/#code-shuffles") == code_tables.counted(record, "shuffles", "SHFL")


@pytest.mark.parametrize(
    ("arm", "what", "said"),
    [
        ("plain", "SHFL", "counted no 'SHFL' in the code of 'plain'"),
        ("nobody", "SHFL", "sample has no arm 'nobody'"),
    ],
)
def test_a_count_that_is_not_there_is_refused(arm: str, what: str, said: str) -> None:
    """Never said as zero."""
    with pytest.raises(InputError) as caught:
        code_tables.counted(a_record({"shuffles": SHUFFLES, "plain": PLAIN}), arm, what)
    assert said in caught.value.one_line()


def test_a_table_has_the_arms_of_the_plan_in_its_order_and_the_counts_asked_for() -> None:
    """Registers and instructions always; what is not known is said to be so."""
    table = code_tables.of_record(a_record({"plain": PLAIN, "shuffles": SHUFFLES}), "../", ["SHFL.IDX", "MUFU"])
    assert ["registers", "instructions", "SHFL.IDX", "MUFU"] == [column.text for column in table.columns]
    assert ["shuffles", "plain"] == [row.head.text for row in table.rows]
    assert ["122", "689", "3", "6"] == [cell.text for cell in table.rows[0].cells]
    assert [tables.NOTHING] * 4 == list(table.rows[1].cells)


def test_an_attempts_own_table_has_anchors_and_the_families_that_occur() -> None:
    """Without rows where nothing was counted."""
    attempt = cast("AttemptView", cast("Any", SimpleNamespace(code={"shuffles": SHUFFLES})))
    table = code_tables.of_attempt(attempt)
    assert ["code-shuffles"] == [row.anchor for row in table.rows]
    assert ["LDG", "LDGSTS", "SHFL", "MUFU"] == [column.text for column in table.columns][6:-1]
    assert "SHFL 7, SHFL.BFLY 4, SHFL.IDX 3" in table.rows[0].cells[-1].text
    assert () == code_tables.of_attempt(cast("AttemptView", cast("Any", SimpleNamespace(code={})))).rows


def test_a_record_that_counted_nothing_is_refused() -> None:
    """A table of nothing would say that there is nothing."""
    with pytest.raises(InputError, match="counted nothing in its machine code"):
        code_tables.of_record(a_record({}), "../")
