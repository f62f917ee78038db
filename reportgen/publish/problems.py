"""What is wrong with a site, gathered before anything is written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong: ``where`` is a file with its line, or a page's address."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"
