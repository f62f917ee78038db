"""The CPU backend, controller's half: one shared object an arm, by the system compiler."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reportgen.errors import InputError
from reportgen.measure.backends.interface import Built, BuiltArm
from reportgen.measure.backends.machine_code import compare_code
from reportgen.measure.compiling import Patience, compile_one
from reportgen.measure.disassembly import symbols, text_section_sha256
from reportgen.measure.identity import cpu_device, file_sha256, governor
from reportgen.model.experiment import Arm
from reportgen.model.plan import Plan
from reportgen.model.record import Device
from reportgen.project import ExperimentFolder

HERE = Path(__file__).parent
BATCH_SOURCE = HERE / "native_batch.c"
# Every symbol is bound inside its own object when it is loaded: no arm can be served by another's function.
OPTIONS = ("-std=gnu11", "-O2", "-fPIC", "-shared", "-Wl,-Bsymbolic", "-Wl,-z,defs", "-Wl,-z,now")
LIBRARIES = ("-lm",)
VERSION_DEADLINE_S = 10


class NativeBuilder:
    """See :class:`reportgen.measure.backends.interface.Builder`."""

    name = "native"
    options: tuple[str, ...] = OPTIONS
    measures_peers = False

    def build(self, plan: Plan, folder: ExperimentFolder, out_dir: Path, patience: Patience) -> Built:
        """Compile the batch loop and every arm, then compare the machine code of the arms."""
        library = out_dir / "native_batch.so"
        compile_one([*_compiler(), *OPTIONS, BATCH_SOURCE.name, "-o", str(library)], HERE, "the batch loop", patience)
        options = [option for option in plan.backend_options if not option.startswith("backend=")]
        arms = plan.experiment.arms
        files = {arm.name: out_dir / f"{arm.name}.so" for arm in arms}
        for arm in arms:
            compile_one(_command(arm, options, str(files[arm.name])), folder.folder, f"arm {arm.name!r}", patience)
        commands = [shlex.join(_command(arm, options, f"{arm.name}.so", include="INCLUDE")) for arm in arms]
        binaries = {f"binaries/{arm}.so": path.read_bytes() for arm, path in files.items()}
        return Built(
            {arm.name: BuiltArm(str(files[arm.name]), file_sha256(files[arm.name]), arm.symbol or "") for arm in arms},
            options={"batch_library": str(library)},
            warnings=compare_code(arms, files, "define it there, not static, or correct the arm's `symbol`"),
            artifacts={
                **binaries,
                "binaries/native_batch.so": library.read_bytes(),
                "commands.txt": "".join(f"{command}\n" for command in commands).encode(),
                "code.json": _code_facts(arms, files),
            },
            watched={
                **{f"binary/{arm}": path for arm, path in files.items()},
                "binary/(batch loop)": library,
            },
        )

    def device(self, selector: str | None) -> Device:
        """Name this machine's CPU; a selector is the number of the core to stay on."""
        if selector is not None and hasattr(os, "sched_getaffinity"):
            allowed = sorted(os.sched_getaffinity(0))
            if not selector.isdecimal() or int(selector) not in allowed:
                known = ", ".join(str(core) for core in allowed)
                raise InputError(f"no core {selector!r} for this process", remedy=f"--device takes one of: {known}")
        return cpu_device()

    def variables(self, device: Device) -> dict[str, str]:
        """There are none."""
        del device
        return {}

    def versions(self) -> dict[str, str]:
        """First line of the compiler's ``--version``."""
        try:
            told = subprocess.run(  # noqa: S603 - the user's own compiler, no shell
                [*_compiler(), "--version"], capture_output=True, text=True, timeout=VERSION_DEADLINE_S, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return {}
        return {"compiler": told.stdout.partition("\n")[0]}

    def environment(self) -> dict[str, Any]:
        """Governor, load and the cores that this process may use."""
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        return {"governor": governor(), "load_1min": os.getloadavg()[0], "allowed_cores": cores}


def _code_facts(arms: Sequence[Arm], files: Mapping[str, Path]) -> bytes:
    """Per arm: hash of the text section, bytes of the entry point's machine code."""
    facts = {
        arm.name: {
            "text_sha256": text_section_sha256(files[arm.name]),
            "entry_bytes": len(symbols(files[arm.name])[arm.symbol or ""].code),
        }
        for arm in arms
    }
    return json.dumps(facts, indent=2, sort_keys=True).encode() + b"\n"


def _compiler() -> list[str]:
    try:
        return shlex.split(os.environ.get("CC", "")) or ["cc"]
    except ValueError as fault:
        raise InputError(
            f"cannot be read as a command: {fault}", where="variable CC", remedy="close its quotes"
        ) from fault


def _command(arm: Arm, options: Sequence[str], out: str, include: str = str(HERE)) -> list[str]:
    if arm.file is None or arm.symbol is None:
        raise InputError(f"arm {arm.name!r} lacks `file` or `symbol`", remedy="name its source and entry point")
    defines = [f"-D{name}={value}" for name, value in arm.defines.items()]
    return [*_compiler(), *options, *defines, f"-I{include}", "-I..", arm.file, "-o", out, *LIBRARIES]
