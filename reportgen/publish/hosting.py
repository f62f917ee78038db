"""What a web server must be told of a site: the policy of its pages, how long copies may be kept, types, and where addresses moved.

``netlify.toml`` says the headers to one host; ``serve`` sends the same. ``_redirects`` is part of the site, since it follows the records.
"""

from __future__ import annotations

from reportgen.publish.library import Library
from reportgen.publish.policy import POLICY

REDIRECTS = "_redirects"
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # Programs of others read records from their own pages.
    "Access-Control-Allow-Origin": "*",
}
# No address of a site changes with its content, so every copy is asked after; fonts alone never change.
CACHED = {"/*": "public, max-age=0, must-revalidate", "/static/fonts/*": "public, max-age=31536000, immutable"}
TYPES = {
    ".parquet": "application/vnd.apache.parquet",
    ".csv": "text/csv; charset=utf-8",
    ".jsonl": "application/jsonl; charset=utf-8",
    ".toml": "application/toml; charset=utf-8",
    ".cff": "application/yaml; charset=utf-8",
    ".cu": "text/plain; charset=utf-8",
    ".py": "text/x-python; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
}


def redirects(library: Library) -> bytes:
    """Write ``_redirects`` as Netlify and its like read it, for addresses that have no page of their own.

    An experiment's name leads to the record that it means now: a superseded record stays where it is, and whoever came by the name gets
    the one that followed. An attempt is found by its id, whether or not a record has taken it up since.
    """
    lines = []
    for record in library.records:
        folder = record.address.removesuffix(f"{record.slug}/")
        if record.current:
            lines.append(f"/{folder} /{record.address} 302")
        lines += [f"/attempts/{one.manifest.id}/ /{one.address} 302" for one in record.all_attempts()]
    return "".join(f"{line}\n" for line in sorted(set(lines))).encode()
