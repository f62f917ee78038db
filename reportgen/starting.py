"""``init``: a small lab that builds at once, with comments where one's own kernel goes."""

from __future__ import annotations

import shutil
from pathlib import Path

from reportgen.errors import InputError

STARTERS = Path(__file__).parent / "starters"
SHARED, GATED = "all", "gate"
KINDS = ("native", "cuda", "command", "import", GATED)
_GATE = """
# A rule frozen in the plan before the first batch: four values a step must save 2 % of the time at least, or stay out.
[[gate]]
name = "worth_it"
kind = "headline"
arms = ["four"]
vs = "incumbent"
threshold = 0.02
"""


def start(folder: Path, kind: str) -> list[Path]:
    """Write a lab of ``kind`` into ``folder``, which must be new or empty; give the files written, sorted.

    Raises
    ------
    InputError
        The folder holds something, or there is no such kind.
    """
    if kind not in KINDS:
        raise InputError(f"there is no lab of kind {kind!r}", remedy=f"there are {', '.join(KINDS)}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError("is there already and not empty", where=str(folder), remedy="name a new folder")
    try:
        return _written(folder, kind)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)  # it held nothing: half a lab would be in the way of the next try
        raise


def _written(folder: Path, kind: str) -> list[Path]:
    for part in (SHARED, "native" if kind == GATED else kind):
        shutil.copytree(STARTERS / part, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "gitignore").rename(folder / ".gitignore")
    for script in folder.rglob("*.sh"):
        script.chmod(0o755)  # a wheel keeps no modes
    if kind == GATED:
        toml = folder / "kernels" / "scale" / "experiment.toml"
        toml.write_text(toml.read_text("utf-8") + _GATE, "utf-8")
    return sorted(path for path in folder.rglob("*") if path.is_file())
