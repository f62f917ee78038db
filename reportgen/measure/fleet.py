"""``run --scheduler ADDRESS``: attempts go to Dask workers that own one device each. The only module that knows Dask.

A task measures one attempt on its worker's host and puts what is archived there on a queue, line by line; this side writes it into its own
journal. A lease tells the task that somebody still listens: without it, or when it says so, the task ends its run.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reportgen.errors import InputError, ReportgenError, WorkerError
from reportgen.measure.parcel import DEVICE_VARIABLE, Parcel, unpack
from reportgen.measure.places import Place
from reportgen.measure.remote import Message, RemoteRun, describe

try:
    from distributed import Client, Future, Queue, Variable, get_client, get_worker
    from distributed.client import ClosedClientError
except ModuleNotFoundError as absent:
    raise InputError(
        "Dask is not installed, which --scheduler needs", remedy="pip install 'reportgen[fleet]'"
    ) from absent

STOP = -1
CONNECT_S = 10.0
LEASE_S = 60.0
SCHEDULER_LOST = (OSError, ClosedClientError)
"""What Dask raises once a connection is gone, and once its client has given up renewing it."""
_LOOK_S = 0.2
_RENEW_S = 2.0
_CALL_S = 30.0


def measure(parcel: Parcel, token: str, worker_id: str, lease_s: float) -> dict[str, Any]:
    """Task: measure the attempt on this worker's device, and say how it ended as ``Mirror.finish`` reads it.

    ``worker_id`` is the folder of the process it was meant for, which no other has: another one at the same address knows nothing of
    what was sent before.
    """
    worker = get_worker()
    if worker.local_directory != worker_id:
        raise WorkerError("another worker has this address by now", where=worker.address)
    client = get_client()
    news, lease = Queue(token, client=client), _Lease(Variable(f"{token}-lease", client=client), lease_s)
    root = Path(tempfile.mkdtemp(prefix=f"reportgen-{os.getpid()}-fleet-"))
    try:
        unpack(parcel, root)
        with RemoteRun(root, parcel, os.environ.get(DEVICE_VARIABLE) or None) as run:
            while run.process.poll() is None:
                _send(run.news(), news)
                if not lease.holds():
                    run.process.terminate()
                time.sleep(_LOOK_S)
            _send(run.news(), news)
            return run.outcome()
    except ReportgenError as fault:
        return {"error": fault.one_line(), "exit_status": fault.exit_status}
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _send(messages: Iterator[Message], news: Queue) -> None:
    for message in messages:
        news.put(message, timeout=_CALL_S)


class _Lease:
    """Whether somebody still listens; asked every few looks."""

    def __init__(self, variable: Variable, lease_s: float) -> None:
        self._variable, self._lease_s, self._value = variable, lease_s, 0
        self._changed_s = self._asked_s = time.monotonic()

    def holds(self) -> bool:
        now_s = time.monotonic()
        if now_s - self._asked_s < _RENEW_S / 2:
            return True
        self._asked_s = now_s
        value = int(self._variable.get(timeout=_CALL_S))
        if value != self._value:
            self._value, self._changed_s = value, now_s
        return value != STOP and now_s - self._changed_s < self._lease_s


async def describe_here(backend: str) -> dict[str, Any]:
    """Describe a worker's device, without holding up what the worker does."""
    return await asyncio.to_thread(describe, backend)


class Task:
    """One attempt under way on a worker."""

    def __init__(self, crew: Crew, parcel: Parcel, address: str, worker_id: str, lease_s: float) -> None:
        client = crew.client
        self.address, self.worker_id = address, worker_id
        token = f"reportgen-{parcel.attempt}-{os.urandom(4).hex()}"
        self._news, self._lease = Queue(token, client=client), Variable(f"{token}-lease", client=client)
        self._tick, self._renewed_s = 1, time.monotonic()
        self._lease.set(self._tick)
        self.future: Future = client.submit(
            measure,
            parcel,
            token,
            worker_id,
            lease_s,
            key=token,
            pure=False,
            retries=0,
            workers=[address],
            allow_other_workers=False,
            resources={crew.resource: 1},
        )

    def messages(self) -> list[Message]:
        """Take what has arrived."""
        return [(kind, name, bytes(data)) for kind, name, data in self._news.get(batch=True, timeout=_CALL_S)]

    def renew(self) -> None:
        """Tell the task that somebody listens."""
        if self._tick != STOP and time.monotonic() - self._renewed_s > _RENEW_S:
            self._tick, self._renewed_s = self._tick + 1, time.monotonic()
            self._lease.set(self._tick)

    def stop(self) -> None:
        """Ask the task to end its run."""
        self._tick = STOP
        self._lease.set(STOP)

    def told(self) -> dict[str, Any] | None:
        """Say how it ended; ``None`` while it is under way."""
        if not self.future.done():
            return None
        if self.future.status != "finished":
            fault = self.future.exception() if self.future.status == "error" else self.future.status
            return {"error": " ".join(str(fault).split()), "exit_status": 1}
        found: dict[str, Any] = self.future.result()
        return found

    def forget(self) -> None:
        """Give up a task whose worker is gone, and what is left of its queue."""
        self.future.cancel(force=True)
        self._news.close()
        self._lease.delete()


class Crew:
    """The workers of a scheduler that have the resource, with their devices."""

    def __init__(self, client: Client, backend: str) -> None:
        self.client, self._backend = client, backend
        self.resource = "GPU" if backend == "cuda" else "CPU"
        self._described: dict[str, Place | str] = {}

    def look(self) -> tuple[dict[str, Place], list[str]]:
        """Places by the id of their worker, those that are there now; and what is wrong with workers that came since the last look.

        Raises
        ------
        ConnectionError
            The client has given the scheduler up: it then knows no workers, not even that there are none.
        """
        closed = self.client.status in ("closing", "closed")
        known = None if closed else self.client.scheduler_info().get("workers")
        if known is None:
            raise ConnectionError("it answers no more")
        there = {
            facts["local_directory"]: address
            for address, facts in known.items()
            if facts["resources"].get(self.resource, 0) >= 1
        }
        new = [one for one in there if one not in self._described]
        answers = (
            self.client.run(describe_here, self._backend, workers=[there[one] for one in new], on_error="return")
            if new
            else {}
        )
        for one in new:
            self._described[one] = _place(there[one], answers.get(there[one]))
        places = {one: self._described[one] for one in there}
        wrong = [f"{there[one]}: {places[one]}" for one in new if isinstance(places[one], str)]
        return {one: place for one, place in places.items() if isinstance(place, Place)}, wrong


def _place(address: str, told: Any) -> Place | str:
    if not isinstance(told, dict):
        return f"cannot say which device it owns: {told}"
    return Place(address, told["device"], told["kind"], told["host"], frozenset(told["services"]))


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """Connect to a scheduler.

    Raises
    ------
    InputError
        It does not answer.
    """
    try:
        client = Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as fault:
        raise InputError(f"no scheduler answers: {fault}", where=address, remedy="start one: dask scheduler") from fault
    with client:
        yield client
