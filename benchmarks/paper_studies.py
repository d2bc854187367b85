"""What the workload-replication paper finds on five machines (Figs. 5 to 9), asked of five file systems of this one.

    python benchmarks/paper_studies.py [--blocks N] [--beds NAME ...] [--keep DIR]

`studies/mphys-striping.yaml` and `studies/mphys-weak.yaml` run on memory (the control), the local disk, and CephFS: free,
limited, delayed. Where a file system has no stripes to set, the default alone runs. A study that was interrupted goes on
where it was. Then each statement of the paper is answered by bandwidths of checkpoints: ratios are taken within blocks,
with intervals of 95 %. `striping/report.html` and `weak/report.html` below DIR join all systems; `dumps.svg` is Fig. 7.

It needs root, Ceph and network namespaces, and about an hour on 2 cores.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import shutil
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from beds import SYSTEMS, in_memory
from behaviour_programs import workalike
from catalogue import ROOT
from results import Results

from workalike.study.statistics.ratios import Ratio, of_log_ratios

NAME = "paper-studies"
SECONDS = 3600
BEDS = {"memory": in_memory, **SYSTEMS}
STRIPED = ("cephfs", "cephfs-limited", "cephfs-delayed")
STUDIES = {"striping": "mphys-striping.yaml", "weak": "mphys-weak.yaml"}
WORKLOADS = "ABCDE"
DEFAULT, NODES, RANKS = "default", "nodes", "ranks"
LEVELS = {"default": DEFAULT, "1 stripe": NODES, "5 stripes": NODES, "16 stripes": RANKS, "80 stripes": RANKS}
"""What the stripes of a setting are: one per node, or one per rank, of the original run."""
FIRST, LAST = 3, 3
"""Dumps of a run's begin and end that are compared."""

Blocks = Mapping[int, float]
"""Block -> bytes per second."""


@dataclass
class Bed:
    """Bandwidths of checkpoints on one file system."""

    runs: dict[tuple[str, str], dict[int, float]] = field(default_factory=lambda: defaultdict(dict))
    """(workload, stripes) -> of whole runs, by block."""
    first: dict[tuple[str, str], dict[int, float]] = field(default_factory=lambda: defaultdict(dict))
    """… of the first checkpoints of a run."""
    last: dict[tuple[str, str], dict[int, float]] = field(default_factory=lambda: defaultdict(dict))
    weak: dict[tuple[str, int], dict[int, float]] = field(default_factory=lambda: defaultdict(dict))
    """(stripes, ranks) -> of whole runs under weak scaling."""
    trials: int = 0
    as_planned: int = 0
    """Trials whose record has the dumps, bytes, reads and writes of the plan."""
    share: float = math.nan
    """Of what one process gets there, what the fastest setting of the striping study reaches."""

    def mean(self, workload: str, stripes: str = DEFAULT) -> float:
        return statistics.geometric_mean(self.runs[workload, stripes].values())


def prepared_study(kind: str, bed: str, blocks: int, folder: Path) -> Path:
    """The study as a file system can run it: without stripes where it has none."""
    source = ROOT / "studies" / STUDIES[kind]
    study = yaml.safe_load(source.read_text(encoding="utf-8"))
    study["blocks"] = blocks
    places = study.get("workloads") or {"": study["workload"]}
    absolute = {name: str((source.parent / place).resolve()) for name, place in places.items()}
    if "workloads" in study:
        study["workloads"] = absolute
    else:
        study["workload"] = absolute[""]
    if bed not in STRIPED:
        if kind == "striping":
            study["constraints"] = [{"skip": "striping != 'default'"}]
        else:
            study["factors"] = {"ranks": study["factors"]["ranks"]}
    path = folder / f"{kind}-{bed}.yaml"
    path.write_text(yaml.safe_dump(study, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def perform(beds: Sequence[str], blocks: int, folder: Path) -> None:
    """Run both studies on each file system, as far as they have not run."""
    for bed in beds:
        left = [kind for kind in STUDIES if not (folder / f"{kind}-{bed}" / "report.html").exists()]
        if not left:
            continue
        with BEDS[bed](NAME) as place:
            for kind in left:
                study, data = prepared_study(kind, bed, blocks, folder), place / kind
                data.mkdir(exist_ok=True)
                print(f"{kind} on {bed}", flush=True)
                words = (study, "-o", folder / f"{kind}-{bed}", "--dir", data, "--quiet")
                done = workalike("study", *map(str, words), cwd=folder, seconds=SECONDS)
                if done.returncode not in (0, 3):
                    raise RuntimeError(f"{kind} on {bed}: {done.stderr.strip()[-500:]}")


def joined(beds: Sequence[str], folder: Path) -> None:
    """The pages that join all systems."""
    for kind in STUDIES:
        out = folder / kind
        shutil.rmtree(out, ignore_errors=True)
        done = workalike(
            "study",
            "merge",
            *(str(folder / f"{kind}-{bed}") for bed in beds),
            "-o",
            str(out),
            seconds=SECONDS,
        )
        if done.returncode:
            raise RuntimeError(done.stderr.strip()[-500:])


def measured(bed: str, folder: Path) -> Bed:
    """What the trials of a file system say."""
    found = Bed()
    for kind in STUDIES:
        for line in (folder / f"{kind}-{bed}" / "trials.jsonl").read_text(encoding="utf-8").splitlines():
            found.trials += 1
            found.as_planned += bool(json.loads(line)["trial"]["record_matches_plan"])
    with (folder / "striping" / "figures" / "best_of_systems.csv").open(encoding="utf-8") as file:
        shares = [
            row["share_of_possible"] for row in csv.DictReader(file) if row["system"] == f"striping-{bed}"
        ]
    found.share = float(shares[0]) if shares and shares[0] else math.nan
    for trial, dumps in trials_of(folder / f"striping-{bed}"):
        key, block = (trial["workload"], LEVELS[trial["striping"]]), trial["block"]
        found.runs[key][block] = bandwidth_of(dumps)
        found.first[key][block] = bandwidth_of(dumps[:FIRST])
        found.last[key][block] = bandwidth_of(dumps[-LAST:])
    for trial, dumps in trials_of(folder / f"weak-{bed}"):
        found.weak[trial.get("striping", DEFAULT), int(trial["ranks"])][trial["block"]] = bandwidth_of(dumps)
    return found


def trials_of(folder: Path) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Trials that count, with their checkpoints in the order of the run."""
    out = []
    for line in (folder / "trials.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["trial"]["counted"] and not row["trial"]["arm"]:
            dumps = [dump for dump in row["dumps"] if dump["role"] == "checkpoint"]
            out.append((row["trial"], sorted(dumps, key=lambda dump: dump["index"])))
    return out


def bandwidth_of(dumps: Sequence[Mapping[str, Any]]) -> float:
    """Bytes per second of dumps together."""
    return float(sum(d["bytes_written"] for d in dumps) / sum(d["io_time_s"] for d in dumps))


def ratio(above: Blocks, below: Blocks) -> Ratio:
    """One bandwidth divided by another, within blocks."""
    blocks = sorted(above.keys() & below.keys())
    logs = np.array([math.log(above[block] / below[block]) for block in blocks])
    return of_log_ratios(logs, "", "")


def words(found: Ratio) -> str:
    return f"{found.ratio:.2f} ({found.low:.2f} to {found.high:.2f})"


def higher(found: Ratio) -> bool:
    return found.low > 1


def lower(found: Ratio) -> bool:
    return found.high < 1


@dataclass(frozen=True)
class Statement:
    """One sentence of the paper: its claims in docs/claims.md, what it says, and what was found on which beds."""

    claims: str
    says: str
    found: Callable[[Mapping[str, Bed]], tuple[str, bool]]


def each_bed(beds: Mapping[str, Bed], measure: Callable[[Bed], Ratio]) -> dict[str, Ratio]:
    return {name: measure(bed) for name, bed in beds.items()}


def listed(ratios: Mapping[str, Ratio]) -> str:
    return "; ".join(f"{name} {words(found)}" for name, found in ratios.items())


def striped(beds: Mapping[str, Bed]) -> dict[str, Bed]:
    return {name: bed for name, bed in beds.items() if name in STRIPED}


def portable(beds: Mapping[str, Bed]) -> tuple[str, bool]:
    trials, same = (sum(getattr(bed, name) for bed in beds.values()) for name in ("trials", "as_planned"))
    return (
        f"{same} of {trials} trials on {len(beds)} file systems have the plan's calls and bytes",
        same == trials,
    )


def below_the_peak(beds: Mapping[str, Bed]) -> tuple[str, bool]:
    known = {name: bed.share for name, bed in beds.items() if math.isfinite(bed.share)}
    figure = "; ".join(f"{name} {100 * share:.0f} %" for name, share in known.items())
    return f"the fastest setting ÷ what one process gets there: {figure}", all(s < 1 for s in known.values())


def order_of(bed: Bed) -> list[str]:
    """The workloads from the fastest to the slowest, with the file system's default stripes."""
    return sorted(WORKLOADS, key=bed.mean, reverse=True)


def a_is_fastest(beds: Mapping[str, Bed]) -> tuple[str, bool]:
    orders = {name: order_of(bed) for name, bed in beds.items()}
    return "; ".join(f"{n} {''.join(o)}" for n, o in orders.items()), all(
        o[0] == "A" for o in orders.values()
    )


def d_and_e_are_fastest(beds: Mapping[str, Bed]) -> tuple[str, bool]:
    orders = {name: order_of(bed) for name, bed in beds.items()}
    return (
        "; ".join(f"{n} {''.join(o)}" for n, o in orders.items()),
        all(set(o[:2]) == {"D", "E"} for o in orders.values()),
    )


def rises(workload: str) -> Callable[[Mapping[str, Bed]], tuple[str, bool]]:
    def found(beds: Mapping[str, Bed]) -> tuple[str, bool]:
        key = (workload, DEFAULT)
        ratios = each_bed(beds, lambda bed: ratio(bed.last[key], bed.first[key]))
        return listed(ratios), all(map(higher, ratios.values()))

    return found


def gains_most_where_slowest(beds: Mapping[str, Bed]) -> tuple[str, bool]:
    key = ("B", DEFAULT)
    ratios = each_bed(beds, lambda bed: ratio(bed.last[key], bed.first[key]))
    speeds = {name: bed.mean("B") for name, bed in beds.items()}
    slowest = min(speeds, key=lambda name: speeds[name])
    gains_most = max(ratios, key=lambda name: ratios[name].ratio)
    return f"slowest {slowest}, gains most {gains_most}: {words(ratios[gains_most])}", slowest == gains_most


def b_starts_below_a(beds: Mapping[str, Bed]) -> tuple[str, bool]:
    ratios = each_bed(beds, lambda bed: ratio(bed.first["B", DEFAULT], bed.first["A", DEFAULT]))
    return listed(ratios), all(map(lower, ratios.values()))


def c_is_like_b(beds: Mapping[str, Bed]) -> tuple[str, bool]:
    ratios = each_bed(beds, lambda bed: ratio(bed.runs["C", DEFAULT], bed.runs["B", DEFAULT]))
    return listed(ratios), not any(found.differs for found in ratios.values())


def by_stripes(
    workload: str, above: str, below: str, holds: Callable[[Ratio], bool], on_any: bool = False
) -> Any:
    def found(beds: Mapping[str, Bed]) -> tuple[str, bool]:
        runs = striped(beds)
        ratios = each_bed(runs, lambda bed: ratio(bed.runs[workload, above], bed.runs[workload, below]))
        return listed(ratios), (any if on_any else all)(holds(each) for each in ratios.values())

    return found


def a_gains_nothing(beds: Mapping[str, Bed]) -> tuple[str, bool]:
    texts, gains = [], []
    for name, bed in striped(beds).items():
        nodes, ranks = (ratio(bed.runs["A", kind], bed.runs["A", DEFAULT]) for kind in (NODES, RANKS))
        texts.append(f"{name} fewer {words(nodes)}, more {words(ranks)}")
        gains += [higher(nodes), higher(ranks)]
    return "; ".join(texts), not any(gains)


def cab_turns(beds: Mapping[str, Bed]) -> tuple[str, bool]:
    texts, holds = [], []
    for name, bed in striped(beds).items():
        up = ratio(bed.runs["E", NODES], bed.runs["E", DEFAULT])
        down = ratio(bed.runs["E", RANKS], bed.runs["E", NODES])
        texts.append(f"{name} {words(up)}, then {words(down)}")
        holds.append(higher(up) and lower(down))
    return "; ".join(texts), any(holds)


def best_differs(beds: Mapping[str, Bed]) -> tuple[str, bool]:
    best = {
        name: max((DEFAULT, NODES, RANKS), key=lambda kind: bed.mean("E", kind))
        for name, bed in striped(beds).items()
    }
    return "; ".join(f"{name} {kind}" for name, kind in best.items()), len(set(best.values())) > 1


def machines_are_closer_for_e(beds: Mapping[str, Bed]) -> tuple[str, bool]:
    spread = {w: max(b.mean(w) for b in beds.values()) / min(b.mean(w) for b in beds.values()) for w in "AE"}
    return f"fastest ÷ slowest system: A {spread['A']:.1f}, E {spread['E']:.1f}", spread["E"] < spread["A"]


def widest_errors(beds: Mapping[str, Bed]) -> tuple[str, bool]:
    """Coefficients of variation of D and E, with default stripes."""
    spread = {
        name: max(
            statistics.stdev(bed.runs[w, DEFAULT].values()) / statistics.mean(bed.runs[w, DEFAULT].values())
            for w in "DE"
        )
        for name, bed in beds.items()
    }
    most = max(spread, key=lambda name: spread[name])
    texts = "; ".join(f"{name} {100 * share:.0f} %" for name, share in spread.items())
    return f"largest standard deviation of D and E: {texts}", spread[most] > 2 * statistics.median(
        spread.values()
    )


def weak_bandwidth(
    stripes: str, holds: Callable[[Ratio], bool]
) -> Callable[[Mapping[str, Bed]], tuple[str, bool]]:
    def found(beds: Mapping[str, Bed]) -> tuple[str, bool]:
        ratios = {}
        for name, bed in striped(beds).items():
            ranks = sorted(ranks for kind, ranks in bed.weak if kind == stripes)
            ratios[name] = ratio(bed.weak[stripes, ranks[-1]], bed.weak[stripes, ranks[0]])
        return listed(ratios), all(map(holds, ratios.values()))

    return found


def stripes_that_grow(beds: Mapping[str, Bed]) -> tuple[str, bool]:
    ratios = {}
    for name, bed in striped(beds).items():
        most = max(ranks for _, ranks in bed.weak)
        ratios[name] = ratio(bed.weak["ranks", most], bed.weak["four", most])
    return listed(ratios), any(map(higher, ratios.values()))


def curves_cross(beds: Mapping[str, Bed]) -> tuple[str, bool]:
    """Which system is the fastest at the fewest and at the most ranks."""
    runs = striped(beds)
    fewest, most = (pick(ranks for bed in runs.values() for _, ranks in bed.weak) for pick in (min, max))

    def fastest(ranks: int) -> str:
        return max(runs, key=lambda name: statistics.geometric_mean(runs[name].weak["ranks", ranks].values()))

    at = {ranks: fastest(ranks) for ranks in (fewest, most)}
    return "; ".join(f"{ranks} ranks: {name}" for ranks, name in at.items()), at[fewest] != at[most]


STATEMENTS = (
    Statement("W2", "replicas are portable: the same ones run on all systems", portable),
    Statement("W4", "the peak rate of a system cannot be reached", below_the_peak),
    Statement("W87", "A has the highest bandwidth of all (Fig. 5)", a_is_fastest),
    Statement(
        "W108",
        "replicas of D and E have a higher bandwidth than all others, everywhere (Fig. 8)",
        d_and_e_are_fastest,
    ),
    Statement(
        "W89, W95", "B becomes faster as its checkpoints grow, everywhere: last ÷ first three", rises("B")
    ),
    Statement("W89", "… and so does C", rises("C")),
    Statement("W96", "B begins slower than A, everywhere: first three of B ÷ of A", b_starts_below_a),
    Statement(
        "W97",
        "the slowest system gains most from growing checkpoints, about 7.5 × (Fig. 7)",
        gains_most_where_slowest,
    ),
    Statement("W106", "C's bandwidth behaves like B's: C ÷ B", c_is_like_b),
    Statement(
        "W92, W93", "A gains nothing from fewer or more stripes than the default (Fig. 6)", a_gains_nothing
    ),
    Statement(
        "W101",
        "stripes by node make no difference for B on a fast system (Cab, Fig. 7c): nodes ÷ default",
        by_stripes("B", NODES, DEFAULT, lambda found: not found.differs, on_any=True),
    ),
    Statement(
        "W103",
        "as many stripes as ranks slow B (Fig. 7d): ranks ÷ default",
        by_stripes("B", RANKS, DEFAULT, lower, on_any=True),
    ),
    Statement(
        "W110",
        "E gains by stripes per node (1.5 ×), and loses again by stripes per rank (0.7 ×), on Cab: nodes ÷ default, ranks ÷ nodes",
        cab_turns,
    ),
    Statement(
        "W112",
        "more stripes slightly slow D and E on Titan: nodes ÷ default of E",
        by_stripes("E", NODES, DEFAULT, lower, on_any=True),
    ),
    Statement("W111", "the best striping of E differs between systems", best_differs),
    Statement("W113", "one system varies much more than the others", widest_errors),
    Statement("W114", "systems differ less for E than for A", machines_are_closer_for_e),
    Statement(
        "W119",
        "with four stripes, more ranks bring no more bandwidth (Fig. 9): most ÷ fewest ranks",
        weak_bandwidth("four", lambda found: not higher(found)),
    ),
    Statement("W120", "… nor does it fall", weak_bandwidth("four", lambda found: not lower(found))),
    Statement(
        "W117",
        "stripes that grow with the ranks bring more: most ranks, ranks ÷ four stripes",
        stripes_that_grow,
    ),
    Statement("W118", "one system overtakes another as ranks grow", curves_cross),
)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--blocks", type=int, default=4)
    parser.add_argument("--beds", nargs="+", choices=list(BEDS), default=list(BEDS))
    parser.add_argument("--keep", type=Path, default=ROOT / "build" / NAME, metavar="DIR")
    given = parser.parse_args()
    folder = given.keep.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    perform(given.beds, given.blocks, folder)
    joined(given.beds, folder)
    beds = {bed: measured(bed, folder) for bed in given.beds}
    results = Results()
    for statement in STATEMENTS:
        figure, holds = statement.found(beds)
        print(f"{statement.claims}: {statement.says}: {figure}: {'yes' if holds else 'no'}")
        results.add(
            f"{statement.claims}: {statement.says}", figure, target="as the paper says", reached=holds
        )
    results.write()
    print(f"the pages: {folder / 'striping' / 'report.html'}, {folder / 'weak' / 'report.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
