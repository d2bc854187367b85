"""`--what-if PATH=VALUE`: another checkpoint interval, number of checkpoints, growth or number of ranks.

A change of a family says when its dumps are, or how they grow. What it does not say follows by these rules:

* The size of a dump follows the moment at which it is (`size_law`): between two dumps of the original it grows
  geometrically, after the last one as fast as from the first to the last.
* What a dump does is what the last dump of the original before that moment does, at the new size.
* Processes that end within the run end later by as much as its last dump.
* With `every` or `count` alone, the last dump is not later than it was; with both, or if it is, the run is longer.

See docs/what-if.md.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from pydantic import ValidationError

from workalike.errors import ErrorKind, WorkalikeError
from workalike.workload import units
from workalike.workload.model import Content, Direction, Family, Schedule, Window, Workload
from workalike.workload.phrases import dump_bytes
from workalike.workload.quantities import MAX_DUMPS, MAX_RANKS
from workalike.workload.schedule import MAX_SKEWS, Skew
from workalike.workload.words import Assumption, Role
from workalike.workload.workload_file import first_error

FIELDS = ("every", "count", "growth")
_PATH = re.compile(
    r"(?P<role>[a-z]+)(?:[ -](?P<number>\d{1,7}))?(?:\[(?P<first>\d{1,7}):\])?\.(?P<field>[a-z_]+)"
)
_PERCENT = re.compile(r"([+-]?\d{1,6}(?:\.\d{1,9})?)\s*%")
_EXAMPLE = "for instance checkpoint.every=10min, checkpoint[5:].count=20, checkpoint.growth=2% or ranks=64"
_SMALL = 1e-9
"""A moment that is later by this part of an interval is not later: times are sums of rounded numbers."""


@dataclass(frozen=True)
class Change:
    """What to change of some families, from a given dump on.

    Attributes:
        text: as it was given.
        role: the families' role.
        number: the number of one of them; None: all of that role.
        first: the first dump that is changed.
        values: by field: seconds of `every`, dumps of `count`, the factor from dump to dump of `growth`.
    """

    text: str
    role: Role
    number: int | None
    first: int
    values: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class WhatIf:
    """All changes, in the order in which they are made.

    Attributes:
        changes: of families.
        ranks: another number of ranks, as `--ranks` gives it; None if it stays.
    """

    changes: tuple[Change, ...] = ()
    ranks: int | None = None

    def __bool__(self) -> bool:
        return bool(self.changes) or self.ranks is not None


def parse_what_if(texts: Sequence[str]) -> WhatIf:
    """Read `PATH=VALUE` texts. Neighbours with one path, but for the field, are one change (`every` with `count`).

    Raises:
        WorkalikeError: USAGE, naming the text and what it could be.
    """
    ranks = None
    single = []
    for text in texts:
        path, equals, value = text.partition("=")
        if not equals:
            raise _bad(text, "has no `=`", _EXAMPLE)
        if path.strip() == "ranks":
            ranks = _whole(text, value, MAX_RANKS, "ranks")
        else:
            single.append(_change_of(text, path.strip(), value.strip()))
    changes = []
    for _, same in groupby(single, key=lambda c: (c.role, c.number, c.first)):
        group = list(same)
        values: dict[str, float] = {}
        for change in group:
            if not values.keys().isdisjoint(change.values):
                raise _bad(change.text, "is given twice", "leave one of them out")
            values |= change.values
        changes.append(
            Change(", ".join(c.text for c in group), group[0].role, group[0].number, group[0].first, values)
        )
    return WhatIf(tuple(changes), ranks)


def _bad(text: str, message: str, hint: str) -> WorkalikeError:
    return WorkalikeError(ErrorKind.USAGE, message, place=f"--what-if {text}", hint=hint)


def _change_of(text: str, path: str, value: str) -> Change:
    match = _PATH.fullmatch(path)
    if match is None:
        raise _bad(text, "is not a path that can be changed", _EXAMPLE)
    if match["role"] not in tuple(Role):
        raise _bad(text, f"{match['role']!r} is not a role", f"one of {', '.join(Role)}")
    name = match["field"]
    if name not in FIELDS:
        raise _bad(text, f"{name!r} cannot be changed", f"one of {', '.join(FIELDS)}")
    if name == "every":
        found = _seconds(text, value)
    elif name == "count":
        found = float(_whole(text, value, MAX_DUMPS, "dumps"))
    else:
        found = _growth(text, value)
    number = int(match["number"]) if match["number"] else None
    return Change(text, Role(match["role"]), number, int(match["first"] or 0), {name: found})


def _seconds(text: str, value: str) -> float:
    try:
        seconds = units.parse_time(value)
    except ValueError as error:
        raise _bad(text, str(error), "a time such as 10min or 90 s") from error
    if not seconds > 0:
        raise _bad(text, "an interval must be longer than 0 s", "a time such as 10min or 90 s")
    return seconds


def _whole(text: str, value: str, most: int, what: str) -> int:
    value = value.strip()
    if re.fullmatch(r"\d{1,10}", value, re.ASCII) is None or not 1 <= int(value) <= most:
        raise _bad(text, f"{value!r} is not a number of {what}", f"a whole number from 1 to {most}")
    return int(value)


def _growth(text: str, value: str) -> float:
    match = _PERCENT.fullmatch(value)
    if match is None:
        raise _bad(text, f"{value!r} is not a growth", "per cent from dump to dump, such as 2% or -1.5%")
    factor = 1 + float(match.group(1)) / 100
    if factor <= 0:
        raise _bad(text, "a dump cannot shrink by all of itself", "more than -100%")
    return factor


def changed(workload: Workload, what_if: WhatIf) -> Workload:
    """The workload with all changes of its families; `what_if.ranks` is for the plan.

    Raises:
        WorkalikeError: USAGE if no family has the role, a dump does not exist, or the result is not a valid workload.
    """
    for change in what_if.changes:
        workload = _with(workload, change)
    return workload


def _with(workload: Workload, change: Change) -> Workload:
    chosen = [
        index
        for index, family in enumerate(workload.families)
        if family.role is change.role and change.number in (None, family.number)
    ]
    if not chosen:
        known = ", ".join(f"{family.role.value} {family.number}" for family in workload.families)
        raise _bad(change.text, "the workload has no such family", f"it has {known or 'none'}")
    families = list(workload.families)
    later = 0.0
    for index in chosen:
        old = families[index]
        try:
            families[index] = new = _family(old, workload.ranks, change)
        except ValidationError as error:
            raise _bad(change.text, first_error(error)[1], "choose another value") from error
        later = max(later, new.schedule.starts()[-1] - old.schedule.starts()[-1])
    runtime = workload.runtime + later if workload.runtime else 0.0
    ended = [
        group if group.end is None else group.model_copy(update={"end": group.end + later})
        for group in workload.processes
    ]
    other = {"processes": ended} if ended else {}
    try:
        return Workload(**_fields(workload, families=families, runtime=runtime, **other))
    except ValidationError as error:
        raise _bad(change.text, first_error(error)[1], "choose another value") from error


def _fields(model: Any, **other: Any) -> dict[str, Any]:
    """The fields of a model that were set, some of them replaced; the parts are not copied."""
    return {name: getattr(model, name) for name in model.model_fields_set} | other


def _family(family: Family, ranks: int, change: Change) -> Family:
    """One family with other dumps."""
    old = family.schedule.starts()
    if change.first >= len(old):
        have = "1 dump" if len(old) == 1 else f"{len(old)} dumps"
        raise _bad(
            change.text, f"{family.role.value} {family.number} has {have}", f"at most [{len(old) - 1}:]"
        )
    if any(content.table is not None for content in family.all_contents()):
        raise _bad(
            change.text,
            f"{family.role.value} {family.number} has an operation table, whose rows cannot be moved",
            "characterize with --no-tables",
        )
    of_set = any(content.dataset is not None for content in family.all_contents())
    if of_set and "growth" in change.values:
        raise _bad(
            change.text, "a data set has the same bytes in each epoch", "change its samples in the file"
        )
    if old != sorted(old):
        raise _bad(change.text, "its dumps are not in order of time", "sort `start` in the file")
    moments = _moments(old, change)
    sources = [max(0, bisect_right(old, moment + _SMALL * max(1.0, abs(moment))) - 1) for moment in moments]
    sources[: change.first] = range(change.first)
    fields: dict[str, Any] = {"schedule": _schedule(family.schedule, moments, sources), "growth": None}
    contents = [family.content_of(source) for source in sources]
    if not of_set:
        fields |= {"sizes": _sizes(family, ranks, moments, sources, contents, change)}
    if family.content is None:
        kept = sorted({family.content_number(source) for source in sources})
        fields |= {
            "contents": [family.contents[number] for number in kept],
            "use": [kept.index(family.content_number(source)) for source in sources],
        }
    if _leaves_out_skew(family.schedule, sources):
        fields["assumed"] = list(dict.fromkeys([*family.assumed, Assumption.LATE_RANKS]))
    return Family(**{name: value for name, value in _fields(family, **fields).items() if value is not None})


def _moments(old: Sequence[float], change: Change) -> list[float]:
    """When the dumps are: those before the first changed one stay, which itself keeps its moment."""
    start, end = old[change.first], old[-1]
    every, count = change.values.get("every"), change.values.get("count")
    if every is None and count is None:
        return list(old)
    if count is None:
        assert every is not None
        dumps = math.floor((end - start) / every * (1 + _SMALL)) + 1
    else:
        dumps = int(count)
    if change.first + dumps > MAX_DUMPS:
        would = f"{change.first + dumps:,}" if dumps < 10**12 else "far too many"
        raise _bad(change.text, f"would be {would} dumps", f"at most {MAX_DUMPS}")
    if every is None and dumps > 1 and end <= start:
        raise _bad(change.text, "the original has no time between dumps here", "give `every` as well")
    step = every if every is not None else (end - start) / max(1, dumps - 1)
    return [*old[: change.first], *(start + place * step for place in range(dumps))]


def _sizes(
    family: Family,
    ranks: int,
    moments: Sequence[float],
    sources: Sequence[int],
    contents: Sequence[Content],
    change: Change,
) -> list[int] | None:
    """The bytes of each dump; None if they are those of its content."""
    old = [sum(both) for both in zip(*(dump_bytes(family, ranks, d) for d in Direction), strict=True)]
    starts = family.schedule.starts()
    growth = change.values.get("growth")
    sizes = [old[dump] for dump in range(change.first)]
    for place, moment in enumerate(moments[change.first :]):
        if growth is not None:
            factor = growth**place if place * math.log(growth) < 100 else math.inf
            if factor == math.inf:
                raise _bad(change.text, "dumps grow beyond all limits", "choose another value")
            sizes.append(round(old[change.first] * factor))
        else:
            sizes.append(round(size_law(starts, old, moment)))
    own = family.sizes is None and family.growth is None
    if own and all(size == old[source] for size, source in zip(sizes, sources, strict=True)):
        return None
    return sizes


def size_law(starts: Sequence[float], sizes: Sequence[int], moment: float) -> float:
    """The bytes of a dump at a moment of the run.

    Args:
        starts: seconds at which the original's dumps began, ascending.
        sizes: their bytes.
        moment: seconds.

    Returns:
        Between two dumps the geometric interpolation, linear if one of them is empty. Before the first dump the size of
        the first. After the last, growth goes on at the mean rate from the first to the last.
    """
    if moment <= starts[0] or len(starts) == 1:
        return sizes[0]
    after = bisect_right(starts, moment)
    if after < len(starts):
        before = after - 1
        span = starts[after] - starts[before]
        return _between(sizes[before], sizes[after], (moment - starts[before]) / span)
    if not (sizes[0] and sizes[-1]) or starts[-1] <= starts[0]:
        return sizes[-1]
    rate = math.log(sizes[-1] / sizes[0]) / (starts[-1] - starts[0])
    return float(sizes[-1] * math.exp(min(100.0, rate * (moment - starts[-1]))))


def _between(low: int, high: int, share: float) -> float:
    if low and high:
        return float(low * (high / low) ** share)
    return low + (high - low) * share


def _schedule(old: Schedule, moments: Sequence[float], sources: Sequence[int]) -> Schedule:
    """The schedule with other moments; what it has for each dump is that of the dump's source."""
    fields: dict[str, Any] = {"start": list(moments)}
    for name in ("duration", "compute_time", "metadata"):
        if name in old.model_fields_set and getattr(old, name) is not None:
            fields[name] = _of_sources(getattr(old, name), sources)
    for name in ("writes", "reads"):
        window = getattr(old, name)
        if window is not None:
            values = {part: getattr(window, part) for part in window.model_fields_set}
            of_dumps = {part: value for part, value in values.items() if part != "skew" and value is not None}
            fields[name] = Window(
                skew=_skew_of_sources(window.skew, sources),
                **{part: _of_sources(value, sources) for part, value in of_dumps.items()},
            )
    if old.barrier:
        fields["barrier"] = True
    return Schedule(**fields)


def _skew_of_sources(groups: Sequence[Skew], sources: Sequence[int]) -> list[Skew]:
    """The late ranks of every dump, and as many of those of single dumps as a window may have."""
    out = [late for late in groups if late.dump is None]
    for dump, source in enumerate(sources):
        own = [late.model_copy(update={"dump": dump}) for late in groups if late.dump == source]
        if len(out) + len(own) > MAX_SKEWS:
            break
        out += own
    return out


def _leaves_out_skew(old: Schedule, sources: Sequence[int]) -> bool:
    """Whether a window would need more groups of late ranks than it may have."""
    for window in (old.writes, old.reads):
        groups = Counter(late.dump for late in window.skew) if window is not None else Counter()
        if groups[None] + sum(groups[source] for source in sources) > MAX_SKEWS:
            return True
    return False


def _of_sources(value: float | list[float], sources: Sequence[int]) -> float | list[float]:
    return [value[source] for source in sources] if isinstance(value, list) else value
