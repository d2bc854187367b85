"""Is the truth found again? Random workloads, counted by the core, are characterized from their counters alone.

    python benchmarks/candidates_truth.py [COUNT]

A workload of one family is drawn: placement, passes, order of directions, syncs, pieces, sharing, sizes. A log with the
counters that the core predicts is written and characterized. The workload that comes out is right if it has the log's
counters, each of them: then the truth is among the readings of least misfit. The truth is the winner where what comes
out performs the same operations; where another reading has the same counters, the truth is at least the runner-up that
`assumed` names. Some collective writes and reads are among them: their counters do not tell where they land.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from catalogue import ROOT
from results import Results

sys.path.append(str(ROOT / "tests" / "support"))
from counted_logs import log_of
from planted import Document, as_workload, random_document

from workalike.characterize import characterize
from workalike.characterize.readings.alternatives import same_operations
from workalike.compare.lines import model_against_log
from workalike.compare.pairing import pair_up
from workalike.darshan import open_log
from workalike.errors import WorkalikeError

COUNT = 2000
LEAST = 0.99
SHOWN = 40
COLLECTIVE = 0.3
"""Share of the workloads through MPI-IO whose calls are collective."""


@dataclass(frozen=True)
class Found:
    """How a truth was found again: the counters that differ, and whether it won, or was named as a runner-up."""

    misses: list[str]
    won: bool
    named: bool


def one_family(rng: random.Random) -> Document:
    """A document with one of the families of a random workload.

    Files of some ranks only are left out: a log has a record of each rank for them, which the core does not predict.
    """
    while True:
        document = random_document(rng)
        whole = [f for f in document["families"] if not isinstance(f["sharing"], dict)]
        if whole:
            break
    family = rng.choice(whole)
    family["number"] = 1
    streams = family["content"]["streams"]
    plain = all(stream["pattern"] != "strided" and "pieces" not in stream for stream in streams)
    if family["interface"] == "mpiio" and plain and rng.random() < COLLECTIVE:
        for stream in streams:
            stream["collective"] = True
    document["families"] = [family]
    return document


def found_of(document: Document, folder: Path) -> Found:
    """What is found from the counters of a workload."""
    truth = as_workload(document)
    found = characterize([open_log(log_of(truth, folder / "app.darshan"))])
    rows = model_against_log(pair_up(found, None))
    misses = [f"{row.module} {row.counter}: {row.expected} -> {row.found}" for row in rows if not row.agrees]
    if len(found.families) != 1:
        return Found(misses, won=False, named=False)
    (facts,) = found.families
    won, *others = (
        same_operations(truth.families[0], reading, truth.ranks)
        for reading in (facts.family, *facts.alternatives)
    )
    return Found(misses, won=won, named=any(others))


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    right = won = named = 0
    kinds: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(count):
            document = one_family(random.Random(seed))
            try:
                found = found_of(document, Path(folder))
            except WorkalikeError as error:
                found = Found([error.one_line()], won=False, named=False)
            misses = found.misses
            right += not misses
            won += found.won
            named += found.won or found.named
            if misses:
                kinds[misses[0].partition(":")[0]] += 1
                if kinds.total() <= SHOWN:
                    print(f"{seed}: {document['families'][0]}\n      {'; '.join(misses[:6])}", flush=True)
    print(f"{won} of {count} are the winner, {named} the winner or the runner-up that is named")
    print(
        f"{right} of {count} have the log's counters; first counters of the others: {kinds.most_common(12)}"
    )
    results = Results()
    results.add(
        f"{count:,} random workloads found again from their counters: all determined counters within 5 %",
        f"{100 * right / count:.1f} %",
        target=f"≥ {100 * LEAST:g} %",
        reached=right >= LEAST * count,
        per_cent=100 * right / count,
    )
    results.add(
        "… the truth is the winner, or named as the runner-up",
        f"{100 * won / count:.1f} %, {100 * named / count:.1f} %",
        target=f"named: ≥ {100 * LEAST:g} %",
        reached=named >= LEAST * count,
        per_cent=100 * named / count,
    )
    results.write()
    return int(min(right, named) < LEAST * count)


if __name__ == "__main__":
    sys.exit(main())
