"""Runs cases of the zoo: `python -m tests.zoo.run --cases 50`, in the root of the project."""

from __future__ import annotations

import argparse
import json
import math
import random
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path

from .case import REPLICAS, Outcome, Replica, missing, run_case
from .commands import end_all
from .kinds import KINDS
from .program import Kind


def chosen(seed: int, cases: int, name: str | None = None) -> Iterator[tuple[Kind, int]]:
    """The cases of a seed: all kinds in turn, in an order and with seeds of chance. Of one kind: this seed first."""
    rng = random.Random(seed)
    if name is not None:
        yield KINDS[name], seed
        for _ in range(cases - 1):
            yield KINDS[name], rng.randrange(1_000_000)
        return
    left: list[Kind] = []
    for _ in range(cases):
        if not left:
            left = rng.sample(list(KINDS.values()), len(KINDS))
        yield left.pop(), rng.randrange(1_000_000)


def upper_bound(found: int, tried: int) -> float:
    """The 95 % upper bound of a share, of `found` in `tried` (Clopper-Pearson, one-sided)."""
    if found >= tried:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        share = (low + high) / 2
        at_most = sum(math.comb(tried, k) * share**k * (1 - share) ** (tried - k) for k in range(found + 1))
        low, high = (share, high) if at_most > 0.05 else (low, share)
    return high


def last_line(replica: Replica) -> str:
    """The last line of what a command said."""
    return (replica.message.splitlines() or [""])[-1]


def causes_of(replica: Replica) -> set[str]:
    """The lines and counters for which a replica is graded close or different."""
    if replica.grade not in ("close", "different"):
        return set()
    return {" ".join((reason.split(":")[0], *reason.split()[-2:-1])) for reason in replica.reasons}


def line_of(outcome: Outcome) -> str:
    """One case in a line."""
    if outcome.broken:
        return f"{outcome.kind} {outcome.seed}: does not run: {outcome.broken.splitlines()[-1]}"
    parts = []
    for name, replica in outcome.replicas.items():
        words = [name, replica.grade or f"exit {replica.code}"]
        if replica.off:
            words.append(
                "off: " + ", ".join(f"{row.measure} {row.original:g}→{row.replica:g}" for row in replica.off)
            )
        if replica.false_green:
            words.insert(0, "FALSE GREEN")
        if replica.crash:
            words.insert(0, f"CRASH ({replica.crash})")
        parts.append(" ".join(words))
    calls = [f"calls off: {', '.join(outcome.calls['off'])}"] if outcome.calls.get("off") else []
    return f"{outcome.kind} {outcome.seed}: " + "; ".join(parts + calls)


def summary(outcomes: Sequence[Outcome]) -> str:
    """What all cases together say."""
    ran = [outcome for outcome in outcomes if not outcome.broken]
    kinds = {outcome.kind for outcome in ran}
    lines = [f"{len(ran)} cases of {len(kinds)} kinds; {len(outcomes) - len(ran)} programs did not run here"]
    for outcome in outcomes:
        if outcome.broken:
            lines.append(f"  did not run: {outcome.name}: {outcome.broken.splitlines()[-1]}")
    both = [(outcome, name, outcome.replicas[name]) for outcome in ran for name in outcome.replicas]
    green = [(outcome, name, replica) for outcome, name, replica in both if replica.false_green]
    lines.append(f"{len(green)} false greens of {len(both)} replicas")
    for outcome, name, replica in green:
        far = ", ".join(f"{row.measure} {row.original:g}→{row.replica:g}" for row in replica.off)
        lines.append(f"  {outcome.name} ({name}): {replica.grade}, off: {far}")
    crashed = [(outcome, name, replica) for outcome, name, replica in both if replica.crash]
    lines.append(f"{len(crashed)} crashes")
    lines += [
        f"  {outcome.name} ({name}): {replica.crash}: {last_line(replica)}"
        for outcome, name, replica in crashed
    ]
    refused = [(outcome, name, replica) for outcome, name, replica in both if replica.refused]
    lines.append(f"{len(refused)} refusals")
    lines += [f"  {outcome.name} ({name}): {last_line(replica)}" for outcome, name, replica in refused]
    failed = [
        (outcome, name, replica) for outcome, name, replica in both if replica.code == 1 and not replica.crash
    ]
    lines.append(f"{len(failed)} replicas failed or fell short (exit 1)")
    lines += [f"  {outcome.name} ({name}): {last_line(replica)}" for outcome, name, replica in failed]
    for name in REPLICAS:
        known = [outcome.replicas[name] for outcome in ran if name in outcome.replicas]
        true = [replica for replica in known if replica.true]
        low = sum(replica.grade in ("close", "different") for replica in true)
        share = f", {low} of these graded close or different ({100 * low / len(true):.0f} %)" if true else ""
        grades = ", ".join(
            f"{grade or 'none'} {n}" for grade, n in Counter(replica.grade for replica in known).items()
        )
        causes = Counter(cause for replica in true for cause in causes_of(replica))
        lines.append(f"{name}: {len(true)} of {len(known)} replicas are true{share}; grades: {grades}")
        most = ", ".join(f"{cause} {times}" for cause, times in causes.most_common(12))
        lines += [f"  true, yet close or different, for: {most}"] if most else []
        lines += [
            f"  of programs of {interface}: {share}" for interface, share in shares_by_interface(ran, name)
        ]
    unjudged = sum(replica.storage.get("judged") is False for _, _, replica in both)
    lines.append(f"storage not judged: {unjudged} of {len(both)} replicas")
    traced = [outcome for outcome in ran if outcome.calls]
    differing = [outcome for outcome in traced if outcome.calls.get("off")]
    lines.append(f"system calls: {len(traced)} cases traced, {len(differing)} with calls that are off")
    lines += [f"  {outcome.name}: {', '.join(outcome.calls['off'])}" for outcome in differing]
    wrong = len({outcome.kind for outcome, _, _ in green})
    if kinds:
        bound = 100 * upper_bound(wrong, len(kinds))
        lines.append(
            f"kinds with a false green: {wrong} of {len(kinds)}; 95 % upper bound of their share {bound:.1f} %"
        )
    return "\n".join(lines)


def shares_by_interface(ran: Sequence[Outcome], name: str) -> list[tuple[str, str]]:
    """How many replicas of a way (`trace`, `counters`) are true, by the interface of the programs."""
    found: dict[str, list[bool]] = {}
    for outcome in ran:
        if name in outcome.replicas:
            interface = KINDS[outcome.kind].program(outcome.seed).interface
            found.setdefault(interface, []).append(outcome.replicas[name].true)
    return [
        (interface, f"{sum(true)} of {len(true)} are true ({100 * sum(true) / len(true):.1f} %)")
        for interface, true in sorted(found.items())
    ]


def run_all(
    cases: Sequence[tuple[Kind, int]], scratch: Path, jobs: int = 1, every: int = 10, keep: bool = False
) -> list[Outcome]:
    """Run cases in folders of their own below `scratch`; of each `every`th the system calls are compared as well."""
    done: list[Outcome] = []
    start = time.monotonic()

    def outcome_of(number: int, kind: Kind, seed: int) -> Outcome:
        folder = scratch / f"{number}-{kind.name}"
        try:
            return run_case(kind, seed, folder, with_calls=every > 0 and number % every == every - 1)
        except Exception as error:  # one case must not end hundreds
            return Outcome(kind.name, kind.group, seed, {}, broken=f"{type(error).__name__}: {error}")
        finally:
            if not keep:
                shutil.rmtree(folder, ignore_errors=True)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            futures = [
                pool.submit(outcome_of, number, kind, seed) for number, (kind, seed) in enumerate(cases)
            ]
            for future in as_completed(futures):
                done.append(future.result())
                print(
                    f"[{len(done)}/{len(cases)}, {time.monotonic() - start:.0f} s] {line_of(done[-1])}",
                    flush=True,
                )
        except BaseException:
            end_all()
            pool.shutdown(cancel_futures=True)
            raise
    return done


def main() -> int:
    """Run cases, print a line for each and a summary; exit 1 for a false green or a crash."""
    parser = argparse.ArgumentParser(description="Small programs as independent witnesses of the verdict.")
    parser.add_argument("--cases", type=int, help="how many [default: one of each kind, or 1 with --kind]")
    parser.add_argument("--seed", type=int, help="[default: of the system's entropy]")
    parser.add_argument("--kind", choices=sorted(KINDS), metavar="NAME", help="only this kind")
    parser.add_argument("--list", action="store_true", help="list the kinds")
    parser.add_argument("--jobs", type=int, default=1, help="cases at a time [default: 1]")
    parser.add_argument(
        "--calls-every", type=int, default=10, help="cases per trace of system calls; 0: none"
    )
    parser.add_argument("--keep", type=Path, help="keep the folders of all cases here")
    parser.add_argument("-o", "--output", type=Path, help="file for all outcomes (JSON)")
    options = parser.parse_args()
    if options.list:
        for kind in KINDS.values():
            print(f"{kind.group:12} {kind.name:32} {(kind.make.__doc__ or '').splitlines()[0]}")
        return 0
    seed = options.seed if options.seed is not None else secrets.randbelow(1_000_000)
    count = options.cases or (1 if options.kind else len(KINDS))
    print(f"seed {seed}, {count} cases of {1 if options.kind else len(KINDS)} kinds", flush=True)
    cases = []
    for kind, own in chosen(seed, count, options.kind):
        lacks = missing(kind.program(own))
        if lacks:
            print(f"left out: {kind.name} needs {lacks}", flush=True)
        else:
            cases.append((kind, own))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    scratch = options.keep or Path(tempfile.mkdtemp(prefix="zoo-"))
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        outcomes = run_all(cases, scratch, options.jobs, options.calls_every, options.keep is not None)
    except KeyboardInterrupt:
        return 130
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    print(summary(outcomes))
    if options.output:
        options.output.write_text(
            json.dumps({"seed": seed, "cases": [asdict(outcome) for outcome in outcomes]}, indent=1)
        )
    bad = any(
        replica.false_green or replica.crash for outcome in outcomes for replica in outcome.replicas.values()
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
