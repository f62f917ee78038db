"""What the expressions of a page say by themselves, without any record: values typed within ``{{ … }}``, words handed to bindings."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from jinja2 import TemplateSyntaxError, nodes

from reportgen.publish.templates import sandbox

HELD = ("stated", "published", "claim")  # to a reason, to a source, to a record
Said = tuple[str, int]


def typed(body: str) -> list[Said]:
    """List what a page shows through an expression though no binding said it, each with its line.

    A page that cannot be read as a template has none: that is told where it is filled.
    """
    shown = [one for output in _all(body, nodes.Output) for one in output.nodes]
    return [said for one in shown if not isinstance(one, nodes.TemplateData) for said in _by_itself(one)]


def handed(body: str) -> list[Said]:
    """List the words that bindings are handed, each with its line: some of them stand on the page as they are."""
    calls = [one for one in _all(body, nodes.Call) if getattr(one.node, "name", "") not in HELD]
    words = (one for call in calls for one in call.find_all(nodes.Const) if isinstance(one.value, str))
    return list(dict.fromkeys((one.value, one.lineno) for one in words))


def _all(body: str, kind: type[nodes.Node]) -> Iterator[Any]:
    parsed = _parsed(body)
    return iter(()) if parsed is None else parsed.find_all(kind)


@functools.lru_cache(maxsize=1)
def _parsed(body: str) -> nodes.Template | None:
    """Parse a page, which is asked about thrice in a row."""
    try:
        return sandbox().parse(body)
    except TemplateSyntaxError:
        return None


def _by_itself(shown: nodes.Node) -> Iterator[Said]:
    """Leave out what a binding was asked, and by which name its answer is looked into."""
    if isinstance(shown, nodes.Const | nodes.Name):
        yield str(shown.value if isinstance(shown, nodes.Const) else shown.name), shown.lineno
    elif isinstance(shown, nodes.Call) and isinstance(shown.node, nodes.Name):
        return
    elif isinstance(shown, nodes.Call | nodes.Getattr | nodes.Getitem):
        yield from _by_itself(shown.node)
    else:
        for part in shown.iter_child_nodes():
            yield from _by_itself(part)
