"""A folder of plain Markdown becomes pages: titles, sections, links between files, figures that say whence they come."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reportgen.errors import InputError
from reportgen.project import open_project
from reportgen.publish.build import build
from tests.publish.site_lab import make_lab

HOME = (
    '+++\ntitle = "First"\naddress = ""\nkind = "home"\nsummary = "S."\ndate = 2026-03-02\n+++\n\nSee [docs](docs/).\n'
)
INDEX = """# All of it

What there is.

## How to

- [Begin](begin.md), [once more](begin.md#the-end)
- [Deeper](more/README.md)

## Words

- [Words](words.md)
"""
BEGIN = """# Begin `here`

First steps, with [words](words.md "a word") and the [first page](../site/index.md).

## One

[Up](./), [a file](table.json), [a source](../kernels/pair/README.md), [elsewhere](https://example.org/).

## The end

{{ this is no template }} -- and "these" are no quotes.

## Three

<!-- file: lab/run.sh -->
```sh
sleep 5 ms
```
"""
FILES = {
    "README.md": INDEX,
    "begin.md": BEGIN,
    "words.md": "# Words\n\nTwelve of them.\n",
    "more/README.md": "# Deeper\n\nDown [up](../begin.md), [on](one.md).\n",
    "more/one.md": "# One more\n\nSee [its folder](README.md).\n",
    "table.json": "{}\n",
    ".hidden.md": "no page",
}


def lab_of(root: Path, files: dict[str, str], settings: str = '[site]\ndocs = "docs"\n') -> Path:
    """Make a lab with a folder of documentation and nothing measured."""
    make_lab(root, {"index.md": HOME}, measured=False)
    (root / "reportgen.toml").write_text(settings, "utf-8")
    (root / "kernels/pair").mkdir(parents=True)
    (root / "kernels/pair/README.md").write_text("Two arms.", "utf-8")
    for name, text in files.items():
        path = root / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


def problems(root: Path) -> list[str]:
    """Build strictly; give what is wrong."""
    return [str(one) for one in build(open_project(root), root / "public", strict=True).problems]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the folder."""
    root = lab_of(tmp_path_factory.mktemp("lab"), FILES)
    assert [] == problems(root)
    return root / "public"


def test_files_become_pages_under_docs(out: Path) -> None:
    """`README.md` is its folder's page; a hidden file is none; other files are published as they are."""
    pages = {path.relative_to(out / "docs").as_posix() for path in out.glob("docs/**/*") if path.is_file()}
    assert {
        "index.html", "begin/index.html", "words/index.html", "more/index.html", "more/one/index.html", "table.json",
    } == pages  # fmt: skip
    page = (out / "docs/begin/index.html").read_text("utf-8")
    assert "<h1>Begin here</h1>" in page
    assert '<meta name="description" content="First steps, with words and the first page.">' in page
    assert "{{ this is no template }} -- and &quot;these&quot;" in page
    assert '<p class="marker"><code>lab/run.sh</code></p>' in page


def test_links_lead_from_file_to_file_and_from_page_to_page(out: Path) -> None:
    """To pages, files of the folder and pages of the site; what the site does not hold is named, not linked."""
    page = (out / "docs/begin/index.html").read_text("utf-8")
    for link in (
        '<a href="../../docs/words/" title="a word">words</a>', '<a href="../.././">first page</a>',
        '<a href="../../docs/">Up</a>', '<a href="../../docs/table.json">a file</a>',
        '<span title="in the sources: ../kernels/pair/README.md">a source</span>',
        '<a href="https://example.org/">elsewhere</a>',
    ):  # fmt: skip
        assert link in page


def test_sections_are_those_of_the_first_page(out: Path) -> None:
    """They stand beside every page, a page of a folder belongs where the folder is listed, and the next page follows."""
    begin, one = ((out / f"docs/{name}/index.html").read_text("utf-8") for name in ("begin", "more/one"))
    assert ["How to", "Words"] == re.findall(r"<h2[^>]*>(.*?)</h2>", begin.partition('<nav class="chapters"')[2])
    assert 'Next: <a href="../../docs/more/">Deeper</a>' in begin
    assert 'aria-current="page">Begin here</a>' in begin
    assert '<h2 class="current">How to</h2>' in one
    assert ["#one", "#the-end", "#three"] == re.findall(
        r'<a href="(#[a-z-]+)"', begin.partition('aria-label="On this page"')[2].partition("</nav>")[0]
    )
    assert '<a href="./docs/">Docs</a>' in (out / "index.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("more/one.md", "# A\n\nOne\n[two](gone.md).\n", "docs/more/one.md:3: dead link: gone.md"),
        ("words.md", "# A\n\n[x](../../etc/passwd)\n", "docs/words.md:3: dead link: ../../etc/passwd"),
        ("words.md", "# A\n\n[x](begin.md#nowhere)\n", "docs/words.md:3: no anchor 'nowhere' on that page"),
        ("more/one.md", "No title.\n", "docs/more/one.md:1: does not begin with a heading"),
        ("alone.md", "# A\n\nUnlisted.\n", "docs/alone.md:1: no page leads here"),
        ("words.md", "# A\n\nIt took\n3 % less.\n", "docs/words.md:4: '3 %' reads like a measured percentage: say at"),
        ("words.md", "# A\n\n| a |\n| --- |\n| 5 ms |\n", "docs/words.md:5: '5 ms' reads like a measured time"),
        ("words.md", "# A\n\n## B\n\n<!-- figures: a rule -->\n\n5 ms.\n\n## C\n\n6 ms.\n", "docs/words.md:11: '6 ms'"),
        ("words.md", "# A\n\n<!-- figures: guessed -->\n\n5 ms.\n", "docs/words.md:3: figures are said to come from no"),
        ("words.md", "# A\n\n<!-- figures: by `docs/gone.py` -->\n", "docs/words.md:3: figures are said to come from docs/g"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, name: str, text: str, said: str) -> None:
    """Dead links, missing anchors, pages without a title or a way to them, figures from nowhere."""
    assert [said] == [one[: len(said)] for one in problems(lab_of(tmp_path, FILES | {name: text}))]


def test_figures_that_say_whence_they_come_and_those_in_code_stand(tmp_path: Path) -> None:
    """A marker serves its section and what is below it."""
    words = "# A\n\n## B\n\n<!-- figures: by `docs/table.json` -->\n\n5 ms.\n\n### C\n\n6 ms.\n\n## D\n\n`7 ms`\n\n    8 ms\n"
    assert [] == problems(lab_of(tmp_path, FILES | {"words.md": words}))


def test_a_repository_is_where_other_sources_are_linked_to(tmp_path: Path) -> None:
    """File and folder."""
    begin = "# A\n\n[x](../kernels/pair/README.md) [y](../kernels/)\n\n## The end\n\n## Three\n"
    settings = 'repository = "https://example.org/lab"\n[site]\ndocs = "docs"\n'
    root = lab_of(tmp_path, FILES | {"begin.md": begin}, settings)
    build(open_project(root), root / "public", strict=False)
    page = (root / "public/docs/begin/index.html").read_text("utf-8")
    assert '<a href="https://example.org/lab/blob/main/kernels/pair/README.md">x</a>' in page
    assert '<a href="https://example.org/lab/tree/main/kernels">y</a>' in page


def test_a_folder_without_a_table_of_contents_and_one_outside_are_refused(tmp_path: Path) -> None:
    """Each says what is asked for."""
    root = lab_of(tmp_path, {"begin.md": "# A\n\nB.\n"})
    assert "docs: has no README.md, which lists its pages" in problems(root)
    (root / "reportgen.toml").write_text('[site]\ndocs = "../docs"\n', "utf-8")
    with pytest.raises(InputError, match="must be a folder below the lab's"):
        open_project(root)
