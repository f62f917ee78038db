"""A cycle of 40 routers for two decode tokens: six of 256 experts each, their weights, and a table of the distinct experts; README.md has the contract."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reportgen.calls import Arm, Fixture, KernelCall, Output

Arrays = dict[str, NDArray[Any]]

LAYERS, TOKENS, SLOTS, EXPERTS = 40, 2, 6, 256
ROUTES = TOKENS * SLOTS
CASES = 32
TOKENS_THREADS, TABLE_THREADS = 64, 96  # a warp for each token; a third for the table
NONE = -1
STEP = 0.125  # logits are multiples of it, so that many are equal
FAVOUR = 6.0  # above what is drawn for the others
WEIGHT_RELATIVE = 4e-6  # README.md, "Tolerance"
TABLE = ("unique", "masks", "slot_to_unique", "count")


def _stepped(drawn: NDArray[np.float64], most: float) -> NDArray[np.float32]:
    return (np.clip(np.round(drawn / STEP), -most / STEP, most / STEP) * STEP).astype(np.float32)


def inputs(fixture: Fixture, rng: np.random.Generator) -> Arrays:
    """Logits of every layer, [40, 2, 256]; where the class says so, six favoured ones a token, so many of them shared by both."""
    logits = _stepped(rng.standard_normal((LAYERS, TOKENS, EXPERTS)), FAVOUR / 2)
    if fixture["shared"] == "drawn":
        return {"logits": logits}
    for layer in range(LAYERS):
        numbers = rng.permutation(EXPERTS)
        for token, favoured in enumerate((numbers[:SLOTS], numbers[SLOTS - fixture["shared"] :][:SLOTS])):
            logits[layer, token, favoured] += np.float32(FAVOUR + 0.5)
    return {"logits": logits}


def cases(fixture: Fixture, rng: np.random.Generator) -> list[Arrays]:
    """Thirty-two further draws of the same class for the same graphs."""
    return [inputs(fixture, rng) for _ in range(CASES)]


def outputs(fixture: Fixture) -> dict[str, Output]:
    """Weights under a tolerance, everything else exact. Entries of the table beyond ``count`` are -1, and 0 in ``masks``."""
    del fixture
    exact = {
        "ids": (LAYERS, TOKENS, SLOTS),
        "unique": (LAYERS, ROUTES),
        "masks": (LAYERS, ROUTES),
        "slot_to_unique": (LAYERS, TOKENS, SLOTS),
        "count": (LAYERS,),
    }
    found = {name: Output(shape, "int32", absolute=0.0, relative=0.0) for name, shape in exact.items()}
    return {"weights": Output((LAYERS, TOKENS, SLOTS), "float32", absolute=0.0, relative=WEIGHT_RELATIVE)} | found


def written(arm: Arm, fixture: Fixture) -> tuple[str, ...]:
    """Name what every router gives, and the table where one is made."""
    del fixture
    return ("weights", "ids") if without_table(arm) else ("weights", "ids", *TABLE)


def without_table(arm: Arm) -> bool:
    """Whether an arm makes no table."""
    return (arm.of or arm.name) in ("router", "shell", "floor")


def table_of(ids: NDArray[np.int64]) -> dict[str, Any]:
    """Table of one layer's routes, [2, 6]: distinct experts as they are met, who chose each, each slot's place among them, and how many."""
    unique = list(dict.fromkeys(ids.ravel().tolist()))
    masks = [sum(1 << token for token in range(TOKENS) if expert in ids[token]) for expert in unique]
    rest = ROUTES - len(unique)
    return {
        "unique": unique + [NONE] * rest,
        "masks": masks + [0] * rest,
        "slot_to_unique": [[unique.index(expert) for expert in row] for row in ids.tolist()],
        "count": len(unique),
    }


def reference(fixture: Fixture, inputs: Arrays) -> Arrays:
    """Find the six largest in descending order, the lower number first among equals; their softmax in float64; the table by a dictionary."""
    del fixture
    logits = inputs["logits"].astype(np.float64)
    ids = np.argsort(-logits, axis=-1, kind="stable")[..., :SLOTS]
    chosen = np.take_along_axis(logits, ids, axis=-1)
    powers = np.exp(chosen - chosen[..., :1])
    tables = [table_of(layer) for layer in ids]
    found = {name: np.array([table[name] for table in tables], np.float64) for name in TABLE}
    return {"weights": powers / powers.sum(axis=-1, keepdims=True), "ids": ids.astype(np.float64)} | found


def kernels(arm: Arm, fixture: Fixture, buffers: dict[str, Any]) -> list[KernelCall]:
    """List 40 routers, one block each; the floor launches nothing as often."""
    del fixture
    names = ("logits", "weights", "ids", *TABLE)
    args = [
        () if arm.role == "floor" else (*(buffers[name] for name in names), np.int32(layer)) for layer in range(LAYERS)
    ]
    threads = TOKENS_THREADS if (arm.of or arm.name) in ("router", "floor") else TABLE_THREADS
    return [KernelCall(arm.symbol, given, (1, 1, 1), (threads, 1, 1)) for given in args]


def bytes_and_flops(fixture: Fixture) -> tuple[int, int]:
    """Logits read, weights and experts written, of 40 layers; six maxima over 256 values, an exponential, a sum and a quotient a route."""
    del fixture
    return LAYERS * (4 * TOKENS * EXPERTS + 8 * ROUTES), LAYERS * TOKENS * SLOTS * (EXPERTS + 3)
