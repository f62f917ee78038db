"""A file system of a few MiB of its own, that a test can fill: a tmpfs that only the processes of one mount namespace see.

Mounting takes root, or a user namespace; where neither is allowed there is no such disk, and :func:`mounting` gives no words.
"""

from __future__ import annotations

import errno
import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_WAYS = (("unshare", "--mount"), ("unshare", "--user", "--map-root-user", "--mount"))
_BALLAST = ".ballast"


@cache
def mounting() -> tuple[str, ...]:
    """Words before a command that let it, and all that it starts, mount file systems nobody else sees; empty where that is refused."""
    for words in _WAYS:
        with suppress(OSError, subprocess.SubprocessError):
            trial = [*words, "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "/tmp"]  # noqa: S108 - within the namespace only
            subprocess.run(trial, check=True, capture_output=True, timeout=10)
            return words
    return ()


@dataclass(frozen=True)
class SmallDisk:
    """A folder that is a file system of its own; only under :func:`mounting`."""

    folder: Path

    @classmethod
    def mount(cls, folder: Path, size_kib: int) -> SmallDisk:
        """Mount one of that size on a folder, which is made."""
        folder.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size_kib}k", "tmpfs", folder], check=True)
        return cls(folder)

    @property
    def free_bytes(self) -> int:
        """What it still takes."""
        told = os.statvfs(self.folder)
        return told.f_bavail * told.f_frsize

    def fill(self, leave_bytes: int = 0) -> None:
        """Write until it takes no more, or only so much."""
        with (self.folder / _BALLAST).open("ab", buffering=0) as file:
            try:
                while (room := self.free_bytes - leave_bytes) > 0:
                    file.write(bytes(min(room, 1 << 20)))
            except OSError as fault:
                if fault.errno != errno.ENOSPC:
                    raise

    def make_room(self) -> None:
        """Take the ballast away."""
        (self.folder / _BALLAST).unlink(missing_ok=True)

    def unmount(self) -> None:
        """Take the disk away with all that is on it."""
        subprocess.run(["umount", "--lazy", self.folder], check=True)
