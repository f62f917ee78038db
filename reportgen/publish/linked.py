"""A figure within words: its full value, and the link to its derivation."""

from __future__ import annotations

from markupsafe import Markup


def linked(text: str, value: float | str, href: str) -> Markup:
    """Write a figure that leads to where it is derived; ``value`` is it in full."""
    shown = value if isinstance(value, str) else repr(value)
    return Markup('<a class="number" href="{}"><data value="{}">{}</data></a>').format(href, shown, text)


def valued(text: str, value: float | str) -> Markup:
    """Write a figure with its full value where it is derived itself."""
    return Markup('<data value="{}">{}</data>').format(value if isinstance(value, str) else repr(value), text)
