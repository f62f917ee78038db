"""What code of an experiment raises becomes one line that names the line at fault."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from reportgen.errors import InputError

REMEDY = "correct the experiment"


def load_module(path: Path, name: str) -> ModuleType:
    """Load a file of the experiment as a module of that name.

    Raises
    ------
    InputError
        It cannot be read as Python, or raises.
    """
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError("cannot be loaded as Python", where=str(path), remedy=REMEDY)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # compilers of others (torch.compile) look functions up by their module's name
    guarded(path, "import", spec.loader.exec_module, module)
    return module


def guarded(path: Path, what: str, function: Any, *args: Any) -> Any:
    """Call code of the experiment whose file is ``path``.

    Raises
    ------
    InputError
        It raises; ``where`` is the line of the file.
    """
    try:
        return function(*args)
    except (Exception, SystemExit, KeyboardInterrupt) as fault:
        raise InputError(
            f"{what} raised {type(fault).__name__}: {fault}", where=_line_of(path, fault), remedy=REMEDY
        ) from fault


def _line_of(path: Path, fault: BaseException) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(fault.__traceback__) if Path(frame.filename) == path]
    line = fault.lineno if isinstance(fault, SyntaxError) else (lines[-1] if lines else None)
    return f"{path}:{line}" if line else str(path)
