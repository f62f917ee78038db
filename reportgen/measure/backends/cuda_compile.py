"""One CUDA C++ source to one cubin by NVRTC: ``python -m reportgen.measure.backends.cuda_compile SOURCE CUBIN INCLUDES OPTION...``.

A program of its own, so that a compiler that hangs can be ended. No GPU and no driver is needed. Beside ``CUBIN`` it writes ``CUBIN.json``: the
options that NVRTC was given, its version and what it said. Complaints go to standard error as ``file:line: error: what``.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import sys
from pathlib import Path

from reportgen.errors import InputError
from reportgen.measure.backends.cuda_options import keywords

_COMPLAINT = re.compile(r"^(?P<file>[^\n(]+)\((?P<line>\d+)\): (?:catastrophic )?error:? (?P<what>.*)$", re.MULTILINE)


def main(arguments: list[str]) -> int:
    """Compile; 0 once the cubin is written, 1 after a complaint."""
    source, cubin, includes = Path(arguments[0]), Path(arguments[1]), arguments[2].split(os.pathsep)
    try:
        compile_source(source, cubin, includes, arguments[3:])
    except InputError as fault:
        sys.stderr.write(f"error: {fault.what}\n")
        return 1
    return 0


def compile_source(source: Path, cubin: Path, includes: list[str], options: list[str]) -> None:
    """Compile ``source``; headers are looked for in ``includes``, then among those of CUDA.

    Raises
    ------
    InputError
        NVRTC or cuda.core is missing, or refuses; the text begins with ``file:line`` where NVRTC told one.
    """
    try:
        from cuda.core import Program, ProgramOptions  # noqa: PLC0415 - absent without the extra
    except ImportError as fault:
        raise InputError(f"cuda.core cannot be imported: {fault}") from fault
    folders = [*includes, *cuda_headers()]
    log = io.StringIO()
    try:
        given = ProgramOptions(name=source.name, include_path=folders, **keywords(options))
        code = Program(source.read_text(encoding="utf-8"), "c++", given).compile("cubin", logs=log).code
    except Exception as fault:
        raise InputError(complaint(str(fault))) from fault
    cubin.write_bytes(bytes(code))
    facts = {"options": _public(given.as_bytes("nvrtc"), folders), "nvrtc": nvrtc_version(), "log": log.getvalue()}
    facts["sha256"] = hashlib.sha256(bytes(code)).hexdigest()
    cubin.with_name(f"{cubin.name}.json").write_text(json.dumps(facts, indent=2), encoding="utf-8")


def complaint(text: str) -> str:
    """First complaint of a compilation log as ``file:line: error: what``; else the first line that says something."""
    if match := _COMPLAINT.search(text):
        return f"\n{match['file']}:{match['line']}: error: {match['what']}"
    lines = [line.strip() for line in text.replace("\0", "").splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), lines[0] if lines else "no message")


def cuda_headers() -> list[str]:
    """Folder of CUDA's own headers, as ``cuda_fp16.h``; none where they are not installed."""
    from cuda import pathfinder  # noqa: PLC0415 - absent without the extra

    found = pathfinder.locate_nvidia_header_directory("cudart")
    return [found.abs_path] if found is not None and found.abs_path else []


def nvrtc_version() -> str:
    """Version of the compiler library that is in use."""
    from cuda.bindings import nvrtc  # noqa: PLC0415 - absent without the extra

    _, major, minor = nvrtc.nvrtcVersion()
    return f"{major}.{minor}"


def _public(given: list[bytes], folders: list[str]) -> list[str]:
    """Options as they were given, the machine's folders replaced by numbers."""
    texts = [option.decode() for option in given]
    names = {f"--include-path={folder}": f"--include-path=INCLUDE{number}" for number, folder in enumerate(folders)}
    return [names.get(text, text) for text in texts]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
