"""Operations through streams of the C library on files that POSIX has opened."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workalike import _core
from workalike.darshan import layouts

from .conftest import Engine, content, dump, family, make_plan, stream


def buffered(entries: list[list[int]], direction: str = "write", **more: Any) -> dict[str, Any]:
    return stream(entries, direction=direction, **{"buffered": "descriptor", **more})


def written_and_read(**more: Any) -> dict[str, Any]:
    """A header by POSIX and data by a stream, both read back by another."""
    parts = [
        stream([[1, 100]], ranks=[[0, 0, 1]]),
        buffered([[3, 1000]], ranks=[[0, 0, 1]], base=100, buffer_seeks=2, buffer_flushes=1, **more),
        buffered([[3, 1000]], "read", ranks=[[0, 0, 1]], base=100, **more),
    ]
    return make_plan(2, [family("posix")], [content(*parts, opens=1)], [dump(0)])


@pytest.mark.parametrize("how", ["descriptor", "name"])
def test_bytes_are_those_of_the_plan(engine: Engine, how: str) -> None:
    result = engine(written_and_read(buffered=how), "--keep", "--verify")
    assert result.files() == {"checkpoint-1.0000.dat": 3100}
    (done,) = result.dumps
    assert (done["bytes_written"], done["bytes_read"]) == (3100, 3000)
    assert done["counters"]["OPENS"] == 1
    assert (done["counters"]["SEEKS"], done["counters"]["FLUSHES"]) == (0, 0)
    assert done["kinds"]["flush"]["count"] == 1
    assert result.end["verified"]["errors"] == 0


def records(plan: _core.Plan) -> dict[str, dict[str, int]]:
    """The predicted counters of the plan's only file, those that are not zero."""
    found = plan.predict([0], 10**6, [])
    out = {}
    for module, columns in found.items():
        names = layouts.FIXED[module].current.counters
        for row in columns["counters"].tolist():
            out[module] = {name: value for name, value in zip(names, row, strict=True) if value}
    return out


@pytest.mark.parametrize(("how", "opens", "seeks"), [("descriptor", 0, 2), ("name", 2, 3)])
def test_predicted_in_the_records_of_both_modules(how: str, opens: int, seeks: int) -> None:
    """Only a stream on the descriptor reads from where it stands without a seek; its offsets begin there."""
    found = records(_core.Plan(json.dumps(written_and_read(buffered=how))))
    posix, stdio = found["POSIX"], found["STDIO"]
    assert (posix["OPENS"], posix["WRITES"], posix["BYTES_WRITTEN"]) == (1, 1, 100)
    assert "READS" not in posix
    assert (stdio.get("OPENS", 0), stdio["SEEKS"], stdio["FLUSHES"]) == (opens, seeks, 1)
    assert (stdio["WRITES"], stdio["READS"]) == (3, 3)
    assert stdio["MAX_BYTE_WRITTEN"] == 3099
    assert stdio["MAX_BYTE_READ"] == (2999 if how == "descriptor" else 3099)


@pytest.mark.parametrize("backend", ["stdio", "mpiio"])
def test_other_backends_refuse_it(engine: Engine, backend: str) -> None:
    result = engine(written_and_read(), "--backend", backend, check=False)
    assert result.code == 2
    assert "no buffered streams" in result.stderr


def test_not_past_the_page_cache(engine: Engine) -> None:
    plan = written_and_read()
    plan["families"][0]["direct"] = True
    for part in plan["contents"][0]["streams"]:
        part |= {"entries": [[1, 512]], "base": 0}
    result = engine(plan, check=False)
    assert result.code == 2
    assert "O_DIRECT" in result.stderr


def test_seeks_need_a_buffered_stream(engine: Engine) -> None:
    plan = make_plan(1, [family("posix")], [content(stream([[1, 10]], buffer_seeks=1))], [dump(0)])
    result = engine(plan, check=False)
    assert result.code == 2
    assert "buffered" in result.stderr
