"""Options of the CUDA compiler: as plans write them, and as cuda.core names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reportgen.errors import InputError

# Contraction to fused multiply-add is the compiler's own default; all four are written out so that a plan says what its digits rest on.
OPTIONS = (
    "--gpu-architecture=sm_90a",
    "--std=c++17",
    "--ftz=false",
    "--prec-div=true",
    "--prec-sqrt=true",
    "--fmad=true",
)

_TEXTS = {"gpu-architecture": "arch", "arch": "arch", "std": "std", "ptxas-options": "ptxas_options"}
_SWITCHES = {"ftz": "ftz", "prec-div": "prec_div", "prec-sqrt": "prec_sqrt", "fmad": "fma"}
_FLAGS = {
    "use_fast_math": "use_fast_math",
    "extra-device-vectorization": "extra_device_vectorization",
    "restrict": "restrict",
    "generate-line-info": "lineinfo",
    "device-int128": "device_int128",
}
_TRUTHS = {"true": True, "false": False}
_WHOLE = "maxrregcount"
_KNOWN = ", ".join(f"--{name}" for name in sorted({*_TEXTS, *_SWITCHES, *_FLAGS, _WHOLE} - {"arch"}))


def keywords(options: Sequence[str]) -> dict[str, Any]:
    """Arguments of ``cuda.core.ProgramOptions`` for options in NVRTC's spelling; the last of a kind counts.

    ``-DNAME=VALUE`` is a macro, ``--use_fast_math`` undoes the explicit ``ftz``, ``prec`` and ``fmad`` before it. The assembler always tells what
    it used (``-v``), and the compiler's cache, in which a null would find the arm that it repeats, is never asked.

    Raises
    ------
    InputError
        An option that is not known here; the line lists those that are.
    """
    found: dict[str, Any] = {}
    macros: list[tuple[str, str] | str] = []
    assembler = ["-v"]
    for option in options:
        if option.startswith("-D"):
            name, equals, value = option[2:].partition("=")
            macros.append((name, value) if equals else name)
            continue
        keyword, value = _keyword(option)
        if keyword == "ptxas_options":
            assembler.append(value)
        else:
            found[keyword] = value
        if keyword == "use_fast_math":
            found = {key: kept for key, kept in found.items() if key not in _SWITCHES.values()}
    return found | {"ptxas_options": assembler, "no_cache": True} | ({"define_macro": macros} if macros else {})


def _keyword(option: str) -> tuple[str, Any]:
    name, equals, text = option.lstrip("-").partition("=")
    if equals and name in _TEXTS:
        return _TEXTS[name], text
    if name in _SWITCHES and text in _TRUTHS:
        return _SWITCHES[name], _TRUTHS[text]
    if not equals and name in _FLAGS:
        return _FLAGS[name], True
    if name == _WHOLE and text.isdecimal():
        return "max_register_count", int(text)
    raise InputError(
        f"compile option {option!r} is not known to this backend", remedy=f"known are -DNAME=VALUE, {_KNOWN}"
    )
