"""A site handed out on this machine alone, under the headers that hosts are told to send; with a ``Bulletin``, pages follow the builds."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from reportgen.errors import InputError
from reportgen.publish import hosting
from reportgen.publish.bulletin import Bulletin

LOOPBACK = "127.0.0.1"
PORT = 8000
NAMES = (LOOPBACK, "localhost")
LIVE = "/~reportgen/"
LIVE_FILES = {"reload.js": "text/javascript; charset=utf-8", "problems.css": "text/css; charset=utf-8"}
_SCRIPT = f'<script src="{LIVE}reload.js" data-changed="%d"></script>'.encode()
_END = b"</body>"
_WAIT_S = 10.0


class _Handler(SimpleHTTPRequestHandler):
    """Serves files under the policy that a published site should have, and says nothing on the terminal."""

    def __init__(self, *arguments: object, bulletin: Bulletin | None = None, directory: str) -> None:
        self._bulletin = bulletin
        super().__init__(*arguments, directory=directory)  # type: ignore[arg-type]

    def end_headers(self) -> None:
        for name, value in hosting.HEADERS.items():
            self.send_header(name, value)
        self.send_header("Cache-Control", "no-cache" if self._bulletin is None else "no-store")
        super().end_headers()

    def do_GET(self) -> None:
        """Answer pages of this machine alone: a name that somebody else made point here gets nothing."""
        if self._bulletin is None:
            super().do_GET()
        elif urlsplit(f"//{self.headers.get('Host', '')}").hostname not in NAMES:
            self.send_error(HTTPStatus.FORBIDDEN)
        elif self.path.startswith(LIVE):
            self._live(self.path.removeprefix(LIVE), self._bulletin)
        elif not self._page(self._bulletin):
            super().do_GET()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Say that a page is missing as a host does: with the site's own page, where it has one."""
        lost = Path(self.directory) / "404.html"
        if code != HTTPStatus.NOT_FOUND or self._bulletin is None or not lost.is_file():
            super().send_error(code, message, explain)
            return
        self._send(code, "text/html; charset=utf-8", _followed(lost, self._bulletin))

    def guess_type(self, path: str | os.PathLike[str]) -> str:
        """Say what a file is, as hosts are told to."""
        return hosting.TYPES.get(Path(path).suffix) or super().guess_type(path)

    def log_message(self, *_arguments: object) -> None:
        """Stay silent: builds are what the user wants to read about."""

    def _page(self, bulletin: Bulletin) -> bool:
        """Send an HTML page with the script that follows builds; tell whether the address is one."""
        path = Path(self.translate_path(self.path))
        if path.is_dir() and urlsplit(self.path).path.endswith("/"):
            path /= "index.html"
        if path.suffix != ".html":
            return False
        try:
            html = _followed(path, bulletin)
        except OSError:
            return False
        self._send(HTTPStatus.OK, "text/html; charset=utf-8", html)
        return True

    def _live(self, name: str, bulletin: Bulletin) -> None:
        if name == "events":
            self._tell(bulletin)
        elif name in LIVE_FILES:
            self._send(HTTPStatus.OK, LIVE_FILES[name], (Path(__file__).parent / "live" / name).read_bytes())
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _tell(self, bulletin: Bulletin) -> None:
        """Send what builds say as it comes, until the page is left."""
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        count = 0
        while True:
            count, said = bulletin.after(count, _WAIT_S)
            try:
                self.wfile.write(f"data: {said}\n\n".encode() if said else b": here\n\n")
                self.wfile.flush()
            except OSError:
                return

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _followed(path: Path, bulletin: Bulletin) -> bytes:
    """Read a page, with the script that follows builds from the one told before it was read: one that ends while a browser loads it is not missed."""
    script = _SCRIPT % bulletin.changed
    html = path.read_bytes()
    return html.replace(_END, script + _END, 1) if _END in html else html + script


@contextmanager
def serving(out: Path, port: int = PORT, bulletin: Bulletin | None = None) -> Iterator[str]:
    """Serve the folder ``out`` on this machine alone while the block runs; gives the address. Port 0 takes a free one.

    Raises
    ------
    InputError
        The port is taken.
    """
    handler = functools.partial(_Handler, bulletin=bulletin, directory=str(out))
    try:
        server = ThreadingHTTPServer((LOOPBACK, port), handler)
    except (OSError, OverflowError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "ports are 0 to 65535"
        raise InputError(f"port {port} cannot be used: {why}", remedy="name another with --port") from fault
    thread = threading.Thread(target=functools.partial(server.serve_forever, poll_interval=0.05), daemon=True)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
