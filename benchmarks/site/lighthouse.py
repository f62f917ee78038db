"""Run Lighthouse on one page of each kind of a built site, as on a phone; print its four scores and every audit that is not passed.

Lighthouse comes from npm and needs a Chromium. The site is served on loopback, gzipped as hosts do, under the headers that hosts are told to send.

    npm install --prefix NODE lighthouse
    python benchmarks/site/lighthouse.py NODE [SITE [KIND ...]]

Lighthouse slows the processor down fourfold, to that of a phone; on a machine whose processors are taken already, CPU_SLOWDOWN=1 leaves that to the
neighbours.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from reportgen.publish import hosting

CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
PACKED = (".html", ".css", ".js", ".svg", ".json")


class Host(SimpleHTTPRequestHandler):
    """Hands out a site as its host would: text gzipped, with the site's headers."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send a file."""
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        packed = path.suffix in PACKED
        body = gzip.compress(path.read_bytes()) if packed else path.read_bytes()
        self.send_response(HTTPStatus.OK)
        kind = hosting.TYPES.get(path.suffix) or self.guess_type(path)
        self.send_header("Content-Type", f"{kind}; charset=utf-8" if kind.startswith("text/") else kind)
        self.send_header("Content-Length", str(len(body)))
        if packed:
            self.send_header("Content-Encoding", "gzip")
        kept = "/static/fonts/*" if self.path.startswith("/static/fonts/") else "/*"
        for name, value in {**hosting.HEADERS, "Cache-Control": hosting.CACHED[kept]}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Stay silent."""


def kinds(site: Path) -> dict[str, str]:
    """Give the address of the longest page of each kind."""
    longest: dict[str, tuple[int, str]] = {}
    for path in sorted(site.rglob("*.html")):
        html = path.read_text("utf-8")
        match = re.search(r'<body class="([a-z0-9 -]+)"', html)
        address = path.relative_to(site).as_posix().removesuffix("index.html")
        if match:
            longest[match[1]] = max(longest.get(match[1], (0, "")), (len(html), address))
    return {kind: address for kind, (_, address) in sorted(longest.items())}


def audit(node: Path, url: str) -> Any:
    """Run Lighthouse once; return its report."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "report.json"
        chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome") or ""
        command = [
            str(node / "node_modules" / ".bin" / "lighthouse"), url, "--quiet", "--output=json", f"--output-path={told}",
            "--chrome-flags=--headless=new --no-sandbox", f"--only-categories={','.join(CATEGORIES)}",
            f"--throttling.cpuSlowdownMultiplier={os.environ.get('CPU_SLOWDOWN', '4')}",
        ]  # fmt: skip
        subprocess.run(command, check=True, env=os.environ | {"CHROME_PATH": chromium}, capture_output=True)
        return json.loads(told.read_text("utf-8"))


def unpassed(report: Any, category: str) -> list[str]:
    """Name the audits of a category that count and are not passed, with what they measured."""
    weighed = {one["id"] for one in report["categories"][category]["auditRefs"] if one["weight"] > 0}
    audits = [report["audits"][name] for name in sorted(weighed)]
    low = [one for one in audits if one["score"] is not None and one["score"] < 1]
    return [f"{one['id']} {one.get('displayValue', '')} ({one['score']:.2f})" for one in low]


def main() -> None:
    """Audit a page of each kind and print a table."""
    node, site = Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "public").resolve()
    wanted = sys.argv[3:]
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Host, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"{'kind':<10}" + "".join(f"{name:>16}" for name in CATEGORIES) + "  page")
    for kind, address in kinds(site).items():
        if wanted and kind not in wanted:
            continue
        report = audit(node, f"http://127.0.0.1:{server.server_address[1]}/{address}")
        scores = [round(100 * report["categories"][name]["score"]) for name in CATEGORIES]
        print(f"{kind:<10}" + "".join(f"{score:>16}" for score in scores) + f"  {address}", flush=True)
        for name in CATEGORIES:
            for said in unpassed(report, name):
                print(f"{'':<10}{name}: {said}", flush=True)
    server.shutdown()


if __name__ == "__main__":
    main()
