"""A reader of the workload format that shares no code with workalike, written from docs/workload-format.md alone.

It knows streams of regular workloads, and ends with 2 for anything else. It is the witness of the operations that
`workalike conformance` expects, and an example of what `--reader` runs.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import yaml

UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "KiB": 2**10, "MiB": 2**20}
FAMILY = {"role", "interface", "sharing", "lifetime", "schedule", "content", "contents", "use"}
STREAM = {"direction", "sizes", "pattern", "collective", "ranks", "base"}


def size(text: Any) -> int:
    number, unit = re.fullmatch(r"(\d+) (\w+)", str(text)).groups()
    return int(number) * UNITS[unit]


def seconds(text: Any) -> float:
    number, unit = re.fullmatch(r"([\d.]+) (s|min)", str(text)).groups()
    return float(number) * {"s": 1, "min": 60}[unit]


def ranks_in(text: Any) -> list[int]:
    found = []
    for part in str(text).split(","):
        first, last, step = re.fullmatch(r"(\d+)(?:-(\d+))?(?::(\d+))?", part).groups()
        found += range(int(first), int(last or first) + 1, int(step or 1))
    return found


def starts(schedule: dict[str, Any]) -> list[float]:
    known(schedule, {"count", "first", "every", "start", "gaps"})
    if "start" in schedule:
        return [seconds(each) for each in schedule["start"]]
    if "gaps" in schedule:
        gaps = [seconds(each) for each in schedule["gaps"]]
        return [sum(gaps[: i + 1]) for i in range(len(gaps))]
    return [seconds(schedule["first"]) + i * seconds(schedule["every"]) for i in range(schedule["count"])]


def known(mapping: dict[str, Any], fields: set[str]) -> None:
    if not isinstance(mapping, dict) or set(mapping) - fields:
        sys.exit(2)


def files(family: dict[str, Any], ranks: int, file: int) -> list[tuple[str, list[int]]]:
    """(name of a file, its ranks) of a dump."""
    sharing = family.get("sharing", "shared")
    mode = sharing if isinstance(sharing, str) else sharing["mode"]
    name = f"{family['role']}.{file}"
    if mode == "per-rank":
        return [(f"{name}.{rank}", [rank]) for rank in range(ranks)]
    if mode == "groups":
        groups, first = [], 0
        for group in range(sharing["files"]):
            count = ranks // sharing["files"] + (group < ranks % sharing["files"])
            groups.append((f"{name}.{group}", list(range(first, first + count))))
            first += count
        return groups
    members = {"root": [0], "shared": list(range(ranks))}.get(mode)
    return [(name, members if members is not None else ranks_in(sharing["ranks"]))]


def entries(text: str) -> list[tuple[int, bool, int]]:
    """(operations, of each rank?, size) of an entry such as `5 x 500..509 B`."""
    count, per_rank, low, high, unit = re.fullmatch(
        r"(\d+)(/rank)? x (\d+)(?:\.\.(\d+))? (\w+)", text
    ).groups()
    return [
        (int(count), bool(per_rank), number * UNITS[unit]) for number in range(int(low), int(high or low) + 1)
    ]


def operations(stream: dict[str, Any], members: list[int], base: int) -> tuple[dict[int, list[Any]], int]:
    """({rank: [(direction, offset, size)]}, where the next stream begins)."""
    known(stream, STREAM)
    own = ranks_in(stream["ranks"]) if "ranks" in stream else members
    own = [rank for rank in own if rank in members]
    sizes: dict[int, list[int]] = {rank: [] for rank in own}
    for count, per_rank, each in (entry for text in stream["sizes"] for entry in entries(text)):
        whole = count * len(own) if per_rank else count
        for position, rank in enumerate(own):
            sizes[rank] += [each] * (whole // len(own) + (position < whole % len(own)))
    pattern = stream.get("pattern", "contiguous")
    start = size(stream["base"]) if "base" in stream else base
    made: dict[int, list[Any]] = {}
    at = start
    for position, rank in enumerate(own):
        if pattern == "replicated":
            at = start
        made[rank] = []
        for number, each in enumerate(sizes[rank]):
            offset = start + (number * len(own) + position) * each if pattern == "interleaved" else at
            made[rank].append((stream["direction"], offset, each))
            at += each
    return made, at


def main(path: str) -> None:
    with Path(path).open() as source:
        workload = yaml.safe_load(source)
    known(workload, {"workalike", "ranks", "families"})
    if workload["workalike"] != 2:
        sys.exit(2)
    dumps = []
    for family in workload["families"]:
        known(family, FAMILY)
        contents = family.get("contents") or [family["content"]]
        for index, start in enumerate(starts(family["schedule"])):
            use = family["use"][index] if "use" in family else 0
            dumps.append((start, family, index, contents[use]))
    ends: dict[str, int] = {}
    lines: list[str] = []
    for _, family, index, content in sorted(dumps, key=lambda dump: dump[0]):
        known(content, {"streams"})
        lifetime = family.get("lifetime", "per-dump")
        for name, members in files(family, workload["ranks"], index if lifetime == "per-dump" else 0):
            made: dict[int, list[Any]] = {rank: [] for rank in members}
            at = ends.get(name, 0) if lifetime == "appended" else 0
            for stream in content["streams"]:
                of_ranks, at = operations(stream, members, at)
                for rank, found in of_ranks.items():
                    made[rank] += found
            ends[name] = at
            last = lifetime != "appended" or index + 1 == len(starts(family["schedule"]))
            for rank, found in made.items():
                if lifetime != "appended" or index == 0:
                    lines.append(f"{rank}\t{name}\topen\t-\t-")
                lines += [f"{rank}\t{name}\t{word}\t{offset}\t{each}" for word, offset, each in found]
                if last:
                    lines.append(f"{rank}\t{name}\tclose\t-\t-")
    print("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1])
