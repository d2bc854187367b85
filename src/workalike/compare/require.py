"""`--require bytes=0.1%,ops=1%,storage=5%,time=25%,hist=0.02`: limits that a replica must keep, and where it does not."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from workalike.compare.fidelity_schema import FamilyFidelity, Fidelity
from workalike.compare.verdict import is_operation_count
from workalike.errors import ErrorKind, WorkalikeError

KEYS = {
    "bytes": "bytes of every dump and family at the family's level, per cent",
    "ops": "operations at the family's level, per cent",
    "time": "I/O time of a family (seconds inside calls, of all ranks): replica ÷ original between 1-x and 1/(1-x)",
    "hist": "distance between the size histograms, 0 to 1",
    "storage": "every counter of POSIX and STDIO, per cent; fails where storage was not judged",
}
EXAMPLE = "bytes=0.1%,ops=1%,storage=5%,time=25%,hist=0.02"
_ITEM = re.compile(r"\s*([a-z]+)\s*=\s*([0-9]{1,6}(?:\.[0-9]{1,9})?)\s*(%?)\s*")


@dataclass(frozen=True)
class Requirements:
    """Limits as fractions (0.001 is 0.1 %); None where there is no limit."""

    bytes: float | None = None
    ops: float | None = None
    time: float | None = None
    hist: float | None = None
    storage: float | None = None


def parse_requirements(text: str) -> Requirements:
    """The limits in a text such as `bytes=0.1%,ops=1%`; a number without % is a fraction.

    Raises:
        WorkalikeError: USAGE for an unknown or repeated key or a limit that makes no sense.
    """
    limits: dict[str, float] = {}
    for item in text.split(","):
        match = _ITEM.fullmatch(item)
        if match is None or match.group(1) not in KEYS:
            raise _usage(f"--require does not know {item.strip()[:40]!r}")
        key, value = match.group(1), float(match.group(2)) / (100 if match.group(3) else 1)
        if key in limits:
            raise _usage(f"--require names {key} twice")
        if key in ("time", "hist") and value >= 1:
            raise _usage(f"--require {key} must be below 1 (100 %)")
        limits[key] = value
    return Requirements(**limits)


def _usage(message: str) -> WorkalikeError:
    return WorkalikeError(ErrorKind.USAGE, message, hint=f"write for instance {EXAMPLE}")


def check(fidelity: Fidelity, required: Requirements) -> list[str]:
    """One sentence for each limit that the replica exceeds; empty when it keeps all of them."""
    short = [] if fidelity.complete else ["the run is incomplete or had errors"]
    for family in fidelity.families:
        if required.bytes is not None:
            short += _bytes(family, required.bytes)
        if required.time is not None:
            short += _time(family, required.time, fidelity)
    if required.ops is not None:
        short += _operations(fidelity, required.ops)
    if required.hist is not None:
        short += _histogram(fidelity, required.hist)
    if required.storage is not None:
        short += _storage(fidelity, required.storage)
    return short


def _over(value: float, limit: float) -> bool:
    return value > limit * 100 * (1 + 1e-12)


def _bytes(family: FamilyFidelity, limit: float) -> list[str]:
    out = []
    if family.dumps_replica != family.dumps_original:
        out.append(f"{family.name}: {family.dumps_replica} dumps instead of {family.dumps_original}")
    for word, value in (
        ("total bytes", family.total_bytes_error_pct),
        ("bytes of a dump", family.bytes_error_max_pct),
    ):
        if _over(value, limit):
            out.append(f"{family.name}: {word} off by {value:.3g} %, required {limit * 100:.3g} %")
    return out


def _time(family: FamilyFidelity, limit: float, fidelity: Fidelity) -> list[str]:
    original, replica = family.io_time_original_s, family.io_time_replica_s
    if not original:
        return [f"{family.name}: the I/O time of the original is not known"]
    if replica is None:
        return [f"{family.name}: no I/O time was measured ({fidelity.basis})"]
    if not math.isclose(fidelity.scale.bytes, 1):
        return [f"{family.name}: I/O times cannot be compared at a bytes-scale of {fidelity.scale.bytes:.3g}"]
    if not math.isclose(fidelity.scale.ranks, 1):
        return [
            f"{family.name}: I/O times of all ranks cannot be compared with {fidelity.scale.ranks:.3g} x the ranks"
        ]
    ratio = replica / original
    if 1 - limit <= ratio <= 1 / (1 - limit):
        return []
    wanted = f"{1 - limit:.3g} to {1 / (1 - limit):.3g}"
    return [f"{family.name}: I/O time {ratio:.3g} x the original's, required {wanted}"]


def _operations(fidelity: Fidelity, limit: float) -> list[str]:
    out = []
    rows = [(row, "") for row in fidelity.counters]
    rows += [(row, f"{family.name}: ") for family in fidelity.families for row in family.counters]
    for row, prefix in rows:
        if (
            is_operation_count(row.counter)
            and row.at_level
            and row.error_pct is not None
            and _over(row.error_pct, limit)
        ):
            out.append(
                f"{prefix}{row.module} {row.counter} is {row.replica}, expected {row.expected:.6g}: off by "
                f"{row.error_pct:.3g} %, required {limit * 100:.3g} %"
            )
    return out


def _storage(fidelity: Fidelity, limit: float) -> list[str]:
    line = fidelity.verdict.lines.storage
    if not line.judged:
        return [f"storage was not judged: {line.why}"]
    return [
        f"storage: {row.family}: {row.module} {row.counter} is {row.found}, was {row.expected}: off by "
        f"{row.error_pct:.3g} %, required {limit * 100:.3g} %"
        for row in fidelity.verdict.reasons
        if row.line == "storage" and _over(row.error_pct, limit)
    ]


def _histogram(fidelity: Fidelity, limit: float) -> list[str]:
    distance = fidelity.size_histogram_distance
    return [
        f"size histogram of {word}: distance {value:.3g}, required {limit:.3g}"
        for word, value in (("reads", distance.read), ("writes", distance.write))
        if value is not None and value > limit * (1 + 1e-12)
    ]
