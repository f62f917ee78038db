"""The commands: the only place that prints and exits. Imports lazily, so that ``--help`` is quick."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
