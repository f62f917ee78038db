"""An A/A study measured by the real controller on simulated times, scored, published and checked by the program in the record."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from reportgen.archive.load import list_attempts
from reportgen.archive.select import find_record
from reportgen.model.record import Status
from reportgen.publish.downloads import write_record
from reportgen.publish.record_checks import record_findings
from reportgen.scoring import score
from tests.measure.lab import RIGHT, Lab

MODES = 'modes = ["process", "layout", "placement"]\nblock_repetitions = 6'
MORE = """
[[arm]]
name = "again_2"
role = "null"
idea = "the same once more"
of = "base"

{more_work}
[[harness]]
name = "single_launches"
arms = ["base", "again"]
repetitions = 2

[fake]
layout_sd = 0.003
cell_sd = 0.0001
ratio = {{ more = 1.009, doubled = 1.9 }}
"""


def test_a_study_goes_the_whole_way(lab: Lab, tmp_path: Path) -> None:
    """What one placement fixes is taken for an effect; fresh layouts spread it; both programs agree on every figure."""
    planted = lab.arm("more", RIGHT, role="probe") + "planted = 0.01\n\n" + lab.arm("doubled", RIGHT, role="probe")
    planted = planted.replace("\n\nplanted", "\nplanted").rstrip() + "\nplanted = 1.0\n"
    lab.write(backend="fake", repetitions=12, protocol=MODES, more=MORE.format(more_work=planted))
    outcome = lab.run()
    assert outcome.status is Status.SCORED, outcome.reason
    record = find_record(list_attempts(lab.project.runs), "doubling")
    result = score(record)
    study = result.null_study
    assert study is not None
    modes = {one.mode: one for one in study.modes}
    assert {"process": 4, "layout": 4, "placement": 4} == {name: one.comparisons for name, one in modes.items()}
    assert (4, 0) == (modes["placement"].alarms, modes["process"].alarms)
    assert (modes["placement"].width_median or 1) < (modes["process"].width_median or 0) / 5
    found = next(one for one in study.planted if one.mode == "process")
    assert abs((found.expected or 0) - 1.009) < 0.002
    assert [2] == [one.ratios for one in study.harnesses]
    folder = tmp_path / "record"
    write_record(record, result, folder)
    assert [] == record_findings(folder)
    finished = subprocess.run([sys.executable, "verify.py"], cwd=folder, capture_output=True, text=True, check=False)
    assert "every file and every number agrees\n" == finished.stdout
