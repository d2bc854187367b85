"""Result files of made-up runs, and their pages as the commands make them: studies, joined studies, mixes, replicas.

Nothing is performed. Each case is drawn by a seed, or is one of a fixed set of runs that pages had trouble with.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import page_checker

from workalike.compare.fidelity import compare
from workalike.compare.fidelity_schema import write_fidelity
from workalike.compare.from_plan import side_of_plan
from workalike.compare.pairing import pair_up
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.record.run_record import Record, RecordDump, RecordError, RecordScale, stamp_of
from workalike.report import write_report
from workalike.study.journal import Finished
from workalike.study.merge import merge
from workalike.study.mix import rounds as mix_rounds
from workalike.study.mix.measure import CopyResult, DumpTimes
from workalike.study.mix.page import write_page
from workalike.study.objective import Objective
from workalike.study.report.systems_page import write_systems_page
from workalike.study.results_page import write_results_page
from workalike.study.statistics.sequential import Rule
from workalike.study.stopping import Stopping
from workalike.workload.model import Workload

MARKUP = "<b>&$x^2$"
Rng = np.random.Generator
Found = list[page_checker.Contradiction]


@dataclass(frozen=True)
class StudyCase:
    """A study that is made up.

    `factors` has the levels of each; `gain` says what a combination does to the rate. `noise` is the standard deviation
    of logarithms, `per_dump` the bytes of a dump.
    """

    factors: dict[str, tuple[str, ...]]
    gain: Callable[[dict[str, str]], float] = lambda levels: 1.0
    blocks: int = 6
    noise: float = 0.1
    drift: float = 0.2
    rate: float = 5e8
    dumps: int = 4
    per_dump: int = 2**28
    growth: float = 0.0
    reads: float = 0.0
    fsyncs: int = 2
    caches: str = "keep"
    memory: int = 2**36
    failed: float = 0.0
    states: tuple[str, ...] = ("failed",)
    missing: int = 0
    a_a: bool = False
    ceiling: float | None = None
    objectives: tuple[Objective, ...] = (Objective.BANDWIDTH,)
    stop: bool = False
    title: str = "A study"
    seed: int = 1

    def settings(self) -> list[dict[str, str]]:
        return [dict(zip(self.factors, levels, strict=True)) for levels in product(*self.factors.values())]


def setting_name(levels: dict[str, str]) -> str:
    return " ".join(f"{name}={level}" for name, level in levels.items()) or "default"


def finished_of(case: StudyCase, system: str = "s1") -> list[Finished]:
    """The trials of a study, in the order in which they ran; the last `missing` have not run."""
    rng = np.random.default_rng(case.seed)
    combinations = case.settings()
    out = []
    for block in range(case.blocks):
        level = math.exp(rng.normal(0, case.drift))
        names = [(setting_name(levels), "", levels) for levels in combinations]
        if case.a_a:
            names.append((f"{names[0][0]} (a-a)", "a-a", combinations[0]))
        for position, (name, arm, levels) in enumerate(names):
            rate = case.rate * case.gain(levels) * level * math.exp(rng.normal(0, case.noise))
            out.append(_trial(case, rng, block, position, name, arm, levels, rate, system, len(out)))
    return out[: len(out) - case.missing]


def _trial(
    case: StudyCase,
    rng: Rng,
    block: int,
    position: int,
    name: str,
    arm: str,
    levels: dict[str, str],
    rate: float,
    system: str,
    number: int,
) -> Finished:
    row: dict[str, Any] = {"block": block, "position": position, "setting": name, "arm": arm, "trial": number}
    row |= {**levels, "system": system, "asked": {}, "found": {}}
    if rng.random() < case.failed:
        state = case.states[number % len(case.states)]
        row |= {"state": state, "counted": False, "reasons": [f"{state} for a reason"]}
        return Finished(row, [])
    dumps, end = [], 0.0
    for index in range(case.dumps):
        size = int(case.per_dump * (1 + case.growth * index))
        read = int(size * case.reads)
        seconds = size / rate * math.exp(rng.normal(0, case.noise / 2))
        end = 10.0 * index + seconds
        dumps.append(
            {
                **{"family": 0, "role": "checkpoint", "number": 1, "index": index, "fsyncs": case.fsyncs},
                **{"bytes_written": size - read, "bytes_read": read, "planned_bytes": size},
                **{"start_s": end - seconds, "end_s": end, "io_time_s": seconds},
            }
        )
    times = [float(dump["io_time_s"]) for dump in dumps]
    moved = sum(int(dump["bytes_written"]) + int(dump["bytes_read"]) for dump in dumps)
    row |= {"state": "ok", "counted": True, "reasons": [], "io_time_s": sum(times), "wall_s": end + 0.1}
    row |= {"bandwidth": moved / sum(times), "slowest_dump_s": max(times), "write_time_s": 2 * sum(times)}
    return Finished(row, dumps)


def write_files(folder: Path, case: StudyCase, system: str = "s1") -> list[Finished]:
    """The files of a study's results, as its driver leaves them."""
    folder.mkdir(parents=True, exist_ok=True)
    finished = finished_of(case, system)
    settings = [{"id": setting_name(levels), "levels": levels} for levels in case.settings()]
    manifest = {
        **{"format": "workalike-study", "version": 1, "id": system, "identity": "j", "created": "c"},
        **{"title": case.title, "factors": list(case.factors), "settings": settings, "a_a": case.a_a},
        **{"blocks": case.blocks, "state": "interrupted" if case.missing else "done"},
        "study": {"caches": case.caches, "objective": [o.value for o in case.objectives]},
        "system": {"host": "n1", "cpu": "x86", "cores": 8, "memory_bytes": case.memory, "file_systems": {}},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    lines = [json.dumps({"trial": each.trial, "dumps": each.dumps}) + "\n" for each in finished]
    (folder / "trials.jsonl").write_text("".join(lines))
    if case.ceiling is not None:
        ceilings = {
            kind: {"unit": "B/s", "median": factor * case.ceiling, "values": [case.ceiling, 2 * case.ceiling]}
            for kind, factor in (("write", 1.0), ("write_cached", 2.0), ("read", 1.5), ("read_cached", 3.0))
        }
        machine = {"format": "workalike-machine", "version": 1, "system_id": system, "ceilings": ceilings}
        (folder / "MACHINE.json").write_text(json.dumps(machine))
    return finished


def study_page(folder: Path, case: StudyCase) -> Found:
    """Write a study's files and its page; what the page says against the files."""
    finished = write_files(folder, case)
    stopping = None
    if case.stop:
        first = setting_name(case.settings()[0])
        stopping = Stopping(Rule(most_blocks=case.blocks), first, case.objectives[0])
    page = write_results_page(
        folder,
        case.title,
        list(case.factors),
        finished,
        stopping,
        ended=case.stop,
        objectives=case.objectives,
    )
    return page_checker.contradictions_of_study(folder) if page is not None else []


def systems_page(folder: Path, cases: Sequence[StudyCase]) -> Found:
    """Write several studies, join them, and check the page of the systems."""
    parts = []
    for number, case in enumerate(cases):
        parts.append(folder / f"{'abcdefgh'[number]}-system")
        write_files(parts[-1], case, f"s{number}")
    merge(parts, folder / "joined")
    page = write_systems_page(folder / "joined")
    return page_checker.contradictions_of_study(folder / "joined") if page is not None else []


@dataclass(frozen=True)
class MixCase:
    """A mix that is made up: its copies by name, and what running side by side does to a dump's time."""

    copies: tuple[str, ...] = ("climate", "plasma", "plasma")
    slowdown: float = 1.5
    spread: float = 0.1
    rounds: int = 4
    asked: int = 4
    dumps: int = 3
    seconds: float = 2.0
    bytes: int = 2**30
    differences: tuple[str, ...] = ()
    memory: int = 2**20
    seed: int = 1


def mix_page(folder: Path, case: MixCase) -> Found:
    """Write `mix.json` and `mix.html`; what the page says against the file."""
    rng = np.random.default_rng(case.seed)
    folder.mkdir(parents=True, exist_ok=True)
    rounds = [_round(case, rng) for _ in range(case.rounds)]
    summary = mix_rounds.summary(rounds, case.asked)
    (folder / "mix.json").write_text(json.dumps(summary))
    write_page(folder / "mix.html", rounds, summary)
    return page_checker.contradictions_of_mix(folder)


def _round(case: MixCase, rng: Rng) -> list[CopyResult]:
    numbers: dict[str, int] = {}
    found = []
    for name in case.copies:
        numbers[name] = numbers.get(name, 0) + 1
        times = tuple(
            DumpTimes(
                "checkpoint 1",
                index,
                alone := case.seconds * math.exp(rng.normal(0, case.spread)),
                alone * case.slowdown * math.exp(rng.normal(0, case.spread)),
            )
            for index in range(case.dumps)
        )
        found.append(
            CopyResult(
                *(name, numbers[name], 4, 0.1 * len(found), times),
                wall_alone_s=10 * case.seconds,
                wall_together_s=12 * case.seconds,
                share_alone=0.1 if case.seconds else None,
                share_together=0.15 if case.seconds else None,
                bytes_written=case.bytes,
                bytes_read=0,
                differences=case.differences,
                in_memory=("working set below the memory",) if case.bytes < 1.5 * case.memory else (),
            )
        )
    return found


@dataclass(frozen=True)
class ReplicaCase:
    """A replica that is made up: what the workload moves, and how its record differs from the plan."""

    size: str = "64 KiB"
    operations: int = 8
    dumps: int = 3
    every: str = "10 s"
    families: int = 1
    ranks: int = 2
    bytes_scale: str = "1"
    time_scale: float = 1.0
    speed: float = 2.0**30
    spread: float = 0.0
    memory: int = 2**33
    off: float = 0.0
    lost: int = 0
    errors: int = 0
    host: str = "n1"
    seed: int = 1


def workload_of(case: ReplicaCase) -> Workload:
    """Families of checkpoints and of visualization output."""
    families = [
        {
            "role": ("checkpoint", "visualization")[number % 2],
            "interface": "posix",
            "sharing": "shared",
            "schedule": {"count": case.dumps, "first": "1 s", "every": case.every},
            "content": {
                "streams": [
                    {"direction": "write", "sizes": [f"{case.operations * (number + 1)}/rank x {case.size}"]}
                ]
            },
        }
        for number in range(case.families)
    ]
    return Workload.model_validate({"workalike": 2, "ranks": case.ranks, "families": families})


def record_of(case: ReplicaCase, plan: Plan) -> Record:
    """The record of a run of a plan, without the dumps that were lost."""
    rng = np.random.default_rng(case.seed)
    sides = side_of_plan(plan).families
    of_family = {family.id: sides[family.role, family.number] for family in plan.families}
    dumps = []
    for dump in plan.dumps:
        side = of_family[dump.family]
        moved = side.dumps[dump.index]
        start = dump.start_s * plan.time_scale
        length = 0.001 + moved.moved / (case.speed * math.exp(rng.normal(0, case.spread)))
        dumps.append(
            RecordDump(
                **{"family": dump.family, "role": side.role, "number": side.number, "index": dump.index},
                **{"ranks": plan.ranks, "due_s": start, "start_s": start, "end_s": start + length},
                **{"late_s": 0.0, "io_s": length},
                bytes_written=int(moved.bytes_written * (1 + case.off)),
                bytes_read=moved.bytes_read,
                counters={"WRITES": plan.ranks * case.operations, "OPENS": plan.ranks},
            )
        )
    made = Record(
        plan_ranks=plan.ranks,
        processes=plan.ranks,
        backend="posix",
        time_scale=plan.time_scale,
        scale=RecordScale(**plan.scale.model_dump()),
        environment={"engine": "0.1.0", "mpi": case.host, "memory_bytes": case.memory},
        dumps=dumps[: len(dumps) - case.lost],
        errors=[RecordError(rank=0, operation="write", reason="no space") for _ in range(case.errors)],
        incomplete=bool(case.lost),
        wall_s=50.0,
    )
    made.stamp = stamp_of(made)
    return made


def replica_page(folder: Path, case: ReplicaCase) -> Found:
    """Write `fidelity.json` and `report.html`; what the page says against the file."""
    folder.mkdir(parents=True, exist_ok=True)
    workload = workload_of(case)
    plan = resolve(workload, Options(bytes_scale=_fraction(case.bytes_scale), time_scale=case.time_scale))
    record = record_of(case, plan)
    fidelity = compare(workload, record, plan=plan)
    write_fidelity(fidelity, folder / "fidelity.json")
    pairing = pair_up(workload, record, plan=plan)
    write_report(folder / "report.html", pairing=pairing, fidelity=fidelity)
    return page_checker.contradictions_of_report(folder)


def _fraction(text: str) -> Any:
    from fractions import Fraction

    return Fraction(text)


STRIPES = {"stripes": ("1", "2", "4", "8")}
RANKS = {"ranks": ("4", "16", "64"), "layout": ("wide", "narrow")}
PAIR = {"layout": ("wide", "narrow")}


def _by_stripes(levels: dict[str, str]) -> float:
    return {"1": 1.0, "2": 1.6, "4": 2.1, "8": 2.1}[levels["stripes"]]


def _wide(factor: float) -> Callable[[dict[str, str]], float]:
    return lambda levels: factor if levels.get("layout") == "wide" else 1.0


def _by_ranks(levels: dict[str, str]) -> float:
    return (int(levels["ranks"]) / 4) ** 0.6


BASE = StudyCase(STRIPES, _by_stripes)
EQUAL = StudyCase(PAIR)
STUDIES: dict[str, StudyCase] = {
    "plain": replace(BASE, blocks=8),
    "no difference": EQUAL,
    "nearly the best": replace(EQUAL, gain=_wide(1.18), noise=0.12, blocks=4, seed=5),
    "nearly the best, reference": replace(EQUAL, gain=_wide(1 / 1.18), noise=0.12, blocks=4, seed=7),
    "no difference of many": replace(BASE, gain=lambda _: 1.0, blocks=5, seed=3),
    "single setting": StudyCase({"stripes": ("4",)}, blocks=5),
    "single block": replace(BASE, blocks=1),
    "single trial": StudyCase({"stripes": ("4",)}, blocks=1, dumps=1),
    "two blocks": replace(BASE, blocks=2, noise=0.4),
    "single dump": replace(BASE, dumps=1),
    "huge spread": replace(EQUAL, noise=4.0, blocks=4),
    "huge spread of ranks": StudyCase(RANKS, _by_ranks, noise=3.0, blocks=3),
    "huge spread between blocks": replace(EQUAL, drift=5.0, blocks=6, noise=0.02),
    "in memory": replace(BASE, fsyncs=0, ceiling=2e8),
    "reads from memory": replace(BASE, reads=1.0, ceiling=2e8),
    "beyond memory": replace(BASE, fsyncs=0, memory=2**28, ceiling=4e9),
    "above the ceiling": replace(BASE, ceiling=1.5e8),
    "failed": replace(BASE, failed=0.3, seed=4),
    "all of a setting failed": replace(EQUAL, failed=0.6, blocks=3, seed=2),
    "settings not taken": replace(BASE, failed=0.3, states=("not-taken", "not-set", "timed-out"), seed=4),
    "partial": replace(BASE, missing=5),
    "partial with the same twice": replace(BASE, missing=6, a_a=True, failed=0.2),
    "two workloads": StudyCase({"workload": ("small", "large"), **PAIR}, _wide(1.02), blocks=5, noise=0.05),
    "two workloads, different": StudyCase({"workload": ("small", "large"), **PAIR}, _wide(2.0)),
    "workloads of two blocks": StudyCase(
        {"workload": ("small", "large"), **PAIR}, _wide(1.4), blocks=2, noise=0.08
    ),
    "ranks": StudyCase(RANKS, _by_ranks, blocks=5, growth=0.3),
    "tiny": replace(BASE, rate=2.0, per_dump=7),
    "huge": replace(BASE, rate=3e14, per_dump=2**52, blocks=3),
    "markup": StudyCase({"layout": ("wide" + MARKUP, "narrow" + MARKUP)}, title="A study " + MARKUP),
    "times": replace(BASE, objectives=(Objective.IO_TIME, Objective.SLOWEST_DUMP)),
    "times without a difference": replace(EQUAL, objectives=(Objective.SLOWEST_DUMP,), noise=0.3, a_a=True),
    "ended by results": replace(BASE, stop=True, blocks=12),
    "ended without a result": replace(EQUAL, stop=True, blocks=8, noise=0.6),
    "a clear difference near 1": replace(EQUAL, gain=_wide(1.004), noise=0.0005, drift=0.1, blocks=8),
}
JOINED: dict[str, tuple[StudyCase, ...]] = {
    "two systems": (replace(BASE, seed=1), replace(BASE, rate=9e8, seed=2)),
    "systems without a difference": (EQUAL, replace(EQUAL, seed=9)),
    "systems of single trials": (replace(EQUAL, blocks=1), replace(EQUAL, blocks=1, seed=2)),
    "systems in memory": (replace(EQUAL, fsyncs=0, ceiling=1e8), replace(EQUAL, seed=2, ceiling=1e8)),
    "three systems, wide": tuple(replace(EQUAL, noise=4.0, blocks=3, seed=n) for n in range(3)),
    "systems that failed": (replace(BASE, failed=0.4), replace(BASE, failed=0.2, seed=3)),
}
MIXES: dict[str, MixCase] = {
    "plain": MixCase(),
    "no slowdown": MixCase(slowdown=1.0),
    "single round": MixCase(rounds=1, asked=1),
    "huge spread": MixCase(spread=5.0, rounds=3),
    "two rounds": MixCase(slowdown=0.8, spread=1.5, rounds=2),
    "no time": MixCase(seconds=0.0),
    "interrupted": MixCase(rounds=2, asked=5),
    "other bytes": MixCase(differences=("checkpoint 1, dump 0: not performed",)),
    "tiny": MixCase(seconds=1e-5, bytes=3, dumps=1),
    "huge": MixCase(seconds=9e5, bytes=2**55),
    "many copies": MixCase(copies=tuple(f"w{n}" for n in range(12)), spread=0.4),
    "in memory": MixCase(memory=2**40),
}
REPLICAS: dict[str, ReplicaCase] = {
    "plain": ReplicaCase(),
    "unfinished": ReplicaCase(lost=1),
    "failed calls": ReplicaCase(errors=3),
    "two families": ReplicaCase(families=2),
    "single dump": ReplicaCase(dumps=1),
    "tiny": ReplicaCase(size="1 B", operations=1),
    "huge": ReplicaCase(size="4 GiB", operations=4096),
    "slow": ReplicaCase(speed=100.0, every="600 s"),
    "huge spread": ReplicaCase(spread=4.0),
    "in memory": ReplicaCase(memory=2**45),
    "other bytes": ReplicaCase(off=0.03),
    "far off": ReplicaCase(off=300.0),
    "scaled": ReplicaCase(bytes_scale="1/4", time_scale=0.0),
    "markup": ReplicaCase(host=MARKUP),
}


@dataclass
class Case:
    """A run of any kind, with a function that writes its page into a folder and checks it."""

    name: str
    check: Callable[[Path], Found] = field(repr=False)


def fixed_cases() -> list[Case]:
    """Runs that pages had trouble with."""
    cases = [Case(f"study: {name}", _bound(study_page, case)) for name, case in STUDIES.items()]
    cases += [Case(f"joined: {name}", _bound(systems_page, case)) for name, case in JOINED.items()]
    cases += [Case(f"mix: {name}", _bound(mix_page, case)) for name, case in MIXES.items()]
    return cases + [Case(f"replica: {name}", _bound(replica_page, case)) for name, case in REPLICAS.items()]


def _bound(page: Callable[[Path, Any], Found], case: Any) -> Callable[[Path], Found]:
    return lambda folder: page(folder, case)


def drawn_case(seed: int) -> Case:
    """A run of a kind, with all its fields, by a seed."""
    rng = np.random.default_rng(seed)
    kind = int(rng.integers(4))
    if kind == 0:
        return Case(f"study of seed {seed}", _bound(study_page, drawn_study(rng)))
    if kind == 1:
        first = drawn_study(rng)
        others = [replace(first, rate=first.rate * float(rng.uniform(0.5, 2)), seed=first.seed + 1)]
        return Case(f"joined studies of seed {seed}", _bound(systems_page, [first, *others]))
    if kind == 2:
        return Case(f"mix of seed {seed}", _bound(mix_page, drawn_mix(rng)))
    return Case(f"replica of seed {seed}", _bound(replica_page, drawn_replica(rng)))


def drawn_study(rng: Rng) -> StudyCase:
    shapes: list[tuple[dict[str, tuple[str, ...]], Callable[[dict[str, str]], float]]] = [
        (STRIPES, _by_stripes),
        (RANKS, _by_ranks),
        (PAIR, _wide(float(rng.uniform(1, 2)))),
        ({"stripes": ("4",)}, lambda _: 1.0),
        ({"workload": ("small", "large"), **PAIR}, _wide(float(rng.uniform(1, 1.5)))),
    ]
    factors, gain = shapes[int(rng.integers(len(shapes)))]
    case = StudyCase(
        factors,
        gain,
        blocks=int(rng.integers(1, 8)),
        noise=float(np.exp(rng.uniform(-5, 1.5))),
        drift=float(np.exp(rng.uniform(-4, 1))),
        rate=float(10 ** rng.uniform(0, 14)),
        dumps=int(rng.integers(1, 5)),
        per_dump=int(2 ** rng.uniform(3, 45)),
        growth=float(rng.choice([0.0, 0.5])),
        reads=float(rng.choice([0.0, 0.5, 1.0])),
        fsyncs=int(rng.choice([0, 2])),
        caches=str(rng.choice(["keep", "drop", "sync"])),
        memory=int(2 ** rng.uniform(28, 42)),
        failed=float(rng.choice([0.0, 0.0, 0.3])),
        states=tuple(rng.permutation(["failed", "not-taken", "timed-out", "not-set"]).tolist()),
        missing=int(rng.choice([0, 0, 1])),
        a_a=bool(rng.random() < 0.4),
        ceiling=float(10 ** rng.uniform(5, 10)) if rng.random() < 0.6 else None,
        objectives=(list(Objective)[int(rng.integers(len(Objective)))],),
        seed=int(rng.integers(2**31)),
    )
    return replace(case, rate=max(case.rate, 1e-4 * case.per_dump))  # results refuse times above 1e12 s


def drawn_mix(rng: Rng) -> MixCase:
    rounds = int(rng.integers(1, 7))
    return MixCase(
        copies=tuple(f"w{n % 3}" for n in range(int(rng.integers(1, 7)))),
        slowdown=float(rng.uniform(0.7, 3)),
        spread=float(np.exp(rng.uniform(-5, 1.5))),
        rounds=rounds,
        asked=rounds + int(rng.choice([0, 2])),
        dumps=int(rng.integers(1, 5)),
        seconds=float(10 ** rng.uniform(-5, 5)),
        bytes=int(2 ** rng.uniform(0, 55)),
        seed=int(rng.integers(2**31)),
    )


def drawn_replica(rng: Rng) -> ReplicaCase:
    return ReplicaCase(
        size=f"{int(2 ** rng.uniform(0, 30))} B",
        operations=int(rng.integers(1, 200)),
        dumps=int(rng.integers(1, 6)),
        families=int(rng.integers(1, 3)),
        time_scale=float(rng.choice([0.0, 1.0])),
        speed=float(10 ** rng.uniform(3, 11)),
        spread=float(rng.choice([0.0, 1.0])),
        memory=int(2 ** rng.uniform(28, 42)),
        off=float(rng.choice([0.0, 0.0, 0.02, 2.0])),
        lost=int(rng.random() < 0.2),
        errors=int(rng.random() < 0.2),
        seed=int(rng.integers(2**31)),
    )
