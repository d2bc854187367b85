"""Does a study on a real parallel file system find a planted difference of 20 %, and nothing where there is none?

    python benchmarks/cephfs_studies.py [--studies N] [--blocks N]

tools/testbed starts a CephFS. Two of its storage daemons are limited to rates 20 % apart, and a pool lies on each. Every
study compares the two pools, and one of them under two names (A/A). It needs root, Ceph, and network namespaces.

Then all daemons have one limit, and a study compares files of 1, 2 and 4 stripes. CephFS places stripes by a hash, so that
several may share a daemon. What the counts are worth follows from the daemons of many empty files with these layouts,
which the cluster's map names: the time of a file is that of the daemon with most of it.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import statistics
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import yaml
from behaviour_programs import workalike
from catalogue import ROOT
from results import Results

sys.path.append(str(ROOT / "tests"))
sys.path.append(str(ROOT / "tests" / "support"))
from system.testbed import CephBed

STUDIES, BLOCKS = 10, 8
SLOW, FAST = "80mbit", "96mbit"
PLANTED, NEAR = 1.2, 0.03
"""The ratio of the rates, and by which share a dump's open and close may move it."""
WIDEST = 0.3
"""Of an interval, ÷ what is expected: a wider one would hold anything."""
SECONDS = 900
WORKLOAD = """\
workalike: 2
ranks: 2
families:
- role: checkpoint
  interface: posix
  sharing: per-rank
  schedule: {count: 2, first: 0 s, every: 1 s}
  content:
    fsyncs: 2
    streams: [{direction: write, sizes: [2/rank x 1 MiB]}]
"""
STRIPED = """\
workalike: 2
ranks: 2
families:
- role: checkpoint
  interface: posix
  sharing: shared
  schedule: {count: 8, first: 0 s, every: 1 s, barrier: true}
  content:
    fsyncs: 2
    streams: [{direction: write, sizes: [8/rank x 1 MiB]}]
"""
COUNTS = (1, 2, 4)
POOLS: dict[str, object] = {"target": {"set": "layout.pool", "levels": {"slow": "only0", "fast": "only1"}}}
STRIPES: dict[str, object] = {
    "stripes": {"set": "layout.stripe_count", "levels": list(COUNTS)},
    "stripe_size": {"set": "layout.stripe_size", "levels": ["1 MiB"]},
    "object_size": {"set": "layout.object_size", "levels": ["16 MiB"]},
}
STRIPES_BLOCKS = 8
PLACED = 400
"""Files whose daemons are asked for."""


@dataclass(frozen=True)
class Outcome:
    """Of one study: the ratio of the faster pool with its interval, and whether the A/A came out equal."""

    ratio: float
    low: float
    high: float
    silent: bool

    @property
    def found(self) -> bool:
        """Whether there is a difference, and it is the planted one."""
        return self.low > 1 and abs(self.ratio / PLANTED - 1) <= NEAR


def study_in(folder: Path, workload: str, factors: dict[str, object], blocks: int) -> Path:
    """Write a study of a workload with these factors into a new folder."""
    folder.mkdir()
    (folder / "w.yaml").write_text(workload, encoding="utf-8")
    document = {
        "study": 1,
        "workload": "w.yaml",
        "fixed": {"time_scale": 0},
        "factors": factors,
        "blocks": blocks,
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return folder / "study.yaml"


def run(bed: CephBed, study: Path, folder: Path) -> Path:
    """Run a study on the mount, all of whose trials must count; returns its results."""
    out, data = folder / "out", bed.mount / folder.name
    data.mkdir()
    words = (study, "-o", out, "--dir", data, "--no-ceiling", "--quiet")
    done = workalike("study", *map(str, words), cwd=folder, seconds=SECONDS)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-300:])
    trials = [json.loads(line)["trial"] for line in (out / "trials.jsonl").read_text().splitlines()]
    if not all(trial["counted"] for trial in trials):
        raise RuntimeError("a trial does not count")
    shutil.rmtree(data)
    return out


def rows_of(out: Path) -> list[dict[str, str]]:
    """The ratios to the reference, a row for each setting."""
    with (out / "figures/ratios.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def performed(bed: CephBed, folder: Path, blocks: int) -> Outcome:
    """A study of the two pools."""
    out = run(bed, study_in(folder, WORKLOAD, POOLS, blocks), folder)
    row = next(row for row in rows_of(out) if row["setting"] == "target=fast")
    silent = "under two names: no difference was found" in (out / "report.html").read_text(encoding="utf-8")
    return Outcome(float(row["ratio"]), float(row["low"]), float(row["high"]), silent)


def worth(bed: CephBed, count: int) -> float:
    """How many times as fast as one daemon files of so many stripes are, by where the cluster places them."""
    folder = bed.mount / f"placed-{count}"
    folder.mkdir()
    layout = f"stripe_unit={2**20} stripe_count={count} object_size={16 * 2**20}"
    os.setxattr(folder, "ceph.dir.layout", layout.encode())
    files = [folder / str(number) for number in range(PLACED)]
    for file in files:
        file.touch()
    placed = bed("where", *files, "--objects", count)
    shutil.rmtree(folder)
    fullest = [max(Counter(daemons).values()) for daemons in placed]
    return count / statistics.mean(fullest)


def measured_stripes(bed: CephBed, folder: Path, results: Results) -> bool:
    """Add the figures of the study of stripe counts."""
    bed.limit(SLOW)
    rows = rows_of(run(bed, study_in(folder, STRIPED, STRIPES, STRIPES_BLOCKS), folder))
    good = True
    for count in COUNTS[1:]:
        row = next(row for row in rows if row["setting"].startswith(f"stripes={count}"))
        ratio, low, high = (float(row[key]) for key in ("ratio", "low", "high"))
        expected = worth(bed, count)
        within = low <= expected <= high and high - low <= WIDEST * expected
        good &= within
        figure = f"{ratio:.2f} ({low:.2f} to {high:.2f}); by the placement of {PLACED} files {expected:.2f}"
        print(f"{count} stripes: {figure}", flush=True)
        results.add(
            f"CephFS, one limit of {SLOW[:-4]} Mbit/s for each of 4 daemons: {count} stripes ÷ 1, {STRIPES_BLOCKS} blocks",
            figure,
            target="what the placement is worth (1 : 2 : 4 if no two stripes shared a daemon) within the interval",
            reached=within,
            ratio=ratio,
            expected=expected,
        )
    return good


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--studies", type=int, default=STUDIES)
    options.add_argument("--blocks", type=int, default=BLOCKS)
    given = options.parse_args()
    outcomes = []
    with tempfile.TemporaryDirectory() as folder, CephBed() as bed:
        bed.limit(SLOW, 0)
        bed.limit(FAST, 1)
        for number in range(given.studies):
            outcomes.append(performed(bed, Path(folder) / f"study-{number}", given.blocks))
            last = outcomes[-1]
            found = "found" if last.found else "not found"
            equal = "equal" if last.silent else "a false difference"
            print(
                f"{number + 1}: {last.ratio:.3f} ({last.low:.3f} to {last.high:.3f}) {found}; A/A {equal}",
                flush=True,
            )
        results = Results()
        stripes_good = measured_stripes(bed, Path(folder) / "stripes", results)
    found, silent = sum(o.found for o in outcomes), sum(o.silent for o in outcomes)
    ratios = [o.ratio for o in outcomes]
    results.add(
        f"CephFS, storage daemons limited to {SLOW[:-4]} and {FAST[:-4]} Mbit/s: difference of 20 % found, "
        f"{given.blocks} blocks",
        f"{found} of {len(outcomes)}; ratios {min(ratios):.2f} to {max(ratios):.2f}, median {statistics.median(ratios):.2f}",
        target="10 of 10",
        reached=found == len(outcomes),
        found=float(found),
    )
    results.add(
        "… A/A silent",
        f"{silent} of {len(outcomes)}",
        target="≥ 9 of 10",
        reached=silent >= 0.9 * len(outcomes),
        silent=float(silent),
    )
    results.write()
    return 0 if stripes_good and found == len(outcomes) and silent >= 0.9 * len(outcomes) else 1


if __name__ == "__main__":
    raise SystemExit(main())
