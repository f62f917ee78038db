"""What the link checker reads from finished pages: what a browser would follow and nothing else."""

from __future__ import annotations

from reportgen.publish import links

HEAD = '<!doctype html><html lang="en"><head><title>Home</title></head>'


def problems(body: str) -> list[str]:
    """Check a site of one page."""
    page = links.read("index.html", "/", f"{HEAD}<body>{body}</body></html>".encode())
    found = links.check({"index.html": page}, {"index.html", "style.css"}, {})
    return [problem.what for problem in found]


def test_a_dead_link_is_found_whatever_stands_before_it_in_its_tag() -> None:
    """A bracket in a quoted value ends no tag, and neither case nor line ends hide an address."""
    written = (
        '<a title="1 > 0" href="gone/">x</a>', "<a title='a \"b\" > c' href='gone/'>x</a>", "<A\nHREF=gone/>x</A>",
        '<!-- over --><a href="gone/">x</a>', '<script>if (a<b) { x = "</p>" }</script><a href="gone/">x</a>',
        '<svg><use href="gone/"/></svg>',
    )  # fmt: skip
    assert ["dead link: gone/"] * len(written) == [text for body in written for text in problems(body)]


def test_what_no_browser_follows_is_no_link() -> None:
    """Comments, programs and words that only look like attributes."""
    assert [] == problems(
        '<!-- <a href="gone/">x</a> --><script>y = "<a href=\'gone/\'>"</script><style>a > b {}</style>'
    )
    assert [] == problems(
        '<p data-href="gone/">href="gone/"</p><a href="style.css">x</a><a href="#here" id="here">x</a>'
    )


def test_repeated_ids_and_images_without_words_are_found() -> None:
    """Once each, in the order of the page."""
    said = problems('<p id="a">x</p><img><p id="a">y</p>')
    assert ["image without alternative text: an image", "id 'a' stands 2 times"] == said
