"""A slow reference implementation of the rules of docs/plan-format.md on streams, which lists every operation."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

BIN_ENDS = [100, 1024, 10240, 102400, 1048576, 4194304, 10485760, 104857600, 1073741824]


@dataclass
class Op:
    direction: str
    offset: int
    size: int
    entry: int


def split(total: int, n: int) -> list[int]:
    return [total // n + (1 if i < total % n else 0) for i in range(n)]


def ranks_of(ranges: Any, members: list[int]) -> list[int]:
    if ranges == "all":
        return members
    return [r for first, last, step in ranges for r in range(first, last + 1, step)]


def members_of(plan: dict[str, Any], family: dict[str, Any]) -> list[int]:
    return ranks_of(family["sharing"]["ranks"], list(range(plan["ranks"])))


def file_of_rank(plan: dict[str, Any], family: dict[str, Any]) -> dict[int, str]:
    """Which of a dump's files (by its suffix) each member uses."""
    members = members_of(plan, family)
    mode = family["sharing"]["mode"]
    if mode == "per-rank":
        return {r: f".r{r:06d}" for r in members}
    if mode == "groups":
        out: dict[int, str] = {}
        at = 0
        for g, size in enumerate(split(len(members), family["sharing"]["files"])):
            for r in members[at : at + size]:
                out[r] = f".g{g:04d}"
            at += size
        return out
    return dict.fromkeys(members, "")


def entry_shares(stream: dict[str, Any], n: int, one_file: bool) -> list[list[int]]:
    """Operations of each entry, by rank of the stream."""
    shares = []
    before = 0
    for operations, _ in stream["entries"]:
        if one_file:
            earlier, later = split(before, n), split(before + operations, n)
            shares.append([b - a for a, b in zip(earlier, later, strict=True)])
            before += operations
        else:
            shares.append(split(operations, n))
    return shares


def in_order(stream: dict[str, Any], counts: list[int]) -> list[tuple[int, int]]:
    """(entry, number in it) in the order in which one rank performs them."""
    listed = [(e, k) for e, count in enumerate(counts) for k in range(count)]
    if stream["mixed"] and stream["pattern"] != "random":
        listed.sort(key=lambda item: (Fraction(2 * item[1] + 1, 2 * counts[item[0]]), item[0]))
    return listed


def expand_stream(
    plan: dict[str, Any], family: dict[str, Any], stream: dict[str, Any], base: int
) -> dict[int, list[Op]]:
    """The operations of every rank; for `random`, in ascending order; for `shuffled`, where interleaved ones lie."""
    members = members_of(plan, family)
    files = file_of_rank(plan, family)
    ranks = ranks_of(stream["ranks"], members)
    by_file: dict[str, list[int]] = defaultdict(list)
    for index, r in enumerate(ranks):
        by_file[files[r]].append(index)
    one_file = len(by_file) == 1
    shares = entry_shares(stream, len(ranks), one_file)
    pattern = stream["pattern"]
    out: dict[int, list[Op]] = {}
    for indices in by_file.values():
        n = len(indices)
        counts = {j: [s[j] for s in shares] for j in indices}
        entry_base = base + stream["base"]
        bases = []
        turns = 0
        first_turn = []
        for e, (_, size) in enumerate(stream["entries"]):
            bases.append(entry_base)
            first_turn.append(turns)
            here = [counts[j][e] for j in indices]
            if one_file:
                turns += sum(here)
            if stream["pieces"] > 1:
                entry_base += max(here) * n * size
            elif pattern == "same":
                entry_base += size if sum(here) + stream["entries"][e][0] > 0 else 0
            elif pattern == "strided":
                entry_base += sum(here) * stream["stride"]
            else:
                entry_base += sum(here) * size
        region = base + stream["base"]
        for i, j in enumerate(indices):
            ops = []
            moved = 0
            for e, k in in_order(stream, counts[j]):
                size = stream["entries"][e][1]
                if stream["pieces"] > 1:
                    offset = bases[e] + k * n * size + i * (size // stream["pieces"])
                elif pattern in ("contiguous", "random"):
                    offset = region + moved
                elif pattern == "replicated":
                    offset = base + stream["base"] + moved
                elif pattern in ("interleaved", "shuffled"):
                    # Operation number t of the stream belongs to rank t mod n.
                    start = sum(counts[j][x] for x in range(e)) * n + i - first_turn[e] if one_file else i
                    offset = bases[e] + (start + k * n) * size
                elif pattern == "strided":
                    before = sum(counts[q][e] for q in indices[:i])
                    offset = bases[e] + (before + k) * stream["stride"]
                elif pattern == "same":
                    offset = bases[e]
                else:
                    raise AssertionError(pattern)
                moved += size
                # POSIX has no call of several pieces.
                pieces = stream["pieces"] if family["backend"] == "posix" else 1
                part = size // stream["pieces"]
                for p in range(pieces):
                    ops.append(Op(stream["direction"], offset + p * n * part, size // pieces, e))
            region += moved
            out[ranks[j]] = ops
    return out


def size_bin(size: int) -> int:
    return next((i for i, end in enumerate(BIN_ENDS) if size <= end), len(BIN_ENDS))


@dataclass
class Counters:
    """Darshan's meaning, operation by operation (per rank and file, directions apart)."""

    totals: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    bins: dict[str, list[int]] = field(default_factory=lambda: {"READ": [0] * 10, "WRITE": [0] * 10})

    def add_rank(self, ops: list[Op]) -> None:
        last = {"read": 0, "write": 0}
        for op in ops:
            name = op.direction.upper()
            self.totals[name + "S"] += 1
            self.totals["BYTES_" + ("READ" if name == "READ" else "WRITTEN")] += op.size
            self.bins[name][size_bin(op.size)] += 1
            if op.offset > last[op.direction]:
                self.totals[f"SEQ_{name}S"] += 1
            if op.offset == last[op.direction] + 1:
                self.totals[f"CONSEC_{name}S"] += 1
            last[op.direction] = op.offset + op.size - 1
            most = "MAX_BYTE_" + ("READ" if name == "READ" else "WRITTEN")
            self.totals[most] = max(self.totals[most], last[op.direction])
