"""The half of a backend that lives in the controller: compiling, naming the device. The other half is ``session.py``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from reportgen.measure.compiling import Patience
from reportgen.model.plan import Plan
from reportgen.model.record import Device
from reportgen.project import ExperimentFolder


@dataclass(frozen=True)
class BuiltArm:
    """An arm's code: the file that the timed process loads (empty where there is none) and the hash of the code."""

    file: str
    sha256: str
    symbol: str


@dataclass(frozen=True)
class Built:
    """What a build left.

    ``options`` is what the backend's session needs, ``artifacts`` what is archived by name, ``watched`` the files
    whose hashes are taken before and after every repetition, by the name under which they appear in the record.
    """

    arms: dict[str, BuiltArm]
    options: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    artifacts: dict[str, bytes] = field(default_factory=dict)
    watched: dict[str, Path] = field(default_factory=dict)


class Builder(Protocol):
    """See ``backends/builders.py`` for those that exist."""

    @property
    def name(self) -> str:
        """Name by which experiments and attempts know the backend."""

    @property
    def options(self) -> Sequence[str]:
        """Compile options that stand before an experiment's own and belong to its plan."""

    @property
    def measures_peers(self) -> bool:
        """Whether its timed process can run a peer's callable."""

    def build(self, plan: Plan, folder: ExperimentFolder, out_dir: Path, patience: Patience) -> Built:
        """Make the code of every arm but peers, a null's on its own from the file and options of the arm that it repeats.

        Raises
        ------
        InputError
            The compiler refuses (its first error line, with file and line) or takes longer for an arm than ``patience`` allows, a
            null's code differs from its original's, an entry point is missing.
        """

    def device(self, selector: str | None) -> Device:
        """Name the device that ``selector`` means, or the only one.

        Raises
        ------
        InputError
            There is no such device.
        """

    def variables(self, device: Device) -> dict[str, str]:
        """Environment variables that a timed process on that device has beyond the fixed ones; the record keeps them."""

    def versions(self) -> dict[str, str]:
        """Versions of the backend's own tools."""

    def environment(self) -> dict[str, Any]:
        """State of the machine that the manifest keeps."""
