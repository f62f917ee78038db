"""Rigs made by hand for one harness process, and a channel that keeps what was sent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from reportgen.measure.backends.session import Session
from reportgen.measure.backends.sessions import open_session
from reportgen.measure.channel import Channel
from reportgen.measure.job import REPETITION, Job, JobArm, JobFixture, JobHarness
from reportgen.measure.references import make_references
from reportgen.measure.rig import Rig


class Heard(Channel):
    """A channel to nobody."""

    def __init__(self) -> None:
        super().__init__(-1)
        self.messages: list[tuple[str, dict[str, Any]]] = []

    def send(self, kind: str, /, **facts: Any) -> None:
        """Keep a message."""
        self.messages.append((kind, facts))

    def rows(self) -> list[dict[str, Any]]:
        """Rows of every batch that was sent."""
        return [row for kind, facts in self.messages if kind == "batches" for row in facts["rows"]]


def harness_job(  # noqa: PLR0913 - each is one thing that a test changes
    work: Path,
    program: Path,
    *,
    name: str = "single_launches",
    settings: dict[str, Any] | None = None,
    backend: str = "fake",
    options: dict[str, Any] | None = None,
    arms: tuple[JobArm, ...] = (JobArm("base", "incumbent", "base"), JobArm("again", "null", "base", "base")),
    fixtures: tuple[JobFixture, ...] = (JobFixture("n=64", {"n": 64}, 1, ["base", "again"]),),
    set_buffers: tuple[str, ...] = ("x", "y"),
) -> Job:
    """Job of repetition 3 of a harness; the second arm of the plan is timed first."""
    names = [arm.name for arm in arms]
    return Job(
        kind=REPETITION,
        repetition=3,
        backend=backend,
        options=options or {},
        experiment_file=str(program),
        work=str(work),
        origin_ns=1_000,
        arms=list(arms),
        fixtures=list(fixtures),
        launches_per_graph=4,
        lead_in_replays=1,
        least_batch_ns=1000,
        warm_up_s=0.01,
        module_order=names,
        graph_order=[[fixture.name, arm] for fixture in fixtures for arm in names],
        buffer_order=[[fixture.name, 0, buffer, 0] for fixture in fixtures for buffer in set_buffers],
        block_order=[fixture.name for fixture in fixtures],
        orders={fixture.name: names[::-1] for fixture in fixtures},
        mode=name,
        harness=JobHarness(name, settings or {}),
    )


def built_rig(job: Job, opened: Callable[[Job], Session] = open_session) -> tuple[Rig, Heard]:
    """Make inputs and references, open the session and set everything up, as a worker does."""
    heard = Heard()
    make_references(job, heard)
    rig = Rig(job, opened(job), heard)
    rig.build()
    return rig, heard
