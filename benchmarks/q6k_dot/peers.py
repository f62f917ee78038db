"""How good is the incumbent of ``q6k_dot``? Its time beside plainer kernels, and beside a product of decoded weights.

Run from the repository's root: ``python benchmarks/q6k_dot/peers.py``. Prints medians over mirrored rounds of this
one process, and ratios to the incumbent: no record, and good for telling factors, not per cents.
"""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from reportgen.calls import Arm, Buffer, Fixture
from reportgen.project import find_experiment, open_project, read_experiment

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FOLDER = ROOT / "kernels" / "q6k_dot"
HEADERS = ROOT / "reportgen" / "measure" / "backends"
ROUNDS = 21
PEERS = ("value_by_value", "unpack_first", "four_lanes")


class Argument(ctypes.Union):
    """``reportgen_arg``."""

    _fields_ = (("p", ctypes.c_void_p), ("i", ctypes.c_int64), ("f", ctypes.c_double))


def load_experiment() -> Any:
    """Load the experiment's functions by path."""
    spec = importlib.util.spec_from_file_location("q6k_dot_experiment", FOLDER / "experiment.py")
    if spec is None or spec.loader is None:
        sys.exit(f"{FOLDER}: no experiment.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compile_kernel(source: Path, folder: Path) -> ctypes.CDLL:
    """Compile with the plan's options."""
    options = read_experiment(find_experiment(open_project(ROOT), "q6k_dot")).compile.options
    library = folder / f"{source.stem}.so"
    command = [shutil.which("cc") or "cc", *options, "-shared", "-fPIC", f"-I{HEADERS}", f"-I{FOLDER}"]
    subprocess.run([*command, source, "-o", library], check=True)
    return ctypes.CDLL(str(library))


def call_kernel(function: Callable[[object], object], arguments: object, memory: object) -> None:
    """Call a kernel; ``memory`` is named so that what the arguments point to stays alive."""
    del memory
    function(arguments)


def contenders(q6k: Any, fixture: Fixture, folder: Path) -> dict[str, Callable[[], object]]:
    """Bind the incumbent, its peers and NumPy on float32 weights to one set of inputs; compared before they are timed."""
    arrays = q6k.inputs(fixture, np.random.default_rng(fixture.seed))
    wanted = q6k.reference(fixture, arrays)["y"]
    output = q6k.outputs(fixture)["y"]
    found: dict[str, Callable[[], object]] = {}
    sources = {"q6k_dot_incumbent": FOLDER / "incumbent.c", "q6k_dot_both": FOLDER / "both.c"}
    sources |= {f"q6k_peer_{peer}": HERE / f"{peer}.c" for peer in PEERS}
    for symbol, source in sources.items():
        arrays["y"] = np.full(output.shape, np.nan, np.float32)
        (call,) = q6k.kernels(Arm(symbol, "peer", symbol), fixture, {})
        arguments = (Argument * len(call.args))()
        for slot, value in zip(arguments, call.args, strict=True):
            if isinstance(value, Buffer):
                slot.p = arrays[value.name].ctypes.data
            else:
                slot.i = value
        function = getattr(compile_kernel(source, folder), symbol)
        function(arguments)
        if not (np.abs(arrays["y"] - wanted) <= output.absolute).all():
            sys.exit(f"{source.name}: outside the tolerance")
        found[source.stem] = partial(call_kernel, function, arguments, dict(arrays))
    rows, _ = q6k.shape(fixture)
    weights = q6k.decode(arrays["weights"].reshape(-1, q6k.BLOCK_BYTES)).astype(np.float32).reshape(rows, -1)
    x = (arrays["activations"] * arrays["run_scales"].repeat(q6k.RUN_VALUES)).astype(np.float32)
    found["numpy float32 product, weights decoded beforehand"] = lambda: weights @ x
    found["numpy decode and product"] = lambda: (
        q6k.decode(arrays["weights"].reshape(-1, q6k.BLOCK_BYTES)).astype(np.float32).reshape(rows, -1) @ x
    )
    return found


def main() -> None:
    """Print one table a fixture."""
    q6k = load_experiment()
    for weights in q6k.TOTAL_BLOCKS:
        fixture = Fixture(f"weights={weights},columns=2048", {"weights": weights, "columns": 2048}, 1)
        values = q6k.bytes_and_flops(fixture)[1] // 2
        with tempfile.TemporaryDirectory() as folder:
            calls = contenders(q6k, fixture, Path(folder))
            times_ns: dict[str, list[int]] = {name: [] for name in calls}
            for turn in range(ROUNDS):
                for name in list(calls)[:: 1 if turn % 2 else -1]:
                    started = time.perf_counter_ns()
                    calls[name]()
                    times_ns[name].append(time.perf_counter_ns() - started)
        print(f"{fixture.name}: time ratio to the incumbent (above 1 is more time), values a nanosecond")
        for name, taken in times_ns.items():
            pairs = [one / other for one, other in zip(taken, times_ns["incumbent"], strict=True)]
            print(f"  {statistics.median(pairs):7.2f}  {values / statistics.median(taken):6.2f}  {name}")


if __name__ == "__main__":
    main()
