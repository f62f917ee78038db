"""What pages may load and do: a content security policy, once for the headers of hosts and for the pages themselves.

A host that sends no headers of a site's own, such as GitHub Pages, leaves a page with what the page says of itself.
"""

from __future__ import annotations

import base64
import hashlib

from reportgen.publish.svg import STYLE

# Charts of their own carry one style, the same in all, which is allowed by its hash; pages have none.
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
_DIRECTIVES = {
    "default-src": "'none'",
    "style-src": f"'self' 'sha256-{_STYLE_HASH}'",
    "font-src": "'self'",
    "img-src": "'self'",
    "script-src": "'self'",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
# Browsers take these from a header alone, and complain of them in a page.
_HEADER_ALONE = ("frame-ancestors", "report-uri", "sandbox")


def _said(directives: dict[str, str]) -> str:
    return "; ".join(f"{name} {value}" for name, value in directives.items())


POLICY = _said(_DIRECTIVES)
IN_PAGE = _said({name: value for name, value in _DIRECTIVES.items() if name not in _HEADER_ALONE})
