"""What tells others of the site: an Atom feed of what people wrote about studies, and a sitemap. Both need whole addresses."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from reportgen.project import Settings
from reportgen.publish.frames import FEED, url
from reportgen.publish.listing import STUDIES
from reportgen.publish.search import Indexed

SITEMAP = "sitemap.xml"
_ATOM = "http://www.w3.org/2005/Atom"
_SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"


def files(pages: Sequence[Indexed], settings: Settings) -> dict[str, bytes]:
    """Write feed and sitemap by address; neither where the settings do not say where the site lies."""
    if not settings.address:
        return {}
    return {FEED: feed(pages, settings), SITEMAP: sitemap(pages, settings)}


def feed(pages: Sequence[Indexed], settings: Settings) -> bytes:
    """Write the feed (RFC 4287): reports, findings and notes, the latest first; a page's day stands for its moment."""
    told = [page for page in pages if page.group == STUDIES and page.date]
    told.sort(key=lambda page: (page.date, page.address), reverse=True)
    root = ET.Element("feed", {"xmlns": _ATOM, "xml:lang": "en"})
    _put(root, "title", settings.title)
    if settings.tagline:
        _put(root, "subtitle", settings.tagline)
    _put(root, "id", url(settings, ""))
    ET.SubElement(root, "link", {"rel": "alternate", "type": "text/html", "href": url(settings, "")})
    ET.SubElement(root, "link", {"rel": "self", "type": "application/atom+xml", "href": url(settings, FEED)})
    _put(root, "updated", _moment(max((page.date for page in pages if page.date), default="1970-01-01")))
    for name in settings.authors or [settings.title]:
        _put(ET.SubElement(root, "author"), "name", name)
    for page in told:
        entry = ET.SubElement(root, "entry")
        _put(entry, "title", page.title)
        _put(entry, "id", url(settings, page.address))
        ET.SubElement(entry, "link", {"rel": "alternate", "type": "text/html", "href": url(settings, page.address)})
        _put(entry, "updated", _moment(page.date))
        _put(entry, "summary", page.summary)
    return _written(root)


def sitemap(pages: Sequence[Indexed], settings: Settings) -> bytes:
    """Write the sitemap (sitemaps.org, 0.9) of every page, with its day."""
    root = ET.Element("urlset", {"xmlns": _SITEMAP})
    for page in sorted(pages, key=lambda one: one.address):
        place = ET.SubElement(root, "url")
        _put(place, "loc", url(settings, page.address))
        if page.date:
            _put(place, "lastmod", page.date)
    return _written(root)


def _put(parent: ET.Element, tag: str, text: str) -> None:
    ET.SubElement(parent, tag).text = text


def _moment(day: str) -> str:
    return f"{day}T00:00:00Z"


def _written(root: ET.Element) -> bytes:
    ET.indent(root, "")
    text = ET.tostring(root, "unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()
