"""The site on this machine alone, built again whenever something that it comes from changes; open pages follow."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import watchfiles

from reportgen.errors import ReportgenError, shortened
from reportgen.project import SETTINGS_FILE, Project
from reportgen.publish import wording
from reportgen.publish.build import BuildReport
from reportgen.publish.bulletin import Bulletin
from reportgen.publish.rebuild import Rebuilder
from reportgen.publish.server import serving
from reportgen.publish.theme_folders import theme_folders

_STEP_MS, _DEBOUNCE_MS, _LOOK_MS = 20, 100, 300


def serve(
    project: Project,
    port: int,
    tell: Callable[[str], object],
    *,
    out: Path | None = None,
    stop: threading.Event | None = None,
) -> None:
    """Build into ``out`` (``public/`` by default), serve it, and build again on every change, until interrupted or told to ``stop``.

    ``tell`` gets lines for the user: the address, and what each build did or what stopped it. A build that fails leaves the site as the one before made
    it; the open pages say so, and the next change is waited for.

    Raises
    ------
    InputError
        The port is taken.
    """
    folder = out or project.root / "public"
    keeper = _Keeper(Rebuilder(project.root, folder), tell)
    keeper.rebuild()
    with serving(folder, port, keeper.bulletin) as address:
        tell(f"serving {address} (Ctrl-C ends it)")
        ended = stop or threading.Event()
        while not ended.is_set():
            _watch(project, keeper, ended)


class _Keeper:
    """Builds again when asked, and tells the terminal and the open pages what came of it."""

    def __init__(self, rebuilder: Rebuilder, tell: Callable[[str], object]) -> None:
        self._rebuilder, self._tell = rebuilder, tell
        self._found: BuildReport | None = None
        self.bulletin = Bulletin()

    def rebuild(self) -> None:
        """Build; whatever stops that is told, and stops nothing else."""
        try:
            report = self._rebuilder.build()
        except ReportgenError as fault:
            self._failed(fault.one_line())
        except Exception as fault:  # noqa: BLE001 - a file that is half written may break anything; the next save mends it
            self._failed(shortened(f"{type(fault).__name__}: {fault}"))
        else:
            for problem in report.warnings:
                self._tell(str(problem))
            self._tell(f"{wording.plural(report.pages, 'page')}, {wording.plural(report.written, 'file')} changed")
            self.bulletin.tell(report.warnings, changed=bool(report.written or report.removed))

    def _failed(self, line: str) -> None:
        self._tell(line)
        self.bulletin.tell((), changed=False, fault=line)


def _watch(project: Project, keeper: _Keeper, stop: threading.Event) -> None:
    """Build again on changes, until the places to watch are others (somebody made or removed a folder)."""
    places, settings = _watched(project), _settings(project)
    changes = watchfiles.watch(
        *places, step=_STEP_MS, debounce=_DEBOUNCE_MS, rust_timeout=_LOOK_MS, yield_on_timeout=True, stop_event=stop
    )
    first = True  # what was saved before the watch began shows in the first build of it
    for found in changes:
        now, moved = _settings(project), _watched(project) != places
        if found or first or moved or now != settings:
            keeper.rebuild()
        settings, first = now, False
        if moved:
            return


def _settings(project: Project) -> float | None:
    """See when the settings were changed; an editor may put another file in their place, so they are looked at by name."""
    try:
        return (project.root / SETTINGS_FILE).stat().st_mtime
    except OSError:
        return None


def _watched(project: Project) -> list[Path]:
    places = [project.site, project.runs, project.kernels, *theme_folders(project.templates)]
    if project.docs:
        places.append(project.docs)
    return [place for place in places if place.is_dir()]
