"""Processes that die, hang or are killed; experiments that raise; compilers that refuse."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from reportgen.archive.load import Attempt
from reportgen.errors import InputError, WorkerError
from reportgen.measure import controller
from reportgen.measure.answers import Runner
from reportgen.measure.interruption import Interruption
from reportgen.measure.job import REFERENCE, Job
from reportgen.measure.process import Deadlines
from reportgen.measure.watching import RunOptions
from reportgen.model.record import Status
from tests.measure.lab import PROGRAM, RIGHT, Lab, Seen

SEGFAULT = RIGHT + " *(volatile int *)0 = 1;"
HANG = "volatile int on = 1; while (on) { } (void)x; (void)y;"


def fault(kind: str, **keys: float | str) -> str:
    """One ``[[fake.fault]]`` table."""
    rest = "".join(f"{key} = {value!r}\n" for key, value in keys.items())
    return f'[[fake.fault]]\nkind = "{kind}"\n{rest}\n'


def repetitions_of(attempt: Attempt) -> dict[int, str]:
    """Why each repetition was left out, by number."""
    return {one.repetition: one.left_out for one in attempt.repetitions}


def no_process_is_left() -> bool:
    """Whether this process has no child any more."""
    return psutil.Process().children(recursive=True) == []


def workers() -> list[psutil.Process]:
    """Find the timed processes of this very process."""
    return [child for child in psutil.Process().children() if "reportgen.measure.worker" in _command_of(child)]


def when_worker_runs(act: Callable[[psutil.Process], None]) -> Callable[[str, str], None]:
    """Act on the worker of the first repetition a moment after it has started."""

    def act_once() -> None:
        deadline_s = time.monotonic() + 20
        while time.monotonic() < deadline_s:
            for child in workers():
                time.sleep(0.3)
                act(child)
                return
            time.sleep(0.01)

    def at_phase(name: str, detail: str) -> None:
        if (name, detail) == ("repetition", "1"):
            threading.Thread(target=act_once, daemon=True).start()

    return at_phase


def test_a_kernel_that_segfaults_aborts_the_attempt_and_is_named(lab: Lab) -> None:
    """Calibration dies with it; nothing was measured, the reason says what, which arm, which fixture."""
    lab.write(idea=SEGFAULT)
    outcome = lab.run()
    attempt = lab.load(outcome)
    assert (Status.ABORTED, 1) == (outcome.status, outcome.exit_status)
    assert "calibrate arm idea n=64: the timed process was killed by SIGSEGV" in outcome.reason
    assert outcome.reason == attempt.reason
    assert attempt.sealed
    assert no_process_is_left()


def test_a_kernel_that_hangs_is_stopped_at_the_deadline(lab: Lab) -> None:
    """The process is gone, the reason names the arm."""
    lab.write(idea=HANG, silence_deadline_s=2)
    outcome = lab.run()
    assert (Status.ABORTED, 1) == (outcome.status, outcome.exit_status)
    assert "calibrate arm idea n=64: the timed process said nothing for 2 s" in outcome.reason
    assert no_process_is_left()


def test_a_repetition_that_dies_is_replaced_by_a_spare_with_the_same_orders(lab: Lab) -> None:
    """Both are kept; the attempt is scored."""
    lab.write(backend="fake", repetitions=3, more=fault("crash", arm="idea", repetition=2))
    outcome = lab.run()
    attempt = lab.load(outcome)
    assert (Status.SCORED, 0) == (outcome.status, outcome.exit_status)
    assert "SIGSEGV" in repetitions_of(attempt)[2]
    assert [0, 1, 2, 3, 4] == [one.repetition for one in attempt.repetitions]
    facts = {one.repetition: one.facts for one in attempt.repetitions}
    assert 2 == facts[4]["replaces"]
    assert facts[2]["orders"] == facts[4]["orders"]
    assert [(2, 4)] == [(one["repetition"], one["replaced_by"]) for one in attempt.manifest.left_out]
    assert [(1, 3), (1, 3), (2, 3), (3, 3)] == lab.seen.progress


def test_long_blocks_are_no_silence(lab: Lab) -> None:
    """Nine batches of 0.6 s in one block last longer than the deadline, and nothing is wrong with them."""
    lab.write(backend="fake", repetitions=1, silence_deadline_s=4, more=fault("slow", repetition=1, seconds=0.6))
    outcome = lab.run()
    assert (Status.SCORED, []) == (outcome.status, lab.seen.warnings)


def test_a_repetition_that_hangs_is_replaced_too(lab: Lab) -> None:
    """The silence deadline ends it."""
    lab.write(backend="fake", silence_deadline_s=2, more=fault("hang", arm="idea", repetition=1))
    outcome = lab.run()
    assert Status.SCORED == outcome.status
    assert "said nothing for 2 s" in repetitions_of(lab.load(outcome))[1]


def test_a_worker_that_raises_is_replaced_and_its_traceback_kept_in_the_log(lab: Lab) -> None:
    """The traceback reaches the record's log, not the user."""
    lab.write(backend="fake", more=fault("raise", arm="idea", repetition=1))
    outcome = lab.run()
    attempt = lab.load(outcome)
    assert Status.SCORED == outcome.status
    assert "ended with status 1 and no answer" in repetitions_of(attempt)[1]
    assert "a fault that the experiment asked for" in (attempt.path / "artifacts/logs/repetition-001.log").read_text()


def test_a_worker_killed_from_outside_is_replaced_by_a_spare(lab: Lab) -> None:
    """SIGKILL in the middle of a repetition loses that repetition alone."""
    lab.write(backend="fake", more=fault("slow", repetition=1, seconds=0.3))
    outcome = lab.run(at_phase=when_worker_runs(psutil.Process.kill))
    attempt = lab.load(outcome)
    assert Status.SCORED == outcome.status
    assert "was killed by SIGKILL" in repetitions_of(attempt)[1]
    assert {"", repetitions_of(attempt)[1]} == set(repetitions_of(attempt).values())


def test_without_a_spare_left_the_attempt_is_aborted_with_the_earlier_repetitions_intact(lab: Lab) -> None:
    """What was measured before stays in the sealed record."""
    lab.write(
        backend="fake",
        repetitions=3,
        more=fault("crash", arm="idea", repetition=2) + fault("crash", arm="base", repetition=3),
    )
    outcome = lab.run()
    attempt = lab.load(outcome)
    assert (Status.ABORTED, 1) == (outcome.status, outcome.exit_status)
    assert "no spare is left" in outcome.reason
    assert 2 * 3 == len(attempt.batches[~attempt.batches["warmup"] & (attempt.batches["repetition"] == 1)])
    assert (1, 3) == (attempt.manifest.counts.repetitions - 2, attempt.manifest.repetitions_planned)


def test_a_throttled_repetition_is_tagged_left_out_and_replaced(lab: Lab) -> None:
    """Its rows stay in the record with the rule's name."""
    lab.write(backend="fake", more=fault("throttle", repetition=1))
    outcome = lab.run()
    attempt = lab.load(outcome)
    assert Status.SCORED == outcome.status
    assert "excluded by the plan: throttled" == repetitions_of(attempt)[1]
    assert {"throttled"} == set(attempt.batches[attempt.batches["repetition"] == 1]["tag"])
    assert {""} == set(attempt.batches[attempt.batches["repetition"] == 3]["tag"])


def test_noise_on_standard_output_disturbs_nothing(lab: Lab) -> None:
    """Even noise that looks like the protocol goes to the log."""
    lab.write(
        idea='static int n; if (!n++) puts("{\\"message\\": \\"done\\"}"); fflush(stdout); ' + RIGHT, repetitions=1
    )
    source = lab.folder / "idea.c"
    source.write_text("#include <stdio.h>\n" + source.read_text())
    outcome = lab.run()
    assert (Status.SCORED, 0) == (outcome.status, outcome.exit_status)
    assert '{"message": "done"}\n' == (lab.load(outcome).path / "artifacts/logs/repetition-001.log").read_text()


def refusal(lab: Lab, **options: str) -> str:
    """Line with which a run refuses; nothing may be archived."""
    with pytest.raises(InputError) as caught:
        controller.run(lab.project, "doubling", RunOptions(**options), Seen())  # type: ignore[arg-type]
    assert not lab.project.runs.exists()
    assert no_process_is_left()
    return caught.value.one_line()


def test_a_compiler_error_is_one_line_with_file_and_line(lab: Lab) -> None:
    """Nothing is measured or archived."""
    lab.write(idea="int missing_semicolon\n    y[0] = 1;")
    line = refusal(lab)
    assert f"{lab.folder}/idea.c:7: arm 'idea' does not compile: " in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("compiler", "says"), [("true", "made no file of the batch loop"), ("cc 'open", "variable CC: cannot be read")]
)
def test_a_variable_cc_that_names_no_compiler_is_refused(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, compiler: str, says: str
) -> None:
    """A program that compiles nothing, and a command whose quotes are open."""
    monkeypatch.setenv("CC", compiler)
    lab.write()
    assert says in refusal(lab)


def test_an_undefined_function_is_found_when_linking(lab: Lab) -> None:
    """The linker's complaint names it."""
    lab.write(idea="extern void nowhere(float *); nowhere(y); (void)x;")
    assert "undefined reference to `nowhere'" in refusal(lab)


def test_an_entry_point_that_is_not_exported_is_refused(lab: Lab) -> None:
    """The line names arm and symbol."""
    (lab.folder / "idea.c").write_text("void another(void) {}\n")
    assert "arm 'idea' exports no function 'idea'" in refusal(lab)


def test_a_null_that_compiles_differently_is_refused(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that makes other code of the same source each time makes a null that is none."""
    wrapper = lab.root / "salted-cc"
    wrapper.write_text(f'#!/bin/sh\necho x >> "{lab.root}/calls"\nexec cc -DSALT=$(wc -l < "{lab.root}/calls") "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("CC", str(wrapper))
    lab.write(base=RIGHT + " y[SALT] = 2.0f * x[SALT];")
    assert "null 'again' became other machine code than 'base'" in refusal(lab)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            'return {"y": 2.0 *',
            "raise ValueError('no reference today')\n    return {\"y\": 2.0 *",
            "reference() raised ValueError: no reference today",
        ),
        ("def kernels", "def kernel", "defines no function kernels"),
        (".astype(np.float64)", "", "must be float64"),
        ('"x": rng', '"x y": rng', "must be a name"),
        ('buffers["x"], buffers["y"]', 'buffers["z"], buffers["y"]', "kernels() raised KeyError"),
        ("arm.symbol", '"base"', "never calls 'idea'"),
        (
            "def kernels",
            "def cases(f, rng):\n    return [{'x': np.zeros(3)}]\n\ndef kernels",
            "must have shape and dtype",
        ),
        ("import numpy as np", "import numpy as np\n1 / 0", "import raised ZeroDivisionError"),
        ("import numpy as np", "import numpy as np\nraise SystemExit(0)", "import raised SystemExit: 0"),
        ('    return {"y": 2.0', '    raise SystemExit(0)\n    return {"y": 2.0', "reference() raised SystemExit: 0"),
        (".astype(np.float32)", ".astype(object)", "holds Python objects, not numbers"),
        ("relative=1e-6", "relative=float('nan')", "tolerances that are finite"),
        ("return 32 *", "return 0.5 *", "must return two whole numbers"),
        ("import numpy as np", "import numpy as np\ndef f(:", "import raised SyntaxError"),
    ],
)
def test_an_experiment_that_raises_or_contradicts_itself_is_one_line(lab: Lab, old: str, new: str, says: str) -> None:
    """The line names the file, and the line in it where something raised; nothing is archived."""
    lab.write(backend="fake", program=PROGRAM.replace(old, new))
    line = refusal(lab)
    assert says in line
    assert f"{lab.folder}/experiment.py" in line


def test_a_source_that_changes_while_the_run_is_prepared_is_refused(lab: Lab) -> None:
    """Nobody could say which text was compiled."""
    source = lab.folder / "idea.c"

    def change(name: str, _detail: str) -> None:
        if name == "references":
            source.write_text(source.read_text() + "\n")

    with pytest.raises(InputError, match=r"doubling/idea\.c: changed while the run was being prepared"):
        lab.run(at_phase=change)
    assert not lab.project.runs.exists()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("import os; os._exit(7)", "ended with status 7 and no answer"),
        ("import os; os._exit(0)", "ended with status 0 and no answer"),
        ("import sys, os; os.write(int(sys.argv[2]), b'nonsense\\n')", "answered nonsense"),
    ],
)
def test_a_program_that_breaks_the_protocol_is_one_line_too(lab: Lab, line: str, says: str) -> None:
    """Whatever an experiment does to its process, the controller says what it saw."""
    lab.write(backend="fake", program=f"{line}\n{PROGRAM}")
    with pytest.raises(WorkerError, match=says):
        lab.run()
    assert no_process_is_left()


def test_a_process_that_goes_on_without_its_voice_is_ended(tmp_path: Path) -> None:
    """A closed descriptor is not taken for an end."""
    program = tmp_path / "mute.py"
    program.write_text("import os, sys, time\nos.close(int(sys.argv[2]))\ntime.sleep(60)\n")
    job = Job(REFERENCE, 0, "fake", {}, str(program), str(tmp_path), 0, [], [], 1, 1, 1, 0.1)
    with Interruption() as interruption:
        answer = Runner(Deadlines(30, 30, end_s=0.3), interruption).run(job, "mute", tmp_path)
    assert answer.fault is not None
    assert "closed its descriptor" in answer.fault.one_line()
    assert no_process_is_left()


def test_a_process_that_a_kernel_leaves_behind_is_ended_with_its_group(lab: Lab) -> None:
    """The group is verified gone after every job, also a good one."""
    lab.write(idea="static int n; if (!n++ && !fork()) pause(); " + RIGHT, repetitions=1)
    source = lab.folder / "idea.c"
    source.write_text("#include <unistd.h>\n" + source.read_text())
    outcome = lab.run()
    assert (Status.SCORED, 0) == (outcome.status, outcome.exit_status)
    assert [] == [one.pid for one in psutil.process_iter() if str(lab.root) in " ".join(_command_of(one))]


def _command_of(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def test_an_unknown_backend_or_device_is_refused_with_those_that_exist(lab: Lab) -> None:
    """The line lists them."""
    assert "known are: command, cuda, fake, native" in refusal(lab, backend="abacus")
    assert "--device takes one of" in refusal(lab, device="4096")


def test_two_arms_with_the_same_machine_code_are_announced(lab: Lab) -> None:
    """The run goes on, the reader is told."""
    lab.write(idea=RIGHT, repetitions=1)
    outcome = lab.run()
    assert Status.SCORED == outcome.status
    assert ["arms 'base' and 'idea' are identical machine code"] == lab.seen.warnings
