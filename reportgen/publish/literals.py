"""What the expressions of a page say by themselves, without any record, and what they may not do; found before any is evaluated."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from jinja2 import TemplateSyntaxError, nodes

from reportgen.publish.templates import sandbox

HELD = ("stated", "published", "claim")  # to a reason, to a source, to a record
LOOKED_INTO = ("protocol", "experiment")  # bindings that give several figures by name
STATEMENTS = (
    nodes.Macro, nodes.CallBlock, nodes.FilterBlock, nodes.AssignBlock, nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends,
    nodes.Block, nodes.ScopedEvalContextModifier, nodes.EvalContextModifier, nodes.ExprStmt,
)  # fmt: skip
MOST_LOOPS = 2
Said = tuple[str, int]


def typed(body: str) -> list[Said]:
    """List what a page shows through an expression though no binding said it, each with its line.

    A page that cannot be read as a template has none: that is told where it is filled.
    """
    shown = [one for output in _all(body, nodes.Output) for one in output.nodes]
    return [said for one in shown if not isinstance(one, nodes.TemplateData) for said in _by_itself(one)]


def barred(body: str) -> list[Said]:
    """List the statements by which a page could alter what bindings say, or never end, each with its line."""
    found = [(f"{_name(one)} is not for pages", one.lineno) for one in _all(body, STATEMENTS)]
    found += [("text is joined by writing it side by side, not by ~", one.lineno) for one in _all(body, nodes.Concat)]
    for loop in _all(body, nodes.For):
        if loop.recursive or _depth(loop) > MOST_LOOPS:
            found.append((f"loops stand at most {MOST_LOOPS} deep, and none calls itself", loop.lineno))
    called = {one.node.name for one in _all(body, nodes.Call) if isinstance(one.node, nodes.Name)}
    for name in _all(body, nodes.Name):
        if name.ctx != "load" and name.name in called:
            found.append((f"{name.name!r} is the name of what a page calls, and stays so", name.lineno))
    return list(dict.fromkeys(found))


def handed(body: str) -> list[Said]:
    """List the words that a page's expressions hold, each with its line: some of them stand on the page as they are.

    What is given to ``stated``, ``published`` and ``claim`` is left out: it is held to something.
    """
    tree = _read(body)
    words = () if tree is None else (one for one in _unheld(tree) if isinstance(one.value, str))
    return list(dict.fromkeys((one.value, one.lineno) for one in words))


def _unheld(node: nodes.Node) -> Iterator[nodes.Const]:
    if isinstance(node, nodes.Const):
        yield node
    if not (isinstance(node, nodes.Call) and getattr(node.node, "name", "") in HELD):
        for part in node.iter_child_nodes():
            yield from _unheld(part)


@functools.lru_cache(maxsize=1)
def _read(body: str) -> nodes.Template | None:
    """Parse a page; the same one is asked about several times in a row, and none of the answers changes it."""
    try:
        return sandbox().parse(body)
    except (TemplateSyntaxError, RecursionError):
        return None


def _all(body: str, kind: Any) -> Iterator[Any]:
    tree = _read(body)
    return iter(()) if tree is None else tree.find_all(kind)


def _name(node: nodes.Node) -> str:
    return "{% " + type(node).__name__.lower() + " %}"


def _depth(loop: nodes.For) -> int:
    return 1 + max((_depth(inner) for inner in loop.find_all(nodes.For)), default=0)


def _by_itself(shown: nodes.Node) -> Iterator[Said]:
    """Let through what a binding says as it says it: not worked out, cut or changed on the page."""
    if isinstance(shown, nodes.CondExpr):
        for part in (shown.expr1, shown.expr2):
            yield from () if part is None else _by_itself(part)
    elif not _said_by_binding(shown):
        yield _written(shown), shown.lineno


def _said_by_binding(shown: nodes.Node) -> bool:
    if isinstance(shown, nodes.Getattr | nodes.Getitem):
        return _looked_into(shown.node)
    return isinstance(shown, nodes.Call) and isinstance(shown.node, nodes.Name)


def _looked_into(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Call) and getattr(node.node, "name", "") in LOOKED_INTO


def _written(node: nodes.Node) -> str:
    """Name what is shown: the value or name itself, else what is done to it."""
    if isinstance(node, nodes.Const | nodes.Name):
        return str(node.value if isinstance(node, nodes.Const) else node.name)
    inner = next(node.find_all((nodes.Const, nodes.Name)), None)
    return f"{type(node).__name__.lower()} of {'nothing' if inner is None else _written(inner)}"
