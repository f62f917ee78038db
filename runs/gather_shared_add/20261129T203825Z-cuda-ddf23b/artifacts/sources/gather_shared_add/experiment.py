"""A cycle of 43 layers for two decode tokens: routes to rows, their weighted sum, the shared expert's row; README.md has the contract."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reportgen.calls import Arm, Fixture, KernelCall, Output

Arrays = dict[str, NDArray[Any]]

LAYERS, TOKENS, SLOTS, HIDDEN = 43, 2, 6, 4096
ROUTES = TOKENS * SLOTS
EXPERTS, FIRST_EXPERT, LOCAL_EXPERTS = 256, 64, 64  # the second of four devices
REMOTE = -1
CASES = 12
VALUES, THREADS, REMAP_THREADS = 8, 128, 96  # as in layer.cuh
NAN_BITS = 0x7FFF  # rows that no route has: whoever reads one shows it

# Local experts of the two tokens, by letter; a letter is one expert.
LOCAL = {
    "same-typical": ("abc", "abc"),
    "disjoint-typical": ("abc", "def"),
    "cross-row-overlap": ("abcd", "abef"),
    "within-row-duplicate": ("aabc", "ddef"),
    "all-duplicate": ("aaaaaa", "aaaaaa"),
    "six-local": ("abcdef", "ghijkl"),
    "all-remote": ("", ""),
}


def to_bf16(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Round to the nearest bf16, ties to even; bits of finite values."""
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits: NDArray[np.uint16]) -> NDArray[np.float32]:
    """Widen bits of bf16; exact."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def rows_of(ids: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Row of each route of each layer, [layers, 2, 6], and the first row of each local expert, [layers, 65].

    Rows are those of a grouped product: expert after expert, and within one in the order of tokens and slots. A remote route has none (-1).
    """
    rows = np.full((len(ids), ROUTES), REMOTE, np.int32)
    first = np.zeros((len(ids), LOCAL_EXPERTS + 1), np.int32)
    for layer, chosen in enumerate(ids.reshape(len(ids), ROUTES) - FIRST_EXPERT):
        local = [(int(expert), route) for route, expert in enumerate(chosen) if 0 <= expert < LOCAL_EXPERTS]
        for row, (_, route) in enumerate(sorted(local)):
            rows[layer, route] = row
        first[layer] = np.searchsorted(sorted(expert for expert, _ in local), np.arange(LOCAL_EXPERTS + 1))
    return rows.reshape(-1, TOKENS, SLOTS), first


def _ids(route: str, rng: np.random.Generator) -> NDArray[np.int32]:
    """Expert numbers of one layer, [2, 6]: the class's local experts among remote ones, in any slots."""
    local = rng.permutation(LOCAL_EXPERTS)[:ROUTES] + FIRST_EXPERT
    away = np.setdiff1d(np.arange(EXPERTS), np.arange(FIRST_EXPERT, FIRST_EXPERT + LOCAL_EXPERTS))
    remote = rng.permutation(away)[:ROUTES].reshape(TOKENS, SLOTS)
    chosen = [
        [*(int(local[ord(letter) - ord("a")]) for letter in letters), *remote[token, len(letters) :]]
        for token, letters in enumerate(LOCAL[route])
    ]
    return np.stack([rng.permutation(row) for row in chosen]).astype(np.int32)


def inputs(fixture: Fixture, rng: np.random.Generator) -> Arrays:
    """Experts, weights that sum to 1, experts' output rows, the first layer's shared row; and the rows of the routes, for ceilings alone."""
    ids = np.stack([_ids(fixture["route"], rng) for _ in range(LAYERS)])
    drawn = rng.uniform(0.05, 1, (LAYERS, TOKENS, SLOTS))
    given_rows, _ = rows_of(ids)
    rows = to_bf16(rng.standard_normal((ROUTES, HIDDEN), np.float32))
    rows[given_rows.max(initial=REMOTE) + 1 :] = NAN_BITS
    return {
        "ids": ids,
        "weights": (drawn / drawn.sum(axis=-1, keepdims=True)).astype(np.float32),
        "rows": rows,
        "shared": to_bf16(rng.standard_normal((TOKENS, HIDDEN), np.float32)),
        "given_rows": given_rows,
    }


def cases(fixture: Fixture, rng: np.random.Generator) -> list[Arrays]:
    """Twelve further draws of everything, of the same class of routes, for the same graphs."""
    return [inputs(fixture, rng) for _ in range(CASES)]


def outputs(fixture: Fixture) -> dict[str, Output]:
    """All exact. ``hidden`` holds bits of bf16, which NumPy lacks: equal numbers are equal bits."""
    del fixture
    return {
        "hidden": Output((LAYERS, TOKENS, HIDDEN), "uint16", absolute=0.0, relative=0.0),
        "route_rows": Output((LAYERS, TOKENS, SLOTS), "int32", absolute=0.0, relative=0.0),
        "offsets": Output((LAYERS, LOCAL_EXPERTS + 1), "int32", absolute=0.0, relative=0.0),
    }


def scratch(fixture: Fixture) -> dict[str, Output]:
    """Name what the incumbent's gather hands to its add: bf16 bits."""
    del fixture
    return {"routed": Output((TOKENS, HIDDEN), "uint16", absolute=0.0, relative=0.0)}


def reference(fixture: Fixture, inputs: Arrays) -> Arrays:
    """Follow the contract in NumPy: products and sums rounded to float32 one by one in the order of slots, then to bf16, then the shared row added."""
    del fixture
    route_rows, offsets = rows_of(inputs["ids"])
    experts, above = from_bf16(inputs["rows"]), inputs["shared"]
    hidden = np.empty((LAYERS, TOKENS, HIDDEN), np.uint16)
    for layer in range(LAYERS):
        for token in range(TOKENS):
            total = np.zeros(HIDDEN, np.float32)
            for row, weight in zip(route_rows[layer, token], inputs["weights"][layer, token], strict=True):
                if row != REMOTE:
                    total = total + weight * experts[row]
            hidden[layer, token] = to_bf16(from_bf16(to_bf16(total)) + from_bf16(above[token]))
        above = hidden[layer]
    exact = {"hidden": hidden, "route_rows": route_rows, "offsets": offsets}
    return {name: array.astype(np.float64) for name, array in exact.items()}


FLOOR_LAUNCHES = {"floor": 3, "floor_two": 2, "floor_one": 1, "floor_programmatic": 3}


def kernels(arm: Arm, fixture: Fixture, buffers: dict[str, Any]) -> list[KernelCall]:
    """List 43 layers, each reading as its shared row what the one before wrote."""
    del fixture
    made = [_floor(arm) if arm.role == "floor" else _layer(arm, layer, buffers) for layer in range(LAYERS)]
    return [call for calls in made for call in calls]


def _layer(arm: Arm, layer: int, buffers: dict[str, Any]) -> list[KernelCall]:
    """List the calls of one layer; an arm's name says which."""
    named = arm.of or arm.name
    deleted, unfused = named.startswith("ceiling"), named.startswith("unfused")
    rows = buffers["given_rows" if deleted else "route_rows"]
    args = {
        "_remap": ("ids", "route_rows", "offsets"),
        "_add": ("routed", "shared", "hidden"),
        "": ("rows", rows, "weights", "routed") if unfused else ("rows", rows, "weights", "shared", "hidden"),
    }
    suffixes = ["_remap", "", "_add"] if unfused else ["_remap", ""][deleted:]
    return [
        _call(arm, suffix, (*(buffers[one] if isinstance(one, str) else one for one in args[suffix]), np.int32(layer)))
        for suffix in suffixes
    ]


def _call(arm: Arm, suffix: str, args: tuple[Any, ...]) -> KernelCall:
    grid, threads = (
        ((1, 1, 1), REMAP_THREADS) if suffix == "_remap" else ((HIDDEN // VALUES // THREADS, TOKENS, 1), THREADS)
    )
    named = arm.of or arm.name
    staged_bytes = 2 * ROUTES * VALUES * THREADS if named == "fused_all_rows" and not suffix else 0
    programmatic = {"programmatic_stream_serialization": 1} if "programmatic" in named else {}
    return KernelCall(f"{arm.symbol}{suffix}", args, grid, (threads, 1, 1), staged_bytes, programmatic)


def _floor(arm: Arm) -> list[KernelCall]:
    """Empty launches of one layer, on the grids of remap, gather and add."""
    return [_call(arm, "", ()) for _ in range(FLOOR_LAUNCHES[arm.name])]


@functools.cache
def _compiled_layer() -> Any:
    """Compile one layer of the same composition, once a process."""
    import torch  # noqa: PLC0415 - peer processes alone have it
    from torch._inductor import config  # noqa: PLC0415 - where the rounding of the compiler's own fusions is set

    # The contract: what is rounded to bf16 stays so, and products are rounded before they are added.
    config.emulate_precision_casts = True

    def layer(ids: Any, weights: Any, rows: Any, shared: Any, *written: Any) -> None:
        hidden, route_rows, offsets = written
        expert = ids.reshape(ROUTES) - FIRST_EXPERT
        local = (expert >= 0) & (expert < LOCAL_EXPERTS)
        expert = torch.where(local, expert, LOCAL_EXPERTS)
        at = torch.arange(ROUTES, device=ids.device)
        before = (expert[None] < expert[:, None]) | ((expert[None] == expert[:, None]) & (at[None] < at[:, None]))
        row = before.sum(1)
        route_rows.copy_(torch.where(local, row, REMOTE).reshape(TOKENS, SLOTS))
        offsets.copy_((expert[None] < torch.arange(LOCAL_EXPERTS + 1, device=ids.device)[:, None]).sum(1))
        chosen = rows[torch.where(local, row, 0)].reshape(TOKENS, SLOTS, HIDDEN).float()
        chosen = torch.where(local.reshape(TOKENS, SLOTS, 1), chosen, 0.0)
        total = weights[:, 0, None] * chosen[:, 0]
        for slot in range(1, SLOTS):
            total = total + weights[:, slot, None] * chosen[:, slot]
        hidden.copy_(total.to(torch.bfloat16) + shared)

    return torch.compile(layer, dynamic=False)


def call(arm: Arm, fixture: Fixture, buffers: dict[str, Any], stream: int) -> Callable[[], None]:
    """Let PyTorch's compiler make one layer of the same contract, and run it 43 times; it writes the declared outputs."""
    import torch  # noqa: PLC0415 - peer processes alone have it

    del arm, fixture, stream

    def tensor(array: Any) -> Any:
        return torch.as_tensor(array, device="cuda")

    def bf16(array: Any) -> Any:
        return tensor(array.view("int16")).view(torch.bfloat16)

    rows, above, layers = bf16(buffers["rows"]), bf16(buffers["shared"]), []
    for layer in range(LAYERS):
        written = bf16(buffers["hidden"][layer])
        places = (tensor(buffers[name][layer]) for name in ("route_rows", "offsets"))
        layers.append((tensor(buffers["ids"][layer]), tensor(buffers["weights"][layer]), rows, above, written, *places))
        above = written
    compiled = _compiled_layer()
    compiled(
        *layers[1]
    )  # first, since its part of ``offsets`` begins at no multiple of 16 bytes: else the others would be copied

    def launch() -> None:
        for tensors in layers:
            compiled(*tensors)

    return launch


def bytes_and_flops(fixture: Fixture) -> tuple[int, int]:
    """Of 43 layers: each local route's row, the shared row and the sum once, experts and weights; a product and a sum a value and route, and the add."""
    routes = sum(len(letters) for letters in LOCAL[fixture["route"]])
    read = 2 * HIDDEN * (routes + 2 * TOKENS) + 8 * ROUTES
    return LAYERS * read, LAYERS * HIDDEN * (2 * routes + TOKENS)
