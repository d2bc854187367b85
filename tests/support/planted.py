"""Small random workloads, and the same workloads wrong in one way: a verdict must tell them apart.

A workload is a document as in a file. An error is a function of a document and a source of random numbers; it changes the
document in place, and returns whether there was something to change.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from workalike.workload.model import Workload

RANKS = 4
Document = dict[str, Any]
PlantedError = Callable[[Document, random.Random], bool]

INTERFACES = ("posix", "posix", "stdio", "mpiio")
SIZES = (100, 512, 1000, 4096, 5000, 16384, 47_008, 65536)


def random_document(rng: random.Random) -> Document:
    """One or two families that write, some of which read back what they have written, and an input."""
    families = [_family(rng, number) for number in range(1, rng.randint(2, 3))]
    if rng.random() < 0.5:
        families.append(_input(rng))
    return {"workalike": 2, "ranks": RANKS, "runtime": "20 s", "families": families}


def as_workload(document: Document) -> Workload:
    return Workload.model_validate(deepcopy(document))


def _family(rng: random.Random, number: int) -> Document:
    interface = rng.choice(INTERFACES)
    sharing: Any = rng.choice(
        ["shared", "shared", "per-rank", "root", {"mode": "groups", "files": 2}]
        if interface != "stdio"
        else ["root", "per-rank"]
    )
    count, size = rng.choice([4, 6, 9, 16]), rng.choice(SIZES)
    placed: Document = {"pattern": rng.choice(["contiguous", "interleaved", "strided"]), "base": 0}
    if placed["pattern"] == "strided":
        placed["stride"] = f"{size * rng.choice([1, 2, 3]) + rng.choice([0, 0, 96])} B"
    if placed["pattern"] != "strided" and rng.random() < 0.3:
        placed["repeat"] = rng.choice([2, 4])
    streams = [
        {"direction": direction, "sizes": [f"{count}/rank x {size} B"], **placed}
        for direction in rng.choice([("write",), ("write", "read")])
    ]
    if interface == "mpiio" and size % 4 == 0 and placed["pattern"] != "strided" and rng.random() < 0.5:
        for stream in streams:
            stream["pieces"] = 4
    content: Document = {"streams": streams}
    if interface == "posix" and rng.random() < 0.4:
        content["passes"] = rng.choice([2, 3])
    if rng.random() < 0.4:
        which = "fsyncs" if interface != "stdio" else rng.choice(["fsyncs", "flushes"])
        content[which] = RANKS if sharing != "root" else 1
    renamed = {"rename": True} if interface == "posix" and rng.random() < 0.2 else {}
    return {
        "role": "checkpoint",
        **renamed,
        "number": number,
        "interface": interface,
        "sharing": sharing,
        "schedule": {"count": rng.randint(1, 3), "first": f"{number} s", "every": "5 s"},
        "content": content,
    }


def _input(rng: random.Random) -> Document:
    pattern = rng.choice(["contiguous", "interleaved", "replicated"])
    stream = {
        "direction": "read", "sizes": [f"{rng.choice([5, 8])}/rank x {rng.choice(SIZES)} B"], "pattern": pattern,
    }  # fmt: skip
    return {
        "role": "input",
        "number": 1,
        "interface": rng.choice(["posix", "mpiio"]),
        "sharing": "shared",
        "schedule": {"start": ["100 ms"]},
        "content": {"streams": [stream]},
    }


def offset(document: Document, rng: random.Random) -> bool:
    """The data lies further on in the file."""
    content = rng.choice(document["families"])["content"]
    for stream in content["streams"]:
        stream["base"] = stream.get("base", 0) + rng.choice([777, 65536, 1_000_000])
    return True


def order(document: Document, rng: random.Random) -> bool:
    """The same operations in another order in the file."""
    stream = rng.choice(rng.choice(document["families"])["content"]["streams"])
    others = {"contiguous", "interleaved", "random", "replicated"} - {stream.get("pattern", "contiguous")}
    stream["pattern"] = rng.choice(sorted(others))
    return True


def passes(document: Document, rng: random.Random) -> bool:
    """Passes over the same bytes are laid end to end."""
    several = [f["content"] for f in document["families"] if f["content"].get("passes", 1) > 1]
    for content in several:
        for stream in content["streams"]:
            stream["repeat"] = content["passes"]
            del stream["base"]
        content["passes"] = 1
    return bool(several)


def rank(document: Document, rng: random.Random) -> bool:
    """One rank does what all should do."""
    shared = [f for f in document["families"] if f["sharing"] == "shared" and f["interface"] == "posix"]
    for family in shared:
        for stream in family["content"]["streams"]:
            count, size = stream["sizes"][0].split("/rank x ")
            stream["sizes"] = [f"{int(count) * RANKS} x {size}"]
            stream["ranks"] = 0
    return bool(shared)


def sync(document: Document, rng: random.Random) -> bool:
    """Syncs that are left out, or that nobody asked for."""
    family = rng.choice([f for f in document["families"] if f["role"] != "input"])
    content = family["content"]
    which = "flushes" if content.get("flushes") else "fsyncs"
    content[which] = 0 if content.get(which) else RANKS if family["sharing"] != "root" else 1
    return True


def sync_each(document: Document, rng: random.Random) -> bool:
    """A sync after each write in place of those at the end, or of none."""
    family = rng.choice([f for f in document["families"] if f["role"] != "input"])
    if family["interface"] == "mpiio" and family["sharing"] != "root":
        return False
    family["content"].pop("fsyncs", None)
    family["content"]["sync"] = "each"
    return True


def other_family(document: Document, rng: random.Random) -> bool:
    """Files that the original does not have."""
    stream = {"direction": "write", "sizes": ["2/rank x 512 B"]}
    document["families"].append(
        {
            "role": "scratch",
            "number": 1,
            "interface": "posix",
            "sharing": "per-rank",
            "schedule": {"start": ["3 s"]},
            "content": {"streams": [stream]},
        }
    )
    return True


def size(document: Document, rng: random.Random) -> bool:
    """The same bytes in operations of half the size."""
    content = rng.choice(document["families"])["content"]
    changed = False
    for stream in content["streams"]:
        count, text = stream["sizes"][0].split("/rank x ")
        size = int(text.split()[0])
        if size % 2 == 0:
            stream["sizes"] = [f"{2 * int(count)}/rank x {size // 2} B"]
            changed = True
    return changed


def piece(document: Document, rng: random.Random) -> bool:
    """Contiguous calls where each should move several pieces."""
    cut = [s for f in document["families"] for s in f["content"]["streams"] if s.pop("pieces", 1) > 1]
    return bool(cut)


def sharing(document: Document, rng: random.Random) -> bool:
    """A file of all for a file of each, and the other way round."""
    family = rng.choice([f for f in document["families"] if f["role"] != "input"])
    if family["interface"] == "stdio" or family["sharing"] == "root":
        return False
    family["sharing"] = "shared" if family["sharing"] == "per-rank" else "per-rank"
    return True


def opens(document: Document, rng: random.Random) -> bool:
    """Each rank opens a file twice."""
    family = rng.choice(document["families"])
    if family["interface"] == "mpiio":
        return False
    family["content"]["opens"] = 2 * (1 if family["sharing"] == "root" else RANKS)
    return True


def rename(document: Document, rng: random.Random) -> bool:
    """Files that get another name when they are complete, under their last name from the start."""
    plain = [f for f in document["families"] if f.get("rename")]
    for family in plain:
        del family["rename"]
    return bool(plain)


def read_elsewhere(document: Document, rng: random.Random) -> bool:
    """Reads far beyond what the dump writes, of bytes that the run prepares."""
    both = [f["content"] for f in document["families"] if len(f["content"]["streams"]) > 1]
    for content in both:
        content["streams"][1]["base"] = 100_000_000
    return bool(both)


def lifetime(document: Document, rng: random.Random) -> bool:
    """Dumps are appended to one file in place of a file each."""
    several = [f for f in document["families"] if f["schedule"].get("count", 1) > 1]
    for family in several:
        family["lifetime"] = "appended"
    return bool(several)


def missing_dump(document: Document, rng: random.Random) -> bool:
    """The last dump is left out."""
    several = [f for f in document["families"] if f["schedule"].get("count", 1) > 1]
    for family in several:
        family["schedule"]["count"] -= 1
    return bool(several)


ERRORS: dict[str, PlantedError] = {
    "offset": offset,
    "order": order,
    "pass": passes,
    "rank": rank,
    "sync": sync,
    "sync after each": sync_each,
    "size": size,
    "piece": piece,
    "file shared or not": sharing,
    "opens": opens,
    "rename": rename,
    "read elsewhere": read_elsewhere,
    "appended": lifetime,
    "missing dump": missing_dump,
    "another family": other_family,
}


def planted(kind: str, rng: random.Random) -> tuple[Document, Document]:
    """(a workload, the same with one error of this kind)."""
    while True:
        right = random_document(rng)
        wrong = deepcopy(right)
        if ERRORS[kind](wrong, rng):
            return right, wrong
