"""Files that another rank reads back: the workload has the distance, and a replica reads what was written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workalike import _core
from workalike.characterize import characterize
from workalike.characterize.result import Characterization
from workalike.compare.lines import model_against_log
from workalike.compare.pairing import pair_up
from workalike.darshan import LogBuilder, open_log
from workalike.plan.core import core_plan
from workalike.plan.plan_file import plan_text
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Family, Reader, SharingMode, Workload

BLOCK = 4096


def truth(ranks: int, shift: int, rounds: int, **more: object) -> Workload:
    """Each rank writes a file, then reads that of the rank `shift` places further; so often."""
    family = {
        "role": "scratch", "interface": "posix", "sharing": "per-rank", "lifetime": "reused",
        "reader": "neighbour", "shift": shift, "schedule": {"count": 2 * rounds, "every": "2 s", "duration": "1 s"},
        "contents": [
            {"streams": [{"direction": d, "sizes": ["4/rank x 64 KiB"]}], "seeks": "each"} | more
            for d in ("write", "read")
        ],
        "use": [0, 1] * rounds,
    }  # fmt: skip
    return Workload.model_validate({"workalike": 2, "ranks": ranks, "runtime": "30 s", "families": [family]})


def log_of(workload: Workload, path: Path) -> Path:
    """A log of a run: the calls of each rank on each file, counted by a plan of that rank's calls alone."""
    plan = _core.Plan(plan_text(resolve(workload, Options())))
    log = LogBuilder(nprocs=workload.ranks, run_time=30.0)
    for rank in range(workload.ranks):
        columns = plan.operations(rank=rank, most=10**6)
        for number, name in enumerate(columns["names"]):
            rows = [
                (_core.kinds[kind], offset, length)
                for file, kind, offset, length in zip(
                    *(columns[c].tolist() for c in ("file", "kind", "offset", "length")), strict=True
                )
                if file == number
            ]
            log.posix(f"/data/{name}", rank, **counters(rows), **times(rows))
    log.write(path)
    return path


def counters(rows: list[tuple[str, int, int]]) -> dict[str, int]:
    """Of one rank's calls on one file, which it reads or writes in order from its start, perhaps several times."""
    out: dict[str, int] = {"FILE_ALIGNMENT": BLOCK, "OPENS": 0, "SEEKS": 0}
    last = 0
    for kind, offset, length in rows:
        if kind == "open":
            out["OPENS"] += 1
            last = 0
        elif kind == "seek":
            out["SEEKS"] += 1
        elif kind in ("read", "write"):
            word, past = ("READ", "READ") if kind == "read" else ("WRITE", "WRITTEN")
            values = {
                f"{word}S": 1, f"BYTES_{past}": length, f"SEQ_{word}S": offset > last,
                f"CONSEC_{word}S": offset == last + 1, f"SIZE_{word}_10K_100K": 1, "ACCESS1_COUNT": 1,
                "FILE_NOT_ALIGNED": offset % BLOCK != 0,
            }  # fmt: skip
            for name, value in values.items():
                out[name] = out.get(name, 0) + int(value)
            out["ACCESS1_ACCESS"] = length
            last = offset + length - 1
            out[f"MAX_BYTE_{past}"] = max(out.get(f"MAX_BYTE_{past}", 0), last)
    return out


def times(rows: list[tuple[str, int, int]]) -> dict[str, float]:
    reads = any(kind == "read" for kind, _, _ in rows)
    word, start = ("READ", 3.0) if reads else ("WRITE", 1.0)
    return {
        "F_OPEN_START_TIMESTAMP": start, "F_CLOSE_END_TIMESTAMP": start + 0.9,
        f"F_{word}_START_TIMESTAMP": start + 0.1, f"F_{word}_END_TIMESTAMP": start + 0.8, f"F_{word}_TIME": 0.2,
    }  # fmt: skip


def found_in(workload: Workload, tmp_path: Path) -> tuple[Characterization, Family]:
    found = characterize([open_log(log_of(workload, tmp_path / "app.darshan"))])
    (facts,) = found.families
    return found, facts.family


@pytest.mark.parametrize(("ranks", "shift"), [(4, 1), (8, 3), (8, 7), (6, 2)])
@pytest.mark.parametrize("rounds", [1, 3])
def test_the_distance_and_the_rounds_are_found(tmp_path: Path, ranks: int, shift: int, rounds: int) -> None:
    found, family = found_in(truth(ranks, shift, rounds), tmp_path)
    assert (family.sharing.mode, family.reader, family.shift) == (
        SharingMode.PER_RANK, Reader.NEIGHBOUR, shift,
    )  # fmt: skip
    assert family.schedule.dumps == 2 * rounds
    off = [row for row in model_against_log(pair_up(found, None)) if not row.agrees]
    assert not off
    assert sum(dump.bytes_written for dump in found.families[0].dumps) == rounds * ranks * 4 * 65536


def test_the_plan_reads_what_another_rank_has_written(tmp_path: Path) -> None:
    """No file is made before the run, and at any number of ranks there is a neighbour."""
    found, _ = found_in(truth(8, 3, 2), tmp_path)
    for ranks in (8, 5, 3, 2):
        plan = resolve(found.workload, Options(ranks=ranks))
        assert not any(dump.prepare for dump in plan.dumps)
        core = _core.Plan(plan_text(plan))
        for rank in range(ranks):
            columns = core.operations(rank=rank, most=10**6)
            kinds = [_core.kinds[kind] for kind in columns["kind"]]
            files = [columns["names"][file] for file in columns["file"]]
            written = {file for file, kind in zip(files, kinds, strict=True) if kind == "write"}
            read = {file for file, kind in zip(files, kinds, strict=True) if kind == "read"}
            assert len(written) == len(read) == 1
            assert written.isdisjoint(read)


def test_readers_at_different_distances_are_no_neighbours(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=4, run_time=30.0)
    for writer, reader in ((0, 1), (1, 0), (2, 3), (3, 2)):
        for rank, kind in ((writer, "write"), (reader, "read")):
            rows = [("open", -1, -1), *((kind, k * 65536, 65536) for k in range(4))]
            log.posix(f"/data/f{writer}", rank, **counters(rows), **times(rows))
    log.write(tmp_path / "app.darshan")
    found = characterize([open_log(tmp_path / "app.darshan")])
    assert all(facts.family.reader is Reader.WRITER for facts in found.families)
    assert json.loads(plan_text(resolve(found.workload, Options())))


Rows = list[tuple[bool, int, int]]
"""(whether it writes, offset, length), in the order of time."""


def traced_log(path: Path, ranks: int, shift: int, rounds: list[tuple[Rows, Rows]]) -> Path:
    """A log with traces: in each round a rank writes its file, and the one `shift` places before it reads the file."""
    log = LogBuilder(nprocs=ranks, run_time=100.0)
    for rank in range(ranks):
        own, other = f"/data/f{rank}", f"/data/f{(rank + shift) % ranks}"
        for name, write in ((own, True), (other, False)):
            segments = [
                (offset, length, 10.0 * turn + 5 * (not write) + 0.1 * k, 10.0 * turn + 5 * (not write) + 0.1 * k + 0.05)
                for turn, parts in enumerate(rounds)
                for k, (_, offset, length) in enumerate(parts[not write])
            ]  # fmt: skip
            kind = "write" if write else "read"
            rows = [("open", -1, -1), *((kind, offset, length) for offset, length, _, _ in segments)]
            log.posix(name, rank, **counters(rows), **times(rows))
            log.dxt_posix(name, rank, **{f"{kind}s": segments})
    return log.write(path)


def planned(found: Characterization) -> dict[tuple[int, str], Rows]:
    """The plan's transfers of each rank in each file, in order."""
    core = core_plan(resolve(found.workload, Options()))
    out: dict[tuple[int, str], Rows] = {}
    for rank in range(found.workload.ranks):
        columns = core.operations(rank=rank, most=10**6)
        for file, kind, offset, length in zip(
            *(columns[name].tolist() for name in ("file", "kind", "offset", "length")), strict=True
        ):
            if _core.kinds[kind] in ("read", "write"):
                row = (_core.kinds[kind] == "write", offset, length)
                out.setdefault((rank, columns["names"][file]), []).append(row)
    return out


def rows_of(write: bool, *pairs: tuple[int, int]) -> Rows:
    return [(write, offset, length) for offset, length in pairs]


REGULAR = [(k * 65536, 65536) for k in range(4)]
ODD = [(0, 65536), (3 * 65536, 65536), (65536, 20000), (200000, 300)]
BACKWARDS = REGULAR[::-1]


@pytest.mark.parametrize(
    "rounds",
    [
        [(REGULAR, REGULAR)],
        [(REGULAR, BACKWARDS)],
        [(ODD, ODD[::-1])],
        [(REGULAR, BACKWARDS), (REGULAR, BACKWARDS), (REGULAR, BACKWARDS)],
    ],
    ids=["in order", "backwards", "odd", "three rounds"],
)
@pytest.mark.parametrize(("ranks", "shift"), [(4, 1), (5, 2)])
def test_a_trace_is_replayed_by_the_ranks_that_read(
    tmp_path: Path, ranks: int, shift: int, rounds: list[tuple[list[tuple[int, int]], list[tuple[int, int]]]]
) -> None:
    made = [(rows_of(True, *written), rows_of(False, *read)) for written, read in rounds]
    found = characterize([open_log(traced_log(tmp_path / "app.darshan", ranks, shift, made))])
    (facts,) = found.families
    assert (facts.family.reader, facts.family.shift) == (Reader.NEIGHBOUR, shift)
    operations = planned(found)
    names = {rank: name for (rank, name), rows in operations.items() if rows[0][0]}
    assert len(set(names.values())) == ranks and len(operations) == 2 * ranks
    for rank in range(ranks):
        assert operations[rank, names[rank]] == [row for written, _ in made for row in written]
        assert operations[rank, names[(rank + shift) % ranks]] == [row for _, read in made for row in read]
