"""All conflicts of a job, and the weakest model under which it is correct."""

from __future__ import annotations

from dataclasses import dataclass, field

from workalike.diagnose.conflicts.events import Trace
from workalike.diagnose.conflicts.models import MODELS, FileEvents, Model, holding
from workalike.diagnose.conflicts.order import Order
from workalike.diagnose.conflicts.overlaps import MOST_PAIRS, overlapping


@dataclass(frozen=True)
class Conflict:
    """Two ranks touch the bytes [offset, end) of a file, and only `holds` sees them in order.

    `kind` is write-after-write, read-after-write or write-after-read, by the clocks where no order is known.
    """

    file: int
    ranks: tuple[int, int]
    offset: int
    end: int
    kind: str
    holds: frozenset[Model]


@dataclass
class Conflicts:
    """What was found. `overlaps` pairs were tested; `broken` counts those that a model does not order.

    `examples` has the first pair of each file, pair of ranks, kind and set of models. `gaps` are reasons why an order
    may be missing: with any of them a conflict is possible, not certain.
    """

    overlaps: int = 0
    broken: dict[Model, int] = field(default_factory=lambda: dict.fromkeys(MODELS, 0))
    examples: list[Conflict] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)

    @property
    def weakest(self) -> Model | None:
        """The model that promises least and still orders all conflicting accesses; None if not even POSIX does."""
        return next((model for model in reversed(MODELS) if not self.broken[model]), None)


def conflicts(trace: Trace, most_pairs: int = MOST_PAIRS) -> Conflicts:
    """Tests all overlapping accesses of two ranks under each model; stops after `most_pairs`, and says so."""
    out = Conflicts(gaps=list(trace.gaps))
    order = None
    events = FileEvents(trace.file_events)
    seen: set[tuple[object, ...]] = set()
    for this, other in overlapping(trace.accesses):
        if order is None:
            order = Order(trace.ranks, trace.messages)
            out.gaps += order.gaps
        if out.overlaps == most_pairs:
            out.gaps.append(f"more than {most_pairs:,} overlapping pairs: the rest was not tested")
            break
        out.overlaps += 1
        first, second = sorted((trace.accesses[this], trace.accesses[other]), key=lambda a: a["start_s"])
        holds = frozenset(holding(first, second, order, events))
        for model in MODELS:
            out.broken[model] += model not in holds
        if len(holds) == len(MODELS):
            continue
        found = Conflict(
            int(first["file"]),
            (int(first["rank"]), int(second["rank"])),
            int(max(first["offset"], second["offset"])),
            int(min(first["end"], second["end"])),
            f"{_word(second)}-after-{_word(first)}",
            holds,
        )
        key = (found.file, frozenset(found.ranks), found.kind, found.holds)
        if key not in seen:
            seen.add(key)
            out.examples.append(found)
    out.examples.sort(key=lambda found: (len(found.holds), found.file, found.ranks))
    return out


def _word(access: object) -> str:
    return "write" if access["write"] else "read"  # type: ignore[index]
