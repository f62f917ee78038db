"""What the processes of the peer group time: the incumbent beside implementations of others, less the cells that were refused. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from reportgen.model.plan import Plan

CACHE = "library-cache"
# JAX would take most of the memory for itself. Compilers of others keep what they made for the attempt's later processes, and leave no process of their own behind. A library's
# kernels number thousands: those in use are loaded by the runs before a graph is captured.
_FIXED = {
    "CUDA_MODULE_LOADING": "LAZY",
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
    "TORCHINDUCTOR_FX_GRAPH_CACHE": "1",
    "TORCHINDUCTOR_AUTOGRAD_CACHE": "1",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
}
_FOLDERS = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton", "CUPY_CACHE_DIR": "cupy"}

Refusal = Mapping[str, Any]


def peer_cells(plan: Plan, refused: Iterable[Refusal] = ()) -> dict[str, list[str]]:
    """Arms that a process of the peer group times, by fixture: the incumbent, then every peer that is not ``refused`` there.

    A fixture on which no peer is left is left out. A refusal has ``arm``, ``fixture`` and ``reason``.
    """
    gone = {(one["fixture"], one["arm"]) for one in refused}
    found = {
        fixture: [arms[0], *(arm for arm in arms[1:] if (fixture, arm) not in gone)]
        for fixture, arms in plan.peers_by_fixture.items()
    }
    return {fixture: arms for fixture, arms in found.items() if len(arms) > 1}


def library_settings() -> dict[str, str]:
    """Environment variables of a process that loads libraries of others."""
    return dict(_FIXED)


def library_folders(work: Path) -> dict[str, str]:
    """Further variables of such a process: caches in the attempt's scratch folder, which are cold in its first one."""
    return {name: str(work / CACHE / folder) for name, folder in _FOLDERS.items()}
