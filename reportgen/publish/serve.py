"""The site on this machine alone, built again whenever something that it comes from changes."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import watchfiles

from reportgen.errors import InputError, ReportgenError
from reportgen.project import Project
from reportgen.publish import hosting, wording
from reportgen.publish.build import build
from reportgen.publish.theme_folders import theme_folders

LOOPBACK = "127.0.0.1"
PORT = 8000


class _Handler(SimpleHTTPRequestHandler):
    """Serves files under the policy that a published site should have, and says nothing on the terminal."""

    def end_headers(self) -> None:
        for name, value in hosting.HEADERS.items():
            self.send_header(name, value)
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def guess_type(self, path: str | os.PathLike[str]) -> str:
        """Say what a file is, as hosts are told to."""
        return hosting.TYPES.get(Path(path).suffix) or super().guess_type(path)

    def log_message(self, *_arguments: object) -> None:
        """Stay silent: builds are what the user wants to read about."""


@contextmanager
def serving(out: Path, port: int = PORT) -> Iterator[str]:
    """Serve the folder ``out`` on this machine alone while the block runs; gives the address. Port 0 takes a free one.

    Raises
    ------
    InputError
        The port is taken.
    """
    handler = functools.partial(_Handler, directory=str(out))
    try:
        server = ThreadingHTTPServer((LOOPBACK, port), handler)
    except (OSError, OverflowError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "ports are 0 to 65535"
        raise InputError(f"port {port} cannot be used: {why}", remedy="name another with --port") from fault
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def serve(project: Project, port: int, tell: Callable[[str], object], *, out: Path | None = None) -> None:
    """Build into ``out`` (``public/`` by default), serve it, and build again on every change, until interrupted.

    ``tell`` gets lines for the user: the address, and what each build did or what stopped it.

    Raises
    ------
    InputError
        The port is taken.
    """
    folder = out or project.root / "public"
    _rebuild(project, folder, tell)
    with serving(folder, port) as address:
        tell(f"serving {address} (Ctrl-C ends it)")
        for _ in watchfiles.watch(*_watched(project)):
            _rebuild(project, folder, tell)


def _rebuild(project: Project, out: Path, tell: Callable[[str], object]) -> None:
    try:
        report = build(project, out, strict=False)
    except ReportgenError as fault:
        tell(fault.one_line())
        return
    for problem in report.warnings:
        tell(str(problem))
    tell(f"{wording.plural(report.pages, 'page')}, {wording.plural(report.written, 'file')} changed")


def _watched(project: Project) -> list[Path]:
    places = [
        project.site,
        *([project.docs] if project.docs else []),
        project.runs,
        project.kernels,
        *theme_folders(project.templates),
    ]
    return [place for place in places if place.is_dir()]
