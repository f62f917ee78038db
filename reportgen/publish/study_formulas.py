"""What the words of an A/A study mean, as the record's page says them; docs/statistics.md has the sources."""

from __future__ import annotations

from reportgen.publish.context import Fact
from reportgen.publish.study_files import HARNESSES, NULLS, PLANTED

FORMULAS = (
    Fact("null comparison", f"a null against the arm it repeats, over one block of repetitions in one mode: a row of {NULLS}"),
    Fact("false alarm", "the decision interval of rules 1 to 5, over the process values of the block, excludes 1"),
    Fact("nominal", "mean of 1 - coverage(n) over the comparisons: what the ranks promise for independent repetitions"),
    Fact("interval of a share", "Clopper and Pearson, 95%, as if the comparisons were independent: those that share an arm's batches are not"),
    Fact("error", "estimate - 1; 95% within: the smallest error that at least 95% of them do not exceed, either way"),
    Fact(
        "mean error of a kernel",
        "over units, a unit being the mean of all nulls of one arm in one block; standard error: standard deviation of the units / root of their number",
    ),
    Fact("between, within blocks", "analysis of variance of log h about 0: what a block has in common, and what varies within it"),
    Fact("a fresh layout covers", "1 - between² in mode layout / between² in mode placement"),
    Fact("expected", f"1 + planted (r - 1), r: time ratio of the arm that does all its work twice, in the same mode ({PLANTED})"),
    Fact("figures of other harnesses", f"one a kernel, arm and process ({HARNESSES}); error: null over the arm it repeats in the same process, less 1"),
)  # fmt: skip
