"""Does a workload have what `characterize` has not seen? Counters that are taken out of a log, and its trace.

    python benchmarks/unseen.py [LOG ...]
    python benchmarks/unseen.py --misses [LOG ...]

From each known log, without its trace, one group of counters after the other is taken out, as if it had not been
measured: order, sizes, extents and strides, switches and opens, alignment. The rest is characterized, its full-scale plan
predicted, and the counters that were taken out are set beside the log's. *Fitted* is the share within 5 % where
`characterize` has seen all counters, *unseen* where it has not seen these. With `--misses`, unseen counters that are
off are counted by name. Sizes are counted apart, too, by whether all operations of a direction have one size in the log:
several sizes follow from no other counter.

Then the trace: logs that have a complete one are characterized without it, and what each rank does to each file is set
beside the trace in its order: the size of each operation, its offset, and whether it goes back, goes on or leaves a gap
after the one before.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from agenda_against_traces import without_traces
from full_scale import known_logs
from results import Results

from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.characterize.options import CounterGroup
from workalike.characterize.result import FamilyFacts
from workalike.characterize.traces.exact import planned_rows
from workalike.compare.lines import model_against_log
from workalike.compare.pairing import pair_up
from workalike.darshan import Log, open_log
from workalike.errors import WorkalikeError
from workalike.facts.gather import gather
from workalike.facts.jobs import job_of
from workalike.facts.levels import split_stdio
from workalike.facts.records import FileFacts, IntArray
from workalike.facts.traces import Traces
from workalike.predict.agreement import WITHIN, DeterminedRow
from workalike.workload.model import Direction
from workalike.workload.operation_table import OperationTable

NOT_MEASURED = -1
MODULES = ("POSIX", "STDIO", "MPI-IO")


@dataclass
class Shares:
    """Of each measure, how many there are and how many of them are right."""

    right: Counter[str] = field(default_factory=Counter)
    all: Counter[str] = field(default_factory=Counter)

    def add(self, measure: str, right: int, number: int) -> None:
        self.right[measure] += right
        self.all[measure] += number

    def share(self, measure: str) -> float:
        return self.right[measure] / self.all[measure] if self.all[measure] else 0.0


def blinded(path: Path, group: CounterGroup) -> Log:
    """The log without its trace, and with a group of counters as if they had not been measured."""
    log = without_traces(path)
    for module in MODULES:
        table = log.records(module)
        if table is None:
            continue
        hidden = [at for at, name in enumerate(table.counter_names) if name.startswith(group.counters)]
        counters = table.counters.copy()
        counters[:, hidden] = NOT_MEASURED
        object.__setattr__(table, "counters", counters)  # the log keeps its tables
    return log


def rows_of_whole(found: Characterization, path: Path) -> list[DeterminedRow]:
    """The counters of a workload beside those of the whole log, whatever part of it the workload was made from."""
    whole = {
        part.key: part for file in gather(job_of([open_log(path)])).files() for part in split_stdio(file)
    }

    def with_whole(files: Iterable[FileFacts]) -> list[FileFacts]:
        return [whole.get(file.key, file) for file in files]

    families = [
        replace(facts, dumps=[replace(dump, files=with_whole(dump.files)) for dump in facts.dumps])
        for facts in found.families
    ]
    return model_against_log(pair_up(replace(found, families=families), None))


def add_counters(path: Path, fitted: Shares, unseen: Shares, sizes: Shares, misses: Counter[str]) -> None:
    whole = rows_of_whole(characterize([without_traces(path)]), path)
    for group in CounterGroup:
        seen = [row for row in whole if row.counter.startswith(group.counters)]
        fitted.add(group.value, sum(row.agrees for row in seen), len(seen))
        try:
            rows = rows_of_whole(characterize([blinded(path, group)]), path)
        except WorkalikeError:  # nothing is left to characterize: none is predicted
            unseen.add(group.value, 0, len(seen))
            misses[f"{group.value}: log is refused"] += len(seen)
            continue
        own = [row for row in rows if row.counter.startswith(group.counters)]
        unseen.add(group.value, sum(row.agrees for row in own), len(own))
        if group is CounterGroup.SIZES:
            add_sizes(own, sizes)
        misses.update(f"{row.module} {row.counter.split(' of ')[0]}" for row in own if not row.agrees)


def add_sizes(rows: Sequence[DeterminedRow], sizes: Shares) -> None:
    """The counters of sizes by whether their family has one size in each direction."""
    by_family: dict[object, list[DeterminedRow]] = defaultdict(list)
    for row in rows:
        by_family[row.group, row.module].append(row)
    for own in by_family.values():
        there = [row.counter for row in own if row.expected]
        bins = [sum(name.startswith(f"SIZE_{kind}") for name in there) for kind in ("READ", "WRITE")]
        values = sum(name.startswith("ACCESS") for name in there)
        is_one = max(bins) <= 1 and values <= max(1, sum(bins))
        sizes.add("one" if is_one else "several", sum(row.agrees for row in own), len(own))


OfRank = tuple[IntArray, IntArray]
"""Offsets and lengths of the operations of a rank on a file, in their order."""


def add_trace(path: Path, shares: Shares) -> None:
    traces = Traces(job_of([open_log(path)]), True)
    found = characterize([without_traces(path)], CharacterizeOptions(use_trace=False))
    for facts in found.families:
        planned = planned_rows(facts.family, job_of(found.logs), operations=found.workload.operations)
        for direction in Direction:
            true = dict(traced(facts, traces, direction))
            operations = sum(len(lengths) for _, lengths in true.values())
            if not true:
                continue
            made = {} if planned is None else by_file_and_rank(facts, planned, direction)
            for key, sequence in true.items():
                add_sequence(shares, sequence, made.get(key))
            shares.add("operations", operations, operations)


def traced(
    facts: FamilyFacts, traces: Traces, direction: Direction
) -> Iterator[tuple[tuple[object, int], OfRank]]:
    """What each rank does to each file that has a complete trace."""
    level = facts.family.counted_at
    for file in {file.key: file for dump in facts.dumps for file in dump.files}.values():
        trace = traces.of_file(file, level, direction)
        if trace is None or not trace.offsets_known:
            continue
        for rank in np.unique(trace.ranks).tolist():
            rows = trace.ranks == rank
            yield (file.key, rank), (trace.offsets[rows], trace.lengths[rows])


def by_file_and_rank(
    facts: FamilyFacts, planned: Sequence[OperationTable], direction: Direction
) -> dict[tuple[object, int], OfRank]:
    """As `traced`, of the plan. A rank's file of a dump is the one of which it has a record, or the only one."""
    parts: dict[tuple[object, int], list[OfRank]] = defaultdict(list)
    for dump, rows in zip(facts.dumps, planned, strict=False):
        for rank in np.unique(rows.ranks).tolist():
            own = [
                file
                for file in dump.files
                if len(dump.files) == 1 or any(rank in module.ranks for module in file.modules.values())
            ]
            if len(own) == 1:
                which = (rows.ranks == rank) & (rows.writes == (direction is Direction.WRITE))
                parts[own[0].key, rank].append((rows.offsets[which], rows.lengths[which]))
    return {
        key: (np.concatenate([o for o, _ in each]), np.concatenate([n for _, n in each]))
        for key, each in parts.items()
    }


def add_sequence(shares: Shares, true: OfRank, made: OfRank | None) -> None:
    """Compare operation by operation: those that one side alone has are wrong."""
    number = len(true[1])
    if made is None:
        made = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    both = min(number, len(made[1]))
    offsets, lengths = (np.stack([a[:both], b[:both]]) for a, b in zip(true, made, strict=True))
    shares.add(
        "sizes",
        int((np.abs(lengths[0] - lengths[1]) <= WITHIN * lengths[0]).sum()),
        max(number, len(made[1])),
    )
    shares.add("offsets", int((offsets[0] == offsets[1]).sum()), max(number, len(made[1])))
    steps = [step_of(o, n) for o, n in zip(offsets, lengths, strict=True)]
    shares.add("order", int((steps[0] == steps[1]).sum()), max(number, len(made[1]), 1) - 1)


def step_of(offsets: IntArray, lengths: IntArray) -> IntArray:
    """-1, 0 or 1 of each operation but the first: it goes back, goes on, or leaves a gap."""
    return np.sign(offsets[1:] - (offsets[:-1] + lengths[:-1]))


def add_figures(
    results: Results, fitted: Shares, unseen: Shares, sizes: Shares, traces: Shares, logs: int
) -> None:
    for group in CounterGroup:
        name = group.value
        print(
            f"{name:10} {unseen.all[name]:6} counters: fitted {fitted.share(name):.3f}, unseen {unseen.share(name):.3f}"
        )
        results.add(
            f"unseen counters within 5 %, {name}",
            f"{100 * unseen.share(name):.1f} % of {unseen.all[name]:,} (fitted {100 * fitted.share(name):.1f} %)",
            unseen=unseen.share(name),
            fitted=fitted.share(name),
        )
    whole = [sum(s.right.values()) / max(1, sum(s.all.values())) for s in (unseen, fitted)]
    results.add(
        "unseen counters within 5 %, all groups",
        f"{100 * whole[0]:.1f} % (fitted {100 * whole[1]:.1f} %), {logs} logs",
        unseen=whole[0],
        fitted=whole[1],
    )
    print(f"all: fitted {whole[1]:.3f}, unseen {whole[0]:.3f}")
    for name in ("one", "several"):
        print(f"sizes of families with {name}: {sizes.share(name):.3f} of {sizes.all[name]}")
        results.add(
            f"… sizes, of families whose operations of a direction have {name} size{'s' * (name == 'several')}",
            f"{sizes.right[name]} of {sizes.all[name]}",
            share=sizes.share(name),
        )
    for name in ("sizes", "offsets", "order"):
        print(f"trace, {name}: {traces.share(name):.3f} of {traces.all[name]:,}")
        results.add(
            f"unseen trace, {name} of operations",
            f"{100 * traces.share(name):.1f} % of {traces.all[name]:,}",
            share=traces.share(name),
        )


def main() -> int:
    given = [word for word in sys.argv[1:] if word != "--misses"]
    fitted, unseen, sizes, traces = Shares(), Shares(), Shares(), Shares()
    misses: Counter[str] = Counter()
    logs = 0
    for path in [Path(word) for word in given] or known_logs():
        try:
            add_counters(path, fitted, unseen, sizes, misses)
            add_trace(path, traces)
        except WorkalikeError as error:
            print(f"{path.name[:50]:50} {error.one_line().replace(str(path), '')[:90]}")
            continue
        logs += 1
        print(f"{path.name[:60]:60} unseen so far {sum(unseen.right.values())} of {sum(unseen.all.values())}")
    if not logs:
        return 2
    results = Results()
    add_figures(results, fitted, unseen, sizes, traces, logs)
    if "--misses" in sys.argv:
        for name, number in misses.most_common(20):
            print(f"{number:6} {name}")
    if not given:
        results.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
