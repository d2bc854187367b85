"""Study files: designs, conditions, constraints, the fields that factors set, and errors on one line."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from studies import BYTES, workalike, write_study

from workalike.errors import WorkalikeError
from workalike.study.driver import load
from workalike.study.expression import holds
from workalike.study.prepare import Prepared
from workalike.study.schema import FILE, study_schema
from workalike.study.study_file import read_study

REPOSITORY = Path(__file__).parents[2]


def settings(folder: Path, **fields: Any) -> list[Prepared]:
    return load(read_study(write_study(folder, **fields))).settings


def ids(folder: Path, **fields: Any) -> list[str]:
    return [prepared.setting.id for prepared in settings(folder, **fields)]


def test_full(tmp_path: Path) -> None:
    assert ids(tmp_path) == [
        "ranks=1 bytes_scale=1",
        "ranks=1 bytes_scale=1/2",
        "ranks=2 bytes_scale=1",
        "ranks=2 bytes_scale=1/2",
    ]


def test_one_at_a_time(tmp_path: Path) -> None:
    factors = {"ranks": [1, 2, 3], "seed": [7, 8]}
    assert ids(tmp_path, design="one-at-a-time", factors=factors) == [
        "ranks=1 seed=7",
        "ranks=2 seed=7",
        "ranks=3 seed=7",
        "ranks=1 seed=8",
    ]


def test_pairwise_has_every_pair_in_fewer_settings(tmp_path: Path) -> None:
    factors = {
        "ranks": [1, 2, 3],
        "seed": [1, 2, 3],
        "scaling": ["strong", "weak"],
        "scale_by": ["count", "size"],
    }
    found = [p.setting.levels for p in settings(tmp_path, design="pairwise", factors=factors)]
    for (a, of_a), (b, of_b) in itertools.combinations(factors.items(), 2):
        for pair in itertools.product(of_a, of_b):
            assert any((levels[a], levels[b]) == pair for levels in found), (a, b, pair)
    assert len(found) <= 12  # of 36; 9 are the least


@pytest.mark.parametrize("design", ["latin-hypercube", "sobol"])
def test_samples_spread_over_levels(tmp_path: Path, design: str) -> None:
    """Eight points in each of eight levels: a Latin hypercube and a Sobol sequence have each level once."""
    factors = {"ranks": list(range(1, 9)), "seed": list(range(8))}
    found = [p.setting.levels for p in settings(tmp_path, design=design, samples=8, factors=factors)]
    for name, levels in factors.items():
        assert sorted(point[name] for point in found) == levels


def test_conditions_and_constraints(tmp_path: Path) -> None:
    factors = {
        "ranks": [1, 4],
        "transfer": ["32 KiB", "64 KiB"],
        "sharing": {"levels": ["shared", "per-rank"], "when": "ranks > 1"},
    }
    skip = {"skip": "ranks == 4 and transfer == '65536 B'"}
    assert ids(tmp_path, factors=factors, constraints=[skip]) == [
        "ranks=1 transfer=32 KiB",
        "ranks=1 transfer=64 KiB",
        "ranks=4 transfer=32 KiB sharing=shared",
        "ranks=4 transfer=32 KiB sharing=per-rank",
    ]


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("a > 1 and b == 'x'", True),
        ("not (a in [1, 3])", True),
        ("a * 2 == 4 or c < 1", True),
        ("c > 0", False),
        ("c <= 0", False),
        ("c == 1", False),
        ("s >= '1 MiB'", True),
        ("1 < a < 2", False),
        ("a % 2 == 1", False),
    ],
)
def test_expressions(text: str, truth: bool) -> None:
    assert holds(text, {"a": 2, "b": "x", "c": None, "s": "1024 KiB"}) is truth


@pytest.mark.parametrize(
    "text", ["__import__('os')", "a.b", "a[0]", "lambda: 1", "2 ** 9", "f'{a}'", "(" * 90, "a ="]
)
def test_what_no_condition_may_do(text: str) -> None:
    with pytest.raises(ValueError, match="condition"):
        holds(text, {"a": 1})


@pytest.mark.parametrize(
    ("values", "path", "expected"),
    [
        ({"ranks": 4}, ("ranks",), 4),
        ({"tunable.cb_nodes": 2}, ("families", 0, "hints", "cb_nodes"), "2"),
        ({"hint.romio_no_indep_rw": "true"}, ("families", 0, "hints", "romio_no_indep_rw"), "true"),
        ({"tunable.alignment": "1 MiB"}, ("families", 0, "hdf5", "alignment"), 2**20),
        ({"families[*].schedule.count": 5}, ("dumps", 4, "index"), 4),
        ({"compute": {"level": 2, "length": 3}}, ("compute", "units"), 4),
        ({"gap_fill": "busy"}, ("gap_fill",), "busy"),
        ({"sharing": "groups:2"}, ("families", 0, "sharing", "files"), 2),
        ({"what_if.checkpoint.count": 4, "what_if.checkpoint.every": "1 s"}, ("dumps", 3, "index"), 3),
    ],
)
def test_what_a_field_sets(
    tmp_path: Path, values: dict[str, Any], path: tuple[Any, ...], expected: object
) -> None:
    fixed = {"backend": "null", "time_scale": 0} | values
    if "families[*].schedule.count" in values:
        fixed |= {"bytes_scale": 1}
    found: Any = settings(tmp_path, fixed=fixed, factors={"seed": [1]})[0].plan.model_dump(mode="json")
    for part in path:
        found = found[part]
    assert found == expected


def test_the_checkpoint_interval_is_a_factor(tmp_path: Path) -> None:
    """Two dumps are 10 s apart: every 5 s there are three, with the bytes that each has; other fields are set, too."""
    factors = {"interval": {"set": "what_if.checkpoint.every", "levels": ["10 s", "5 s", "2.5 s"]}}
    fixed = {"backend": "null", "time_scale": 0, "sharing": "per-rank"}
    found = settings(tmp_path, fixed=fixed, factors=factors)
    assert [prepared.setting.id for prepared in found] == ["interval=10 s", "interval=5 s", "interval=2.5 s"]
    assert [prepared.bytes for prepared in found] == [BYTES, 3 * BYTES // 2, 5 * BYTES // 2]
    assert {prepared.plan.families[0].sharing.mode for prepared in found} == {"per-rank"}


@pytest.mark.parametrize("size", ["4 KiB", "64 KiB", "100 KiB", "1 MiB"])
def test_transfer_keeps_bytes(tmp_path: Path, size: str) -> None:
    """4 x 64 KiB of each rank become operations of another size, the last with the rest."""
    found = settings(
        tmp_path, fixed={"backend": "null", "time_scale": 0, "transfer": size}, factors={"seed": [1]}
    )[0]
    assert found.bytes == BYTES
    number, unit = size.split()
    each = -(-4 * 65536 // (int(number) * {"KiB": 1024, "MiB": 2**20}[unit]))
    writes = sum(dump["kinds"]["write"]["count"] for dump in found.counted.values())
    assert writes == 2 * 2 * each


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"factor": {}}, "factor: there is no such field"),
        ({"factors": {"ranks": []}}, "line 7, factors.ranks.levels: a factor has 1 to 1000 levels"),
        ({"factors": {"rnaks": [1]}}, "rnaks: there is no such field to set"),
        ({"factors": {"ranks": [0]}}, "setting ranks=0: ranks: 0 is not a whole number above 0"),
        ({"factors": {"backend": ["psix"]}}, "'psix' is unknown: use null"),
        ({"factors": {"block": {"set": "ranks", "levels": [1]}}}, "the name of a column"),
        ({"factors": {"source": {"set": "ranks", "levels": [1]}}}, "the name of a column"),
        (
            {"factors": {"ranks": {"levels": [1], "when": "size > 2"}}},
            "speaks of size, which is not a factor before it",
        ),
        ({"constraints": [{"skip": "ranks > 0"}]}, "constraints skip every combination"),
        (
            {"constraints": [{"error": "ranks == 2", "reason": "too many"}]},
            "constraints[0]: the setting ranks=2",
        ),
        ({"constraints": [{"skip": "ranks > 'a'"}]}, "have no order"),
        ({"design": "sobol"}, "`samples` is the number"),
        ({"a_a": {"ranks": 9}}, "a_a: no setting has these levels"),
        ({"fixed": {"environment.LD_PRELOAD": "x.so"}}, "a study sets only OMPI_MCA_io"),
        ({"fixed": {"families[3].tunable.cb_nodes": 1}}, "there are only 1"),
        ({"fixed": {"families[0].tunable.cb_node": 1}}, "there is no such field"),
        ({"fixed": {"layout.colour": 1}}, "a layout has no such field"),
        ({"fixed": {"what_if.checkpoint.evry": "1 s"}}, "'evry' cannot be changed (one of every"),
        ({"fixed": {"what_if.ranks": 4}}, "what_if.ranks: use the field `ranks`"),
        ({"fixed": {"what_if.restart.count": 4}}, "the workload has no such family"),
        ({"workload": "gone.yaml"}, "gone.yaml"),
        ({"workload": None}, "give either `workload: FILE` or"),
    ],
)
def test_bad_studies(tmp_path: Path, fields: dict[str, Any], words: str) -> None:
    with pytest.raises(WorkalikeError) as error:
        load(read_study(write_study(tmp_path, **fields)))
    assert error.value.exit_code == 2
    assert words in error.value.one_line()


@pytest.mark.parametrize("text", ["", "study: 1\nstudy: 2", "- 1", "a: &x [*x]", "study: [", "{" * 3000])
def test_no_study_at_all(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.yaml").write_text(text)
    with pytest.raises(WorkalikeError) as error:
        read_study(tmp_path / "s.yaml")
    assert error.value.exit_code == 2


def test_check_counts_before_anything_runs(tmp_path: Path) -> None:
    """The second of two dumps is due after 10 s: five trials wait so long, and only count."""
    path = write_study(tmp_path, fixed={"backend": "null", "time_scale": 1}, blocks=3)
    done = workalike("study", "check", path, "--json")
    shown = json.loads(done.stdout)
    assert (shown["trials"], shown["trials_per_block"], len(shown["settings"])) == (15, 5, 4)
    assert shown["bytes"] == 3 * BYTES * (1 + 1 + 1 + 0.5 + 0.5)
    assert shown["seconds"] == pytest.approx(15 * 10)
    assert shown["core_hours"] == pytest.approx(3 * (3 * 1 + 2 * 2) * 10 / 3600)
    dry = workalike("study", path, "-o", tmp_path / "out", "--dry-run")
    assert "15 trials" in dry.stdout and not (tmp_path / "out").exists()


def test_the_schema_is_that_of_the_code() -> None:
    checked_in = json.loads((REPOSITORY / "schema" / FILE).read_text())
    assert checked_in == study_schema(), "run `python -m workalike.study.schema schema`"


def test_studies_keep_to_the_schema(tmp_path: Path) -> None:
    check = jsonschema.Draft202012Validator(study_schema())
    check.validate(yaml.safe_load(write_study(tmp_path).read_text()))
    assert not check.is_valid({"study": 1, "workload": "w", "factor": {}})


READY = sorted((REPOSITORY / "studies").glob("*.yaml"))


@pytest.mark.parametrize("path", READY, ids=lambda path: path.stem)
def test_ready_studies(path: Path) -> None:
    jsonschema.Draft202012Validator(study_schema()).validate(yaml.safe_load(path.read_text()))
    named = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# yaml-language-server: $schema=")
    assert (path.parent / named).resolve() == REPOSITORY / "schema" / FILE, "for editors"
    done = workalike("study", "check", path)
    assert done.returncode == 0, done.stderr
    assert f"`{path.name}`" in (REPOSITORY / "docs" / "study.md").read_text(encoding="utf-8")
    assert f"studies/{path.name}" in path.read_text(encoding="utf-8"), "a comment says how to run it"


def test_there_are_ready_studies() -> None:
    assert {path.stem for path in READY} >= {
        "weak-scaling",
        "strong-scaling",
        "striping",
        "stripe-counts",
        "file-modes",
        "systems",
        "hdf5-tuning",
        "typhonio-vs-hdf5",
        "capture-overhead",
    }
