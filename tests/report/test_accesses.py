"""Accesses in the report: those of the trace, else those of the plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from workalike.characterize import CharacterizeOptions, characterize
from workalike.compare.pairing import pair_up
from workalike.darshan import LogBuilder, open_log
from workalike.plan.core import core_plan
from workalike.plan.resolve import Options, resolve
from workalike.report import accesses, charts
from workalike.workload.model import Role, Workload

KEY = (Role.SCRATCH, 1)
SIZE = 1000


def workload(ranks: int, count: int, **stream: object) -> Workload:
    streams = [{"direction": "write", "sizes": [f"{count}/rank x {SIZE} B"], **stream}]
    family = {
        "role": "scratch", "interface": "posix", "sharing": "shared", "schedule": {"count": 2, "every": "1 s"},
        "content": {"streams": streams},
    }  # fmt: skip
    return Workload.model_validate({"workalike": 2, "ranks": ranks, "families": [family]})


def test_accesses_of_a_plan_are_those_of_its_first_dump() -> None:
    found = accesses.of_plan(resolve(workload(2, 3, pattern="interleaved"), Options()), KEY)
    assert found is not None
    assert found.rank.tolist() == [0, 0, 0, 1, 1, 1]
    assert found.order.tolist() == [0, 1, 2, 0, 1, 2]
    assert found.offset.tolist() == [0, 2000, 4000, 1000, 3000, 5000]
    assert set(found.length.tolist()) == {SIZE}
    assert found.writes.all()
    assert not found.traced


def test_few_ranks_and_accesses_stand_for_many() -> None:
    found = accesses.of_plan(resolve(workload(1000, 300), Options()), KEY)
    assert found is not None
    assert found.ranks == 1000
    assert (found.rank[0], found.rank[-1]) == (0, 999)
    assert len(found) == accesses.MOST_RANKS * accesses.MOST_ACCESSES


def test_too_many_calls_are_not_looked_up() -> None:
    assert accesses.of_plan(resolve(workload(2, accesses.MOST_CALLS), Options()), KEY) is None


@pytest.mark.parametrize("use_trace", [True, False])
def test_accesses_of_a_log_are_those_of_its_trace(tmp_path: Path, use_trace: bool) -> None:
    offsets = [3000, 0, 1000, 2000]
    log = LogBuilder(nprocs=1, run_time=10.0)
    log.posix(
        "/data/state", 0, OPENS=1, WRITES=4, BYTES_WRITTEN=4 * SIZE, MAX_BYTE_WRITTEN=4 * SIZE - 1,
        SIZE_WRITE_100_1K=4, SEQ_WRITES=2, CONSEC_WRITES=2, ACCESS1_ACCESS=SIZE, ACCESS1_COUNT=4,
        F_OPEN_START_TIMESTAMP=1.0, F_WRITE_START_TIMESTAMP=1.1, F_WRITE_END_TIMESTAMP=1.9, F_CLOSE_END_TIMESTAMP=2.0,
    )  # fmt: skip
    if use_trace:
        writes = [(offset, SIZE, 1.1 + 0.1 * i, 1.15 + 0.1 * i) for i, offset in enumerate(offsets)]
        log.dxt_posix("/data/state", 0, writes=writes)
    log.write(tmp_path / "app.darshan")
    pairing = pair_up(characterize([open_log(tmp_path / "app.darshan")], CharacterizeOptions()), None)
    ((original, *_),) = [(pair.original, pair) for pair in pairing.pairs]
    found = accesses.of_original(pairing, (original.role, original.number))
    assert found is not None
    assert found.traced == use_trace
    if use_trace:
        assert found.offset.tolist() == offsets
    ((name, picture),) = charts.access_pictures(pairing, replica=False)
    assert name == original.name
    assert ("its trace" if use_trace else "by its counters") in picture


def test_accesses_of_a_replica_are_those_of_its_trace(tmp_path: Path) -> None:
    """A wrong engine shows in the picture: here one that writes backwards."""
    asked = workload(1, 4)
    plan = resolve(asked, Options())
    log = LogBuilder(nprocs=1, run_time=10.0)
    names = core_plan(plan).operations(rank=0, most=100)["names"]
    assert len(names) == 2
    for place, name in enumerate(names):
        offsets = [3000, 2000, 1000, 0] if place == 0 else [0, 0, 0, 0]
        log.posix(f"/scratch/{name}", 0, OPENS=1, WRITES=4, BYTES_WRITTEN=4 * SIZE, SIZE_WRITE_100_1K=4)
        log.dxt_posix(
            f"/scratch/{name}", 0, writes=[(o, SIZE, 1.0 + i, 1.5 + i) for i, o in enumerate(offsets)]
        )
    made = characterize(
        [open_log(log.write(tmp_path / "r.darshan"))], CharacterizeOptions(include_program_start=True)
    )
    pairing = pair_up(asked, made, plan=plan)
    found = accesses.of_replica(pairing, KEY)
    assert found is not None and found.traced
    assert found.offset.tolist() == [3000, 2000, 1000, 0]
    planned = accesses.of_replica(pair_up(asked, None, plan=plan), KEY)
    assert planned is not None and not planned.traced
    assert planned.offset.tolist() == [0, 1000, 2000, 3000]
