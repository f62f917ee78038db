"""Where theme files lie: the lab's own folder over the default one."""

from __future__ import annotations

from pathlib import Path

from reportgen.errors import InputError


def default_theme() -> Path:
    """Find the default theme: in the wheel inside the package, in a checkout beside it.

    Raises
    ------
    InputError
        The installation is incomplete.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "theme", package.parent / "templates"):
        if (folder / "base.html").is_file():
            return folder
    raise InputError("the default theme is missing", where=str(package), remedy="install reportgen again")


def theme_folders(lab_templates: Path) -> list[Path]:
    """Folders in which a theme file is looked for, the lab's own first."""
    return list(dict.fromkeys([lab_templates.resolve(), default_theme().resolve()]))
