"""Computing between dumps: exact work of every rank, which is not measured as I/O."""

from __future__ import annotations

import subprocess
from typing import Any

import numpy as np
import pytest

from .conftest import Engine, Result, content, dump, family, make_plan, sharing, stream

EPSILON_S = 1e-3  # the record rounds


def plan_of(ranks: int, level: int, units: int = 1, dumps: int = 2, **more: Any) -> dict[str, Any]:
    compute = {"level": level, "units": units}
    content_spec = content(stream([[ranks, 1000]]))
    return make_plan(
        ranks, [family("posix")], [content_spec], [dump(i) for i in range(dumps)], compute=compute, **more
    )


def triad(units: int, ranks: int) -> float:
    """x' = y - x over 2^21 elements, 20 sweeps per unit; sums are exact in integers."""
    i = np.arange(2**21)
    older, newer = int((i % 7).sum()), int((i % 5).sum())
    for _ in range(20 * units):
        older, newer = newer, newer - older
    return float(ranks * newer)


def products(units: int, ranks: int) -> float:
    """X = (P - J/32) X, 1,000 times per unit."""
    i = np.arange(64)
    x = ((7 * i[:, None] + 13 * i[None, :]) % 31).astype(float)
    matrix = np.roll(np.eye(64), 1, axis=1) - 1 / 32
    for _ in range(1000 * units):
        x = matrix @ x
    return float(ranks * ((i + 1)[:, None] * x).sum())


def stencil(units: int, ranks: int) -> float:
    """Diffusion on one periodic grid of all ranks, 128 sweeps per unit."""
    i, j, k = np.meshgrid(np.arange(64 * ranks), np.arange(64), np.arange(64), indexing="ij")
    u = (1 + i + j * k % 7).astype(float)
    for _ in range(128 * units):
        sides = sum(np.roll(u, step, axis) for axis in range(3) for step in (1, -1))
        u += 0.125 * (sides - 6 * u)
    return float(((i + 1) * u).sum())


KNOWN = {1: triad, 2: products, 3: stencil}


def computed(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = result.end["compute"]
    return found


@pytest.mark.parametrize("level", [1, 2, 3])
def test_the_results_are_those_of_the_formulas(engine: Engine, ranks: int, level: int) -> None:
    """Two units, because after three the triad has its initial values."""
    result = engine(plan_of(ranks, level, dumps=2))
    compute = computed(result)
    assert (compute["level"], compute["units"]) == (level, 2)
    assert compute["checksum"] == pytest.approx(KNOWN[level](2, ranks), rel=1e-12)
    assert KNOWN[level](2, ranks) != pytest.approx(KNOWN[level](0, ranks), rel=1e-6)
    assert 0 < compute["min_s"] <= compute["mean_s"] <= compute["max_s"]
    assert 0 <= compute["slowest_rank"] < ranks


def test_units_of_every_dump(engine: Engine) -> None:
    result = engine(plan_of(2, 3, units=2, dumps=2))
    assert computed(result)["units"] == 4
    assert computed(result)["checksum"] == pytest.approx(stencil(4, 2), rel=1e-12)


def test_it_comes_before_a_dump_and_is_no_part_of_it(engine: Engine) -> None:
    result = engine(plan_of(1, 1, dumps=3))
    spent = computed(result)["max_s"]
    inside = sum(d["end_s"] - d["start_s"] for d in result.dumps)
    assert inside + spent <= result.end["wall_s"] + EPSILON_S
    assert result.dumps[0]["start_s"] >= 0.1 * spent  # its own unit, of three
    assert all(d["late_s"] == 0 for d in result.dumps)


def test_it_comes_after_a_load(engine: Engine, ranks: int) -> None:
    content_spec = content(stream([[ranks, 1000]], direction="read"))
    plan = make_plan(
        ranks, [family("posix")], [content_spec], [dump(prepare=True)], compute={"level": 2, "units": 4}
    )
    result = engine(plan)
    assert computed(result)["checksum"] == products(4, ranks)
    if ranks == 1:  # `wall_s` is the first rank's, the load's end the last one's
        assert result.dumps[0]["end_s"] + computed(result)["max_s"] <= result.end["wall_s"] + EPSILON_S


def test_ranks_without_a_part_in_a_dump_compute_too(engine: Engine) -> None:
    families = [
        family("posix", sharing=sharing("root", [[1, 1, 1]])),
        family("posix", id=1, number=2, sharing=sharing("subset", [[0, 0, 1], [2, 2, 1]])),
    ]
    contents = [content(stream([[4, 1000]]))]
    plan = make_plan(3, families, contents, [dump(), dump(family=1)], compute={"level": 3, "units": 1})
    result = engine(plan, "--verify")
    assert result.end["verified"].items() >= {"bytes": 8000, "errors": 0}.items()
    assert computed(result)["checksum"] == pytest.approx(stencil(2, 3), rel=1e-12)


@pytest.mark.parametrize("clock", ["gap", "deadline"])
def test_it_fills_the_gap(engine: Engine, clock: str) -> None:
    """The rest of a gap is waited for; computing that is longer than the gap makes no dump late."""
    dumps = [dump(0, start_s=2.0, end_s=2.0), dump(1, start_s=2.0)]
    plan = plan_of(1, 2, time_scale=1.0, clock=clock) | {"dumps": dumps}
    result = engine(plan)
    first, second = result.dumps
    assert first["start_s"] >= 1.999
    assert second["start_s"] >= first["end_s"]
    if clock == "gap":
        assert second["late_s"] < second["start_s"] - first["end_s"] + EPSILON_S
        assert second["due_s"] >= first["end_s"]


def test_all_ranks_compute_before_dumps_that_overlap(engine: Engine) -> None:
    families = [
        family("posix", sharing=sharing("root", [[0, 0, 1]])),
        family("posix", id=1, number=2, sharing=sharing("per-rank")),
    ]
    contents = [content(stream([[20, 1000]], ranks=[[0, 0, 1]])), content(stream([[8, 500]]))]
    dumps = [
        dump(0, start_s=0.1, end_s=1.1, compute_s=0.5),
        dump(0, family=1, content=1, start_s=0.4, end_s=0.5),
    ]
    compute = {"level": 3, "units": 1}
    plan = make_plan(2, families, contents, dumps, time_scale=1.0, compute=compute)
    result = engine(plan, "--verify")
    assert result.end["verified"].items() >= {"bytes": 24000, "errors": 0}.items()
    assert result.dumps[0]["start_s"] < result.dumps[1]["start_s"]
    assert computed(result)["checksum"] == pytest.approx(stencil(2, 2), rel=1e-12)


def test_counting_computes_nothing(engine: Engine, ranks: int) -> None:
    plan = plan_of(ranks, 1, units=65536, dumps=100)
    assert engine(plan, "--backend", "null", timeout=60).end["compute"] is None
    operations = str(engine.tmp / "operations.txt")
    record = engine(plan, "--backend", "record", "--operations", operations, processes=0)
    assert record.end["compute"] is None
    assert engine(plan_of(ranks, 1) | {"compute": None}).end["compute"] is None


def test_calibration(engine: Engine, ranks: int) -> None:
    """The amounts of work are those of the documentation."""
    processes = ranks if ranks > 1 else 0
    done = subprocess.run(
        [*engine.command(processes), "--calibrate-compute"],
        env=engine.environment(processes), capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    memory, arithmetic, stencil = done.stdout.splitlines()
    assert memory.startswith("level 1 memory") and f" {3 * 8 * 2**21 * 20} bytes moved: " in memory
    assert arithmetic.startswith("level 2 arithmetic") and f" {2 * 64**3 * 1000} floating-point" in arithmetic
    assert stencil.startswith("level 3 stencil") and f" {64**3 * 128} cell updates: " in stencil
    assert all(float(line.split(" s per unit")[0].split()[-1]) > 0 for line in (memory, arithmetic, stencil))


def test_calibration_performs_no_plan(engine: Engine) -> None:
    path = engine.write(plan_of(1, 1))
    for arguments in (["--calibrate-compute", "--plan", str(path)], []):
        done = subprocess.run(
            [str(engine.path), *arguments],
            env=engine.environment(), capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1 and "--plan" in done.stderr
