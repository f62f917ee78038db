"""What is wrong with a site, gathered before anything is written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong: ``where`` is a file with its line, or a page's address.

    What is not ``grave`` is told and fails no build.
    """

    where: str
    what: str
    grave: bool = True

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" if self.grave else f"{self.where}: warning: {self.what}"
