"""Data sets read in epochs: who reads which samples, in which order, of which size, and what lies in the files."""

from __future__ import annotations

import itertools
import json
import random
import statistics
from collections import Counter, defaultdict
from typing import Any

import pytest

from workalike import _core

from .conftest import Engine, content, dump, family, make_plan, sharing, stream
from .test_predict import predicted, reference

ORDERS = ("sequential", "shuffled", "shuffled-each-epoch")

Read = tuple[int, int, int]
"""File, offset, bytes."""


def plan_of(
    ranks: int, epochs: int = 1, backend: str = "posix", seed: int = 1, **dataset: Any
) -> dict[str, Any]:
    item = family(backend, role="input", lifetime="reused")
    contents = [{"opens": 0, "dataset": dataset}]
    dumps = [dump(i, file=0, prepare=True) for i in range(epochs)]
    return make_plan(ranks, [item], contents, dumps, seed=seed)


def reads_of(document: dict[str, Any]) -> dict[tuple[int, int], list[Read]]:
    """(epoch, rank) -> its reads in order."""
    plan = _core.Plan(json.dumps(document))
    out: dict[tuple[int, int], list[Read]] = defaultdict(list)
    for rank in range(document["ranks"]):
        columns = plan.operations(rank=rank, most=10**6)
        names = columns["names"]
        for number, place, file, offset, length in zip(
            *(columns[c].tolist() for c in ("kind", "dump", "file", "offset", "length")), strict=True
        ):
            if _core.kinds[number] == "read":
                out[place, rank].append((int(names[file].split(".")[1]), offset, length))
    return out


def all_reads(found: dict[tuple[int, int], list[Read]], epoch: int) -> list[Read]:
    return sorted(read for (e, _), reads in found.items() if e == epoch for read in reads)


@pytest.mark.parametrize("seed", range(40))
def test_every_sample_is_read_once_in_each_epoch(seed: int) -> None:
    rng = random.Random(seed)
    files, samples, ranks = rng.randint(1, 9), rng.randint(1, 12), rng.randint(1, 7)
    deal = rng.choice([samples, 1, 3, 5])
    order, file_order = rng.choice(ORDERS), rng.choice(ORDERS)
    found = reads_of(
        plan_of(
            *(ranks, 2),
            **{"files": files, "samples": samples, "bytes": files * samples * 100, "deal": deal},
            **{"sample_order": order, "file_order": file_order, "header": 64},
        )
    )
    everything = [(f, 64 + 100 * s, 100) for f in range(files) for s in range(samples)]
    for epoch in range(2):
        assert all_reads(found, epoch) == everything


@pytest.mark.parametrize("readers", [0, 2])
def test_every_reader_reads_everything(readers: int) -> None:
    found = reads_of(plan_of(5, files=3, samples=4, bytes=1200, deal=0, readers=readers))
    everything = [(f, 100 * s, 100) for f in range(3) for s in range(4)]
    assert found == {(0, rank): everything for rank in range(readers or 5)}


def test_files_go_to_the_readers_in_turn() -> None:
    found = reads_of(plan_of(2, files=5, samples=2, bytes=1000, deal=2))
    assert [f for f, *_ in found[0, 0]] == [0, 0, 2, 2, 4, 4]
    assert [f for f, *_ in found[0, 1]] == [1, 1, 3, 3]


def test_batches_go_to_the_readers_in_turn() -> None:
    """2,000 samples in batches of 32 for two readers: 31 whole ones and the last of 16, or 31 whole ones."""
    found = reads_of(plan_of(2, files=1, samples=2000, bytes=2000 * 12288, deal=32, sample_order="shuffled"))
    assert [len(found[0, rank]) for rank in (0, 1)] == [1008, 992]


def test_ranks_take_turns_from_epoch_to_epoch() -> None:
    found = reads_of(plan_of(6, 4, files=4, samples=1, bytes=400, deal=1, readers=2))
    assert sorted(found) == [(0, 0), (0, 1), (1, 2), (1, 3), (2, 4), (2, 5), (3, 0), (3, 1)]


def test_ranks_beyond_the_last_whole_group_wait() -> None:
    found = reads_of(plan_of(5, 3, files=2, samples=1, bytes=200, deal=1, readers=2))
    assert sorted(found) == [(0, 0), (0, 1), (1, 2), (1, 3), (2, 0), (2, 1)]


@pytest.mark.parametrize("what", ["file_order", "sample_order"])
def test_orders(what: str) -> None:
    """In sequence; shuffled alike in each epoch; shuffled otherwise in each."""
    shape = {"files": 40, "samples": 1} if what == "file_order" else {"files": 1, "samples": 40}
    places: dict[str, list[list[int]]] = {}
    for order in ORDERS:
        found = reads_of(plan_of(1, 3, bytes=4000, deal=1, **{what: order}, **shape))
        places[order] = [[file + offset // 100 for file, offset, _ in found[e, 0]] for e in range(3)]
    in_sequence = list(range(40))
    assert places["sequential"] == [in_sequence] * 3
    once, *again = places["shuffled"]
    assert once != in_sequence and again == [once] * 2
    different = places["shuffled-each-epoch"]
    assert all(a != b for a, b in itertools.combinations([in_sequence, *different], 2))
    assert all(sorted(order) == in_sequence for order in [once, *different])


def test_samples_of_different_files_are_in_different_orders() -> None:
    found = reads_of(plan_of(1, files=4, samples=30, bytes=12000, deal=30, sample_order="shuffled"))
    orders = [tuple(offset for file, offset, _ in found[0, 0] if file == f) for f in range(4)]
    assert len(set(orders)) == 4


def test_the_seed_decides_the_order() -> None:
    shape = {"files": 1, "samples": 50, "bytes": 5000, "deal": 50, "sample_order": "shuffled"}
    first, again, other = (reads_of(plan_of(1, seed=seed, **shape))[0, 0] for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("samples", [1, 5])
def test_sizes_deviate_and_add_up(samples: int) -> None:
    files, mean, deviation = 801, 10_000, 1_500
    total = files * samples * mean + 7  # not divisible
    found = reads_of(plan_of(1, files=files, samples=samples, bytes=total, deviation=deviation, deal=samples))
    sizes = [size for _, _, size in found[0, 0]]
    assert sum(sizes) == total and min(sizes) >= 1
    assert statistics.fmean(sizes) == pytest.approx(mean, rel=0.001)
    assert statistics.stdev(sizes) == pytest.approx(deviation, rel=0.1)
    by_file = defaultdict(list)
    for file, offset, size in found[0, 0]:
        by_file[file].append((offset, size))
    for pieces in by_file.values():  # without holes
        assert [offset for offset, _ in pieces] == list(
            itertools.accumulate((s for _, s in pieces[:-1]), initial=0)
        )


def test_a_large_deviation_leaves_a_byte() -> None:
    found = reads_of(plan_of(1, files=500, samples=1, bytes=500 * 10, deviation=1000, deal=1))
    sizes = Counter(size for _, _, size in found[0, 0])
    assert set(sizes) <= set(range(1, 20)) and sizes[1] == sizes[19] > 200


def test_samples_are_read_in_pieces() -> None:
    found = reads_of(plan_of(1, files=1, samples=2, bytes=2 * 250, transfer=100, deal=2))
    assert found[0, 0] == [
        (0, 0, 100),
        (0, 100, 100),
        (0, 200, 50),
        (0, 250, 100),
        (0, 350, 100),
        (0, 450, 50),
    ]


def test_calls_of_each_file() -> None:
    """For each file that a reader reads from: two opens, a stat and three seeks, over several epochs."""
    document = plan_of(3, 2, files=6, samples=4, bytes=2400, deal=4, opens=2, stats=1, seeks=3)
    counted = _core.Plan(json.dumps(document)).count()
    assert counted["OPENS"].tolist() == [12, 12]
    assert counted["STATS"].tolist() == [6, 6]
    assert counted["SEEKS"].tolist() == [18, 18]
    assert counted["READS"].tolist() == [24, 24]
    assert counted["calls_close"].tolist() == [12, 12]


@pytest.mark.parametrize("seed", range(40))
def test_predicted_counters_follow_the_definitions(seed: int) -> None:
    rng = random.Random(500 + seed)
    files, samples = rng.randint(1, 6), rng.randint(1, 30)
    document = plan_of(
        *(rng.randint(1, 5), rng.randint(1, 3)),
        **{"files": files, "samples": samples, "bytes": files * samples * rng.choice([100, 4096])},
        **{"deal": rng.choice([0, samples, 4]), "transfer": rng.choice([0, 0, 1000])},
        **{"sample_order": rng.choice(ORDERS), "file_order": rng.choice(ORDERS), "opens": rng.randint(1, 2)},
        **{"deviation": rng.choice([0, 30]), "stats": rng.randint(0, 1), "seeks": rng.choice([0, 2])},
    )
    plan = _core.Plan(json.dumps(document))
    found = predicted(plan, "POSIX", 1)
    assert len(found) == files
    assert found == reference(plan, list(found))
    counted = plan.count()
    for name in ("OPENS", "READS", "SEEKS", "BYTES_READ", "SEQ_READS", "CONSEC_READS"):
        assert counted[name].sum() == sum(record.get(name, 0) for record in found.values()), name


def test_the_engine_reads_what_was_prepared(engine: Engine) -> None:
    """Each file has the bytes of its samples; nothing falls short; what is read is what was written."""
    shape = {"files": 7, "samples": 3, "bytes": 7 * 3 * 5000, "deviation": 900, "header": 128, "deal": 3}
    document = plan_of(3, 2, **shape, sample_order="shuffled-each-epoch", file_order="shuffled-each-epoch")
    result = engine(document, "--verify", "--keep")
    ends = defaultdict(int)
    for reads in reads_of(document).values():
        for file, offset, size in reads:
            ends[file] = max(ends[file], offset + size)
    assert result.files() == {f"input-1.{f:04d}.dat": ends[f] for f in range(7)}
    assert sum(ends.values()) == 7 * 3 * 5000 + 7 * 128
    assert [d["bytes_read"] for d in result.dumps] == [105_000, 105_000]
    assert result.end["verified"].items() >= {"bytes": 210_000, "errors": 0}.items()
    assert {item["name"]: item["size"] for item in result.end["files"]} == {
        path.name: path.stat().st_size for path in result.data.iterdir()
    }


def test_files_of_a_data_set_are_removed(engine: Engine) -> None:
    assert engine(plan_of(2, files=5, samples=1, bytes=5000, deal=1)).files() == {}


@pytest.mark.parametrize("backend", ["posix", "stdio", "null"])
def test_backends_count_alike(engine: Engine, backend: str) -> None:
    document = plan_of(
        2, 2, **{"files": 4, "samples": 6, "bytes": 2400, "deal": 2, "sample_order": "shuffled", "opens": 2}
    )
    result = engine(document, "--backend", backend)
    assert result.total("READS") == 48 and result.total("OPENS") == sum(
        2 * len({file for file, *_ in reads}) for reads in reads_of(document).values()
    )


def test_a_checkpoint_lies_between_epochs(engine: Engine) -> None:
    document = plan_of(2, 2, **{"files": 4, "samples": 1, "bytes": 400, "deal": 1})
    document["families"].append(family("posix", id=1))
    document["contents"].append(content(stream([[2, 100]])))
    first, second = document["dumps"]
    document["dumps"] = [first, dump(0, family=1, content=1), second]
    result = engine(document, "--keep")
    assert result.files()["checkpoint-1.0000.dat"] == 200 and len(result.files()) == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p["families"][0].update(lifetime="per-dump"), "lifetime reused"),
        (lambda p: p["families"][0].update(sharing=sharing("per-rank")), "sharing shared, subset or root"),
        (lambda p: p["families"][0].update(backend="mpiio", level="mpiio"), "use the backend posix or stdio"),
        (lambda p: p["contents"][0].update(opens=3), "has its own calls"),
        (lambda p: p["contents"][0].update(streams=[stream([[1, 8]])]), "replaces all other content"),
        (lambda p: p["contents"][0]["dataset"].update(files=0), "files"),
        (
            lambda p: p["contents"][0]["dataset"].update(files=10**9 - 1, samples=10**9 - 1),
            "too many samples",
        ),
        (lambda p: p["contents"][0]["dataset"].update(sample_order="random"), "shuffled-each-epoch"),
        (
            lambda p: p["contents"][0]["dataset"].update(files=2**29, samples=2**11, transfer=1, deal=0),
            "more operations",
        ),
        (lambda p: p["contents"][0]["dataset"].update(colour=1), "colour"),
    ],
)
def test_impossible_data_sets(engine: Engine, change: Any, message: str) -> None:
    document = plan_of(2, files=2, samples=1, bytes=200, deal=1)
    change(document)
    result = engine(document, processes=0, check=False)
    assert result.code == 2 and message in result.stderr
