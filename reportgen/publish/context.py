"""What templates may see: frozen dataclasses of finished strings, one per page kind.

Templates do no arithmetic and decide nothing. A variable in a template carries the name of its class in lower case
(``row`` is a ``Row``); the variable ``page`` is the class named in ``list_context.PAGES`` for that template. A test holds every
attribute that a template reads against these fields, and every field against the templates.
"""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

LONG = 24
SIFTED = 10


@dataclass(frozen=True)
class Link:
    """A text that leads somewhere; ``current`` marks the page one is on."""

    text: str
    href: str
    current: bool = False


@dataclass(frozen=True)
class Entry:
    """A section as the contents list it; ``number`` is empty where none is shown."""

    number: str
    text: str
    href: str


@dataclass(frozen=True)
class Phrase:
    """A piece of a sentence; ``code`` sets a name in fixed width, so that no name reads as a word."""

    text: str
    code: bool = False


@dataclass(frozen=True)
class Saying:
    """A sentence or two, piece by piece."""

    phrases: tuple[Phrase, ...]


@dataclass(frozen=True)
class SliceAnswer:
    """What came out in one slice: its name, what is known of its noise, a line an arm."""

    title: str
    floor: str
    lines: tuple[Saying, ...]


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    ``value`` is the figure at full precision (empty for words), ``href`` leads to its derivation, ``mark`` is a verdict's
    sign, ``note`` a second line in small type, ``tone`` a class name that never carries meaning alone.
    """

    text: str
    value: str = ""
    href: str = ""
    mark: str = ""
    note: str = ""
    tone: str = ""
    code: bool = False


@dataclass(frozen=True)
class Column:
    """A column: ``figure`` columns stand in line on the decimal point; ``sense`` words what a figure's sign or size says."""

    text: str
    figure: bool = False
    sense: str = ""


@dataclass(frozen=True)
class Row:
    """A row: ``head`` names it, and begins a group where ``first`` holds; figures lead to its ``anchor``."""

    head: Cell
    cells: tuple[Cell, ...]
    first: bool = False
    anchor: str = ""


@dataclass(frozen=True)
class Table:
    """A table with its caption; ``stub`` is the heading over the row heads, ``lead`` stands beneath the caption, ``note`` below."""

    caption: str
    stub: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""
    lead: str = ""
    anchor: str = ""

    def __post_init__(self) -> None:
        if any(len(row.cells) != len(self.columns) for row in self.rows):
            raise ValueError(f"table {self.caption!r}: every row has a cell for every column")

    @property
    def long(self) -> bool:
        """Whether it scrolls in a window of its own, its headings in sight."""
        return len(self.rows) > LONG

    @property
    def counted(self) -> str:
        """How much of it waits where it is folded."""
        return f"{len(self.rows)} row{'' if len(self.rows) == 1 else 's'}"

    @property
    def sifted(self) -> bool:
        """Whether it has so many rows that a reader may want to see some of them only."""
        return len(self.rows) >= SIFTED


@dataclass(frozen=True)
class Figure:
    """A chart: inline SVG that follows the page's colours, its address as a file, its numbers beside it, their files (``data``)."""

    anchor: str
    caption: str
    svg: Markup
    href: str
    table: Table | None
    data: tuple[Link, ...] = ()


@dataclass(frozen=True)
class Fact:
    """A term and what holds of it; ``code`` sets that in fixed width, ``name`` the term; ``value`` is machine-readable."""

    term: str
    text: str
    value: str = ""
    code: bool = False
    anchor: str = ""
    name: bool = False


@dataclass(frozen=True)
class FactGroup:
    """Facts under one heading."""

    title: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Download:
    """A file of a record with what is in it."""

    name: str
    href: str
    holds: str
    length: str
    length_bytes: str
    sha256: str


@dataclass(frozen=True)
class Checking:
    """How a record can be checked: what the button costs, and a row a road."""

    cost: str
    roads: Table


@dataclass(frozen=True)
class History:
    """Where a record stands among those of its experiment: the one that took its name, the one it followed, and what changed since."""

    superseded: Link | None
    earlier: Link | None
    words: str
    tables: tuple[Table, ...]


@dataclass(frozen=True)
class Frame:
    """What every page has around its own content.

    ``root`` leads from the page to the site's first page. ``improve_href`` and ``source_href`` are empty where the lab
    names no repository, ``url`` (the page's whole address) where it does not say where its site lies; ``picture`` is
    that of a link preview with its words. ``trail`` leads up from the page to the first one. ``banner`` is the loud line of a page that shows simulated records.
    """

    site_title: str
    tagline: str
    title: str
    summary: str
    kind: str
    root: str
    navigation: tuple[Link, ...]
    trail: tuple[Link, ...]
    banner: str
    date: str
    source: str
    source_href: str
    improve_href: str
    data_licence: str
    code_licence: str
    url: str = ""
    picture: Link | None = None

    @property
    def feed(self) -> bool:
        """Whether the site has a feed, which needs whole addresses as well."""
        return bool(self.url)


@dataclass(frozen=True)
class Study:
    """A study as the first page lists it: the answer in a sentence, then slice by slice."""

    title: str
    href: str
    question: str
    answer: Saying
    slices: tuple[SliceAnswer, ...]
    device: str
    date: str
    batches: str
    record_href: str


@dataclass(frozen=True)
class Remark:
    """What must be read beside a result, and where more of it stands."""

    text: str
    link: Link


@dataclass(frozen=True)
class RecordLine:
    """The record at the head of a report: what was measured on, when and how much, and what must be read beside it."""

    href: str
    name: str
    device: str
    date: str
    batches: str
    zip_href: str
    fixtures_href: str
    modes: str = ""
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True)
class Citation:
    """How to cite a page: a sentence, a BibTeX entry, and of a record its ``CITATION.cff``."""

    text: str
    bibtex: str
    file: Link | None


@dataclass(frozen=True)
class HomePage:
    """The first page: what the lab is for and its studies."""

    frame: Frame
    body: Markup
    studies: tuple[Study, ...]


@dataclass(frozen=True)
class TextPage:
    """A page that people write: report, finding, method or note; ``contents`` lead to the sections of a long one, ``notes`` tells of footnotes."""

    frame: Frame
    body: Markup
    contents: tuple[Entry, ...]
    records: tuple[RecordLine, ...]
    citation: Citation
    sums: tuple[Table, ...] = ()
    notes: bool = False


@dataclass(frozen=True)
class RecordPage:
    """One record in full."""

    frame: Frame
    question: str
    standing: str
    report: Link | None
    facts: tuple[FactGroup, ...]
    arms: Table
    checks: Table
    outcome: tuple[Table, ...]
    claims: Table
    figures: tuple[Figure, ...]
    derivations: tuple[Table, ...]
    formulas: tuple[Fact, ...]
    fixtures: Link
    positions: tuple[Table, ...]
    position_figures: tuple[Figure, ...]
    timelines: tuple[Figure, ...]
    left_out: tuple[Table, ...]
    left_out_words: str
    remarks: tuple[Remark, ...]
    telemetry: tuple[Table, ...]
    hashes: Table
    attempts: Table
    replications: tuple[Table, ...]
    downloads: tuple[Download, ...]
    patches: Table
    checking: Checking
    history: History
    citation: Citation
    dataset: Markup
    study: tuple[Table, ...] = ()
    study_figures: tuple[Figure, ...] = ()
    study_formulas: tuple[Fact, ...] = ()
    counters: tuple[Table, ...] = ()


@dataclass(frozen=True)
class FixturesPage:
    """The fixtures of a record one by one, and its processes: what is read more rarely than the rest, and longer."""

    frame: Frame
    record: Link
    figures: tuple[Figure, ...]
    cells: tuple[Table, ...]
    processes: tuple[Table, ...]


@dataclass(frozen=True)
class AttemptPage:
    """One attempt, whatever became of it."""

    frame: Frame
    status: str
    reason: str
    resumed: str
    record: Link | None
    facts: tuple[FactGroup, ...]
    modes: Table
    alone_words: str
    alone: tuple[Table, ...]
    imported: tuple[Table, ...]
    imported_words: tuple[str, ...]
    checks: Table
    telemetry: Table
    notes: Table
    events: Table
    files: Table
    code: Table
    counters: tuple[Table, ...]
    counters_file: Link | None
