"""Programs of known truth: does a replica repeat what each of them does, and does its workload say so?

    python benchmarks/behaviour_programs.py [NAME ...] [--logs DIR]

Each program of ../shared/apps/behaviour is built, run under `workalike profile`, and replicated at full scale without
waiting, under the same capture. Three things are compared: every determined counter of both logs, which must be equal;
the files that are left, in number and size; and what the program's README says, which must stand in the workload.
When a replica does it is not compared here; when the program did must stand in the workload.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import h5py
from results import Results

from workalike.characterize import characterize
from workalike.characterize.result import Characterization
from workalike.compare.families import groups_of, key_of_name
from workalike.compare.inputs import characterized_replica
from workalike.darshan import open_logs
from workalike.facts.records import MODULE_OF_LEVEL
from workalike.launch.launchers import Mpiexec
from workalike.launch.run import REPLICA_LOG
from workalike.plan.plan_file import read_plan
from workalike.plan.plan_schema import PlanDump
from workalike.plan.resolve import Options, resolve
from workalike.predict.agreement import WITHIN, DeterminedRow, rows_of
from workalike.predict.chance import by_chance, calls_in, families_at_random
from workalike.predict.determined import RULES, Determined, determined_of_log
from workalike.workload.model import Content, Direction, Family, Lifetime, Order, Pattern, Reason, Workload

PROGRAMS = Path(__file__).parents[2] / "shared" / "apps" / "behaviour"
KIB, MIB = 2**10, 2**20
LONGEST_S = 120


@dataclass(frozen=True)
class Fact:
    """What the README says of a program, and whether a workload says it."""

    says: str
    holds: Callable[[Workload], bool]


@dataclass(frozen=True)
class Program:
    """How a program is built and run in its folder, and what is true of it."""

    name: str
    source: str
    command: list[str]
    facts: Sequence[Fact]
    before: list[str] | None = None
    """Makes the input, without capture."""
    noise: Sequence[str] = ()
    """Output that a workload leaves out, as its rules say."""
    sizes_within: float = 0.0
    """How far sizes of files may differ: where data are compressed, a payload has about the same size."""


def writers(workload: Workload) -> list[Family]:
    return [family for family in workload.families if moved(workload, family, Direction.WRITE)]


def readers(workload: Workload) -> list[Family]:
    return [family for family in workload.families if moved(workload, family, Direction.READ)]


def contents(family: Family) -> list[Content]:
    """The content of each dump."""
    return [family.content_of(dump) for dump in range(family.schedule.dumps)]


def moved(workload: Workload, family: Family, direction: Direction) -> int:
    """Bytes of all dumps."""
    members = family.members(workload.ranks)
    return sum(content.moved(members, direction) for content in contents(family))


def dumps_of(workload: Workload, direction: Direction, size: int) -> list[Family]:
    """The family of each dump that moves so many bytes in a direction."""
    return [
        family
        for family in workload.families
        for content in contents(family)
        if content.moved(family.members(workload.ranks), direction) == size
    ]


def calls(content: Content, members: int) -> int:
    return content.passes * sum(s.repeat * e.total(members) for s in content.streams for e in s.sizes)


def synced(workload: Workload, family: Family) -> int:
    """Syncs of all dumps, those amid the writes and those at their end."""
    members = family.members(workload.ranks)
    return sum(content.fsyncs + content.sync.total(calls(content, members)) for content in contents(family))


def flushed(workload: Workload, family: Family) -> int:
    members = family.members(workload.ranks)
    return sum(content.flushes + content.flush.total(calls(content, members)) for content in contents(family))


def synced_after_each(workload: Workload, family: Family, writes: int) -> bool:
    """Whether syncs are spread over the writes: one dump for each, or one after every so many of them."""
    return all(
        (content.fsyncs == 1 and calls(content, 1) == writes) or content.sync.writes == writes
        for content in contents(family)
    )


def only(families: Sequence[Family]) -> Family | None:
    return families[0] if len(families) == 1 else None


def the_writer(workload: Workload, is_so: Callable[[Family], bool]) -> bool:
    """Whether one family alone writes, and a condition holds for it."""
    family = only(writers(workload))
    return family is not None and is_so(family)


def is_shuffled(family: Family) -> bool:
    return all(
        (content.dataset is not None and content.dataset.order is not Order.SEQUENTIAL)
        or any(stream.pattern is Pattern.RANDOM for stream in content.streams)
        for content in contents(family)
    )


def overlapping(workload: Workload) -> bool:
    """Whether dumps begin together and last until the end of the run."""
    spans = [
        (start, end)
        for family in writers(workload)
        for start, end in zip(family.schedule.starts(), family.schedule.ends(), strict=True)
    ]
    return max(start for start, _ in spans) < min(end for _, end in spans)


def planned(dump: PlanDump, direction: Direction) -> tuple[float, float, float]:
    """(first start, last end, seconds inside calls) of a dump's operations in a direction."""
    window = dump.writes if direction is Direction.WRITE else dump.reads
    length = dump.end_s - dump.start_s
    first, last, busy = window or (0.0, length, max(0.0, length - dump.compute_s))
    return dump.start_s + first, dump.start_s + last, busy


def times(workload: Workload, direction: Direction) -> list[tuple[float, float, float]]:
    """(first start, last end, seconds inside calls) of each dump's operations of a direction, in the original run."""
    families = [bool(moved(workload, family, direction)) for family in workload.families]
    dumps = resolve(workload, Options()).dumps
    return [planned(dump, direction) for dump in dumps if families[dump.family]]


OVERLAP = (
    Fact("8 files of 20 × 64 KiB", lambda w: len(dumps_of(w, Direction.WRITE, 20 * 64 * KIB)) == 8),
    Fact("all are open together", overlapping),
    Fact(
        "each is written from 0 to 3.8 s",
        lambda w: all(first < 0.1 and 3.8 <= last < 4.3 for first, last, _ in times(w, Direction.WRITE)),
    ),
    Fact("with pauses", lambda w: all(busy < 0.4 for _, _, busy in times(w, Direction.WRITE))),
)
STDIO_FSYNC = (
    Fact("160 × 64 KiB", lambda w: the_writer(w, lambda f: moved(w, f, Direction.WRITE) == 10 * MIB)),
    Fact("10 syncs", lambda w: the_writer(w, lambda f: synced(w, f) == 10)),
    Fact("10 flushes", lambda w: the_writer(w, lambda f: flushed(w, f) == 10)),
    Fact("each after 16 writes", lambda w: the_writer(w, lambda f: synced_after_each(w, f, 16))),
    Fact("in short calls", lambda w: sum(busy for _, _, busy in times(w, Direction.WRITE)) < 0.3),
)
REWRITE = (
    Fact("written 8 times", lambda w: len(dumps_of(w, Direction.WRITE, MIB)) == 8),
    Fact("over the same file", lambda w: the_writer(w, lambda f: f.lifetime is Lifetime.REUSED)),
    Fact("which is truncated", lambda w: the_writer(w, lambda f: f.truncate)),
    Fact("8 syncs", lambda w: the_writer(w, lambda f: synced(w, f) == 8)),
)
RENAME = (
    Fact("8 dumps of 1 MiB", lambda w: len(dumps_of(w, Direction.WRITE, MIB)) == 8),
    Fact("renamed", lambda w: the_writer(w, lambda f: f.rename)),
    Fact("one file is left", lambda w: the_writer(w, lambda f: f.keep == 1)),
    Fact("8 syncs", lambda w: the_writer(w, lambda f: synced(w, f) == 8)),
)
SHUFFLED = (
    Fact(
        "2,000 × 12,288 B of one file",
        lambda w: [moved(w, f, Direction.READ) for f in readers(w)] == [2000 * 12288],
    ),
    Fact("in shuffled order", lambda w: [is_shuffled(f) for f in readers(w)] == [True]),
)
COMPRESSED = (
    Fact("4 MB of values", lambda w: the_writer(w, lambda f: moved(w, f, Direction.WRITE) == 4_000_000)),
    Fact("deflated", lambda w: the_writer(w, lambda f: bool(f.tunable.deflate))),
    Fact("a few bytes are left", lambda w: w.compressibility > 0.99),
)
COLLECTIVE = (
    Fact(
        "6 dumps of 80,000 B of each rank",
        lambda w: len(dumps_of(w, Direction.WRITE, 2 * 80_000)) == 6,
    ),
    Fact(
        "collectively",
        lambda w: all(c.collective() for f in dumps_of(w, Direction.WRITE, 2 * 80_000) for c in contents(f)),
    ),
    Fact("6 restarts of 1 MiB", lambda w: len(dumps_of(w, Direction.WRITE, MIB)) == 6),
    Fact(
        "of rank 0 alone",
        lambda w: all(f.members(w.ranks) == 1 for f in dumps_of(w, Direction.WRITE, MIB)),
    ),
    Fact(
        "a log of 72 B, set aside as noise",
        lambda w: [u.bytes for u in w.uncovered if u.reason is Reason.NOISE] == [72],
    ),
)
LONG_READER = (
    Fact("4 MiB are read twice", lambda w: len(dumps_of(w, Direction.READ, 4 * MIB)) == 2),
    Fact(
        "of the same file",
        lambda w: (f := only(readers(w))) is not None and f.lifetime is Lifetime.REUSED,
    ),
    Fact("each time at once", lambda w: all(b - a < 0.4 for a, b, _ in times(w, Direction.READ))),
    Fact("5 scratch dumps of 4 MiB", lambda w: len(dumps_of(w, Direction.WRITE, 4 * MIB)) == 5),
    Fact(
        "they lie between the reads",
        lambda w: (
            (f := only(readers(w))) is not None
            and f.schedule.starts()[0] < min(s for g in writers(w) for s in g.schedule.starts())
            and f.schedule.starts()[-1] > max(s for g in writers(w) for s in g.schedule.starts())
        ),
    ),
)
INHERITED = (
    Fact("24 MiB are written", lambda w: sum(moved(w, f, Direction.WRITE) for f in writers(w)) == 24 * MIB),
    Fact("24 MiB are read", lambda w: sum(moved(w, f, Direction.READ) for f in readers(w)) == 24 * MIB),
)
KNOWN = (
    Program("overlap", "overlap.c", ["./overlap"], OVERLAP),
    Program("stdio_fsync", "stdio_fsync.c", ["./stdio_fsync"], STDIO_FSYNC),
    Program("rewrite", "rewrite.c", ["./rewrite"], REWRITE),
    Program("rename", "rename.c", ["./rename"], RENAME),
    Program(
        "shuffled_reads",
        "shuffled_reads.py",
        [sys.executable, "shuffled_reads.py"],
        SHUFFLED,
        before=[sys.executable, "shuffled_reads.py", "make"],
    ),
    Program(
        "compressed", "compressed.py", [sys.executable, "compressed.py"], COMPRESSED, sizes_within=WITHIN
    ),
    Program(
        "collective_with_log",
        "collective_with_log.c",
        ["mpiexec", "-n", "2", "./collective_with_log"],
        COLLECTIVE,
        noise=("run.log",),
    ),
    Program(
        "long_reader",
        "long_reader.c",
        ["./long_reader"],
        LONG_READER,
        before=["dd", "if=/dev/zero", "of=input.dat", "bs=1M", "count=4"],
    ),
    Program(
        "inherited",
        "inherited.sh",
        ["./inherited.sh"],
        INHERITED,
        before=["dd", "if=/dev/urandom", "of=shard.bin", "bs=1M", "count=24"],
    ),
)


@dataclass(frozen=True)
class Outcome:
    """What was found of a program. `rows` are the determined counters of its log, and of the replica's log."""

    grade: str
    rows: list[DeterminedRow]
    left: tuple[list[int], list[int]]
    """Sizes of the files that the program, and its replica, have written and left; of HDF5 files, of their data."""
    missing: list[str]

    @property
    def unequal(self) -> list[DeterminedRow]:
        return [row for row in self.rows if row.expected != row.found]


def build(program: Program, folder: Path) -> None:
    """The program and its inputs in a folder."""
    source = folder / program.source
    shutil.copy(PROGRAMS / program.source, source)
    if source.suffix == ".c":
        uses_mpi = "<mpi.h>" in source.read_text(encoding="utf-8")
        compiler = ["mpicc" if uses_mpi else "cc", "-O1", "-o", str(folder / program.name), str(source)]
        subprocess.run(compiler, check=True)
    if program.before is not None:
        subprocess.run(program.before, cwd=folder, check=True, capture_output=True)


def workalike(
    *words: str, cwd: Path | None = None, seconds: float = LONGEST_S
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "workalike", *words],
        cwd=cwd,
        env={**os.environ, **Mpiexec().environment()},
        capture_output=True,
        text=True,
        timeout=seconds,
    )


def size_of(path: Path) -> int:
    """Bytes of a file; of an HDF5 file those of its datasets, since the others are the library's."""
    if path.suffix != ".h5":
        return path.stat().st_size
    with h5py.File(path) as file:
        sizes: list[int] = []
        file.visititems(
            lambda _, found: (
                sizes.append(found.id.get_storage_size()) if isinstance(found, h5py.Dataset) else None
            )
        )
    return sum(sizes)


def same_files(program: Program, outcome: Outcome) -> bool:
    """Whether a program and its replica have left as many files, of the same sizes."""
    ours, theirs = outcome.left
    return len(ours) == len(theirs) and all(
        abs(a - b) <= program.sizes_within * a for a, b in zip(ours, theirs, strict=True)
    )


def outcome_of(program: Program, work: Path) -> Outcome:
    """Run a program and its replica below `work`, and compare them."""
    app, out, data, logs = (work / name for name in ("app", "out", "data", "logs"))
    for folder in (app, logs):
        folder.mkdir(parents=True)
    build(program, app)
    before = {path.name for path in app.iterdir()}
    done = workalike("profile", "-o", f"{logs}/", "--", *program.command, cwd=app)
    found_logs = sorted(logs.glob("*.darshan"))
    if done.returncode or not found_logs:
        return Outcome(f"not captured: {done.stderr.strip()[-100:]}", [], ([], []), all_missing(program))
    left = [size_of(path) for path in app.iterdir() if path.name not in {*before, *program.noise}]
    done = workalike(
        "replicate",
        *map(str, found_logs),
        *("-o", str(out), "--dir", str(data), "--full", "--time-scale", "0", "--keep"),
    )
    if not (out / REPLICA_LOG).exists():
        return Outcome(f"not replicated: {done.stderr.strip()[-100:]}", [], (left, []), all_missing(program))
    fidelity = work / "fidelity.json"
    workalike(
        *("compare", str(out / "workload.yaml"), str(out / REPLICA_LOG)),
        *("--plan", str(out / "plan.json"), "-o", str(fidelity), "--quiet"),
    )
    grade = json.loads(fidelity.read_text(encoding="utf-8"))["verdict"]["grade"]
    original = characterize(open_logs(found_logs))
    replica = characterized_replica(open_logs([out / REPLICA_LOG]))
    at_random = families_at_random(read_plan(out / "plan.json"))
    rows = log_against_log(original, replica)
    calls = calls_in(rows)
    return Outcome(
        grade,
        [row for row in rows if not by_chance(row, at_random, calls)],
        (sorted(left), sorted(sizes_written(replica, data))),
        [fact.says for fact in program.facts if not holds(fact, original.workload)],
    )


def all_missing(program: Program) -> list[str]:
    return [fact.says for fact in program.facts]


def holds(fact: Fact, workload: Workload) -> bool:
    return bool(workload.families) and fact.holds(workload)


def log_against_log(original: Characterization, replica: Characterization) -> list[DeterminedRow]:
    """Each determined counter of the original's files, and of the replica's files of the same families."""
    families = {(f.family.role, f.family.number): f for f in original.families}
    rows: list[DeterminedRow] = []
    of_replica = {
        file.key: file
        for family in replica.families
        for file in family.files()
        if key_of_name(file.name) is not None
    }
    for group in groups_of(original):
        files = list({file.key: file for key in group for file in families[key].files()}.values())
        same = [file for file in of_replica.values() if key_of_name(file.name) in group]
        own = {MODULE_OF_LEVEL[families[key].family.counted_at] for key in group}
        for module in RULES:
            before, after = determined_of_log(files, module), determined_of_log(same, module)
            if module in own or (own == {"MPI-IO"} and module == "POSIX"):
                rows += rows_of(group, module, before, after, below=module not in own)
            elif own == {"STDIO"} and module == "POSIX":
                rows += rows_of(group, module, syncs_of(before), syncs_of(after))
    return rows


def syncs_of(counted: Determined) -> Determined:
    """Of the calls below a stream, those that the application makes itself."""
    kept = {name: counted.counters.get(name, 0) for name in ("FSYNCS", "FDSYNCS")}
    return Determined(kept, complete=False)


def sizes_written(replica: Characterization, data: Path) -> Iterator[int]:
    """Sizes of the files in a folder that belong to families that write."""
    written = {
        (f.family.role, f.family.number)
        for f in replica.families
        if any(c.moved(1, Direction.WRITE) for c in f.family.all_contents())
    }
    for path in data.rglob("*"):
        if path.is_file() and key_of_name(path.name) in written:
            yield size_of(path)


def show(program: Program, outcome: Outcome) -> None:
    equal = len(outcome.rows) - len(outcome.unequal)
    facts = len(program.facts) - len(outcome.missing)
    print(
        f"{program.name:20} {outcome.grade:10} {equal:4} of {len(outcome.rows):4} counters  "
        f"{facts} of {len(program.facts)} facts  {len(outcome.left[1])} of {len(outcome.left[0])} files",
        flush=True,
    )
    for row in outcome.unequal:
        group = " + ".join(f"{role.value} {number}" for role, number in row.group)
        print(
            f"    {group}: {row.module} {row.counter}: {row.expected:,} in the log, {row.found:,} in the replica's"
        )
    for fact in outcome.missing:
        print(f"    not in the workload: {fact}")
    if not same_files(program, outcome):
        print(f"    files left: {outcome.left[0]} by the program, {outcome.left[1]} by the replica")


def keep(results: Results, outcomes: dict[str, Outcome]) -> None:
    for program in KNOWN:
        if program.name not in outcomes:
            continue
        outcome = outcomes[program.name]
        equal = len(outcome.rows) - len(outcome.unequal)
        facts = len(program.facts)
        good = is_good(program, outcome)
        unequal = f"; off: {', '.join(dict.fromkeys(row.counter for row in outcome.unequal))}"
        missing = f"; not in the workload: {', '.join(outcome.missing)}"
        results.add(
            f"`{program.name}`: determined counters equal; facts in the workload; verdict",
            f"{equal} of {len(outcome.rows)}; {facts - len(outcome.missing)} of {facts}; {outcome.grade}"
            f"{unequal if outcome.unequal else ''}{missing if outcome.missing else ''}",
            target="all",
            reached=good,
            counters=float(len(outcome.rows)),
            equal=float(equal),
            facts=float(facts - len(outcome.missing)),
        )


def is_good(program: Program, outcome: Outcome) -> bool:
    complete = bool(outcome.rows) and not outcome.unequal and not outcome.missing
    return complete and same_files(program, outcome)


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("names", nargs="*", metavar="NAME")
    options.add_argument("--logs", type=Path, default=None, help="keep programs, logs and replicas there")
    given = options.parse_args()
    if not PROGRAMS.is_dir():
        print(f"needs the programs in {PROGRAMS}", file=sys.stderr)
        return 2
    results = Results()
    outcomes: dict[str, Outcome] = {}
    with tempfile.TemporaryDirectory() as temporary:
        place = (given.logs or Path(temporary)).resolve()
        for program in KNOWN:
            if given.names and program.name not in given.names:
                continue
            shutil.rmtree(place / program.name, ignore_errors=True)
            outcomes[program.name] = outcome_of(program, place / program.name)
            show(program, outcomes[program.name])
    keep(results, outcomes)
    results.write()
    return 0 if all(is_good(p, outcomes[p.name]) for p in KNOWN if p.name in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
