"""One page of each kind that a built site has: what a test of all pages visits where visiting all would take long."""

from __future__ import annotations

import re
from pathlib import Path

_KIND = re.compile(r'<body class="([a-z0-9 -]+)"')


def pages_of(out: Path) -> dict[str, str]:
    """Give the HTML of every page of a site by its address (``report/``; ``404.html`` is one of its own)."""
    found = {}
    for path in sorted(out.rglob("*.html")):
        address = path.relative_to(out).as_posix()
        found[address.removesuffix("index.html")] = path.read_text("utf-8")
    return found


def kind_of(html: str) -> str:
    """Say which kind a page is."""
    match = _KIND.search(html)
    assert match is not None, html[:300]
    return match[1]


def kinds(out: Path) -> dict[str, str]:
    """Give the address of the longest page of each kind by that kind: the one that most can be wrong with."""
    longest: dict[str, tuple[int, str]] = {}
    for address, html in pages_of(out).items():
        longest[kind_of(html)] = max(longest.get(kind_of(html), (0, "")), (len(html), address))
    return {kind: address for kind, (_, address) in sorted(longest.items())}
