"""Building the same lab again and again in one process: only what changed is read, made and written again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reportgen.project import SETTINGS_FILE, Project, open_project
from reportgen.publish.build import BuildReport
from reportgen.publish.cache import FOLDER, Cache
from reportgen.publish.gather import Gathered
from reportgen.publish.output import Written, write_site
from reportgen.publish.remembering import Look, Memory, look_at, look_under
from reportgen.publish.site import make_site
from reportgen.publish.theme_folders import theme_folders


@dataclass
class _Kept:
    """What the archive held when it looked like ``archive``, and pages as they looked under ``theme``."""

    archive: Look
    theme: Look
    gathered: Gathered


class Rebuilder:
    """Builds the lab at ``root`` into ``out``, each time as a fresh build would, faster where little changed.

    What files hold is taken to be unchanged where name, length, time of change and inode are: good enough for the minutes that somebody writes, and no
    other command relies on it.
    """

    def __init__(self, root: Path, out: Path) -> None:
        self._root, self._out = root, out
        self._cache = Cache(root / FOLDER)
        self._memory, self._written = Memory(), Written()
        self._kept: _Kept | None = None

    @property
    def made(self) -> int:
        """How many pages were made, over all builds; the others were remembered."""
        return self._memory.made

    def build(self) -> BuildReport:
        """Build; what is wrong is a warning.

        Raises
        ------
        InputError
            ``out`` holds something that is no site of ours, or a file cannot be read.
        """
        project = open_project(self._root)
        site = make_site(project, self._gathered(project), self._memory, self._cache)
        written, removed = write_site(self._out, site.files, self._written)
        self._cache.hashes.save()
        return BuildReport(str(self._out), site.pages, written, removed, warnings=site.problems)

    def _gathered(self, project: Project) -> Gathered:
        archive, theme = _archive(project), _theme(project)
        known = self._kept
        if known is not None and (known.archive, known.theme) == (archive, theme):
            return known.gathered
        self._memory.forget()
        same = known is not None and known.archive == archive
        gathered = known.gathered if known is not None and same else Gathered(project, self._cache)
        self._kept = _Kept(archive, theme, gathered)
        return gathered


def _archive(project: Project) -> Look:
    """See what records and settings come from."""
    declared = project.kernels.glob("*/experiment*.toml")
    return look_under(project.runs) + look_at([*declared, project.root / SETTINGS_FILE])


def _theme(project: Project) -> Look:
    """See what all pages come from besides: templates, and what lies beside the texts that people write."""
    beside = tuple(seen for seen in look_under(project.site) if not seen[0].endswith(".md"))
    return beside + look_under(*theme_folders(project.templates))
