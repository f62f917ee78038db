"""What the tests of importing share: nobody waits for the disk here, since tests/archive do, with a disk that refuses."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="package")
def _no_waiting() -> Iterator[None]:
    """Write as ever, and leave it to the system when the disk gets it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _handle: None)
        yield
