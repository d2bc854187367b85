"""Random plans whose dumps overlap: many files in progress, with collective and independent calls."""

from __future__ import annotations

import json
import random
from typing import Any

from .conftest import content, dump, family, make_plan, sharing, stream

RANKS = 4
MODES = ("shared", "shared", "per-rank", "groups", "baton", "subset", "root", "gather")


def random_sharing(rng: random.Random) -> dict[str, Any]:
    mode = rng.choice(MODES)
    if mode == "subset":
        return sharing("subset", [[rng.randint(0, 1), 3, rng.randint(1, 2)]])
    if mode in ("root", "gather"):
        rank = rng.randrange(RANKS)
        return sharing("root", [[rank, rank, 1]], gather=mode == "gather")
    if mode in ("groups", "baton"):
        turns = "baton" if mode == "baton" else "concurrent"
        return sharing("groups", files=rng.randint(1, 3), turns=turns)
    return sharing(mode)


def random_content(rng: random.Random, item: dict[str, Any], reads: bool) -> dict[str, Any]:
    """Writes of all or of some ranks, and sometimes reads of them; all that have data take part in collective calls."""
    takes_turns = item["sharing"]["turns"] == "baton"
    collective = item["backend"] == "mpiio" and not takes_turns and rng.random() < 0.6
    entries = [[rng.choice([1, 4, 7, 12]), 512] for _ in range(rng.randint(1, 2))]
    pattern = rng.choice(["contiguous", "interleaved"])
    streams = [stream(entries, pattern=pattern, collective=collective)]
    if reads:
        streams[0]["direction"] = "read"
    elif rng.random() < 0.3:
        streams.append(stream(entries, pattern=pattern, collective=collective, direction="read"))
    more: dict[str, Any] = {"stats": rng.choice([0, 0, 3])}
    if not reads:  # a file that is only read cannot be synced through MPI-IO
        more["fsyncs"] = rng.choice([0, 0, 1])
        if rng.random() < 0.2:
            more["sync"] = [2, 1]
    return content(*streams, **more)


def random_times(rng: random.Random) -> dict[str, Any]:
    """Times that overlap those of other dumps; sometimes the windows of its operations."""
    start = rng.choice([0.0, round(rng.uniform(0, 4), 3)])
    length = rng.choice([0.0, round(rng.uniform(0, 4), 3)])
    out: dict[str, Any] = {"start_s": start, "end_s": start + length}
    out["compute_s"] = rng.choice([0.0, length, length / 2, 1.0])
    out["barrier"] = rng.random() < 0.2
    if length > 0 and rng.random() < 0.5:
        for direction in ("writes", "reads"):
            first = rng.uniform(0, length)
            last = rng.uniform(first, length)
            out[direction] = [first, last, rng.uniform(0, last - first)]
        out["metadata_s"] = rng.choice([0.0, 0.1])
    return out


def random_processes(rng: random.Random) -> list[dict[str, Any]]:
    """Some ranks begin later than the run or end before it, also where the dumps say otherwise."""
    out = []
    for rank in rng.sample(range(RANKS), rng.randint(1, RANKS)):
        start = rng.choice([0.0, round(rng.uniform(0, 6), 3)])
        life = {"start_s": start, "end_s": start + round(rng.uniform(0, 6), 3)}
        if rng.random() < 0.4:
            del life["end_s"]
        out.append({"ranks": [[rank, rank, 1]], **life})
    return out


def random_skew(rng: random.Random) -> dict[str, Any]:
    """Some ranks begin to read or to write later than the others."""
    return {
        name: [
            {
                "ranks": [[rank, rank, 1]],
                "delay_s": rng.choice([0.0, 1e9, *(round(rng.uniform(0, 3), 3),) * 4]),
            }
            | of_dump
            for of_dump in ({}, {"dump": rng.randint(0, 3)})
            for rank in rng.sample(range(RANKS), rng.randint(0, RANKS))
        ]
        for name in ("reads", "writes")
    }


def add_later_fields(plan: dict[str, Any]) -> None:
    """Fields that plans have had since tests name seeds: the plans of these seeds stay what they were otherwise."""
    rng = random.Random(json.dumps(plan))
    for item in plan["families"]:
        if rng.random() < 0.4:
            item["skew"] = random_skew(rng)
        if not item["keep"] and not item["rename"] and rng.random() < 0.3:
            item["removed"] = True
    for item in plan["contents"]:
        if rng.random() < 0.2:
            for part in item["streams"]:
                part["pattern"] = rng.choice(["random", "shuffled"])


def random_overlaps(
    rng: random.Random, backends: tuple[str, ...] = ("posix", "stdio", "mpiio")
) -> dict[str, Any]:
    plan = make_plan(RANKS, [], [], [], seed=rng.randint(1, 1000))
    for number in range(rng.randint(2, 6)):
        backend = rng.choice(backends)
        lifetime = rng.choice(["per-dump", "per-dump", "appended", "reused"])
        item = family(backend, sharing=random_sharing(rng), id=number, number=number + 1, lifetime=lifetime)
        if lifetime == "appended":  # a turn ends with a close
            item["sharing"]["turns"] = "concurrent"
        if lifetime == "per-dump":
            item |= {"keep": rng.choice([0, 0, 1]), "rename": rng.random() < 0.2}
        plan["families"].append(item)
        writes_first = content(stream([[16, 512]], pattern="contiguous"))
        for index in range(rng.randint(1, 4)):
            reads = index > 0 and lifetime != "per-dump" and rng.random() < 0.4
            plan["contents"].append(random_content(rng, item, reads) if index or reads else writes_first)
            file = index if lifetime == "per-dump" else 0
            place = {"family": number, "content": len(plan["contents"]) - 1, "file": file, "prepare": reads}
            plan["dumps"].append(dump(index, **place, **random_times(rng)))
    plan["dumps"].sort(key=lambda d: (d["family"], d["index"]))
    if rng.random() < 0.4:
        plan["processes"] = random_processes(rng)
    add_later_fields(plan)
    return plan
