"""Thresholds are data: all of one table are used, and no other number decides anything."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from known_logs import OWN_LOGS, PACKAGE_LOGS, REPOSITORY, SHARED_LOGS, SHARED_WORKFLOWS

import workalike
from workalike.characterize.sensitivity import effects, jobs_of, outcome
from workalike.darshan import LogBuilder
from workalike.facts.threshold_evidence import SEEN_ON
from workalike.facts.thresholds import (
    THRESHOLDS,
    Kind,
    Threshold,
    Thresholds,
    recorded,
    table,
    varied,
)

PACKAGE = Path(workalike.__file__).parent
NAMES = [f.name for f in fields(Thresholds)]

TEST = "test: "
HERE = {log.stem for log in [*OWN_LOGS, *PACKAGE_LOGS]}
"""Logs that are there on every machine."""

NO_THRESHOLDS = {
    "ARRAYS_OF_MESH",  # part of the library's format
    "BIN_BOUNDS",  # of Darshan's histograms
    "BLOCK",  # the engine's payload
    "BLOCKS",  # the engine's payload
    "DIGITS",  # of a share that is shown
    "FACTORS",  # by which `workalike thresholds` varies a row
    "FEWEST_VARIABLES",  # a mesh has at least one
    "FIRST_ROOM",  # a number of Darshan's
    "MAX_DIMS",  # the dimensions that a record has fields for
    "MOST_COMMON",  # sizes that a record names
    "MOST_DIGITS",  # a 64-bit number holds no more
    "NOTHING",  # a code for "none"
    "PNETCDF_HEADER",  # the bytes that PnetCDF reads
    "STEPS_PER_DOUBLING",  # the unit of signatures
}
"""Numbers in these packages that are no thresholds, mostly of formats."""


def test_every_threshold_is_used() -> None:
    read = {
        node.attr
        for part in ("facts", "characterize", "rehearse")
        for path in (PACKAGE / part).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "THRESHOLDS"
        and not node.attr.startswith("_")
    }
    assert read == set(NAMES)


def test_no_other_number_is_a_threshold() -> None:
    found = {name for tree in trees() for name in constants(tree)}
    assert found == NO_THRESHOLDS


def test_no_number_decides_in_place() -> None:
    """Where a reader of the table would not find it: none, one and two are counted, not set."""
    found = [text for tree in trees() for text in decided_in_place(tree)]
    assert found == []


def trees() -> list[ast.Module]:
    """The sources that the table is for; the table itself is none of them."""
    paths = [
        path
        for part in ("facts", "characterize", "rehearse")
        for path in sorted((PACKAGE / part).rglob("*.py"))
    ]
    return [ast.parse(path.read_text()) for path in paths if path.name != "thresholds.py"]


def constants(tree: ast.Module) -> set[str]:
    """Names at the top of a module whose values are numbers, formulas of numbers, or sequences of them."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _is_number(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def decided_in_place(tree: ast.Module) -> list[str]:
    """Comparisons with a number above two, and sequences of such numbers, inside functions."""
    return [
        ast.unparse(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Compare | ast.Tuple | ast.List | ast.Set) and _decides(node)
    ]


def _decides(node: ast.Compare | ast.Tuple | ast.List | ast.Set) -> bool:
    if isinstance(node, ast.Compare):
        return any(map(_is_above_two, [node.left, *node.comparators]))
    return all(map(_is_number, node.elts)) and any(map(_is_above_two, node.elts))


def _is_above_two(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, int | float) and value.value > 2


def _is_number(value: ast.expr) -> bool:
    """Whether a value is a number, a formula of numbers, or a sequence that has one."""
    if isinstance(value, ast.Tuple | ast.List | ast.Set):
        return any(map(_is_number, value.elts))
    return all(
        isinstance(node, ast.Constant | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop)
        and not (isinstance(node, ast.Constant) and not isinstance(node.value, int | float))
        for node in ast.walk(value)
    )


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("A = 3", {"A"}),
        ("A: int = 2**20", {"A"}),
        ("A = (1, 2, 4)", {"A"}),
        ("A: tuple[float, ...] = (0.5, *B)", {"A"}),
        ("A = B = -1", {"A", "B"}),
        ("A = 'text'\nB: int\nC = f(3)\nD = ('x', 'y')", set()),
    ],
)
def test_constants_of_all_kinds_are_seen(source: str, found: set[str]) -> None:
    assert constants(ast.parse(source)) == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("return len(a) >= 4", ["len(a) >= 4"]),
        ("for b in (1, 2, 4): pass", ["(1, 2, 4)"]),
        ("return len(a) > 2 and b != 0", []),
        ("return ('x', -1, 1)", []),
    ],
)
def test_numbers_in_place_are_seen(line: str, found: list[str]) -> None:
    assert decided_in_place(ast.parse(f"def f(a):\n    {line}")) == found


def test_rows_say_what_they_decide() -> None:
    rows = table()
    assert [row.name for row in rows] == NAMES
    assert all(row.value > 0 and row.unit and row.decides.endswith((".", ",")) for row in rows)
    assert SEEN_ON.keys() <= set(NAMES)


def test_every_threshold_is_seen() -> None:
    """On a known log, or else in a test; a limit need not be."""
    rows = table()
    assert [row.name for row in rows if row.kind is Kind.THRESHOLD and not row.seen_on] == []
    names = {name for row in rows for name in row.seen_on}
    tests = {name.removeprefix(TEST) for name in names if name.startswith(TEST)}
    assert tests
    for test in tests:
        path, _, function = test.partition("::")
        defined = [
            node.name
            for node in ast.walk(ast.parse((REPOSITORY / path).read_text()))
            if isinstance(node, ast.FunctionDef)
        ]
        assert function in defined, test
    known = {log.stem for log in [*PACKAGE_LOGS, *OWN_LOGS]}
    shared = {log.stem for log in SHARED_LOGS} | {folder.name for folder in SHARED_WORKFLOWS}
    assert names - {TEST + test for test in tests} - known <= (shared or names)


@pytest.mark.parametrize("row", [row for row in table() if HERE & set(row.seen_on)], ids=lambda row: row.name)
def test_logs_change_as_the_table_says(row: Threshold) -> None:
    logs = [log for log in [*OWN_LOGS, *PACKAGE_LOGS] if log.stem in row.seen_on]
    (effect,) = effects([row], jobs_of(logs))
    assert set(effect.either) == {log.stem for log in logs}


def test_only_what_is_read_can_change_anything(tmp_path: Path) -> None:
    (job,) = jobs_of([make_log(tmp_path)])
    with recorded() as read:
        outcome(job)
    assert "role_checkpoint" in read and "trace_runs" not in read
    with recorded() as again:
        pass
    assert again == set() and type(THRESHOLDS) is Thresholds


def test_a_varied_threshold_is_restored() -> None:
    before = THRESHOLDS.long_lived_holds
    with pytest.raises(KeyError), varied("long_lived_holds", 2.0):
        assert (THRESHOLDS.long_lived_holds, type(THRESHOLDS.long_lived_holds)) == (2 * before, int)
        raise KeyError
    assert THRESHOLDS.long_lived_holds == before
    with varied("plausible_else", 2.0):
        assert THRESHOLDS.plausible_else == 2**63 - 1


def make_log(folder: Path) -> Path:
    """A log with a family of three dumps that has 60 % of the bytes: a checkpoint at half the bytes, not at all of them."""
    builder = LogBuilder(nprocs=2, run_time=100.0)
    sizes = [("a", 20), ("a", 20), ("a", 20), ("single", 40)]
    for i, (name, size) in enumerate(sizes):
        builder.posix(
            f"/s/{name}{i:02}",
            rank=-1,
            OPENS=2,
            WRITES=2,
            BYTES_WRITTEN=size << 20,
            F_OPEN_START_TIMESTAMP=1.0 + 10 * i,
            F_WRITE_START_TIMESTAMP=1.0 + 10 * i,
            F_WRITE_END_TIMESTAMP=2.0 + 10 * i,
            F_CLOSE_END_TIMESTAMP=2.0 + 10 * i,
        )
    path = folder / "app.darshan"
    builder.write(path)
    return path


def test_jobs_that_change_are_named(tmp_path: Path) -> None:
    rows = [row for row in table() if row.name in ("role_checkpoint", "trace_runs")]
    by_name = {e.threshold.name: e for e in effects(rows, jobs_of([make_log(tmp_path)]))}
    assert (by_name["role_checkpoint"].halved, by_name["role_checkpoint"].doubled) == ((), ("app",))
    assert by_name["role_checkpoint"].either == ("app",)
    assert by_name["trace_runs"].either == ()


def test_the_command_lists_and_varies(tmp_path: Path) -> None:
    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        program = [sys.executable, "-m", "workalike", "thresholds"]
        return subprocess.run([*program, *map(str, arguments)], capture_output=True, text=True)

    listed = json.loads(run("--json").stdout)
    names = {kind: {row["name"] for row in listed[kind]} for kind in ("thresholds", "limits")}
    assert names["thresholds"] | names["limits"] == set(NAMES)
    assert "level_explains" in names["thresholds"] and "plausible_bytes" in names["limits"]
    text = run().stdout
    assert text.index("Thresholds decide") < text.index("level_explains = 0.95 share")
    assert text.index("role_line") < text.index("Limits bound") < text.index("plausible_bytes")
    varied_ = run(make_log(tmp_path), "--name", "role_checkpoint")
    assert "halved: nothing changes" in varied_.stdout
    assert "doubled: app" in varied_.stdout
    assert run("--name", "no_such").returncode == 2
