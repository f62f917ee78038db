"""``python -m reportgen.reference`` in the repository's root writes the reference into ``docs/reference/``; a test holds it so."""

from __future__ import annotations

from pathlib import Path

from reportgen.reference.pages import PAGES

FOLDER = Path("docs") / "reference"

if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (FOLDER / name).write_text(make(), "utf-8")
