"""Whatever is wrong with an experiment, the user gets one line: file, key, what to do; and nothing was measured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from reportgen.errors import EXIT_MISUSE, InputError
from reportgen.project import find_experiment, open_project
from tests.measure.adding import planned, write


@dataclass(frozen=True)
class Bad:
    """Text replaced in the experiment's TOML, text appended, and what the line says: the key and the remedy."""

    old: str = ""
    new: str = ""
    more: str = ""
    names: str = ""
    remedy: str = ""


EMPTY = 'name = "empty"'
ROWS = "rows = [1, 64]"
ARM_NAMES = "must be lower-case letters, digits and _"
AXIS_VALUES = "may hold letters, digits and . _ + - only"
EXTRA = '\n[[fixture]]\nvalues = {{size = "small", cache = "same-set", rows = {}}}\n'

CASES = {
    "malformed TOML": Bad(
        "schema_version = 1", "schema_version = = 1", names="line 1, column 18", remedy="correct the"
    ),
    "TOML without end": Bad(more="\nx = " + "[" * 5000 + "]" * 5000, names="recursion", remedy="correct the file"),
    "a schema version that never was": Bad(
        "schema_version = 1", "schema_version = 0", names="0 was never one", remedy="1"
    ),
    "unknown key": Bad(
        "title =", "titel =", names="`titel`", remedy="`reportgen manual writing-experiments` lists them all"
    ),
    "unknown key of an arm": Bad(EMPTY, EMPTY + "\ncolour = 1", names="`colour` - at `$.arm[5]`", remedy="that key"),
    "missing key": Bad('question = "Does unrolling pay?"\n', "", names="`question`", remedy="add that key"),
    "wrong type": Bad(ROWS, "rows = 1", names="Expected `array`, got `int` - at `$.axes[...]`", remedy="correct the"),
    "newer schema version": Bad(
        "= 1\ntitle", "= 2\nnew_key = 1\ntitle", names="schema_version 2", remedy="newer report"
    ),
    "schema version that is no number": Bad(
        "= 1\ntitle", '= "1"\ntitle', names="$.schema_version", remedy="correct the"
    ),
    "unknown arm": Bad('control = "matched"', 'control = "mached"', names="'mached'", remedy="correct the file"),
    "unknown arm of a null": Bad('of = "plain"', 'of = "plan"', names="of names unknown arm 'plan'", remedy="correct"),
    "null without of": Bad('of = "plain"\n', "", names="'plain_again': `of` names", remedy="correct the file"),
    "unknown role": Bad(
        '"candidate"', '"candidat"', names="`$.arm[4].role`", remedy="roles are incumbent, control, cand"
    ),
    "unknown kind of gate": Bad(
        more='\n[[gate]]\nname = "g"\nkind = "best"\narms = []\nvs = "control"\nthreshold = 0.0\n',
        names="`$.gate[0].kind`",
        remedy="kinds of gates are every_fixture, head",
    ),
    "gate without arms": Bad(
        more='\n[[gate]]\nname = "g"\nkind = "headline"\narms = []\nvs = "control"\nthreshold = 0.0\n',
        names="gate 'g': arms names none",
    ),
    "gate at no number": Bad(
        more='\n[[gate]]\nname = "g"\nkind = "headline"\narms = ["unrolled"]\nvs = "control"\nthreshold = nan\n',
        names="gate 'g': threshold must be finite",
    ),
    "negative padding": Bad(more="\n[protocol]\nmost_padding_mib = -1.0\n", names="protocol.most_padding_mib must lie"),
    "endless deadline": Bad(more="\n[protocol]\nstart_deadline_s = inf\n", names="protocol.start_deadline_s must be"),
    "clock share": Bad(
        more="\n[protocol.exclude]\nleast_clock_share = 95\n", names="least_clock_share must lie in [0, 1]"
    ),
    "no repetition": Bad(more="\n[protocol]\nrepetitions = 0\n", names="protocol counts must be at least 1"),
    "value that is no number": Bad(ROWS, "rows = [nan]", names="axis 'rows': value nan is not finite"),
    "effect of everything": Bad("slicing =", "smallest_effect = 1.0\nslicing =", names="smallest_effect is a share"),
    "no incumbent": Bad('"incumbent"', '"probe"', names="role 'incumbent'", remedy="correct the file"),
    "duplicate arm": Bad(EMPTY, 'name = "plain"', names="arm 'plain' is declared twice", remedy="correct the file"),
    "duplicate fixture": Bad(more=EXTRA.format(1), names="rows=1' is declared twice", remedy="[[fixture]] tables"),
    "duplicate axis value": Bad(ROWS, 'rows = [1, "1"]', names="axis 'rows': '1' is declared twice", remedy="correct"),
    "unknown axis": Bad('slicing = ["size"]', 'slicing = ["sise"]', names="slicing names unknown axis 'sise'"),
    "unknown value": Bad(EMPTY, EMPTY + "\nonly = {rows = [2]}", names="'empty': only: axis 'rows' has no value 2"),
    "missing source": Bad('"empty.c"', '"void.c"', names="'void.c' of arm 'empty' is missing", remedy="`file`"),
    "source elsewhere": Bad('"empty.c"', '"../empty.c"', names="'../empty.c' must be a plain file name"),
    "arm with a space": Bad(EMPTY, 'name = "an arm"', names="'an arm'", remedy="correct the file"),
    "arm with a quote": Bad(EMPTY, 'name = "o\'arm"', names=ARM_NAMES),
    "arm with a tag": Bad(EMPTY, 'name = "<script>"', names="'<script>' " + ARM_NAMES),
    "arm beyond ASCII": Bad(EMPTY, 'name = "größe"', names="'größe' " + ARM_NAMES),
    "arm with a line feed": Bad(EMPTY, r'name = "a\nb"', names=r"'a\nb' " + ARM_NAMES),
    "axis beyond ASCII": Bad(ROWS, '"größe" = [1, 64]', names="axis 'größe' " + ARM_NAMES),
    "value with a space": Bad(ROWS, 'rows = ["a b"]', names="'a b' " + AXIS_VALUES),
    "value with a tag": Bad(ROWS, 'rows = ["<script>"]', names="'<script>' " + AXIS_VALUES),
    "value with a comma": Bad(more=EXTRA.format('"1,size=large"'), names="'1,size=large' " + AXIS_VALUES),
    "file with a space": Bad('"empty.c"', '"em pty.c"', names="'em pty.c' must be a plain file name"),
    "symbol with a quote": Bad(
        '"add_empty"', '"add\'empty"', names="is no C identifier", remedy="letters, digits and _"
    ),
    "define with a space": Bad(EMPTY, EMPTY + '\ndefines = {"A B" = 1}', names="defines 'A B'", remedy="letters"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_one_line_with_file_key_and_remedy(tmp_path: Path, case: str) -> None:
    """The table above; exit status 2 says that nothing was measured."""
    bad = CASES[case]
    folder = write(tmp_path, (bad.old, bad.new), more=bad.more) if bad.old else write(tmp_path, more=bad.more)
    with pytest.raises(InputError) as fault:
        planned(folder)
    line = fault.value.one_line()
    place, _, rest = line.partition(": ")
    assert Path(place).parent == folder.folder
    assert bad.names in rest
    assert bad.remedy in fault.value.remedy
    assert fault.value.remedy
    assert line.isprintable()
    assert EXIT_MISUSE == fault.value.exit_status


@pytest.mark.parametrize("name", ["my kernel", "it's", "<script>", "größe", "Upper", "-x", "1st"])
def test_an_experiment_with_an_awkward_folder_is_refused(tmp_path: Path, name: str) -> None:
    """Its name becomes a path and an address."""
    with pytest.raises(InputError, match="must be lower-case letters, digits, _ and -") as fault:
        planned(write(tmp_path, name=name))
    assert repr(name) in str(fault.value)
    assert str(fault.value).endswith("; rename the folder or the file")


def test_texts_may_hold_anything(tmp_path: Path) -> None:
    """Titles and ideas are for readers; quotes, tags and letters beyond ASCII are theirs."""
    title = 'It\'s <script>alert(1)</script> "größer"'
    plan = planned(write(tmp_path, ('title = "Adding up"', f"title = '''{title}'''")))
    assert title == plan.experiment.title


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    """As an editor of another age leaves it."""
    folder = write(tmp_path)
    folder.toml.write_bytes(folder.toml.read_bytes() + b"# gr\xf6\xdfer\n")
    with pytest.raises(InputError, match=r"experiment.toml: cannot be read: .*; correct the file"):
        planned(folder)


def test_an_unknown_experiment_is_answered_with_those_that_there_are(tmp_path: Path) -> None:
    """And the folder that was searched."""
    write(tmp_path)
    with pytest.raises(InputError, match=r"kernels: no experiment named 'subtracting'; declared are: adding"):
        find_experiment(open_project(tmp_path), "subtracting")


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    """An experiment cannot be measured without its functions."""
    folder = write(tmp_path)
    (folder.folder / "experiment.py").unlink()
    with pytest.raises(InputError, match=r"experiment.py: the experiment has no experiment.py; write its functions"):
        planned(folder)
