"""A lab that holds imports alone, gathered as pages see it."""

from __future__ import annotations

from pathlib import Path

from reportgen.archive.importers.gathering import gather
from reportgen.archive.taking import take
from reportgen.model.imported import Told
from reportgen.project import open_project
from reportgen.publish.cache import Cache
from reportgen.publish.gather import Gathered
from reportgen.publish.library import Library

# Four turns of two arms on two inputs: medians 41.875 and 40.0 us on `sort`.
ROWS = "arm,fixture,repetition,time_us,n\n" + "".join(
    f"{arm},{fixture},{turn},{value},64\n"
    for turn, (base, cand) in enumerate([(41.5, 39.5), (42.25, 40.25), (41.75, 39.75), (42.0, 40.25)], start=1)
    for fixture, more in (("sort", 0), ("merge", 8))
    for arm, value in (("base", base + more), ("cand", cand + more))
)
HYPERFINE = """{"results": [{"command": "sleep 1", "mean": 1.5, "median": 1.25, "times": [1.25, 1.0, 2.25], "exit_codes": [0, 0, 0]},
 {"command": "false", "mean": 0.5, "median": 0.5, "times": [0.5], "exit_codes": [1]}]}"""


def imported_library(root: Path, *, twice: bool = False) -> Library:
    """Import a table of two arms as ``saxpy`` and a result of hyperfine as ``sleeping``; ``twice`` another table as ``saxpy``, too."""
    (root / "reportgen.toml").write_text('title = "-"\n', "utf-8")
    texts = {"saxpy.csv": ROWS, "sleeping.json": HYPERFINE} | (
        {"more.csv": ROWS.replace("41.5", "41.25")} if twice else {}
    )
    for name, text in texts.items():
        (root / name).write_text(text, "utf-8")
        read = gather([root / name]).found
        take(root / "runs", read, Told(), name="saxpy" if name.endswith("csv") else "sleeping", keep_identity=False)
    return Gathered(open_project(root), Cache(root / ".cache")).library
