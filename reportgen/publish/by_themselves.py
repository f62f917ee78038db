"""What attempts that no record speaks through say by themselves, found when a page asks.

A thousand of them take more memory than everything else of a site; computed, each lies in the cache and is read in a moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from reportgen.archive.load import Attempt
from reportgen.model.result import Result
from reportgen.publish.view import AttemptView, RecordView


class ByThemselves(Mapping[str, RecordView]):
    """What an attempt says alone, by the address of its page; one whose rows say nothing by themselves is not there.

    ``find`` gives the result of an attempt, or nothing; the last one found is kept.
    """

    def __init__(self, find: Callable[[Attempt], Result | None]) -> None:
        self._find = find
        self._there: dict[str, tuple[Attempt, AttemptView]] = {}
        self._last: tuple[str, Result | None] = ("", None)

    def add(self, attempt: Attempt, view: AttemptView) -> None:
        """Add an attempt that is shown by ``view``."""
        self._there[view.address] = attempt, view

    def __getitem__(self, address: str) -> RecordView:
        attempt, view = self._there[address]
        if self._last[0] != address:
            self._last = address, self._find(attempt)
        result = self._last[1]
        if result is None:
            raise KeyError(address)
        return RecordView(
            experiment=attempt.manifest.experiment,
            slug=attempt.manifest.plan[:6],
            address=address,
            current=False,
            plan=attempt.plan,
            result=result,
            attempts=[view],
            replications=[],
        )

    def __iter__(self) -> Iterator[str]:
        return (address for address in self._there if self.get(address) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)
