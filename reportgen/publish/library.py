"""The records and experiments that pages may speak of, found by name; what a page asked is known, so that it can be kept.

Everything is asked for by a question: what is wanted, and its name. The value found answers it, and the hash of that value tells later whether the answer
is still the same. There is no other way from a page to what was measured or lies in the lab.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import msgspec
from markupsafe import Markup

from reportgen.errors import InputError
from reportgen.model.experiment import Experiment
from reportgen.project import Project, Settings
from reportgen.publish.drawing import AnyChart
from reportgen.publish.hashes import digest
from reportgen.publish.imagined import Imagined
from reportgen.publish.stamp import place_of
from reportgen.publish.view import AttemptView, RecordView

PUBLISHED = "published"


class Question(NamedTuple):
    """What is wanted (one of ``_ANSWERS``) and of what name; of some there is one, and the name is empty."""

    of: str
    name: str = ""


class Known(NamedTuple):
    """A record as far as other pages must know it to speak of it or lead to it."""

    name: str
    experiment: str
    address: str
    current: bool


@dataclass(frozen=True)
class Holdings:
    """Everything measured and declared. ``draw`` gives a chart's inline SVG; ``attempts`` are those of no record.

    ``alone`` holds, by the address of an attempt's page, what a timing attempt that no record uses would say by itself; ``site`` is the folder of what
    people write.
    """

    records: tuple[RecordView, ...]
    attempts: tuple[AttemptView, ...]
    experiments: Mapping[str, Experiment]
    draw: Callable[[AnyChart], str]
    alone: Mapping[str, RecordView]
    project: Project
    site: Path
    imagined: dict[tuple[str, int], Imagined] = field(default_factory=dict)

    def record(self, name: str) -> RecordView | None:
        """Find a record by name: the current one of an experiment, or one that is pinned."""
        experiment, _, slug = name.partition("@")
        for record in self.records:
            if record.experiment == experiment and (record.slug == slug if slug else record.current):
                return record
        return None

    def experiment(self, name: str) -> Experiment | None:
        """Find an experiment: as its record froze it, else as it is declared."""
        frozen = (one.plan.experiment for one in self.records if one.current and one.experiment == name)
        return next(frozen, self.experiments.get(name))

    @cached_property
    def all_attempts(self) -> dict[str, AttemptView]:
        """Every attempt of every kind and status by the address of its page, in the order of experiment and id."""
        found = {attempt.address: attempt for attempt in self.attempts}
        for record in self.records:
            found.update({attempt.address: attempt for attempt in record.all_attempts()})
        return dict(sorted(found.items(), key=lambda one: (one[1].manifest.experiment, one[1].manifest.id)))

    def published(self, dataset: str) -> bytes | None:
        """Read a CSV file of figures published elsewhere; nothing where there is none of that name."""
        path = self.site / PUBLISHED / f"{dataset}.csv"
        return path.read_bytes() if re.fullmatch(r"[A-Za-z0-9_-]+", dataset) and path.is_file() else None

    def place(self, name: str) -> str:
        """Tell whether a path of the lab is a ``folder``, a ``file``, or not there (empty)."""
        return place_of(self.project, name)


_ANSWERS: Mapping[str, Callable[[Holdings, str], Any]] = {
    "records": lambda held, _: held.records,
    "known": lambda held, _: [Known(one.name, one.experiment, one.address, one.current) for one in held.records],
    "line": lambda held, name: [one for one in held.records if one.experiment == name],
    "record": Holdings.record,
    "experiment": Holdings.experiment,
    "experiments": lambda held, _: sorted(held.experiments),
    "attempts": lambda held, _: [*held.all_attempts.values()],
    "attempt": lambda held, name: held.all_attempts.get(name),
    "imported": lambda held, name: [
        one for one in held.all_attempts.values() if one.manifest.imported and one.manifest.experiment == name
    ],
    "alone": lambda held, name: held.alone.get(name),
    "published": Holdings.published,
    "place": Holdings.place,
}

_OUTSIDE = ("published", "place")  # read when they are asked for, so the answer may change while this process lives


class Library:
    """Answers what pages ask of the holdings; every question asked stands in ``asked``, with the hash of its answer."""

    def __init__(self, held: Holdings, digests: dict[Question, str] | None = None) -> None:
        self._held = held
        self._digests: dict[Question, str] = {} if digests is None else digests
        self.asked: dict[Question, str] = {}

    def apart(self) -> Library:
        """Give a library of the same holdings of which nothing was asked yet."""
        return Library(self._held, self._digests)

    def but(self, **changes: Any) -> Library:
        """Give a library in which some of the holdings are others."""
        return Library(replace(self._held, imagined={}, **changes))

    def answered(self, question: Question) -> str:
        """Hash what the answer to a question is."""
        if question.of in _OUTSIDE:
            return _hash(self._answer(question))
        if question not in self._digests:
            self._digests[question] = _hash(self._answer(question))
        return self._digests[question]

    def _answer(self, question: Question) -> Any:
        return _ANSWERS[question.of](self._held, question.name)

    def _ask(self, of: str, name: str = "") -> Any:
        question = Question(of, name)
        answer = self._answer(question)
        heard = _hash(answer) if of in _OUTSIDE else self.answered(question)
        before = self.asked.setdefault(question, heard)
        if before != heard:
            self.asked[question] = f"{before}, then {heard}"  # which is no answer that is ever given
        return answer

    @property
    def settings(self) -> Settings:
        """What the lab says of itself; every page comes from it."""
        return self._held.project.settings

    @property
    def draw(self) -> Callable[[AnyChart], str]:
        """Draw a chart, which holds everything that it shows."""
        return self._held.draw

    @property
    def records(self) -> tuple[RecordView, ...]:
        """Every record whole. A page that wants less asks for less, and need not be made again when another changes."""
        found: tuple[RecordView, ...] = self._ask("records")
        return found

    def known(self) -> list[Known]:
        """Name the records that there are."""
        found: list[Known] = self._ask("known")
        return found

    def line(self, experiment: str) -> list[RecordView]:
        """Every record of an experiment, the current one first."""
        found: list[RecordView] = self._ask("line", experiment)
        return found

    def record(self, name: str) -> RecordView:
        """Find a record: ``q6k_dot`` for the current one, ``q6k_dot@1a2b3c`` for one that a page pins.

        Raises
        ------
        InputError
            There is none.
        """
        found: RecordView | None = self._ask("record", name)
        if found is None:
            known = ", ".join(record.name for record in self.known()) or "none"
            raise InputError(f"no record {name!r}", remedy=f"records are: {known}")
        return found

    def experiment(self, name: str) -> Experiment:
        """Find an experiment: as its record froze it, else as it is declared.

        Raises
        ------
        InputError
            There is none.
        """
        found: Experiment | None = self._ask("experiment", name)
        if found is None:
            known = ", ".join(self._ask("experiments")) or "none"
            raise InputError(f"no experiment {name!r}", remedy=f"experiments are: {known}")
        return found

    def imagined(self, record: RecordView, number: int) -> Imagined:
        """Give the record of that number which could have been measured in place of a record."""
        key = (record.name, number)
        if key not in self._held.imagined:
            self._held.imagined[key] = Imagined(record, number)
        return self._held.imagined[key]

    def attempts_beside(self) -> list[AttemptView]:
        """Every attempt that no record speaks through, by experiment and id."""
        speaking = {attempt.address for record in self.records for attempt in record.attempts}
        return [attempt for attempt in self.all_attempts() if attempt.address not in speaking]

    def all_attempts(self) -> list[AttemptView]:
        """Every attempt of every kind and status, by experiment and id."""
        found: list[AttemptView] = self._ask("attempts")
        return found

    def imported(self, experiment: str) -> list[AttemptView]:
        """Every attempt of an experiment that was imported."""
        found: list[AttemptView] = self._ask("imported", experiment)
        return found

    def alone(self, address: str) -> RecordView | None:
        """Give what the timing attempt whose page is at ``address`` would say by itself; nothing of one that a record uses."""
        found: RecordView | None = self._ask("alone", address)
        return found

    def published(self, dataset: str) -> bytes | None:
        """Read figures that were published elsewhere; nothing where there are none of that name."""
        found: bytes | None = self._ask("published", dataset)
        return found

    def place(self, name: str) -> str:
        """Tell whether a path from the lab's root is a ``folder``, a ``file``, or not there (empty)."""
        found: str = self._ask("place", name)
        return found


def _hash(value: Any) -> str:
    return digest([msgspec.json.encode(value)])


def root_of(address: str) -> str:
    """Lead from the page at ``address`` to the site's first page: ``../`` for each folder, ``./`` for none."""
    return "../" * len(PurePosixPath(address).parts) or "./"


def svg_markup(drawn: str) -> Markup:
    """Mark a chart that this program drew as HTML."""
    return Markup(drawn)  # noqa: S704 - every text in it was escaped by the renderer
