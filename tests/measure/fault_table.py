"""Faults x phases: what is broken in which phase of a run, and what must hold after. Literal: this table is the claim.

What must hold in every cell, beside what the cell says: nothing of the run is alive, no guard has anything written down, every
attempt is readable with its status and (but for ``scored``) a reason, what was measured before the fault is unchanged, and
``recover`` finds nothing more to mend.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.measure.guarded import PHASES

NOTHING = ""  # no attempt was begun
ABORTED, SCORED, INVALID = "aborted", "scored", "invalid"
KILLED = -9
REOPENED, CLOSED, EITHER, DEAD = "open", "closed", "open or closed", "gone"
RECOVER, VOUCH = "reportgen recover", "reportgen recover --reopen inference"


@dataclass(frozen=True)
class After:
    """What must hold: exit status, status of the attempt, what is said (a pattern), the service, and the one command that mends."""

    exit_status: int
    attempt: str
    said: str = ""
    service: str = REOPENED
    mend: str = ""


@dataclass(frozen=True)
class Cannot:
    """Why a fault cannot happen in a phase."""

    why: str


NO_TIMED_PROCESS = Cannot("no timed process runs")
ALL_ENDED = Cannot("what a process left was ended before the service was closed")
NOTHING_LEFT = Cannot("cleaning has verified that nothing is left")
NOT_ASKED = Cannot("it is closed by then and not asked again")
NO_ATTEMPT = Cannot("there is no journal yet")
NO_LINE = Cannot("the journal has no line yet")

DIED = "timed process was killed by SIGKILL"
GUARD_DIED = "the controller was killed by SIGKILL; "
SILENT = "said nothing for 3 s"
FULL = "No space left on device|File too large"  # the latter where no disk could be mounted for the run
GONE = r"its process \d+ does not run"
ANOTHER = rf"{GONE}|its process id was \d+ and is \d+"  # it may be compared before the new one has begun
HELD = "is being measured by process"
BY_RECOVER = "; run `reportgen recover`"
SIGKILLED = After(KILLED, ABORTED, "", CLOSED, RECOVER)

Cell = After | Cannot
TABLE: dict[str, tuple[Cell, Cell, Cell, Cell, Cell]] = {
    #                             before close, closed, measuring, cleaning, reopening
    "exception in the operator": (
        After(1, NOTHING, "ZeroDivisionError"),
        After(1, ABORTED, "ZeroDivisionError"),
        After(1, ABORTED, "ZeroDivisionError"),
        After(1, ABORTED, "ZeroDivisionError"),
        After(1, ABORTED, "ZeroDivisionError"),
    ),
    "SIGKILL of the timed process": (
        After(1, NOTHING, DIED),
        NO_TIMED_PROCESS,
        After(0, SCORED, DIED),
        NO_TIMED_PROCESS,
        NO_TIMED_PROCESS,
    ),
    "SIGKILL of the controller": (
        After(1, NOTHING, GUARD_DIED),
        After(1, ABORTED, GUARD_DIED),
        After(1, ABORTED, GUARD_DIED),
        After(1, ABORTED, GUARD_DIED),
        After(1, ABORTED, GUARD_DIED),
    ),
    "SIGKILL of the watchdog": (
        After(KILLED, NOTHING),
        After(KILLED, ABORTED, "watchdog died"),
        After(KILLED, ABORTED, "watchdog died"),
        After(KILLED, SCORED),
        After(KILLED, SCORED),
    ),
    "SIGKILL of both guards": (
        After(KILLED, NOTHING, "", REOPENED, RECOVER),
        SIGKILLED,
        SIGKILLED,
        SIGKILLED,
        After(KILLED, ABORTED, "", EITHER, RECOVER),
    ),
    "timed process ignores SIGTERM and hangs": (
        After(1, NOTHING, SILENT),
        NO_TIMED_PROCESS,
        After(0, SCORED, SILENT),
        NO_TIMED_PROCESS,
        NO_TIMED_PROCESS,
    ),
    "timed process hangs": (
        After(1, NOTHING, SILENT),
        NO_TIMED_PROCESS,
        After(0, SCORED, SILENT),
        NO_TIMED_PROCESS,
        NO_TIMED_PROCESS,
    ),
    "timed process forks twice and detaches": (
        After(0, SCORED, "left alive"),
        ALL_ENDED,
        After(0, SCORED, r"left process \d+ \(\w+\) alive"),
        After(0, SCORED),
        NOTHING_LEFT,
    ),
    "timed process fills memory": (
        After(2, NOTHING, "MemoryError"),  # what an experiment's own function raises is misuse
        NO_TIMED_PROCESS,
        After(0, SCORED, "MemoryError"),
        NO_TIMED_PROCESS,
        NO_TIMED_PROCESS,
    ),
    "full disk": (
        After(1, NOTHING, FULL),
        After(1, ABORTED, FULL),
        After(1, ABORTED, FULL),
        After(1, ABORTED, FULL),
        After(1, ABORTED, FULL),
    ),
    "service dies": (
        After(1, ABORTED, GONE, DEAD),
        After(1, ABORTED, GONE, DEAD, VOUCH),
        After(1, INVALID, GONE, DEAD, VOUCH),
        After(1, INVALID, GONE, DEAD, VOUCH),
        After(1, SCORED, "stays closed", DEAD, VOUCH),
    ),
    "service is started anew": (
        After(0, SCORED),
        After(1, ABORTED, ANOTHER, CLOSED, VOUCH),  # it is asked, and does not answer, before anything is measured
        After(1, INVALID, ANOTHER, CLOSED, VOUCH),
        After(1, INVALID, ANOTHER, CLOSED, VOUCH),
        After(1, SCORED, "stays closed", CLOSED, VOUCH),
    ),
    "service refuses to close": (
        After(1, ABORTED, "answered with status 503"),
        NOT_ASKED,
        NOT_ASKED,
        NOT_ASKED,
        NOT_ASKED,
    ),
    "service never becomes idle": (
        After(1, ABORTED, "did not become idle within 1 s"),
        After(1, ABORTED, "did not become idle within 1 s"),
        NOT_ASKED,
        NOT_ASKED,
        NOT_ASKED,
    ),
    "command to open the service fails": (
        After(1, SCORED, f"answered with exit status 1{BY_RECOVER}", CLOSED, RECOVER),
        After(1, SCORED, f"answered with exit status 1{BY_RECOVER}", CLOSED, RECOVER),
        After(1, SCORED, f"answered with exit status 1{BY_RECOVER}", CLOSED, RECOVER),
        After(1, SCORED, f"answered with exit status 1{BY_RECOVER}", CLOSED, RECOVER),
        After(1, SCORED, f"answered with exit status 1{BY_RECOVER}", CLOSED, RECOVER),
    ),
    "request to open the service is refused": (
        After(1, SCORED, f"answered with status 500{BY_RECOVER}", CLOSED, RECOVER),
        After(1, SCORED, f"answered with status 500{BY_RECOVER}", CLOSED, RECOVER),
        After(1, SCORED, f"answered with status 500{BY_RECOVER}", CLOSED, RECOVER),
        After(1, SCORED, f"answered with status 500{BY_RECOVER}", CLOSED, RECOVER),
        After(1, SCORED, f"answered with status 500{BY_RECOVER}", CLOSED, RECOVER),
    ),
    "request to open the service is not answered": (
        After(1, SCORED, f"did not answer within 3 s{BY_RECOVER}", CLOSED, RECOVER),
        After(1, SCORED, f"did not answer within 3 s{BY_RECOVER}", CLOSED, RECOVER),
        After(1, SCORED, f"did not answer within 3 s{BY_RECOVER}", CLOSED, RECOVER),
        After(1, SCORED, f"did not answer within 3 s{BY_RECOVER}", CLOSED, RECOVER),
        After(1, SCORED, f"did not answer within 3 s{BY_RECOVER}", CLOSED, RECOVER),
    ),
    "clock is set back a day": (
        After(0, SCORED),
        After(0, SCORED),
        After(0, SCORED),
        After(0, SCORED),
        After(0, SCORED),
    ),
    "clock is set forward a day": (
        After(0, SCORED),
        After(0, SCORED),
        After(0, SCORED),
        After(0, SCORED),
        After(0, SCORED),
    ),
    "second controller": (
        After(0, SCORED, HELD),
        After(0, SCORED, HELD),
        After(0, SCORED, HELD),
        After(0, SCORED, HELD),
        After(0, SCORED, HELD),
    ),
    "journal cut at every byte of its last line": (
        NO_ATTEMPT,
        NO_LINE,
        SIGKILLED,
        SIGKILLED,
        After(KILLED, ABORTED, "", EITHER, RECOVER),
    ),
}

# What the tests run: each way in which a run is guarded, and each phase. ``python -m benchmarks.faults`` runs every cell; timed
# processes that hang or detach, services that change and second controllers are in ``test_guarding.py``, processes that die in
# ``test_faults.py``, services that refuse in ``test_admission.py``.
IN_THE_TESTS = (
    ("SIGKILL of the controller", "cleaning"),
    ("SIGKILL of the watchdog", "before close"),
    ("full disk", "measuring"),
    ("clock is set back a day", "closed"),
    ("request to open the service is refused", "reopening"),
    ("journal cut at every byte of its last line", "measuring"),
)


def cells() -> list[tuple[str, str]]:
    """List fault and phase of every cell that can happen."""
    return [
        (fault, phase)
        for fault, row in TABLE.items()
        for phase, cell in zip(PHASES, row, strict=True)
        if isinstance(cell, After)
    ]


def cell_of(fault: str, phase: str) -> Cell:
    """Look a cell up."""
    return TABLE[fault][PHASES.index(phase)]
