"""``experiment.py`` as the timed process sees it: loaded by path, every fault laid at the line that caused it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reportgen.calls import Arm, Buffer, Fixture, KernelCall, Output, Step
from reportgen.errors import InputError
from reportgen.measure.backends.session import CallableRefusedError
from reportgen.measure.correctness import reference_shape, size_bytes
from reportgen.measure.faults import REMEDY, guarded, load_module

NEEDED = ("inputs", "outputs", "reference", "bytes_and_flops")
_MOST_SAID = 300


@dataclass(frozen=True)
class Shapes:
    """The buffers of one set of a fixture: bytes of each input and scratch, outputs as declared, number of sets.

    ``launches`` are the executions of a graph, if the experiment says how many; every ``steps`` of them differ in their number.
    """

    inputs: dict[str, int]
    outputs: dict[str, Output]
    scratch: dict[str, Output]
    sets: int
    launches: int | None = None
    steps: int = 1

    def sizes(self) -> dict[str, int]:
        """Bytes of every buffer of one set by name."""
        written = {**self.outputs, **self.scratch}
        return self.inputs | {name: size_bytes(output) for name, output in written.items()}


class Description:
    """The functions that an experiment provides (docs/writing-experiments), checked as they are called.

    With ``once`` a graph is one execution on one copy of the buffers, whatever the experiment says.

    Raises
    ------
    InputError
        The file cannot be loaded, lacks a function, or a function raises or returns what it must not; ``where`` is the line.
    """

    def __init__(self, path: Path, *, once: bool = False) -> None:
        self.path, self._once = path, once
        self._module = load_module(path, "reportgen_experiment")
        for name in NEEDED:
            self._expect_function(name)

    def inputs(self, fixture: Fixture) -> dict[str, NDArray[Any]]:
        """Input arrays of a fixture from its seed, contiguous; Philox counts, so they are the same in every process."""
        rng = np.random.Generator(np.random.Philox(fixture.seed))
        made = self._ask("inputs", fixture, rng)
        self._expect(isinstance(made, Mapping), "inputs", "must return a dict of arrays")
        for name, array in made.items():
            self._expect(str(name).isidentifier(), "inputs", f"{name!r} must be a name of letters, digits and _")
            self._expect(
                isinstance(array, np.ndarray) and array.size > 0, "inputs", f"{name!r} must be an array with elements"
            )
            self._expect(not array.dtype.hasobject, "inputs", f"{name!r} holds Python objects, not numbers")
        return {name: np.ascontiguousarray(array) for name, array in made.items()}

    def cases(self, fixture: Fixture, inputs: Mapping[str, NDArray[Any]]) -> list[dict[str, NDArray[Any]]]:
        """Ask for further inputs that the same graph must compute rightly; none unless the experiment says so."""
        if not hasattr(self._module, "cases"):
            return []
        rng = np.random.Generator(np.random.Philox(fixture.seed).jumped())
        made = list(self._ask("cases", fixture, rng))
        for case in made:
            alike = isinstance(case, Mapping) and set(case) == set(inputs)
            self._expect(alike, "cases", f"must return dicts of {sorted(inputs)}")
            for name, array in case.items():
                same = isinstance(array, np.ndarray) and (array.shape, array.dtype) == (
                    inputs[name].shape,
                    inputs[name].dtype,
                )
                self._expect(same, "cases", f"{name!r} must have shape and dtype of the input that is timed")
        return [{name: np.ascontiguousarray(case[name]) for name in inputs} for case in made]

    def outputs(self, fixture: Fixture) -> dict[str, Output]:
        """Ask for the outputs of a fixture with their tolerances."""
        declared = self._ask("outputs", fixture)
        self._expect(
            isinstance(declared, Mapping) and bool(declared), "outputs", "must return a dict with an Output at least"
        )
        return self._buffers("outputs", declared)

    def scratch(self, fixture: Fixture) -> dict[str, Output]:
        """Scratch buffers of a fixture; none unless the experiment says so."""
        return self._buffers("scratch", self._ask("scratch", fixture) if hasattr(self._module, "scratch") else {})

    def sets(self, fixture: Fixture) -> int:
        """Ask for the number of copies that a graph cycles through; 1 unless the experiment says so."""
        return 1 if self._once else self._count("sets", fixture) or 1

    def launches(self, fixture: Fixture) -> int | None:
        """Ask for the executions of a graph; the protocol's number unless the experiment says so."""
        return 1 if self._once else self._count("launches", fixture)

    def steps(self, fixture: Fixture) -> int:
        """Ask for the number of executions that differ in their :class:`reportgen.calls.Step`; 1 unless the experiment says so.

        Since each may write a part of the outputs of its own, a graph holds all of them even with ``once``.
        """
        return self._count("steps", fixture) or 1

    def _count(self, function: str, fixture: Fixture) -> int | None:
        if not hasattr(self._module, function):
            return None
        count = self._ask(function, fixture)
        self._expect(isinstance(count, int) and count >= 1, function, "must return a whole number of at least 1")
        return int(count)

    def shared(self, fixture: Fixture, inputs: Mapping[str, NDArray[Any]]) -> dict[str, str]:
        """Ask which inputs are those of other fixtures, too: name to key, one key for one content; none unless the experiment says so."""
        if not hasattr(self._module, "shared"):
            return {}
        keys = self._ask("shared", fixture)
        good = (
            isinstance(keys, Mapping)
            and set(keys) <= set(inputs)
            and all(isinstance(key, str) for key in keys.values())
        )
        self._expect(good, "shared", "must return a dict of names of inputs to texts")
        return dict(keys)

    def reference(self, fixture: Fixture, inputs: dict[str, NDArray[Any]]) -> dict[str, NDArray[np.float64]]:
        """Float64 reference of every output, finite and of the declared shape, dense but for outputs with ``rows``."""
        wanted, outputs = self._ask("reference", fixture, inputs), self.outputs(fixture)
        self._expect(
            isinstance(wanted, Mapping) and set(wanted) == set(outputs), "reference", f"must return {sorted(outputs)}"
        )
        for name, output in outputs.items():
            array = np.asarray(wanted[name])
            self._expect(array.dtype == np.float64, "reference", f"{name!r} must be float64, not {array.dtype}")
            self._expect(
                array.shape == reference_shape(output),
                "reference",
                f"{name!r} has shape {array.shape}, declared is {reference_shape(output)}",
            )
            self._expect(bool(np.isfinite(array).all()), "reference", f"{name!r} holds values that are not finite")
        return {name: np.ascontiguousarray(wanted[name]) for name in outputs}

    def kernels(self, arm: Arm, fixture: Fixture, names: Mapping[str, Any]) -> tuple[KernelCall, ...]:
        """Kernel calls of one operation of a compiled arm; every buffer that they name exists."""
        self._expect_function("kernels", f"arm {arm.name!r} needs")
        buffers = {name: Buffer(name) for name in names}
        calls = self._ask("kernels", arm, fixture, buffers)
        good = isinstance(calls, (list, tuple)) and bool(calls) and all(isinstance(call, KernelCall) for call in calls)
        self._expect(good, "kernels", f"must return a list of KernelCall for arm {arm.name!r}")
        for argument in (argument for call in calls for argument in call.args):
            known = argument.name in buffers if isinstance(argument, Buffer) else isinstance(argument, (Real, Step))
            self._expect(
                known,
                "kernels",
                f"arm {arm.name!r}: argument {argument!r} is no buffer of the fixture, no number, no Step",
            )
        if arm.symbol:
            # An experiment that names another arm's function would time that arm twice under two names.
            own = any(call.symbol == arm.symbol or call.symbol.startswith(f"{arm.symbol}_") for call in calls)
            self._expect(own, "kernels", f"never calls {arm.symbol!r}, the entry point of arm {arm.name!r}")
        return tuple(calls)

    def expect_call(self) -> None:
        """Refuse an experiment that has peers and does not say how to run them (InputError)."""
        self._expect_function("call", "peers need")

    def call(
        self, arm: Arm, fixture: Fixture, buffers: Mapping[str, Any], stream: int, *, stepped: bool = False
    ) -> Callable[[int], Any]:
        """Prepare a peer on one set of buffers. What the peer raises, here or when it is called, becomes a :class:`CallableRefusedError`.

        What is returned takes the number of the step; the experiment's own callable gets it only where there are several.
        """
        made: Callable[..., Any] = self._of_peer("call()", self._module.call, arm, fixture, dict(buffers), stream)
        self._expect(callable(made), "call", f"must return a callable for peer {arm.name!r}, not {made!r}")
        return lambda step: self._of_peer(f"peer {arm.name!r}", made, *([step] if stepped else []))

    def written(self, arm: Arm, fixture: Fixture) -> dict[str, Output]:
        """Name the outputs that an arm writes: all, unless the experiment says which."""
        outputs = self.outputs(fixture)
        if not hasattr(self._module, "written"):
            return outputs
        names = list(self._ask("written", arm, fixture))
        good = bool(names) and set(names) <= set(outputs)
        self._expect(good, "written", f"must name outputs for arm {arm.name!r}, one at least, not {names!r}")
        return {name: outputs[name] for name in outputs if name in names}

    def peer_outputs(self, arm: Arm, fixture: Fixture, computed: Iterable[str] | None) -> dict[str, Output]:
        """Name the outputs that a peer computes, with the tolerance for it where the experiment has one."""
        outputs = self.outputs(fixture)
        names = list(outputs) if computed is None else list(computed)
        own = hasattr(self._module, "peer_outputs")
        stated = self._buffers("peer_outputs", self._ask("peer_outputs", arm, fixture)) if own else outputs
        for name in names:
            self._expect(name in outputs, "call", f"peer {arm.name!r} returns {name!r}, which is no output")
            alike = name in stated and (stated[name].shape, stated[name].dtype) == (
                outputs[name].shape,
                outputs[name].dtype,
            )
            self._expect(alike, "peer_outputs", f"must have {name!r} as outputs() has it, but for the tolerance")
        return {name: stated[name] for name in names}

    def python_outputs(self, arm: Arm, fixture: Fixture, computed: Iterable[str] | None) -> dict[str, Output]:
        """Name the outputs that an arm in Python writes: none may be left out of what it returns, if it returns any."""
        outputs = self.written(arm, fixture)
        names = sorted(outputs) if computed is None else sorted(computed)
        self._expect(
            names == sorted(outputs),
            "outputs",
            f"declares {sorted(outputs)}, and arm {arm.name!r} returns {names}; it must return all of them, or None",
        )
        return outputs

    def bytes_and_flops(self, fixture: Fixture) -> tuple[int, int]:
        """Bytes moved and floating-point operations of one operation, as the experiment counts them."""
        counted = self._ask("bytes_and_flops", fixture)
        self._expect(isinstance(counted, tuple) and len(counted) == 2, "bytes_and_flops", "must return (bytes, flops)")  # noqa: PLR2004 - a pair
        whole = all(isinstance(count, Integral) and int(count) >= 0 for count in counted)
        self._expect(whole, "bytes_and_flops", f"must return two whole numbers of at least 0, not {counted!r}")
        return int(counted[0]), int(counted[1])

    def shapes(self, fixture: Fixture, inputs: Mapping[str, NDArray[Any]]) -> Shapes:
        """Every buffer of the fixture; input, output and scratch names must differ."""
        outputs, scratch = self.outputs(fixture), self.scratch(fixture)
        names = [*inputs, *outputs, *scratch]
        self._expect(
            len(set(names)) == len(names), "outputs", "inputs, outputs and scratch must have names of their own"
        )
        sizes = {name: array.nbytes for name, array in inputs.items()}
        return Shapes(sizes, outputs, scratch, self.sets(fixture), self.launches(fixture), self.steps(fixture))

    def _buffers(self, function: str, declared: Any) -> dict[str, Output]:
        for name, output in declared.items():
            self._expect(str(name).isidentifier(), function, f"{name!r} must be a name of letters, digits and _")
            good = isinstance(output, Output) and bool(output.shape) and all(n > 0 for n in output.shape)
            self._expect(good, function, f"{name!r} must be a calls.Output with a shape of positive lengths")
            tolerances = (output.absolute, output.relative)
            rows = output.rows is None or (
                bool(output.rows) and all(row in range(output.shape[0]) for row in output.rows)
            )
            self._expect(rows, function, f"{name!r} must name rows that it has, one at least, or none")
            finite = all(isinstance(part, Real) and 0 <= float(part) < float("inf") for part in tolerances)
            self._expect(finite, function, f"{name!r} must have tolerances that are finite and at least 0")
            dtype = self._guarded(f"{function}()", np.dtype, output.dtype)
            self._expect(
                dtype.kind in "fiub", function, f"{name!r} has dtype {output.dtype!r}, which holds no real numbers"
            )
        return dict(declared)

    def _expect_function(self, name: str, who: str = "") -> None:
        if not callable(getattr(self._module, name, None)):
            which = f", which {who}" if who else ""
            raise InputError(f"defines no function {name}{which}", where=str(self.path), remedy=REMEDY)

    def _expect(self, good: bool, function: str, rule: str) -> None:  # noqa: FBT001 - an assertion with a sentence
        if not good:
            raise InputError(f"{function}() {rule}", where=str(self.path), remedy=REMEDY)

    def _ask(self, function: str, *args: Any) -> Any:
        return self._guarded(f"{function}()", getattr(self._module, function), *args)

    def _of_peer(self, what: str, function: Any, *args: Any) -> Any:
        try:
            return self._guarded(what, function, *args)
        except InputError as fault:
            raise CallableRefusedError(" ".join(fault.what.split())[:_MOST_SAID], where=fault.where) from fault

    def _guarded(self, what: str, function: Any, *args: Any) -> Any:
        return guarded(self.path, what, function, *args)
