"""Everything that an attempt started: found by group, descent and its marks, ended, and seen to be gone."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from reportgen.measure.environment import ATTEMPT
from reportgen.measure.inherited import borne_us, limit_us
from reportgen.measure.marks import PROC, Stat, all_stats, read_stat
from reportgen.model.admission import ProcessMark

GRACE_S = 2.0
VANISH_S = 10.0
POLL_S = 0.02
LONGEST_POLL_S = 0.2

DEVICE = "device"

Contexts = Callable[[], list[int] | None]


@dataclass(frozen=True, order=True)
class Owned:
    """One process of the attempt, and by what it is known: ``group``, ``descendant``, ``mark`` or ``device``."""

    pid: int
    started_ticks: int
    by: str

    def __str__(self) -> str:
        return (
            f"a context of process {self.pid} on the device" if self.by == DEVICE else f"process {self.pid} ({self.by})"
        )


@dataclass
class Ownership:
    """What belongs to one run.

    Parameters
    ----------
    marks:
        Values of ``REPORTGEN_ATTEMPT`` that it gave to what it started, none of them empty; each stands for a resource limit too
        (``inherited``). Whatever descends from what carries one is the run's.
    root:
        Process whose descendants are all its own, the guard that asks; ``None`` where that is not so.
    spared:
        The guards, which end nothing of themselves nor of each other.
    leaders:
        Leaders of the process groups it started.
    contexts:
        Ids of the processes with a context on the device as its driver lists them, ``None`` if it does not tell.
    contexts_before:
        The same as it was before the run; contexts that were there already are not its own.
    ended:
        Ids of processes of the run that have ended: a context that is still listed for one of them is the run's.
    takes_unknown:
        Whether a new context of a process that cannot be seen from here counts as the run's.
    staying:
        Process groups that are left alone: those of timed processes that go on.
    since_ticks:
        Clock ticks from boot to the start of the run's first process; no mark is looked for in what is older.

    Attributes
    ----------
    contexts_told:
        Whether the driver told of contexts when it was last asked.
    """

    marks: frozenset[str]
    root: int | None = None
    spared: frozenset[int] = frozenset()
    leaders: list[ProcessMark] = field(default_factory=list)
    contexts: Contexts | None = None
    contexts_before: frozenset[int] = frozenset()
    ended: frozenset[int] = frozenset()
    takes_unknown: bool = True
    staying: frozenset[int] = frozenset()
    since_ticks: int = 0

    def __post_init__(self) -> None:
        self._seen: dict[int, Owned] = {}
        self.contexts_told = True

    def find(self) -> list[Owned]:
        """List what is alive, by process id. A zombie counts where this process is the one that must collect it."""
        stats = {stat.pid: stat for stat in all_stats()}
        found: dict[int, Owned] = {}
        marked = [*self._by_mark(stats)]
        roots = marked if self.root is None else [self.root]
        for by, pids in (
            ("group", self._by_group(stats)),
            ("descendant", _descendants(roots, stats)),
            ("mark", marked),
            ("seen", self._still(stats)),
        ):
            for pid in pids:
                if pid not in found and not self._left_alone(stats[pid]):
                    found[pid] = Owned(pid, stats[pid].started_ticks, by)
        found = {pid: self._seen.get(pid, one) if one.by == "seen" else one for pid, one in found.items()}
        self._seen |= found
        return sorted(found.values())

    def alive(self) -> list[Owned]:
        """List what still runs: :meth:`find` without what has ended and waited for this process to collect it, as it now is."""
        found = self.find()
        for one in found:
            _collect(one.pid)
        return [one for one in found if (stat := read_stat(one.pid)) is not None and not stat.ended]

    def contexts_left(self) -> list[Owned]:
        """List contexts of what was seen or has ended, and new ones of processes unknown here, as a container's driver numbers them."""
        listed = self.contexts() if self.contexts is not None else []
        self.contexts_told = listed is not None
        new = set(listed or []) - self.contexts_before
        own = {pid for pid in new if pid in self._seen or pid in self.ended}
        unknown = {pid for pid in new - own if read_stat(pid) is None} if self.takes_unknown else set()
        return [Owned(pid, 0, DEVICE) for pid in sorted(own | unknown)]

    def end_all(self, grace_s: float = GRACE_S, vanish_s: float = VANISH_S) -> list[Owned]:
        """Ask everything to end, then force it, and look until nothing is left or the time is over.

        Returns
        -------
        list of Owned
            What is left: processes that outlive SIGKILL, contexts the device still lists. Empty if all is gone for certain.
        """
        left: list[Owned] = []
        for number, patience_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, vanish_s)):
            deadline_s = time.monotonic() + patience_s
            signalled: set[Owned] = set()
            pause_s = POLL_S
            while left := self._left():
                for one in left:
                    if one not in signalled:  # what it starts meanwhile is found and signalled in its turn
                        _signal(one, number)
                        signalled.add(one)
                if time.monotonic() > deadline_s:
                    break
                time.sleep(pause_s)
                pause_s = min(
                    2 * pause_s, LONGEST_POLL_S
                )  # each look reads all of /proc, beside a service that is waiting
            if not left:
                break
        return left

    def _left(self) -> list[Owned]:
        found = self.find()
        for one in found:
            _collect(one.pid)
        if found:
            return found
        return self.contexts_left()

    def _by_group(self, stats: dict[int, Stat]) -> Iterable[int]:
        """Members of the groups; an id names the same group as long as anything is in it, but for a leader that is another."""
        started = {leader.pid: leader.started_ticks for leader in self.leaders}
        for stat in stats.values():
            leader = stats.get(stat.pgrp)
            if stat.pgrp in started and (leader is None or leader.started_ticks == started[stat.pgrp]):
                yield stat.pid

    def _by_mark(self, stats: dict[int, Stat]) -> Iterable[int]:
        young = (stat.pid for stat in stats.values() if stat.started_ticks >= self.since_ticks)
        limits = {limit_us(mark) for mark in self.marks}
        return (pid for pid in young if environment_mark(pid) in self.marks or borne_us(pid) in limits)

    def _left_alone(self, stat: Stat) -> bool:
        """Whether it is a guard, goes on, or has ended and its parent, which is not this process, merely has not collected it."""
        return stat.pid in self.spared or stat.pgrp in self.staying or (stat.ended and stat.ppid != os.getpid())

    def _still(self, stats: dict[int, Stat]) -> Iterable[int]:
        """Keep to what was found before: one that ends, or waits to be collected, shows no environment any more."""
        for pid, one in self._seen.items():
            if pid in stats and stats[pid].started_ticks == one.started_ticks:
                yield pid


def _descendants(roots: Iterable[int], stats: dict[int, Stat]) -> Iterable[int]:
    """Yield what descends from the roots, whatever mark it lost."""
    children: dict[int, list[int]] = {}
    for stat in stats.values():
        children.setdefault(stat.ppid, []).append(stat.pid)
    front = [*roots]
    while front:
        below = children.pop(front.pop(), [])
        yield from below
        front += below


def environment_mark(pid: int) -> str | None:
    """Value of ``REPORTGEN_ATTEMPT`` that a process was started with; ``None`` if none, empty, or not this user's to read."""
    try:
        with open(f"{PROC}/{pid}/environ", "rb") as file:  # noqa: PTH123 - as in read_stat
            words = file.read().split(b"\0")
    except OSError:
        return None
    key = f"{ATTEMPT}=".encode()
    value = next((word.removeprefix(key) for word in words if word.startswith(key)), b"")
    return value.decode("utf-8", "replace") or None


def _signal(one: Owned, number: int) -> None:
    """Signal that very process: through a descriptor of it, so that no later one of its id can be hit."""
    with suppress(OSError):
        handle = os.pidfd_open(one.pid)
        try:
            stat = read_stat(one.pid)
            if stat is not None and stat.started_ticks == one.started_ticks:
                signal.pidfd_send_signal(handle, number)
        finally:
            os.close(handle)


def _collect(pid: int) -> None:
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
