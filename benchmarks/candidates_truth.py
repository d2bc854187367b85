"""Is the truth found again? Random workloads, counted by the core, are characterized from their counters alone.

    python benchmarks/candidates_truth.py [COUNT]

A workload of one family is drawn: placement, passes, order of directions, syncs, pieces, sharing, sizes. A log with the
counters that the core predicts is written and characterized. The workload that comes out is right if it has the log's
counters, each of them: then the truth is among the readings of least misfit.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from catalogue import ROOT
from results import Results

sys.path.append(str(ROOT / "tests" / "support"))
from counted_logs import log_of
from planted import Document, as_workload, random_document

from workalike.characterize import characterize
from workalike.compare.lines import model_against_log
from workalike.compare.pairing import pair_up
from workalike.darshan import open_log
from workalike.errors import WorkalikeError

COUNT = 2000
LEAST = 0.99
SHOWN = 40


def one_family(rng: random.Random) -> Document:
    """A document with one of the families of a random workload.

    Files of some ranks only are left out: a log has a record of each rank for them, which the core does not predict.
    """
    while True:
        document = random_document(rng)
        whole = [f for f in document["families"] if not isinstance(f["sharing"], dict)]
        if whole:
            break
    document["families"] = [rng.choice(whole)]
    document["families"][0]["number"] = 1
    return document


def misses_of(document: Document, folder: Path) -> list[str]:
    """The counters in which the workload that is found differs from the log."""
    found = characterize([open_log(log_of(as_workload(document), folder / "app.darshan"))])
    rows = model_against_log(pair_up(found, None))
    return [f"{row.module} {row.counter}: {row.expected} -> {row.found}" for row in rows if not row.agrees]


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    right = 0
    kinds: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(count):
            document = one_family(random.Random(seed))
            try:
                misses = misses_of(document, Path(folder))
            except WorkalikeError as error:
                misses = [error.one_line()]
            right += not misses
            if misses:
                kinds[misses[0].partition(":")[0]] += 1
                if kinds.total() <= SHOWN:
                    print(f"{seed}: {document['families'][0]}\n      {'; '.join(misses[:6])}", flush=True)
    print(f"{right} of {count}; first counters of the others: {kinds.most_common(12)}")
    results = Results()
    results.add(
        f"{count:,} random workloads found again from their counters: all determined counters within 5 %",
        f"{100 * right / count:.1f} %",
        target=f"≥ {100 * LEAST:g} %",
        reached=right >= LEAST * count,
        per_cent=100 * right / count,
    )
    results.write()
    return int(right < LEAST * count)


if __name__ == "__main__":
    sys.exit(main())
