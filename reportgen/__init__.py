"""Measure kernel ideas against the kernel in use, archive every batch, publish what was found.

``open_record`` opens an attempt or a record as data frames (docs/python.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reportgen.opened import OpenRecord, open_record

__all__ = ["OpenRecord", "__version__", "open_record"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Load what opens records when it is first asked for: the timed process imports this package, and nothing else of it."""
    if name not in {"OpenRecord", "open_record"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from reportgen import opened  # noqa: PLC0415 - see above

    return getattr(opened, name)
