"""Data sets read in epochs, found from counters alone: random ones of known truth, and what looks like one."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from typing import Any

import pytest
from known_logs import SHARED, needs_shared
from simulated_job import log_of

from workalike.characterize import CharacterizeOptions, characterize
from workalike.characterize.contents.dealt_samples import batch_of, dealt
from workalike.characterize.result import Characterization
from workalike.compare.lines import model_against_log
from workalike.compare.pairing import pair_up
from workalike.darshan import Log, LogBuilder, open_log
from workalike.plan.core import core_plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Assumption, Dataset, Order, Role, Split, Workload
from workalike.workload.workload_file import workload_text

BEGIN = 1_700_000_000.0
EACH = Order.SHUFFLED_EACH_EPOCH
ALL = CharacterizeOptions(include_program_start=True)


def workload(dataset: Dataset, ranks: int, epochs: int, interface: str = "posix") -> Workload:
    family = {
        "role": "input",
        "interface": interface,
        "schedule": {"count": epochs, "first": 10, "every": 20},
        "content": {"dataset": dataset.model_dump()},
    }
    return Workload.model_validate({"ranks": ranks, "runtime": 20 * epochs + 10, "families": [family]})


def logs_of(
    dataset: Dataset, ranks: int, epochs: int, seed: int = 1, module: str = "POSIX", read_time: float = 0.01
) -> list[Log]:
    """The logs of the processes of a run: counters by their definitions, over the operations of the plan."""
    plan = core_plan(resolve(workload(dataset, ranks, epochs, module.lower()), Options(seed=seed)))
    return [log_of_rank(plan, rank, epochs, module, read_time) for rank in range(ranks)]


def log_of_rank(plan: Any, rank: int, epochs: int, module: str, read_time: float) -> Log:
    columns = plan.operations(rank=rank, most=10**6)
    rows = list(
        zip(*(columns[c].tolist() for c in ("dump", "file", "kind", "offset", "length")), strict=True)
    )
    counters: dict[int, Counter[str]] = defaultdict(Counter)
    last: dict[int, int] = {}
    times: dict[int, list[float]] = defaultdict(list)
    for number, (epoch, file, kind, offset, length) in enumerate(rows):
        found = counters[file]
        moment = 10 + 20 * epoch + 18 * number / len(rows) / epochs
        times[file].append(moment)
        word = plan_kinds()[kind]
        if word == "open":
            found["OPENS"] += 1
            last[file] = 0
        elif word in ("seek", "stat"):
            found[f"{word.upper()}S"] += 1
        elif word == "read":
            found["READS"] += 1
            found["BYTES_READ"] += length
            found["SEQ_READS"] += offset > last[file]
            found["CONSEC_READS"] += offset == last[file] + 1
            last[file] = offset + length - 1
            found["MAX_BYTE_READ"] = max(found["MAX_BYTE_READ"], last[file])
            found[f"size {length}"] += 1
    builder = LogBuilder(nprocs=1, run_time=20.0 * epochs + 10, start_time=BEGIN + rank / 1000)
    for file, found in counters.items():
        values: dict[str, float] = {name: n for name, n in found.items() if not name.startswith("size")}
        sizes = sorted(
            ((n, int(name[5:])) for name, n in found.items() if name.startswith("size")), reverse=True
        )
        for place, (count, size) in enumerate(sizes[:4], start=1):
            values |= {f"ACCESS{place}_ACCESS": size, f"ACCESS{place}_COUNT": count}
        first, end = min(times[file]), max(times[file])
        values |= {"F_OPEN_START_TIMESTAMP": first, "F_READ_START_TIMESTAMP": first}
        values |= {"F_READ_END_TIMESTAMP": end, "F_CLOSE_END_TIMESTAMP": end, "F_READ_TIME": read_time}
        if module == "STDIO":
            gone = ("SEQ", "CONSEC", "ACCESS", "STATS")
            values = {name: value for name, value in values.items() if not name.startswith(gone)}
            builder.stdio(f"/run/data/part-{name_of(columns['names'][file])}.bin", 0, **values)
        else:
            builder.posix(f"/run/data/part-{name_of(columns['names'][file])}.bin", 0, **values)
    return log_of(builder)


def plan_kinds() -> list[str]:
    from workalike import _core

    return list(_core.kinds)


def name_of(file: str) -> str:
    return file.split(".")[1]


def found_in(logs: list[Log]) -> tuple[Dataset | None, Characterization]:
    found = characterize(logs, ALL)
    sets = [f.family.content_of(0).dataset for f in found.families]
    assert len(sets) == 1 or not any(sets)
    return sets[0], found


def counted(found: Characterization) -> dict[str, int]:
    columns = core_plan(resolve(found.workload, Options())).count()
    return {name: int(columns[name].sum()) for name in ("OPENS", "READS", "BYTES_READ", "STATS", "SEEKS")}


def random_data_set(rng: random.Random, ranks: int, epochs: int) -> Dataset:
    samples = rng.choice([1, 1, 4, 24])
    files = rng.randint(max(2, 8 // samples), 30) + 4 * ranks  # something for every reader
    split = rng.choice([Split.FILES, Split.SAMPLES]) if samples == 1 else Split.FILES
    order = rng.choice([Order.SEQUENTIAL, EACH]) if samples > 1 else EACH
    return Dataset(
        files=files,
        samples=samples,
        sample=rng.choice([100, 4096, 16384]),
        header=rng.choice([0, 0, 64]),
        order=order,
        file_order=EACH,
        split=split,
        batch=rng.choice([2, 4]) if split is Split.SAMPLES else 1,
        opens=rng.choice([1, 1, 2]),
        stats=rng.choice([0, 1]),
        seeks=rng.choice([0, 2]),
    )


@pytest.mark.parametrize("seed", range(40))
def test_the_data_set_of_a_run_is_found(seed: int) -> None:
    """All that counters can show; of batches that share out the samples alike, one."""
    rng = random.Random(seed)
    ranks, epochs = rng.randint(2, 5), rng.randint(2, 4)
    truth = random_data_set(rng, ranks, epochs)
    dataset, found = found_in(logs_of(truth, ranks, epochs, seed + 1))
    assert dataset is not None
    names = ("files", "samples", "sample", "header", "order", "opens", "stats", "seeks", "readers")
    assert {name: getattr(dataset, name) for name in names} == {name: getattr(truth, name) for name in names}
    assert dataset.order_of_files is EACH
    deals = [
        dealt(d.files * d.samples, d.samples if d.split is Split.FILES else d.batch, ranks)
        for d in (dataset, truth)
    ]
    assert deals[0] == deals[1]
    (family,) = found.workload.families
    assert family.role is Role.INPUT and family.schedule.dumps == epochs
    assert Assumption.SCHEDULE in family.assumed
    assert counted(found) == counted_of(truth, ranks, epochs)
    assert [d.bytes_read for d in found.families[0].dumps] == [truth.total] * epochs


def counted_of(truth: Dataset, ranks: int, epochs: int) -> dict[str, int]:
    columns = core_plan(resolve(workload(truth, ranks, epochs), Options())).count()
    return {name: int(columns[name].sum()) for name in ("OPENS", "READS", "BYTES_READ", "STATS", "SEEKS")}


@pytest.mark.parametrize("seed", range(5))
def test_samples_of_one_file_are_shared_out_in_batches(seed: int) -> None:
    truth = Dataset(files=1, samples=2000, sample=12288, order=EACH, split=Split.SAMPLES, batch=32, readers=2)
    dataset, found = found_in(logs_of(truth, 6, 3, seed))
    assert dataset == truth
    (family,) = found.workload.families
    assert [*family.assumed] == [Assumption.ORDER, Assumption.BATCH, Assumption.ROLE]
    assert len(set(family.schedule.starts())) == 3


def test_processes_that_take_turns() -> None:
    """Two readers an epoch, other ones in each: their spans are the epochs."""
    truth = Dataset(files=100, sample=49152, order=EACH, split=Split.SAMPLES, batch=32, readers=2)
    dataset, found = found_in(logs_of(truth, 6, 3))
    assert dataset == truth
    starts = found.workload.families[0].schedule.starts()
    assert [round(start) for start in starts] == [10, 30, 50]


def test_each_reads_everything() -> None:
    truth = Dataset(files=10, samples=3, sample=4096, order=EACH, split=Split.NONE)
    dataset, found = found_in(logs_of(truth, 3, 4))
    assert dataset == truth
    assert counted(found)["BYTES_READ"] == 3 * 4 * truth.total


def test_one_process() -> None:
    truth = Dataset(files=12, samples=4, sample=4096, order=EACH)
    dataset, found = found_in(logs_of(truth, 1, 5))
    assert dataset == truth.model_copy(update={"split": Split.FILES})
    assert counted(found) == counted_of(truth, 1, 5)


@pytest.mark.parametrize("read_time", [0.0, 0.01])
def test_compute_time_is_known_where_the_time_of_reads_is(read_time: float) -> None:
    truth = Dataset(files=12, samples=4, sample=4096, order=EACH)
    dataset, found = found_in(logs_of(truth, 1, 5, read_time=read_time))
    assert dataset is not None
    computes = found.workload.families[0].schedule.compute_times()
    assert (min(computes) > 0) if read_time else (set(computes) == {0.0})


@pytest.mark.parametrize("transfer", [None, 4096])
def test_files_of_different_sizes(transfer: int | None) -> None:
    """168 files in batches of 7 for 16 readers: half of them get 14, the others 7; the bytes are exact."""
    truth = Dataset(
        **{"files": 168, "sample": 40_001, "deviation": 9_000, "transfer": transfer, "order": EACH},
        **{"split": Split.SAMPLES, "batch": 7},
    )
    dataset, found = found_in(logs_of(truth, 16, 5))
    assert dataset is not None
    names = ("files", "samples", "sample", "transfer", "order", "split", "opens")
    assert {name: getattr(dataset, name) for name in names} == {name: getattr(truth, name) for name in names}
    assert dealt(168, dataset.batch, 16) == dealt(168, 7, 16)
    assert dataset.deviation == pytest.approx(9_000, rel=0.15)
    assert dataset.total == truth.total
    assert counted(found)["BYTES_READ"] == 5 * truth.total and counted(found)["OPENS"] == 5 * 168
    assert Assumption.SIZES in found.workload.families[0].assumed


def test_a_mean_that_is_no_whole_number() -> None:
    """The bytes of all samples are stated where the mean is rounded."""
    dataset = Dataset(files=3, sample=100, bytes=301)
    plan = core_plan(resolve(workload(dataset, 1, 2), Options()))
    assert plan.count()["BYTES_READ"].tolist() == [301, 301]
    with pytest.raises(ValueError, match="in the mean"):
        Dataset(files=3, sample=100, bytes=400)


def test_files_that_are_read_in_pieces() -> None:
    truth = Dataset(files=12, sample=10_000, transfer=4096, order=EACH)
    dataset, found = found_in(logs_of(truth, 3, 2))
    assert dataset is not None
    assert (dataset.samples, dataset.sample, dataset.transfer) == (1, 10_000, 4096)
    assert counted(found) == counted_of(truth, 3, 2)


def test_through_stdio() -> None:
    truth = Dataset(files=20, sample=49152, header=128, order=EACH)
    dataset, found = found_in(logs_of(truth, 2, 3, module="STDIO"))
    assert dataset is not None
    assert (dataset.files, dataset.sample, dataset.header, dataset.order) == (20, 49152, 128, EACH)
    totals = counted(found)
    assert (totals["OPENS"], totals["READS"], totals["BYTES_READ"]) == (60, 60, 60 * 49152)


@pytest.mark.parametrize(
    ("truth", "ranks", "epochs"),
    [
        (Dataset(files=12, samples=4, sample=4096, order=EACH), 3, 1),  # read once
        (Dataset(files=12, sample=4096, split=Split.NONE), 4, 1),  # an input that all ranks read
        (Dataset(files=1, samples=16, sample=4096), 1, 3),  # one file, three times in sequence
        (Dataset(files=2, sample=4096, order=EACH), 2, 3),  # too few samples
        (Dataset(files=4, samples=4, sample=4096), 4, 3),  # a file of each rank, three times in sequence
    ],
)
def test_what_is_no_data_set(truth: Dataset, ranks: int, epochs: int) -> None:
    dataset, found = found_in(logs_of(truth, ranks, epochs))
    assert dataset is None
    assert sum(d.bytes_read for f in found.families for d in f.dumps) == epochs * truth.moved(ranks)


def changed(change: str) -> list[Log]:
    """Three readers of twelve files in two epochs, with something of it otherwise."""
    logs = logs_of(Dataset(files=12, samples=4, sample=4096, order=EACH), 3, 2)
    builder = LogBuilder(nprocs=1, run_time=50.0, start_time=BEGIN + 1)
    more: dict[str, float] = {"OPENS": 1, "F_OPEN_START_TIMESTAMP": 1.0, "F_CLOSE_END_TIMESTAMP": 2.0}
    if change == "written":
        more |= {"WRITES": 1, "BYTES_WRITTEN": 100, "MAX_BYTE_WRITTEN": 99}
    elif change == "read again":
        more |= {
            "READS": 1,
            "BYTES_READ": 4096,
            "MAX_BYTE_READ": 4095,
            "ACCESS1_ACCESS": 4096,
            "ACCESS1_COUNT": 1,
        }
    elif change == "longer":
        more |= {
            "READS": 1,
            "BYTES_READ": 9,
            "MAX_BYTE_READ": 99_999,
            "ACCESS1_ACCESS": 9,
            "ACCESS1_COUNT": 1,
        }
    builder.posix("/run/data/part-0003.bin", 0, **more)
    return [*logs, log_of(builder)]


@pytest.mark.parametrize("change", ["written", "read again", "longer"])
def test_one_file_that_is_used_otherwise(change: str) -> None:
    dataset, _ = found_in_any(changed(change))
    assert dataset is None


def found_in_any(logs: list[Log]) -> tuple[Dataset | None, Characterization]:
    found = characterize(logs, ALL)
    sets = [f.family.content_of(0).dataset for f in found.families]
    return next((s for s in sets if s is not None), None), found


def test_processes_that_open_no_file_are_no_ranks() -> None:
    """A parent that starts the readers, and one that only looks whether a file is there."""
    logs = logs_of(Dataset(files=12, samples=4, sample=4096, order=EACH), 3, 2)
    parent = LogBuilder(nprocs=1, run_time=60.0, start_time=BEGIN - 5)
    parent.posix("/usr/lib/python3/site.py", 0, OPENS=1, READS=1, BYTES_READ=500, MAX_BYTE_READ=499)
    looks = LogBuilder(nprocs=1, run_time=60.0, start_time=BEGIN - 1)
    looks.posix("/run/data/ready", 0, STATS=1)
    found = characterize([log_of(parent), *logs, log_of(looks)])
    assert found.workload.ranks == 3
    assert any("2 processes open no file" in warning for warning in found.warnings)
    data, asked = found.workload.families
    assert data.sharing.ranks is None
    assert asked.all_contents()[0].stats == 1
    assert data.schedule.starts()[0] == pytest.approx(15, abs=0.1)  # the clock is that of all processes
    assert found.workload.uncovered[0].bytes == 500


@pytest.mark.parametrize("seed", range(20))
def test_batches_explain_shares(seed: int) -> None:
    rng = random.Random(seed)
    readers, samples = rng.randint(2, 6), rng.randint(20, 3000)
    batch = rng.choice([1, 2, 7, 8, 32, 100])
    shares = dealt(samples, batch, readers)
    assert sum(shares) == samples
    by_hand = [0] * readers
    for first in range(0, samples, batch):
        by_hand[first // batch % readers] += min(batch, samples - first)
    assert shares == by_hand
    found = batch_of(samples, [shares])
    assert found is not None and dealt(samples, found, readers) == shares


def test_no_batch_explains_these_shares() -> None:
    assert batch_of(100, [[10, 90]]) is None


@needs_shared
@pytest.mark.parametrize(
    ("folder", "lines", "truth"),
    [
        (
            "training-loop-4",
            40,
            {(16, 24, 16384, Split.FILES): (48, 1152, 18_874_368)},
        ),
        (
            "pytorch-loader",
            80,
            {
                (1, 2000, 12288, Split.SAMPLES): (6, 6000, 73_728_000),
                (100, 1, 49152, Split.SAMPLES): (300, 300, 14_745_600),
                (100, 1, 4096, Split.SAMPLES): (300, 300, 1_228_800),
            },
        ),
    ],
)
def test_training_jobs(folder: str, lines: int, truth: dict[tuple[Any, ...], tuple[int, ...]]) -> None:
    """Bytes, reads and opens are the log's; the rest is what the programs are known to have done."""
    paths = sorted((SHARED / folder).glob("*.darshan"))
    found = characterize([open_log(path) for path in paths])
    # The lives of processes are stated beside what the program does: a line for each group.
    alike = found.workload.model_copy(update={"processes": []})
    assert len(workload_text(alike).splitlines()) <= lines
    sets = {}
    for facts in found.families:
        dataset = facts.family.content_of(0).dataset
        if dataset is None:
            continue
        assert facts.family.schedule.dumps == 3 and dataset.order is dataset.order_of_files is EACH
        assert dataset.batch == (32 if dataset.split is Split.SAMPLES else 1)
        sets[dataset.files, dataset.samples, dataset.sample, dataset.split] = (
            facts.family.role,
            facts.family.number,
        )
    assert set(sets) == set(truth)
    rows = model_against_log(pair_up(found, None))
    for shape, key in sets.items():
        by_counter = {row.counter: row for row in rows if row.group == (key,)}
        assert (
            by_counter["OPENS"].found,
            by_counter["READS"].found,
            by_counter["BYTES_READ"].found,
        ) == truth[shape]
        exact = ("OPENS", "READS", "BYTES_READ", "MAX_BYTE_READ", "SEEKS")
        assert all(by_counter[name].error == 0 for name in exact if name in by_counter)


def test_the_text_of_a_workload_names_its_epochs() -> None:
    _, found = found_in(logs_of(Dataset(files=12, samples=4, sample=4096, order=EACH), 3, 2))
    text = workload_text(found.workload)
    assert "dataset: {files: 12, samples: 4, sample: 4 KiB, order: shuffled-each-epoch}" in text
    assert json.loads(json.dumps(found.families[0].sentences()))[-1].startswith(
        "content: a data set read in 2 epochs"
    )


@pytest.mark.parametrize(("visits", "is_one"), [((15, 13, 12), True), ((24, 8, 8), False)])
def test_readers_that_take_the_next_file_share_unevenly(visits: tuple[int, ...], is_one: bool) -> None:
    """Ten files of twelve samples in four epochs; a quicker reader takes more files, and no batch explains how many."""
    files, samples, size = 10, 12, 4096
    turns = [rank for rank, number in enumerate(visits) for _ in range(number)]
    random.Random(3).shuffle(turns)
    logs = []
    for rank in range(len(visits)):
        builder = LogBuilder(nprocs=1, run_time=100.0, start_time=BEGIN + rank / 1000)
        for file in range(files):
            times = [turn for turn, reader in enumerate(turns) if turn % files == file and reader == rank]
            if not times:
                continue
            opens, reads = len(times), len(times) * samples
            builder.posix(
                f"/run/data/part-{file}.bin", 0, OPENS=opens, READS=reads, BYTES_READ=reads * size,
                MAX_BYTE_READ=samples * size - 1, SEQ_READS=reads // 2, CONSEC_READS=opens,
                SIZE_READ_1K_10K=reads, ACCESS1_ACCESS=size, ACCESS1_COUNT=reads,
                F_OPEN_START_TIMESTAMP=1.0 + times[0], F_READ_START_TIMESTAMP=1.0 + times[0],
                F_READ_END_TIMESTAMP=1.9 + times[-1], F_CLOSE_END_TIMESTAMP=2.0 + times[-1], F_READ_TIME=0.01,
            )  # fmt: skip
        logs.append(log_of(builder))
    dataset, found = found_in(logs)
    assert (dataset is not None) == is_one
    if dataset is not None:
        assert (dataset.files, dataset.samples, dataset.split) == (files, samples, Split.FILES)
        assert Assumption.RANK_SHARES in found.families[0].family.assumed
