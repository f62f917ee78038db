"""The simulated backend, controller's half: nothing is compiled, and the device says that it is none."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from reportgen.errors import InputError
from reportgen.measure.backends.fake_session import Moment, Times
from reportgen.measure.backends.interface import Built, BuiltArm
from reportgen.measure.compiling import Patience
from reportgen.model.plan import Plan, in_python
from reportgen.model.record import Device
from reportgen.project import ExperimentFolder


class FakeBuilder:
    """See :class:`reportgen.measure.backends.interface.Builder`."""

    name = "fake"
    options: tuple[str, ...] = ()
    measures_peers = True

    def build(self, plan: Plan, folder: ExperimentFolder, out_dir: Path, patience: Patience) -> Built:
        """Check the ``[fake]`` table; an arm's "code" is its share of the table. Arms in Python really run.

        Raises
        ------
        InputError
            The table has a key or a value that nothing here reads.
        """
        del out_dir, patience
        table = plan.experiment.fake
        try:
            Times.of(table).launch_ns("", "", Moment(1, 1, 1))
        except (TypeError, ValueError, AttributeError) as fault:
            raise InputError(
                f"[fake] cannot be read: {fault}", where=str(folder.toml), remedy="correct the table"
            ) from fault
        text = json.dumps(table, sort_keys=True)
        arms = {
            arm.name: BuiltArm(
                str(folder.folder.resolve() / str(arm.file)) if in_python(arm) else "",
                hashlib.sha256(f"simulated\0{arm.of or arm.name}\0{text}".encode()).hexdigest(),
                arm.symbol or "",
            )
            for arm in plan.own_arms
        }
        return Built(arms, options={"table": table})

    def device(self, selector: str | None) -> Device:
        """Name the simulated device."""
        number = selector or "0"
        if not number.isdecimal():
            raise InputError(f"no simulated device {number!r}", remedy="name a number, as in --device 0")
        return Device(id=f"fake-{number}", model="simulated", kind="simulated", facts={"simulated": True})

    def variables(self, device: Device) -> dict[str, str]:
        """There are none."""
        del device
        return {}

    def versions(self) -> dict[str, str]:
        """There is no tool."""
        return {}

    def environment(self) -> dict[str, Any]:
        """Say plainly what this is."""
        return {"simulated": True}
