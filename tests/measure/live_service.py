"""A small HTTP service on loopback that tests close, watch and break: ``python live_service.py FOLDER``.

It writes its port and process id under FOLDER and obeys ``FOLDER/control.json``: ``refuse_close`` answers 503, ``hang`` does not
answer, ``refuse_open`` answers 500, ``hold_open`` does not open yet, ``ignore`` says yes and does nothing, ``requests`` are under way at least. GET /work
holds a connection open until ``FOLDER/release`` exists.
"""

from __future__ import annotations

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

FOLDER = Path(sys.argv[1])


class Live(ThreadingHTTPServer):
    """The service: whether it is closed, and how many requests it is working on."""

    daemon_threads = True
    closed = False
    under_way = 0
    calls: ClassVar[list[str]] = []


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Live

    def do_POST(self) -> None:
        """Close or open."""
        self.server.calls.append(self.path)
        if self.path == "/close" and control().get("refuse_close"):
            self.answer(503, {})
            return
        while self.path == "/open" and control().get("hold_open"):
            time.sleep(0.02)
        if self.path == "/open" and control().get("refuse_open"):
            self.answer(500, {})
            return
        if not control().get("ignore"):
            self.server.closed = self.path == "/close"
        self.answer(200, {})

    def do_GET(self) -> None:
        """Tell the status, or work until released."""
        if self.path == "/work":
            self.work()
            return
        while control().get("hang"):
            time.sleep(0.02)
        server = self.server
        requests = server.under_way + control().get("requests", 0)
        self.answer(
            200,
            {
                "closed": server.closed,
                "requests": requests,
                "calls": server.calls,
                "model": control().get("model", "first"),
                "uptime_s": time.monotonic(),
            },
        )

    def work(self) -> None:
        """Refuse where closed; else be under way."""
        if self.server.closed:
            self.answer(503, {})
            return
        self.server.under_way += 1
        (FOLDER / "working").touch()
        while not (FOLDER / "release").exists():
            time.sleep(0.01)
        self.server.under_way -= 1
        self.answer(200, {})

    def answer(self, status: int, document: dict[str, Any]) -> None:
        """Send a JSON document."""
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def control() -> dict[str, Any]:
    """Read what the test asks for."""
    try:
        found: dict[str, Any] = json.loads((FOLDER / "control.json").read_text("utf-8"))
    except FileNotFoundError:
        return {}
    return found


def main() -> None:
    """Serve until killed; the port is the one asked for, or the system's choice."""
    server = Live(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0), Handler)
    (FOLDER / "service.pid").write_text(f"{os.getpid()}\n", "utf-8")
    fresh = FOLDER / "port.new"
    fresh.write_text(str(server.server_address[1]), "utf-8")
    fresh.replace(FOLDER / "port")
    server.serve_forever(poll_interval=0.05)


if __name__ == "__main__":
    main()
