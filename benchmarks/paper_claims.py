"""Many small experiments, each for some claims of the four papers (docs/claims.md), on a real parallel file system.

    python benchmarks/paper_claims.py [NAME ...] [--repeats N]

tools/testbed starts a CephFS whose daemons wait 2 ms before each operation. What is compared alternates in random
order. Figures of known logs are from their counters. A figure names the claims that it answers; without NAME all run.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
from catalogue import ROOT
from ecp_applications import built
from full_scale import known_logs
from results import Results

sys.path.append(str(ROOT / "tests"))
sys.path.append(str(ROOT / "tests" / "support"))
from applications import ENVIRONMENT
from claim_daemons import burst_buffer, hinted_opens, stats_of_ranks, stripes_and_daemons
from claim_place import DELAY_S, MIB, Found, Place, Run, median_of, ratio_text, spread, workload

from system.testbed import CephBed
from workalike.characterize import CharacterizeOptions, characterize
from workalike.darshan import open_log
from workalike.diagnose.costs import META, READ, WRITE, seconds
from workalike.diagnose.job import read_job
from workalike.errors import WorkalikeError


def file_modes(place: Place) -> list[Found]:
    modes = {
        "N-1": "shared",
        "N-N": "per-rank",
        "N-M": "{mode: groups, files: 4}",
        "root": "{mode: root, gather: true}",
    }
    stream = "{direction: write, sizes: [8/rank x 256 KiB]}"
    rooted = "{direction: write, sizes: [128/rank x 256 KiB]}"
    texts = {
        name: workload(16, rooted if name == "root" else stream, sharing=mode) for name, mode in modes.items()
    }
    found = place.alternated(texts)
    times = "; ".join(f"{name} {median_of(values)}" for name, values in found.items())
    shared = found["N-1"]
    ratios = "; ".join(
        f"{name} ÷ N-1 {ratio_text(found[name], shared, statistics.median)}"
        for name in modes
        if name != "N-1"
    )
    return [
        Found(
            "W20, W23, M13, D41",
            f"I/O time of 32 MiB by 16 ranks, {place.repeats} blocks",
            f"{times}; {ratios}",
        ),
        Found(
            "D34, D36",
            "… slowest ÷ fastest run",
            "; ".join(f"{name} {max(found[name]) / min(found[name]):.2f}" for name in ("N-1", "N-N")),
        ),
        Found("D42", "… coefficient of variation, N-N ÷ N-1", ratio_text(found["N-N"], shared, spread)),
    ]


def with_capture(place: Place) -> list[Found]:
    stream = "{direction: write, sizes: [16/rank x 128 KiB]}"
    out = []
    for name, sharing in (("shared file", "shared"), ("file per process", "per-rank")):
        text = workload(4, stream, sharing=sharing)
        found: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(2 * place.repeats):
            for captured in random.sample([True, False], 2):
                found[captured].append(place.run(text, capture=captured).io_s)
        quartiles = {key: np.percentile(values, [25, 50, 75]) for key, values in found.items()}
        outliers = {
            key: sum(v > q[2] + 1.5 * (q[2] - q[0]) for v in found[key]) for key, q in quartiles.items()
        }
        out.append(
            Found(
                "D31, D35, D37",
                f"{name}, 4 ranks, {2 * place.repeats} runs each, with ÷ without capture",
                f"median {ratio_text(found[True], found[False], statistics.median)}; standard deviation "
                f"{ratio_text(found[True], found[False], statistics.stdev)}; third quartile "
                f"{1e3 * quartiles[True][2]:.0f} ms and {1e3 * quartiles[False][2]:.0f} ms; runs beyond Q3 + 1.5 IQR: "
                f"{outliers[True]} and {outliers[False]}",
            )
        )
    return out


def files_and_ranks(place: Place) -> list[Found]:
    texts = {
        str(n): workload(
            n, "{direction: write, sizes: [1/rank x 4 KiB]}", sharing="per-rank", interface="posix"
        )
        for n in (1, 4, 16, 32)
    }
    found = place.alternated(texts)
    rates = {name: int(name) / statistics.median(values) for name, values in found.items()}
    return [
        Found(
            "W21, M12",
            "files of 4 KiB that are made, written and closed, all at once, by as many ranks: time, and files per second",
            "; ".join(f"{name}: {median_of(found[name])}, {rates[name]:.0f}/s" for name in texts),
        )
    ]


def recording(place: Place) -> list[Found]:
    """What counters and traces add, in seconds and in bytes."""
    out = []
    for ranks in (4, 16):
        text = workload(
            ranks, "{direction: write, sizes: [2000/rank x 64 B], pattern: interleaved}", interface="posix"
        )
        found: dict[str, list[Run]] = {"none": [], "counters": [], "traces": []}
        for _ in range(place.repeats):
            for name in random.sample(list(found), 3):
                found[name].append(place.run(text, capture=name != "none", traces=name == "traces"))
        base = [run.io_s for run in found["none"]]
        texts = [
            f"{name} {ratio_text([r.io_s for r in found[name]], base, statistics.median)} of the time without, "
            f"log of {found[name][0].log_bytes:,} B"
            for name in ("counters", "traces")
        ]
        out.append(
            Found(
                "W10, W11, W36, W123, D93",
                f"{ranks} ranks with 2,000 writes of 64 B each, by what is recorded",
                "; ".join(texts),
            )
        )
    return out


def bandwidth_of_logs(place: Place) -> list[Found]:
    text = workload(
        8, "{direction: write, sizes: [16/rank x 256 KiB]}", interface="posix", sharing="per-rank"
    )
    ratios = []
    for _ in range(place.repeats):
        run = place.run(text, capture=True)
        assert run.job is not None
        recorded = sum(dump.kinds["write"].total_s for dump in run.record.dumps)
        ratios.append(float(seconds(run.job, WRITE).sum()) / recorded)
    return [
        Found(
            "W85",
            "seconds in writes of 8 ranks, by the log ÷ by the engine's record (bytes are equal, so is the bandwidth)",
            f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})",
        )
    ]


def computing(place: Place) -> list[Found]:
    stream = "{direction: write, sizes: [4/rank x 256 KiB]}"
    lengths = (1, 2, 3)

    def text(level: int, length: int, ranks: int = 1, dumps: int = 1) -> str:
        compute = f"compute: {{level: {level}, length: {length}}}\nfamilies:"
        return workload(ranks, stream, dumps=dumps).replace("families:", compute, 1)

    times = []
    for level in (1, 2, 3):
        spent = [place.run(text(level, length)).record.compute for length in lengths]
        shown = ", ".join(f"{1e3 * each.mean_s:.0f} ms" for each in spent if each is not None)
        times.append(f"level {level}: {shown}")
    found = place.alternated({"with": text(1, 1, ranks=4, dumps=4), "without": workload(4, stream, dumps=4)})
    return [
        Found(
            "M5, M8",
            "computing of a rank in a step at lengths 1, 2 and 3 (1, 2 and 4 units)",
            "; ".join(times),
        ),
        Found(
            "M6",
            "I/O time of 4 steps by 4 ranks with ÷ without computing between them (level 1, length 1)",
            ratio_text(found["with"], found["without"], statistics.median),
        ),
    ]


def staying_open(place: Place) -> list[Found]:
    stream = "{direction: write, sizes: [4/rank x 64 KiB]}"
    texts = {
        name: workload(4, stream, interface="posix", dumps=12, more=f"  lifetime: {lifetime}\n")
        for name, lifetime in (("opened once", "overwritten"), ("opened for each", "reused"))
    }
    found = place.alternated(texts)
    return [
        Found(
            "W46",
            "12 dumps in one file: opened for each ÷ opened once",
            ratio_text(found["opened for each"], found["opened once"], statistics.median),
        )
    ]


def attributes(place: Place) -> list[Found]:
    """FLASH's steps with and without its attributes (examples/ecp)."""
    taken: dict[str, list[float]] = {"as-found": [], "advised": []}
    with tempfile.TemporaryDirectory() as folder:
        program = built("flash", Path(folder))
        for block in range(place.repeats):
            for how in random.sample(list(taken), 2):
                data = place.bed.mount / f"flash-{block}-{how}"
                data.mkdir()
                began = time.monotonic()
                subprocess.run(
                    ["mpiexec", "-n", "4", str(program), how],
                    cwd=data,
                    env={**os.environ, **ENVIRONMENT},
                    check=True,
                )
                taken[how].append((time.monotonic() - began) / 12)
    return [
        Found(
            "E7",
            "time of a step of FLASH's I/O (examples/ecp), attributes in each step ÷ one dataset for all",
            f"{median_of(taken['as-found'])} and {median_of(taken['advised'])}: "
            f"{ratio_text(taken['as-found'], taken['advised'], statistics.median)}",
        )
    ]


def killed_checkpoints(place: Place) -> list[Found]:
    """QMCPACK's checkpoint (examples/ecp), killed at a random moment after the first one."""
    lost = {"as-found": 0, "advised": 0}
    tries = 4 * place.repeats
    with tempfile.TemporaryDirectory() as folder:
        program = built("qmcpack", Path(folder))
        for number in range(tries):
            for how in lost:
                data = Path(folder) / f"{how}-{number}"
                data.mkdir()
                state = data / "he.s000.config.h5"
                process = subprocess.Popen([str(program), how], cwd=data, env={**os.environ, **ENVIRONMENT})
                began = time.monotonic()
                while (
                    not (state.exists() and state.stat().st_size > 3 * MIB) and time.monotonic() < began + 20
                ):
                    time.sleep(0.0005)
                time.sleep(random.uniform(0, 0.03))
                process.send_signal(signal.SIGKILL)
                process.wait()
                lost[how] += not _readable(state)
    return [
        Found(
            "E14",
            f"checkpoints that no longer open after the writer was killed, of {tries} (local disk): overwritten in place; "
            "renamed when complete",
            f"{lost['as-found']}; {lost['advised']}",
        )
    ]


def _readable(path: Path) -> bool:
    try:
        with h5py.File(path) as file:
            return bool(np.isfinite(file["state_0/walkers"][-1]).all())
    except (OSError, KeyError):
        return False


def stats_and_daemons(place: Place) -> list[Found]:
    file = place.bed.mount / "wide"
    file.write_bytes(bytes(16 * MIB))
    os.sync()
    before = place.operations()
    began = time.monotonic()
    for _ in range(1000):
        file.stat()
    took = time.monotonic() - began
    return [
        Found(
            "D13, D15",
            "operations of the storage daemons for 1,000 stats of a file of 4 objects (CephFS keeps sizes at its metadata server)",
            f"{place.operations() - before}; {1e3 * took:.1f} ms in all",
        )
    ]


def read_again(place: Place) -> list[Found]:
    file = place.bed.mount / "read"
    file.write_bytes(os.urandom(32 * MIB))
    os.sync()
    sent = []
    with tempfile.TemporaryDirectory() as folder:
        place.bed("client", folder)  # it has read nothing yet
        for _ in range(2):
            before = sum(v["read"] for v in place.bed("counters").values())
            (Path(folder) / "read").read_bytes()
            sent.append(sum(v["read"] for v in place.bed("counters").values()) - before)
        place.bed("client", "--remove", folder)
    return [
        Found(
            "D73",
            "bytes that daemons send ÷ bytes that a client reads, of a file that it has not read; the same again",
            f"{sent[0] / (32 * MIB):.2f}; {sent[1] / (32 * MIB):.2f}",
        )
    ]


def many_small_files(place: Place) -> list[Found]:
    text = workload(
        32, "{direction: write, sizes: [100/rank x 4 KiB]}", sharing="per-rank", interface="posix", dumps=5
    )
    run = place.run(text, capture=True)
    job = run.job
    assert job is not None
    parts = {kind: float(seconds(job, kind).sum()) / 32 for kind in (META, WRITE)}
    kinds: dict[str, float] = {}
    for dump in run.record.dumps:
        for name, times in dump.kinds.items():
            kinds[name] = kinds.get(name, 0.0) + times.total_s / 32
    return [
        Found(
            "D81",
            "… seconds of a rank by call, in the record of the run",
            ", ".join(
                f"{name} {value:.2f}" for name, value in sorted(kinds.items(), key=lambda item: -item[1])
            ),
        ),
        Found(
            "D82",
            "32 ranks, each 2 MiB in five files in pieces of 4 KiB: seconds of a rank in opens, closes and the like, and in writes",
            f"{parts[META]:.2f} s and {parts[WRITE]:.2f} s",
        ),
    ]


def small_and_large(place: Place) -> list[Found]:
    """Two ways to write the same data where clients keep none, as several on one file."""
    size, pieces = 47_008, 90
    own = workload(4, "{direction: write, sizes: [4/rank x 1 MiB]}", sharing="per-rank", interface="posix")
    aligned = workload(
        4, "{direction: write, sizes: [4/rank x 1 MiB], pattern: interleaved}", interface="posix"
    )
    shared = workload(
        4, f"{{direction: write, sizes: [{pieces}/rank x {size} B], pattern: interleaved}}", interface="posix"
    )
    together = workload(
        4, f"{{direction: write, sizes: [{pieces}/rank x {size} B], pattern: interleaved, collective: true}}"
    )
    texts = {"own": own, "aligned": aligned, "small": shared, "collective": together}
    with CephBed("--no-cache") as bed:
        bed("delay", "all", DELAY_S)
        found = Place(bed, place.repeats).alternated(texts)
    small = found["small"]
    return [
        Found(
            "D86, D90, M14, W22",
            "4 MiB of each of 4 ranks, clients without a cache: interleaved pieces of 47,008 B in a shared file ÷ 1 MiB pieces "
            "aligned in it; ÷ 1 MiB pieces in own files; ÷ the same pieces collectively",
            "; ".join(
                ratio_text(small, found[name], statistics.median) for name in ("aligned", "own", "collective")
            ),
        )
    ]


def patterns_of_logs(_place: Place) -> list[Found]:
    patterns: dict[str, set[str]] = {}
    shares: dict[str, list[float]] = {"checkpoint": [], "visualization": []}
    pairs = []
    logs = 0
    for path in known_logs():
        try:
            found = characterize([open_log(path)], CharacterizeOptions(tables=False))
        except WorkalikeError:
            continue
        logs += 1
        for family in found.workload.families:
            for content in family.all_contents():
                for stream in content.streams:
                    patterns.setdefault(stream.pattern.value, set()).add(path.name)
        job = read_job([open_log(path)])
        spent = seconds(job, READ, WRITE, META)
        total = float(spent[job.own].sum())
        for role in shares if total > 0 else ():
            rows = [family.number for family in job.families if family.role.value == role]
            if rows:
                shares[role].append(float(spent[np.isin(job.family, rows) & job.own].sum()) / total)
        meta = float(seconds(job, META)[job.own].sum())
        moved = float((job.total("POSIX", "BYTES_READ", "BYTES_WRITTEN"))[job.own].sum())
        if total > 0 and moved > 0:
            pairs.append((meta / total, moved / total))
    ranks = np.argsort(np.argsort(np.array(pairs), axis=0), axis=0)
    correlation = float(np.corrcoef(ranks.T)[0, 1])
    texts = [
        f"{name} {len(names)}" for name, names in sorted(patterns.items(), key=lambda item: -len(item[1]))
    ]
    return [
        Found("E21", f"known logs with streams of a pattern, of {logs}", ", ".join(texts)),
        Found(
            "W6, W18",
            "median share of the I/O time that is in a role's files, in known logs that have the role",
            "; ".join(
                f"{role} {100 * statistics.median(values):.0f} % ({len(values)} logs)"
                for role, values in shares.items()
            ),
        ),
        Found(
            "D74",
            "rank correlation of the share of metadata time with bytes per second of I/O time, known logs",
            f"{correlation:.2f} over {len(pairs)} logs",
        ),
    ]


def core_seconds(place: Place) -> list[Found]:
    """A run, against what a replica of it needs: the reading of its log."""
    text = workload(4, "{direction: write, sizes: [16/rank x 256 KiB]}", dumps=8).replace(
        "families:", "compute: {level: 1, length: 3}\nfamilies:", 1
    )
    before = os.times()
    place.run(text, capture=True)
    after = os.times()
    ran = after.children_user + after.children_system - before.children_user - before.children_system
    logs = sorted(known_logs(), key=lambda path: path.stat().st_size)
    cpu = time.process_time()
    characterize([open_log(logs[len(logs) // 2])], CharacterizeOptions())
    return [
        Found(
            "M18",
            "CPU seconds of a run of 4 ranks with 8 dumps, and of the characterization of the known log of median size",
            f"{ran:.1f} s and {time.process_time() - cpu:.2f} s",
        )
    ]


def machines(_place: Place) -> list[Found]:
    table = {"Titan": (18_688, 16, 299_008), "Archer": (4_920, 24, 118_080), "Cab": (1_296, 16, 20_736),
             "Taurus": (1_456, 24, 34_944), "Tinis": (203, 16, 3_488)}  # fmt: skip
    fits = [name for name, (nodes, cores, total) in table.items() if nodes * cores == total]
    return [
        Found(
            "W60",
            "Table I: machines whose nodes × cores are the cores that it states",
            f"{', '.join(fits)}: {len(fits)} of {len(table)}",
        )
    ]


EXPERIMENTS: tuple[Callable[[Place], list[Found]], ...] = (
    machines,
    stats_of_ranks,
    hinted_opens,
    stripes_and_daemons,
    burst_buffer,
    patterns_of_logs,
    stats_and_daemons,
    read_again,
    bandwidth_of_logs,
    computing,
    staying_open,
    killed_checkpoints,
    attributes,
    many_small_files,
    files_and_ranks,
    small_and_large,
    core_seconds,
    recording,
    with_capture,
    file_modes,
)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(e.__name__ for e in EXPERIMENTS))
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    results = Results()
    with CephBed("--daemons", "4") as bed:
        bed("delay", "all", DELAY_S)
        place = Place(bed, given.repeats)
        for experiment in EXPERIMENTS:
            if given.names and experiment.__name__ not in given.names:
                continue
            began = time.monotonic()
            for found in experiment(place):
                print(f"{found.claims}: {found.measure}: {found.figure}", flush=True)
                results.add(f"{found.claims}: {found.measure}", found.figure)
            print(f"  {experiment.__name__}: {time.monotonic() - began:.0f} s", flush=True)
    results.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
