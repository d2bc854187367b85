"""The evidence file: a closed set of fields, checked when it is read; hostile and damaged files are refused in a line."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command_line import workalike

from workalike.errors import ErrorKind, WorkalikeError
from workalike.evidence.document import (
    SCHEMA_FILE,
    VERSION,
    Evidence,
    evidence_schema,
    read_evidence,
    spread_of,
)

ROOT = Path(__file__).parents[2]


def side(seconds: float) -> dict[str, float]:
    return {"in_calls_s": seconds, "run_s": 8.0}


def document() -> dict[str, Any]:
    """A file as a site sends it, by hand: six pairs of which the replica takes half as long again."""
    ratio = {"values": [1.5, 1.25], "median": 1.375, "min": 1.25, "max": 1.5}
    return {
        "format": "workalike-evidence",
        "version": 1,
        "made_on": "2026-11-29",
        "system": {
            "file_system": "lustre",
            "kernel": "5.14",
            "mpi": "Cray MPICH",
            "mpi_version": "8.1.9",
            "mpi_io": "romio",
            "hdf5_version": "1.12.2",
            "workalike_version": "0.1.0",
            "engine_version": "0.1.0",
            "ranks": 8,
            "nodes": 2,
            "cores_of_a_node": 64,
            "memory_gib": 512,
        },
        "asked": {"repeats": 2, "limit_min": 60.0},
        "striping": {
            "tests": [
                {
                    "asked": {"stripe_count": 4},
                    "found": {"stripe_count": 1, "stripe_size": 1048576},
                    "as_asked": False,
                },
                {
                    "asked": {"components": [{"end": None, "stripe_count": -1, "stripe_size": None}]},
                    "found": None,
                    "as_asked": None,
                    "not_measured": "the file system refused this layout",
                },
            ]
        },
        "variance": {
            "workload": "shared-collective",
            "bytes": 2**26,
            "bandwidth": {
                "values": [100.0, 300.0],
                "median": 200.0,
                "min": 100.0,
                "max": 300.0,
                "coefficient_of_variation": 0.7071067811865476,
            },
        },
        "transfers": [
            {
                "program": "root-text",
                "bytes": 4096,
                "pairs": [
                    {"first": "program", "program": side(2.0), "replica": side(3.0)},
                    {"first": "replica", "program": side(4.0), "replica": side(5.0)},
                ],
                "in_calls_ratio": ratio | {"coefficient_of_variation": 0.1285648693},
                "verdict": {
                    "grade": "exact",
                    "model": "exact",
                    "replica": "exact",
                    "storage": None,
                    "agreement_model": 1.0,
                    "agreement_replica": None,
                    "differences": [
                        {
                            "line": "storage",
                            "module": "POSIX",
                            "counter": "OPENS",
                            "expected": 8,
                            "found": 12,
                        }
                    ],
                },
            },
            {
                "program": "hdf5-datasets",
                "bytes": 4096,
                "pairs": [],
                "in_calls_ratio": None,
                "verdict": None,
                "not_measured": "the engine was built without the library that it needs",
            },
        ],
        "left_out": [
            {
                "part": "transfer",
                "program": "hdf5-datasets",
                "missing": 2,
                "reason": "the engine was built without the library that it needs",
            }
        ],
        "took_min": 3.5,
    }


def written(folder: Path, content: object) -> Path:
    path = folder / "evidence.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def changed(*path: str | int, to: Any) -> Callable[[], dict[str, Any]]:
    """The document with another value at a place; DROP removes it."""

    def make() -> dict[str, Any]:
        made = copy.deepcopy(document())
        place: Any = made
        for step in path[:-1]:
            place = place[step]
        if to is DROP:
            del place[path[-1]]
        else:
            place[path[-1]] = to
        return made

    return make


DROP = object()
HOSTILE: dict[str, tuple[Any, str]] = {
    "no JSON": ("{", "evidence.json"),
    "another format": (changed("format", to="workalike-record"), "format"),
    "a later version": (changed("version", to=VERSION + 1), "version"),
    "a field that no version has": (changed("system", "host", to="node17"), "system.host"),
    "a free text": (changed("system", "file_system", to="/mnt/secret"), "system.file_system"),
    "a version with words": (changed("system", "mpi_version", to="4.1 by me"), "system.mpi_version"),
    "a counter that is a sentence": (
        changed("transfers", 0, "verdict", "differences", 0, "counter", to="ask Ann"),
        "counter",
    ),
    "a reason of its own": (changed("left_out", 0, "reason", to="ask Ann"), "left_out[0].reason"),
    "a median of other values": (changed("variance", "bandwidth", "median", to=250.0), "median"),
    "a variation of 0": (changed("variance", "bandwidth", "coefficient_of_variation", to=0.0), "variation"),
    "a ratio of other pairs": (
        changed("transfers", 0, "pairs", 0, "program", "in_calls_s", to=1.0),
        "in_calls_ratio",
    ),
    "no time in calls": (changed("transfers", 0, "pairs", 0, "program", "in_calls_s", to=0), "in_calls_s"),
    "no reason": (changed("transfers", 1, "not_measured", to=None), "neither a pair nor a reason"),
    "nothing measured": (changed("variance", "bandwidth", to=None), "neither a value nor a reason"),
    "a number that is none": (changed("took_min", to=float("nan")), "took_min"),
    "too many ranks": (changed("system", "ranks", to=10**30), "system.ranks"),
    "a missing part": (changed("variance", to=DROP), "variance"),
    "escape sequences": (changed("made_on", to="\x1b[2J2026"), "made_on"),
    "too many transfers": (changed("transfers", to=[document()["transfers"][0]] * 101), "transfers"),
    "nested too deeply": ('{"a":' * 100_000, "evidence.json"),
    "a list": ([], "evidence.json"),
    "nothing": ("", "evidence.json"),
}


def test_a_file_that_is_right_is_read(tmp_path: Path) -> None:
    found = read_evidence(written(tmp_path, document()))
    assert found.transfers[0].performed_by.startswith("the engine, performing a workload")
    assert found.striping.tests[0].as_asked is False


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_is_wrong_is_refused_with_its_place(tmp_path: Path, name: str) -> None:
    content, place = HOSTILE[name]
    path = written(tmp_path, content() if callable(content) else content)
    with pytest.raises(WorkalikeError, match=r".*") as caught:
        read_evidence(path)
    assert caught.value.kind is ErrorKind.BAD_EVIDENCE
    line = caught.value.one_line()
    assert place in line and "\n" not in line and "\x1b" not in line


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorkalikeError, match="larger than"):
        read_evidence(written(tmp_path, " " * (5 * 2**20)))


def test_the_spread_of_values() -> None:
    """Of 1, 2 and 3 the mean is 2 and the standard deviation 1."""
    spread = spread_of([3.0, 1.0, 2.0])
    assert (spread.median, spread.min, spread.max, spread.coefficient_of_variation) == (2.0, 1.0, 3.0, 0.5)


def test_one_value_has_no_variation() -> None:
    spread = spread_of([3.0])
    assert spread.coefficient_of_variation is None
    assert spread.not_measured == "one value has no variation"


def test_every_part_refuses_fields_that_it_does_not_have() -> None:
    schema = evidence_schema()
    parts = [schema, *(part for part in schema["$defs"].values() if part["type"] == "object")]
    assert len(parts) > 10
    assert all(part["additionalProperties"] is False for part in parts)


def test_every_text_is_a_word_of_a_list_a_version_or_a_day() -> None:
    """No field takes a text of the user's choice."""
    free = []
    for name, part in evidence_schema()["$defs"].items():
        for field, rule in part.get("properties", {}).items():
            kinds = rule.get("anyOf", [rule])
            texts = [kind for kind in kinds if kind.get("type") == "string"]
            free += [(name, field) for kind in texts if not kind.keys() & {"pattern", "enum", "const"}]
    assert free == []


def test_the_schema_is_checked_in() -> None:
    kept = json.loads((ROOT / "schema" / SCHEMA_FILE).read_text(encoding="utf-8"))
    assert kept == evidence_schema(), "run `python -m workalike.evidence.document schema`"


def test_the_schema_accepts_what_is_read() -> None:
    check = jsonschema.Draft202012Validator(evidence_schema())
    check.validate(document())
    check.validate(json.loads(Evidence.model_validate(document()).model_dump_json()))
    assert not check.is_valid(changed("system", "host", to="node17")())


def test_a_file_is_shown(tmp_path: Path) -> None:
    done = workalike("evidence", written(tmp_path, document()), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    for text in (
        "2026-11-29: lustre, Linux 5.14, Cray MPICH 8.1.9 (romio)",
        "8 ranks on 2 nodes, 512 GiB of memory",
        "4 stripes",
        "not as asked",
        "the file system refused this layout",
        "median 200 B/s of 2 runs, 100 B/s to 300 B/s; coefficient of variation 71 %",
        "1.38 (1.25 to 1.50)",
        "root-text, storage: POSIX OPENS 8 expected, 12 found",
        "exact",
        "left out: hdf5-datasets: 2 pairs, since the engine was built without the library that it needs",
    ):
        assert text in done.stdout


def test_more_ranks_than_cores_are_named(tmp_path: Path) -> None:
    crowded = changed("system", "cores_of_a_node", to=2)()
    assert "more ranks than cores" in workalike("evidence", written(tmp_path, crowded), cwd=tmp_path).stdout


def test_a_file_is_shown_as_json(tmp_path: Path) -> None:
    done = workalike("evidence", written(tmp_path, document()), "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["transfers"][1]["not_measured"].startswith("the engine was built without")


def test_a_damaged_file_ends_the_command_with_a_line(tmp_path: Path) -> None:
    done = workalike("evidence", written(tmp_path, changed("system", "host", to="x")()), cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("workalike: bad evidence: ")


def test_a_file_alone_is_explained(tmp_path: Path) -> None:
    done = workalike(written(tmp_path, document()), cwd=tmp_path)
    assert "an evidence file of 2026-11-29, on lustre" in done.stdout
    assert "workalike evidence " in done.stdout
