"""Every page as a program reads it: valid HTML, nothing inline that a strict policy refuses, every link answered, under any path."""

from __future__ import annotations

from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit
from xml.etree.ElementTree import Element

import pytest
from tinyhtml5.parser import HTMLParser

from reportgen.publish.server import serving
from tests.publish.conftest import Built
from tests.publish.page_kinds import pages_of

BELOW = "some/path/"
LEADING = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src"}
DATA_BLOCKS = ("application/ld+json", "application/json")


def parsed(html: str) -> tuple[Element, list[object]]:
    """Read a page by the rules of the HTML standard; return its tree and every parse error."""
    parser = HTMLParser(namespace_html_elements=False)
    return parser.parse(html), parser.errors


@pytest.fixture(scope="module")
def pages(built: Built, built_study: Built) -> dict[str, tuple[Element, list[object]]]:
    """Read every page of both sites."""
    found = {**pages_of(built.out), **{f"study/{at}": html for at, html in pages_of(built_study.out).items()}}
    return {address: parsed(html) for address, html in found.items()}


def test_the_parser_finds_what_is_wrong() -> None:
    """A block in a paragraph, a stray cell, an attribute twice, an end that nothing began."""
    for body in ("<p><div>x</div></p>", "<table><p>x</p></table>", '<a href="a" href="b">x</a>', "x</b>"):
        assert parsed(f'<!doctype html><html lang="en"><title>x</title><body>{body}</body></html>')[1], body


def test_every_page_is_valid_html(pages: dict[str, tuple[Element, list[object]]]) -> None:
    """No parse error of the standard's own parser."""
    assert {} == {address: errors for address, (_, errors) in pages.items() if errors}


def test_no_page_runs_or_styles_anything_inline(pages: dict[str, tuple[Element, list[object]]]) -> None:
    """Data blocks run nothing; every script and style is a file of the site."""
    for address, (tree, _) in pages.items():
        for element in tree.iter():
            inline = element.tag == "script" and not element.get("src")
            assert not inline or element.get("type") in DATA_BLOCKS, address
            assert element.tag != "style", address
            named = [name for name in element.keys() if name == "style" or name.startswith("on")]  # noqa: SIM118
            assert [] == named, (address, element.tag)


def test_every_image_and_drawing_has_words(pages: dict[str, tuple[Element, list[object]]]) -> None:
    """Of a picture its alternative; a drawing is named, or says that it only decorates."""
    drawings = 0
    for address, (tree, _) in pages.items():
        for element in tree.iter():
            if element.tag == "img":
                assert element.get("alt") is not None, address
            if str(element.tag).endswith("}svg"):
                drawings += 1
                named = element.get("aria-label") or element.get("aria-labelledby") or element.get("aria-hidden")
                assert named, (address, element.attrib)
    assert drawings > 0


@pytest.fixture
def below(built: Built, tmp_path: Path) -> Iterator[str]:
    """Serve the site below a path of its own, and nothing beside it."""
    place = tmp_path / BELOW
    place.parent.mkdir(parents=True)
    place.symlink_to(built.out, target_is_directory=True)
    with serving(tmp_path, port=0) as served:
        yield f"{served}{BELOW}"


def test_under_a_path_every_link_is_answered_and_every_page_reached(below: str, built: Built) -> None:
    """A walk from the first page through all links: none leads out of the path, none is dead, no page is an orphan."""
    waiting, answered, named = [below], {}, set()
    connection = HTTPConnection(urlsplit(below).netloc)
    while waiting:
        address = waiting.pop()
        if address in answered:
            continue
        connection.request("GET", urlsplit(address).path)
        answer = connection.getresponse()
        html = answer.read()
        assert 200 == answer.status, address
        ids, links = reading(html.decode()) if answer.headers["Content-Type"].startswith("text/html") else ([], [])
        answered[address] = set(ids)
        for link in links:
            target, fragment = urldefrag(urljoin(address, link))
            if urlsplit(target).netloc != urlsplit(below).netloc:
                continue
            assert target.startswith(below), (address, link)
            named.add((target, fragment))
            waiting.append(target)
    connection.close()
    assert set() == {(to, place) for to, place in named if place and place not in answered[to]}
    reached = {address.removeprefix(below) for address in answered}
    assert set() == {address for address in pages_of(built.out) if address != "404.html"} - reached


def reading(html: str) -> tuple[list[str], list[str]]:
    """Give the ids and the links of a page."""
    tree, _ = parsed(html)
    ids = [str(one.get("id")) for one in tree.iter() if one.get("id")]
    links = [one.get(LEADING[one.tag]) for one in tree.iter() if one.tag in LEADING]
    return ids, [link for link in links if link is not None]
