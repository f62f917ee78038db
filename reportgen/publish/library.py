"""The records and experiments that pages may speak of, found by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from markupsafe import Markup

from reportgen.errors import InputError
from reportgen.model.experiment import Experiment
from reportgen.project import Settings
from reportgen.publish.drawing import AnyChart
from reportgen.publish.imagined import Imagined
from reportgen.publish.view import AttemptView, RecordView


@dataclass(frozen=True)
class Library:
    """Everything measured and declared. ``draw`` gives a chart's inline SVG; ``attempts`` are those of no record.

    ``alone`` holds, by the address of an attempt's page, what a timing attempt that no record uses would say by itself. ``site`` is the
    folder of what people write, ``settings`` what the lab says of itself.
    """

    records: tuple[RecordView, ...]
    attempts: tuple[AttemptView, ...]
    experiments: Mapping[str, Experiment]
    draw: Callable[[AnyChart], str]
    alone: Mapping[str, RecordView] = field(default_factory=dict)
    site: Path = Path("site")
    settings: Settings = field(default_factory=Settings)
    _imagined: dict[tuple[str, int], Imagined] = field(default_factory=dict)

    def record(self, name: str) -> RecordView:
        """Find a record: ``q6k_dot`` for the current one, ``q6k_dot@1a2b3c`` for one that a page pins.

        Raises
        ------
        InputError
            There is none.
        """
        experiment, _, slug = name.partition("@")
        for record in self.records:
            if record.experiment == experiment and (record.slug == slug if slug else record.current):
                return record
        known = ", ".join(record.name for record in self.records) or "none"
        raise InputError(f"no record {name!r}", remedy=f"records are: {known}")

    def experiment(self, name: str) -> Experiment:
        """Find an experiment: as its record froze it, else as it is declared.

        Raises
        ------
        InputError
            There is none.
        """
        for record in self.records:
            if record.current and record.experiment == name:
                return record.plan.experiment
        if name not in self.experiments:
            known = ", ".join(sorted(self.experiments)) or "none"
            raise InputError(f"no experiment {name!r}", remedy=f"experiments are: {known}")
        return self.experiments[name]

    def imagined(self, record: RecordView, number: int) -> Imagined:
        """Give the record of that number which could have been measured in place of a record."""
        key = (record.name, number)
        if key not in self._imagined:
            self._imagined[key] = Imagined(record, number)
        return self._imagined[key]

    def attempts_beside(self) -> list[AttemptView]:
        """Every attempt that no record speaks through, by experiment and id."""
        speaking = {attempt.address for record in self.records for attempt in record.attempts}
        return [attempt for attempt in self.all_attempts() if attempt.address not in speaking]

    def all_attempts(self) -> list[AttemptView]:
        """Every attempt of every kind and status, by experiment and id."""
        found = {attempt.address: attempt for attempt in self.attempts}
        for record in self.records:
            found.update({attempt.address: attempt for attempt in record.all_attempts()})
        return sorted(found.values(), key=lambda attempt: (attempt.manifest.experiment, attempt.manifest.id))


def root_of(address: str) -> str:
    """Lead from the page at ``address`` to the site's first page: ``../`` for each folder, ``./`` for none."""
    return "../" * len(PurePosixPath(address).parts) or "./"


def svg_markup(drawn: str) -> Markup:
    """Mark a chart that this program drew as HTML."""
    return Markup(drawn)  # noqa: S704 - every text in it was escaped by the renderer
