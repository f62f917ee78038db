"""Which process a service is: by its pid file, its systemd unit, or the port it listens on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import psutil

from reportgen.errors import FindingError
from reportgen.measure.marks import mark_of, read_stat
from reportgen.model.admission import ProcessMark
from reportgen.model.service import Find

_SYSTEMCTL_DEADLINE_S = 10.0


def find_process(find: Find, where: str) -> ProcessMark:
    """Find the service's main process.

    Raises
    ------
    FindingError
        There is none, or none that can be told for certain; ``where`` names the service.
    """
    if find.pid_file is not None:
        pid = _of_file(Path(find.pid_file), where)
    elif find.unit is not None:
        pid = _of_unit(find.unit, where, user=find.user_unit)
    else:
        pid = _of_port(find.port or 0, find.address, where)
    mark = mark_of(pid)
    if mark is None:
        raise FindingError(f"its process {pid} does not run", where=where, remedy="start the service")
    return mark


def _of_file(path: Path, where: str) -> int:
    try:
        text = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as fault:
        said = getattr(fault, "strerror", None) or "no text"
        raise FindingError(
            f"its pid file {path} cannot be read: {said}", where=where, remedy="start the service"
        ) from fault
    if not text.isdecimal() or not int(text):
        raise FindingError(f"its pid file {path} holds no process id", where=where, remedy="correct `find.pid_file`")
    return int(text)


def _of_unit(unit: str, where: str, *, user: bool) -> int:
    words = ["systemctl", *(["--user"] if user else []), "show", "--property=MainPID", "--value", "--", unit]
    try:
        told = subprocess.run(  # noqa: S603 - fixed words and the unit's name, no shell
            words, capture_output=True, text=True, timeout=_SYSTEMCTL_DEADLINE_S, check=True
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError) as fault:
        raise FindingError(f"systemctl does not tell of unit {unit}", where=where, remedy="see why") from fault
    if not told.isdecimal() or not int(told):
        raise FindingError(f"unit {unit} has no main process", where=where, remedy="start it")
    return int(told)


def _of_port(port: int, address: str | None, where: str) -> int:
    listening = [
        connection
        for connection in psutil.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN and _is_at(connection.laddr, port, address)
    ]
    if not listening:
        at = f"{address}:{port}" if address else f"port {port}"
        raise FindingError(f"nothing listens on {at}", where=where, remedy="start the service")
    pids = {connection.pid for connection in listening if connection.pid}
    if not pids:
        raise FindingError(
            f"the process behind port {port} is another user's and cannot be seen",
            where=where,
            remedy="name its pid file or unit instead, or run as its user",
        )
    # A server that forked workers shares its socket with them: the one whose parent does not listen is the main process.
    first = sorted(pid for pid in pids if (stat := read_stat(pid)) is None or stat.ppid not in pids)
    if len(first) != 1:
        raise FindingError(
            f"processes {', '.join(map(str, sorted(pids)))} listen on port {port}",
            where=where,
            remedy="name its pid file or unit instead",
        )
    return first[0]


def _is_at(local: tuple[str | int, ...], port: int, address: str | None) -> bool:
    return bool(local) and local[1] == port and address in (None, local[0])
