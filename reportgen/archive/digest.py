r"""The plan's digest: what it covers and how to compute it again.

It is the SHA-256, in lower-case hexadecimal, of the UTF-8 bytes of these lines, in this order, each ended by a line
feed; ``\0`` is a NUL byte:

1. for each file of the plan, in the order of the code points of its path: ``path\0sha256``, where ``path`` is relative
   to the kernels folder with ``/`` between its parts and ``sha256`` the lower-case hexadecimal hash of the file's bytes;
2. ``options\0json``, where ``json`` is the list of compile options as JSON without spaces, everything beyond ASCII
   escaped as ``\uXXXX`` (in Python ``json.dumps(options, separators=(",", ":"))``);
3. ``order\0method``, the name of the order method.

Files are the experiment's TOML, its ``experiment.py``, the sources of all arms and the declared headers. The first
option is ``backend=<name>``, so that one experiment run by two backends has two plans.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from reportgen.model.plan import PlanFile


def plan_digest(files: Sequence[PlanFile], options: Sequence[str], order_method: str) -> str:
    """Digest of a plan, as this module's docstring defines it.

    Parameters
    ----------
    files:
        The plan's files in any order, with distinct paths.
    options:
        ``Plan.backend_options``: ``backend=<name>``, then the compile options in their order.
    order_method:
        ``Plan.order_method``.

    Raises
    ------
    ValueError
        Two files have one path.
    """
    paths = [file.path for file in files]
    if len(set(paths)) != len(paths):
        raise ValueError("a plan's files must have distinct paths")
    lines = [f"{file.path}\0{file.sha256}\n" for file in sorted(files, key=lambda file: file.path)]
    lines.append(f"options\0{json.dumps(list(options), separators=(',', ':'))}\n")
    lines.append(f"order\0{order_method}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()
