"""A plan writes out all that follows from an experiment, and refuses what could not be measured or judged."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from reportgen.archive.digest import plan_digest
from reportgen.archive.encoding import decode_toml, encode_toml
from reportgen.errors import InputError
from reportgen.measure.planning import make_plan
from reportgen.model.plan import SCHEMA_VERSION, Plan, PlanFile
from reportgen.project import read_experiment
from tests.measure.adding import planned, write

CONTROL_NULL = '[[arm]]\nname = "matched_again"\nrole = "null"\nidea = "the control again"\nof = "matched"\n'


PEER = '\n[[arm]]\nname = "theirs"\nrole = "peer"\nidea = "-"\n'


def pairs(plan: Plan) -> list[tuple[str, str]]:
    """Candidate and baseline of every comparison."""
    return [(comparison.candidate, comparison.baseline) for comparison in plan.comparisons]


def arm(name: str, role: str, **keys: str) -> str:
    """Write one more [[arm]] table with a source that exists."""
    given = {"idea": "-", "file": "empty.c", "symbol": f"add_{name}", **keys}
    lines = [f'name = "{name}"', f'role = "{role}"', *(f'{key} = "{value}"' for key, value in given.items())]
    return "\n[[arm]]\n" + "\n".join(lines) + "\n"


def test_fixtures_are_the_product_of_the_axes_less_exclusions_plus_extras(tmp_path: Path) -> None:
    """Names are axis=value pairs in the order of the axes, whatever order an extra fixture gives them in."""
    more = '\n[[fixture]]\nvalues = {rows = 7, size = "small", cache = "same-set"}\nchecks_only = true\n'
    folder = write(
        tmp_path, ('slicing = ["size"]', 'slicing = ["size"]\nexclude = [{size = ["large"], rows = [1]}]'), more=more
    )
    plan = planned(folder)
    assert [
        "size=small,cache=same-set,rows=1",
        "size=small,cache=same-set,rows=64",
        "size=large,cache=same-set,rows=64",
        "size=small,cache=same-set,rows=7",
    ] == [fixture.name for fixture in plan.fixtures]
    assert plan.fixtures[-1].checks_only
    assert "size=small,cache=same-set,rows=7" not in plan.arms_by_fixture


def test_a_fixture_seed_is_the_first_63_bits_of_a_hash(tmp_path: Path) -> None:
    """Known right value by hand."""
    digest = hashlib.sha256(b"adding\x001\x00size=small,cache=same-set,rows=1").digest()
    assert int.from_bytes(digest[:8], "big") // 2 == planned(write(tmp_path)).fixtures[0].seed


def test_cache_always_slices(tmp_path: Path) -> None:
    """The plan slices by size; cache is added without being named."""
    plan = planned(write(tmp_path, ('cache = ["same-set"]', 'cache = ["same-set", "rotating"]')))
    assert [
        "size=small,cache=same-set",
        "size=small,cache=rotating",
        "size=large,cache=same-set",
        "size=large,cache=rotating",
    ] == [part.name for part in plan.slices]
    assert [f"size=small,cache=rotating,rows={n}" for n in (1, 64)] == plan.slices[1].fixtures


def test_without_slicing_axes_there_is_one_slice_named_all(tmp_path: Path) -> None:
    """An empty name would read as a fault."""
    plan = planned(write(tmp_path, ('slicing = ["size"]\n', ""), ('cache = ["same-set"]', "n = [1]")))
    assert [("all", {})] == [(part.name, part.values) for part in plan.slices]


def test_comparisons_follow_from_roles(tmp_path: Path) -> None:
    """Every judged arm against the incumbent, the candidate against its control, nulls against what they repeat."""
    assert [
        ("plain_again", "plain"),
        ("matched", "plain"),
        ("matched_again", "matched"),
        ("unrolled", "plain"),
        ("unrolled", "matched"),
    ] == pairs(planned(write(tmp_path)))


def test_a_declared_comparison_is_added_once(tmp_path: Path) -> None:
    """What follows from roles is not repeated; what is new comes last."""
    more = '\n[[comparison]]\ncandidate = "unrolled"\nbaseline = "plain"\n'
    more += '\n[[comparison]]\ncandidate = "unrolled"\nbaseline = "empty"\nwhere = {rows = [64]}\n'
    found = planned(write(tmp_path, more=more)).comparisons
    assert 6 == len(found)
    assert ("empty", {"rows": [64]}) == (found[-1].baseline, found[-1].where)


def test_a_null_has_all_of_the_arm_it_repeats(tmp_path: Path) -> None:
    """Source, symbol, defines and fixtures; and it must equal the original bit for bit."""
    folder = write(
        tmp_path, ('symbol = "add_plain"', 'symbol = "add_plain"\ndefines = {N = 4}\nonly = {rows = [1, 64]}')
    )
    null = next(arm for arm in planned(folder).experiment.arms if arm.name == "plain_again")
    assert ("plain.c", "add_plain", {"N": 4}, {"rows": [1, 64]}, True) == (
        null.file,
        null.symbol,
        null.defines,
        null.only,
        null.bitwise,
    )


def test_only_limits_an_arm_to_some_fixtures(tmp_path: Path) -> None:
    """The candidate rides where it can; the others everywhere."""
    plan = planned(write(tmp_path, ('control = "matched"', 'control = "matched"\nonly = {rows = [64]}')))
    assert ["size=large,cache=same-set,rows=64", "size=small,cache=same-set,rows=64"] == sorted(
        name for name, arms in plan.arms_by_fixture.items() if "unrolled" in arms
    )


def test_peers_ride_beside_the_incumbent_in_a_group_of_their_own(tmp_path: Path) -> None:
    """The main group knows nothing of them."""
    plan = planned(write(tmp_path, more=PEER))
    assert {("plain", "theirs")} == {tuple(arms) for arms in plan.peers_by_fixture.values()}
    assert all("theirs" not in arms for arms in plan.arms_by_fixture.values())
    assert ("theirs", "plain") == pairs(plan)[-1]


def test_two_incumbents_need_a_name_only_where_both_could_be_meant(tmp_path: Path) -> None:
    """An arm whose fixtures have one incumbent is judged against that one."""
    split = [
        ('symbol = "add_plain"', 'symbol = "add_plain"\nonly = {rows = [1]}'),
        ('symbol = "add_matched"', 'symbol = "add_matched"\nincumbent = "plain"'),
        ('control = "matched"', "only = {rows = [64]}"),
    ]
    more = arm("wide", "incumbent").replace("symbol", "only = {rows = [64]}\nsymbol")
    more += '\n[[arm]]\nname = "wide_again"\nrole = "null"\nidea = "-"\nof = "wide"\n'
    assert ("unrolled", "wide") in pairs(planned(write(tmp_path, *split, more=more)))


def test_the_digest_can_be_computed_from_its_description_alone(tmp_path: Path) -> None:
    """Written out by hand: files in the order of their paths, options, order method."""
    folder = write(tmp_path)
    kernels = folder.folder.parent
    names = ["add.h", "empty.c", "experiment.py", "experiment.toml", "matched.c", "plain.c", "unrolled.c"]
    paths = [*(f"adding/{name}" for name in names), "common/shared.h"]
    text = "".join(f"{path}\0{hashlib.sha256((kernels / path).read_bytes()).hexdigest()}\n" for path in paths)
    text += 'options\0["backend=native","-O2"]\n' + "order\0mirrored-balanced-1\n"
    plan = planned(folder)
    assert paths == [file.path for file in plan.files]
    assert hashlib.sha256(text.encode()).hexdigest() == plan.digest


@pytest.mark.parametrize("changed", ["experiment.toml", "experiment.py", "plain.c", "add.h", "../common/shared.h"])
def test_a_changed_byte_in_any_file_changes_the_digest(tmp_path: Path, changed: str) -> None:
    """Nothing that is measured can change unseen."""
    folder = write(tmp_path)
    before = planned(folder).digest
    path = folder.folder / changed
    path.write_bytes(path.read_bytes() + b"\n")
    assert before != planned(folder).digest


def test_backend_and_options_change_the_digest(tmp_path: Path) -> None:
    """One experiment run by two backends has two plans."""
    folder = write(tmp_path)
    assert planned(folder).digest != planned(folder, backend="fake").digest


def test_a_backends_own_options_come_before_the_experiments(tmp_path: Path) -> None:
    """The digest covers both."""
    folder = write(tmp_path)
    plan = make_plan(folder, read_experiment(folder), backend="native", backend_options=["-fPIC"])
    assert ["backend=native", "-fPIC", "-O2"] == plan.backend_options
    assert planned(folder).digest != plan.digest


def test_a_control_that_is_the_incumbent_is_compared_once(tmp_path: Path) -> None:
    """The roles coincide, the comparison does not double."""
    found = pairs(planned(write(tmp_path, ('control = "matched"', 'control = "plain"'))))
    assert 1 == found.count(("unrolled", "plain"))


def test_the_digest_does_not_depend_on_where_the_lab_lies(tmp_path: Path) -> None:
    """Paths are relative to the kernels folder."""
    folder = write(tmp_path)
    before = planned(folder).digest
    (tmp_path / "kernels").rename(tmp_path / "moved")
    moved = type(folder)(folder.name, tmp_path / "moved/adding", tmp_path / "moved/adding/experiment.toml")
    assert before == planned(moved).digest


def test_options_beyond_ascii_are_escaped_in_the_digest() -> None:
    """The definition names json.dumps without spaces."""
    options = ["-DNAME=é"]
    text = f"options\0{json.dumps(options)}\norder\0m\n"
    assert '["-DNAME=\\u00e9"]' in text
    assert hashlib.sha256(text.encode()).hexdigest() == plan_digest([], options, "m")


def test_two_files_with_one_path_have_no_digest() -> None:
    """The order of such lines would be open."""
    with pytest.raises(ValueError, match="distinct paths"):
        plan_digest([PlanFile(path="a", sha256="0")] * 2, [], "m")


def test_the_fake_backend_needs_neither_program_nor_symbols(tmp_path: Path) -> None:
    """Whatever files there are still belong to the digest."""
    folder = write(tmp_path, ('file = "empty.c"\nsymbol = "add_empty"\n', ""))
    (folder.folder / "experiment.py").unlink()
    assert "adding/experiment.py" not in [file.path for file in planned(folder, backend="fake").files]


REFUSED = {
    "a baseline without a null": (
        [(CONTROL_NULL, "")],
        "",
        "baseline 'matched' has no null arm in slice",
        "add an [[arm]] with role = 'null' and of = 'matched'",
    ),
    "a null that leaves out a slice": (
        [('of = "plain"', 'of = "plain"\nonly = {size = ["small"]}')],
        "",
        "baseline 'plain' has no null arm in slice 'size=large,cache=same-set'",
        "add an [[arm]]",
    ),
    "a null of a null": (
        [('of = "matched"', 'of = "plain_again"')],
        "",
        "'matched_again': of names 'plain_again', a null itself",
        "repeat 'plain'",
    ),
    "a null with another source": (
        [('of = "plain"', 'of = "plain"\nfile = "empty.c"')],
        "",
        "arm 'plain_again': a null has no file other than",
        "remove the key file",
    ),
    "two arms with one symbol": (
        [("add_matched", "add_plain")],
        "",
        "arms 'plain' and 'matched' have one symbol 'add_plain'",
        "entry point of its own",
    ),
    "an arm without symbol": (
        [('symbol = "add_empty"\n', "")],
        "",
        "arm 'empty' lacks `file` or `symbol`",
        "name its source",
    ),
    "a missing source": ([('"unrolled.c"', '"enrolled.c"')], "", "'enrolled.c' of arm 'unrolled' is missing", "`file`"),
    "a missing header": (
        [('"add.h"', '"sub.h"')],
        "",
        "compile.headers names 'sub.h', which is missing",
        "put it into",
    ),
    "a header outside": ([('"add.h"', '"../../x.h"')], "", "compile.headers names '../../x.h'", "put it into"),
    "a header by a detour": (
        [('"add.h"', '"../adding/add.h"')],
        "",
        "compile.headers names '../adding/add.h'",
        "put it",
    ),
    "a peer beside no incumbent": (
        [('symbol = "add_plain"', 'symbol = "add_plain"\nonly = {rows = [1]}')],
        PEER + "only = {rows = [64]}\n",
        "peer 'theirs' is timed beside no incumbent",
        "correct the `only` of either",
    ),
    "an undeclared header": (
        [('"add.h", ', "")],
        "",
        "includes 'add.h', which the plan does not cover",
        "compile.headers",
    ),
    "compared arms that never meet": (
        [('control = "matched"', 'control = "matched"\nonly = {rows = [1]}')],
        '\n[[comparison]]\ncandidate = "unrolled"\nbaseline = "empty"\nwhere = {rows = [64]}\n',
        "'unrolled' and 'empty' are timed together on no fixture",
        "correct `only` or `where`",
    ),
    "an arm compared with itself": (
        [],
        '\n[[comparison]]\ncandidate = "plain"\nbaseline = "plain"\n',
        "'plain' is compared with itself",
        "name another arm",
    ),
    "two incumbents and no choice": (
        [],
        arm("other", "incumbent"),
        "arm 'matched' shares its fixtures with several incumbents (plain, other)",
        "add `incumbent` to arm 'matched'",
    ),
    "an incumbent that is none": (
        [('control = "matched"', 'control = "matched"\nincumbent = "matched"')],
        "",
        "incumbent names 'matched', which has another role",
        "role 'incumbent'",
    ),
    "a control that is none": (
        [('control = "matched"', 'control = "empty"')],
        "",
        "control names 'empty', which is neither control nor incumbent",
        "'control' or 'incumbent'",
    ),
    "a floor with a control": (
        [('symbol = "add_empty"', 'symbol = "add_empty"\ncontrol = "plain"')],
        "",
        "an arm with the role 'floor' has no control",
        "remove the key `control`",
    ),
    "an excluded fixture too many": (
        [('slicing = ["size"]', 'slicing = ["size"]\nexclude = [{}]')],
        "",
        "no fixture is left to time",
        "exclude fewer",
    ),
    "a duplicate fixture": (
        [],
        '\n[[fixture]]\nvalues = {size = "small", cache = "same-set", rows = 1}\n',
        "fixture 'size=small,cache=same-set,rows=1' is declared twice",
        "remove it",
    ),
    "a band over fixtures that share a point": (
        [],
        '\n[[gate]]\nname = "g"\nkind = "band"\narms = ["matched"]\nvs = "incumbent"\nthreshold = 0.01\naxis = "size"\n',
        "gate 'g' has several fixtures at one size in slice 'size=small,cache=same-set'",
        "leave one value of every other axis with `where`",
    ),
    "a gate against a control that there is none of": (
        [],
        '\n[[gate]]\nname = "g"\nkind = "headline"\narms = ["matched"]\nvs = "control"\nthreshold = 0.0\n',
        "gate 'g': arm 'matched' is not timed beside its 'control'",
        "correct `arms`, `vs` or `where`",
    ),
    "too many repetitions": ([], "\n[protocol]\nrepetitions = 1001\n", "protocol.repetitions is too large", "1000"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_judged_is_refused_in_one_line(tmp_path: Path, case: str) -> None:
    """Each sentence names the file, what is wrong and what to do; nothing was measured (exit status 2)."""
    replacements, more, what, remedy = REFUSED[case]
    folder = write(tmp_path, *replacements, more=more)
    with pytest.raises(InputError) as fault:
        planned(folder)
    line = str(fault.value)
    assert 2 == fault.value.exit_status
    assert str(folder.folder) in line
    assert what in line
    assert remedy in line.split(what)[1]
    assert "\n" not in line


def test_a_plan_survives_its_file(tmp_path: Path) -> None:
    """What ``plan.toml`` holds is what was planned, byte for byte the second time."""
    folder = write(tmp_path, ("rows = [1, 64]", "rows = [1, 64]\ngain = [0.5, 1e-9]\nmasked = [true]"))
    plan = planned(folder)
    text = encode_toml(plan)
    read = decode_toml(text, Plan, SCHEMA_VERSION, "plan.toml")
    assert plan == read
    assert text == encode_toml(read)


def test_truth_values_are_named_as_toml_writes_them(tmp_path: Path) -> None:
    """Names are the same whatever reads them."""
    plan = planned(write(tmp_path, ("rows = [1, 64]", "rows = [1]\nmasked = [true, false]\ngain = [0.5]")))
    assert "size=small,cache=same-set,rows=1,masked=true,gain=0.5" == plan.fixtures[0].name
