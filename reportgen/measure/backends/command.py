"""Outside programs, controller's half: nothing is compiled; what an arm runs is written down and hashed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reportgen.errors import InputError
from reportgen.measure.backends.command_asking import Question, placeholders
from reportgen.measure.backends.interface import Built, BuiltArm
from reportgen.measure.compiling import Patience
from reportgen.measure.identity import cpu_device, file_sha256, governor
from reportgen.model.building import Command
from reportgen.model.experiment import Arm, Role
from reportgen.model.plan import Plan
from reportgen.model.protocol import Mode
from reportgen.model.record import Device
from reportgen.project import ExperimentFolder

DEVICE_VARIABLE = "REPORTGEN_DEVICE"
_PROGRAM = '''"""Made for this attempt: the check of an outside program is all that an experiment without experiment.py provides."""

from reportgen.measure.backends.command_asking import Described

_described = Described({path!r}, {incumbent!r})
inputs, outputs, reference = _described.inputs, _described.outputs, _described.reference
kernels, bytes_and_flops = _described.kernels, _described.bytes_and_flops
'''


class CommandBuilder:
    """See :class:`reportgen.measure.backends.interface.Builder`."""

    name = "command"
    options: tuple[str, ...] = ()
    measures_peers = False

    def build(self, plan: Plan, folder: ExperimentFolder, out_dir: Path, patience: Patience) -> Built:
        """Write down every arm's command; its "code" is the command with the hashes of the program and of the declared files.

        Raises
        ------
        InputError
            There is no ``[command]``, its program is not found, or a placeholder names nothing.
        """
        del patience
        command, where = plan.experiment.command, str(folder.toml)
        if command is None:
            raise InputError(
                "has no [command], which says what is run", where=where, remedy="see `reportgen manual commands`"
            )
        if command.resident and Mode.PLACEMENT in plan.experiment.protocol.modes:
            raise InputError(
                "a resident program lives for one repetition, and protocol.modes has placement",
                where=where,
                remedy="leave one of them out",
            )
        program = _found(command.run[0], folder.folder, where)
        watched = {"program": program} | {f"file/{name}": folder.folder / name for name in command.files}
        hashes = {name: file_sha256(path) for name, path in watched.items()}
        commands = {arm.name: _command(arm, command, plan, where) for arm in plan.experiment.arms}
        codes = {
            arm: json.dumps(facts | {"hashes": hashes}, indent=2, sort_keys=True).encode() + b"\n"
            for arm, facts in commands.items()
        }
        path, own = out_dir / "commands.json", out_dir / "command_experiment.py"
        facts = {"arms": commands, "folder": str(folder.folder.resolve()), "deadline_s": command.deadline_s}
        facts["resident"] = command.resident
        path.write_text(json.dumps(facts), encoding="utf-8")
        incumbent = next(arm.name for arm in plan.experiment.arms if arm.role is Role.INCUMBENT)
        own.write_text(_PROGRAM.format(path=str(path), incumbent=incumbent), encoding="utf-8")
        return Built(
            {arm: BuiltArm("", hashlib.sha256(code).hexdigest(), arm) for arm, code in codes.items()},
            options={"commands": str(path), "experiment": str(own)},
            warnings=_alike(plan, codes),
            artifacts={f"binaries/{arm}.json": code for arm, code in codes.items()},
            watched={f"command/{name}": file for name, file in watched.items()},
        )

    def device(self, selector: str | None) -> Device:
        """Name this machine by its CPU: what a program uses beside it, it alone knows."""
        found = cpu_device()
        if selector is None:
            return found
        return Device(
            id=f"{found.id}-{selector}", model=f"{found.model}, device {selector}", kind=found.kind, facts=found.facts
        )

    def variables(self, device: Device) -> dict[str, str]:
        """Tell programs which device was asked for, if one was."""
        _, _, selector = device.id.removeprefix("cpu-").partition("-")
        return {DEVICE_VARIABLE: selector} if selector else {}

    def versions(self) -> dict[str, str]:
        """There is no tool of its own."""
        return {}

    def environment(self) -> dict[str, Any]:
        """Governor and load."""
        return {"governor": governor(), "load_1min": os.getloadavg()[0]}


def _found(name: str, folder: Path, where: str) -> Path:
    """Find the program as it will be started from the experiment's folder."""
    beside = folder / name
    found = str(beside) if os.sep in name and beside.is_file() else shutil.which(name)
    if found is None or not os.access(found, os.X_OK):
        raise InputError(
            f"[command] run: there is no program {name!r}",
            where=where,
            remedy="name one on the path, or ./NAME in the folder",
        )
    return Path(found).resolve()


def _command(arm: Arm, command: Command, plan: Plan, where: str) -> dict[str, Any]:
    argv = [*command.run, *arm.arguments]
    if command.resident:
        for part in argv:
            _check_placeholders(part, {"arm": arm.name}, f"{where}: arm {arm.name!r}")
        return {"argv": argv, "environment": {**command.environment, **arm.environment}, "resident": True}
    for fixture in plan.fixtures:
        told = placeholders(Question(arm.name, fixture.name, fixture.values, 1, 0))
        for part in argv:
            _check_placeholders(part, told, f"{where}: arm {arm.name!r}")
    return {"argv": argv, "environment": {**command.environment, **arm.environment}}


def _check_placeholders(part: str, told: Mapping[str, Any], where: str) -> None:
    try:
        part.format_map(told)
    except (KeyError, IndexError, ValueError, AttributeError) as fault:
        raise InputError(
            f"argument {part!r} has a placeholder that names nothing: {fault}",
            where=where,
            remedy=f"there are {', '.join(f'{{{name}}}' for name in told)}; write {{{{ and }}}} for braces",
        ) from fault


def _alike(plan: Plan, codes: Mapping[str, bytes]) -> list[str]:
    """Announce arms that run the very same command and are not nulls of each other."""
    seen: dict[bytes, str] = {}
    said = []
    for arm in plan.experiment.arms:
        if arm.of is None:
            first = seen.setdefault(codes[arm.name], arm.name)
            said += [f"arms {first} and {arm.name} run the same command"] if first != arm.name else []
    return said
