"""Runs commands of the program and lines of Python in forked copies of itself, so that its libraries are loaded once for all of them.

Each line on standard input is a JSON object ``{argv | code, cwd, out, said}``; each answer is the exit status.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
LOADED = (
    "reportgen.cli", "reportgen.opened", "reportgen.terminal", "reportgen.machine", "reportgen.foreign", "reportgen.starting",
    "reportgen.measure.controller", "reportgen.measure.devices", "reportgen.publish.site", "reportgen.publish.verification",
    "reportgen.archive.importers.gathering", "reportgen.verdict_tables",
)  # fmt: skip


class Zygote:
    """The process, seen from a test."""

    def __init__(self, locks: Path) -> None:
        self._locks = locks

    def __enter__(self) -> Self:
        """Start it with device locks of its own, so that other measurements on this machine do not matter."""
        kept = {"PYTHONPATH": str(ROOT), "COLUMNS": "200", "NO_COLOR": "1", "TMPDIR": str(self._locks)}
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from tests.documentation.zygote import serve; serve()"],
            cwd=ROOT,
            env={**os.environ, **kept},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        """Let it end."""
        self._process.communicate(timeout=60)

    def ask(self, cwd: Path, **asked: Any) -> tuple[int, str, str]:
        """Run ``argv`` or ``code`` in a folder; give status, output and what was said besides."""
        out, said = cwd.parent / f"{cwd.name}.out", cwd.parent / f"{cwd.name}.said"
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"cwd": str(cwd), "out": str(out), "said": str(said), **asked}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        status = int(self._process.stdout.readline())
        return status, out.read_text("utf-8"), said.read_text("utf-8")


def serve() -> None:
    """Load everything, then answer until there is nothing more to answer."""
    for name in LOADED:
        __import__(name)
    gc.collect()
    gc.freeze()  # or every fork would copy what it has in common with this process
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os._exit(_run(json.loads(line)))
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _run(asked: dict[str, Any]) -> int:
    os.chdir(asked["cwd"])
    for name, number in (("out", 1), ("said", 2)):
        os.dup2(os.open(asked[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        if "argv" in asked:
            _command(asked["argv"])
        else:
            _python(asked["code"])
        status = 0
    except SystemExit as ended:
        status = int(ended.code or 0)
    except BaseException:  # noqa: BLE001 - whatever it is, the test shows it
        traceback.print_exc()
        status = 70
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def _command(argv: list[str]) -> None:
    from reportgen.cli import main  # noqa: PLC0415 - loaded by now

    sys.argv = ["reportgen", *argv]
    main()


def _python(code: str) -> None:
    exec(compile(code, "page", "exec"), {"__name__": "snippet"})  # noqa: S102 - this repository's own pages
