"""Stand-ins for the timing libraries: they call what they are given as the libraries do, and tell times that are known."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

Call = Callable[[], Any]
DEFAULT_STREAM, OWN_STREAM = 7, 8


class Libraries:
    """Every library at once; ``asked`` is what each was asked, with its settings."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.gpu = True
        self._stream, self._capturing = DEFAULT_STREAM, False
        self._registered: list[tuple[str, Callable[[Any], None]]] = []

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Put them where imports find them."""
        torch_cuda = SimpleNamespace(
            is_available=lambda: self.gpu,
            init=lambda: None,
            current_stream=lambda: SimpleNamespace(cuda_stream=self._stream),
            is_current_stream_capturing=lambda: self._capturing,
        )
        testing = _module("triton.testing", do_bench=self._do_bench, do_bench_cudagraph=self._do_bench_cudagraph)
        bench = _module(
            "cuda.bench", __version__="0.3.0", register=self._register, run_all_benchmarks=self._run_all_benchmarks
        )
        for module in (
            _module("torch", __version__="2.11.0", cuda=torch_cuda),
            _module("torch.utils", benchmark=_module("torch.utils.benchmark", Timer=self._timer)),
            _module("triton", __version__="3.6.0", testing=testing),
            testing,
            _module(
                "cupy",
                __version__="14.2.0",
                cuda=SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=DEFAULT_STREAM)),
            ),
            _module("cupyx"),
            _module("cupyx.profiler", benchmark=self._benchmark),
            _module("cuda", bench=bench),
            bench,
            _module("cuda.bench.results", BenchmarkResult=SimpleNamespace(from_json=_from_json)),
        ):
            monkeypatch.setitem(sys.modules, module.__name__, module)

    def _do_bench(self, call: Call, *, return_mode: str, **settings: Any) -> list[float]:
        assert return_mode == "all"
        self.asked.append(("do_bench", settings))
        call()
        return [0.001, 0.003, 0.011]

    def _do_bench_cudagraph(self, call: Call, *, return_mode: str, **settings: Any) -> list[float]:
        assert return_mode == "all"
        self.asked.append(("do_bench_cudagraph", settings))
        self._stream = OWN_STREAM
        call()
        self._capturing = True
        for _ in range(4):
            call()
        self._capturing, self._stream = False, DEFAULT_STREAM
        return [0.002, 0.004]

    def _timer(self, stmt: str, globals: dict[str, Any]) -> Any:  # noqa: A002 - the library's own name
        def blocked_autorange(**settings: Any) -> Any:
            self.asked.append(("blocked_autorange", settings))
            exec(stmt, dict(globals))  # noqa: S102 - as the library does with its statement
            return SimpleNamespace(
                times=[3e-6, 5e-6, 2e-6], number_per_run=1000, median=3e-6, iqr=1.5e-6, has_warnings=False
            )

        return SimpleNamespace(blocked_autorange=blocked_autorange)

    def _benchmark(self, call: Call, *, name: str, **settings: Any) -> Any:
        self.asked.append((f"benchmark {name}", settings))
        call()
        return SimpleNamespace(gpu_times=np.array([[4e-6, 6e-6]]), cpu_times=np.array([1e-6, 3e-6]))

    def _register(self, benchmark: Callable[[Any], None]) -> Any:
        return SimpleNamespace(set_name=lambda name: self._registered.append((name, benchmark)))

    def _run_all_benchmarks(self, argv: Sequence[str]) -> None:
        self.asked.append(("run_all_benchmarks", {"argv": [*argv[:3], *argv[4:]]}))
        launch = SimpleNamespace(get_stream=lambda: SimpleNamespace(addressof=lambda: OWN_STREAM))
        for _, benchmark in self._registered:
            benchmark(SimpleNamespace(exec=lambda call: call(launch)))
        told = {name: {"nv/cold/time/gpu/mean": 9e-6, "nv/cold/sample_size": 50} for name, _ in self._registered}
        Path(argv[3]).write_text(json.dumps(told))


def _from_json(path: str) -> dict[str, Any]:
    told = json.loads(Path(path).read_text())
    return {name: SimpleNamespace(states=[_state(summaries)]) for name, summaries in told.items()}


def _state(summaries: dict[str, Any]) -> Any:
    more = {"nv/batch/time/gpu/mean": 5e-6, "nv/cold/time/gpu/stdev/relative": float("inf"), "other": "left alone"}
    values = {tag: SimpleNamespace(value=value) for tag, value in (summaries | more).items()}
    return SimpleNamespace(summaries=values, is_skipped=False, skip_reason=None)


def _module(name: str, **members: Any) -> ModuleType:
    made = ModuleType(name)
    for member, value in members.items():
        setattr(made, member, value)
    return made
