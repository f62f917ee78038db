"""Two devices of one model that say opposite things: the pooled interval spans both, and terminal and page show each."""

from __future__ import annotations

import io
from datetime import timedelta
from pathlib import Path

from rich.console import Console

from reportgen import terminal
from reportgen.archive.select import find_sound_record
from reportgen.model.record import Device
from reportgen.model.result import Reason
from reportgen.project import open_project
from reportgen.publish.build import build
from reportgen.scoring import score_attempts
from tests.factories import NAME, RATIOS, STARTED, sealed_attempt


def test_devices_that_disagree_are_shown_each_for_itself(tmp_path: Path) -> None:
    """One board takes 5 % less, the other 6 % more."""
    for number, ratio in enumerate((0.95, 1.06)):
        device = Device(id=f"GPU-{number}", model="Sample board", kind="gpu")
        header = {"device": device, "started": STARTED + timedelta(hours=number)}
        sealed_attempt(tmp_path / "runs", seed=number + 1, ratios=RATIOS | {"candidate": ratio}, header=header)
    record, _ = find_sound_record(tmp_path / "runs", NAME)
    result = score_attempts(record.plan, [*record.attempts])
    one = next(each for each in result.comparisons if each.arm == "candidate")
    assert (False, Reason.DEVICES_DISAGREE, 24) == (one.devices_agree, one.reason, one.n)
    assert one.low is not None
    assert one.high is not None
    assert (True, True) == (one.low < 0.96, one.high > 1.05)
    console = Console(width=140, file=io.StringIO(), record=True)
    console.print(terminal.result(result, record.attempts))
    (line, *_) = [text for text in console.export_text().splitlines() if "GPU-0 -" in text]
    assert "GPU-1 +" in line
    build(open_project(tmp_path), tmp_path / "public", strict=False)
    page = next((tmp_path / "public" / "records" / NAME).glob("*/index.html")).read_text("utf-8")
    assert "devices disagree" in page
    assert ">device</th>" in page
