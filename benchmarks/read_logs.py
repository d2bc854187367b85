"""How fast logs are read: against bare zlib inflate, and against PyDarshan.

``python benchmarks/read_logs.py [LOG ...]``; without arguments the logs of the PyPI package darshan and
those in ../shared/logs. Both sides of a comparison run in this process, alternately, and the printed
figure is the median of the ratios of neighbouring runs; so a machine that slows down slows both.

Compared are:

1. *everything*: ``open_log`` and every region that we decode, as arrays and a dict of names, the file
   read from the page cache included; against a loop of ``zlib.decompressobj`` over the same regions
   already in memory, that does nothing with what comes out.
2. *counters*: ``open_log`` and the records of POSIX, MPI-IO, STDIO, H5F, H5D, PNETCDF_FILE and
   PNETCDF_VAR as arrays; against ``DarshanReport(read_all=False)`` and
   ``mod_read_all_records(dtype="numpy")`` of the same modules. DXT, heatmap and Lustre are skipped on
   both sides. PyDarshan reads the names each time, so the comparison is made without names on our
   side ("counters") and with them ("and names"). PyDarshan's result is a list of dicts with two
   arrays each; nothing is converted any further on either side. As no reader can be faster than
   zlib, the last column gives bare inflate of just these regions against PyDarshan: the ceiling.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import statistics
import sys
import time
import zlib
from collections.abc import Callable, Collection
from pathlib import Path

from results import Results

from workalike.darshan import Log, open_log
from workalike.darshan.header import Header
from workalike.darshan.layouts import FIXED, ZLIB

MEGABYTE = 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure how fast logs are read.")
    parser.add_argument("logs", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=21, help="runs of each side (default 21)")
    options = parser.parse_args()
    logs: list[Path] = options.logs or default_logs()
    if not logs:
        print("no logs found", file=sys.stderr)
        return 2
    print(f"{len(logs)} logs, {options.rounds} alternating runs each, medians")
    results = Results()
    compare_with_inflate(logs, options.rounds, results)
    compare_with_pydarshan(logs, options.rounds, results)
    results.write()
    return 0


def default_logs() -> list[Path]:
    """The logs of the installed package darshan (each once) and of ../shared/logs."""
    found = sorted((Path(__file__).parents[2] / "shared" / "logs").rglob("*.darshan"))
    spec = importlib.util.find_spec("darshan")
    if spec and spec.origin:
        found += sorted(Path(spec.origin).parent.rglob("*.darshan"))
    unique = {log.read_bytes(): log for log in found}
    return list(unique.values())


def read_everything(path: Path) -> Log:
    log = open_log(path)
    _ = log.names
    read_counters(log)
    log.lustre()
    log.heatmaps()
    for module in ("DXT_POSIX", "DXT_MPIIO"):
        log.dxt(module)
    return log


def read_counters(log: Log) -> Log:
    for module in log.modules:
        if module in FIXED:
            log.records(module)
    return log


def compressed_regions(path: Path, modules: Collection[str] | None = None) -> list[bytes]:
    """The compressed regions that we inflate: job, names and the modules that we decode, or only these."""
    log = open_log(path)
    header: Header = log._header
    if header.compression != ZLIB:
        return []
    wanted = [header.job, header.names]
    wanted += [
        module.region
        for name, module in log.modules.items()
        if name not in log.skipped and (modules is None or name in modules)
    ]
    data = path.read_bytes()
    return [data[region.offset : region.end] for region in wanted if region.length]


def inflate(data: bytes) -> bytes:
    """All streams of a region, as fast as zlib lets one: no checks, no cap.

    The window keeps what a stream leaves over short; without it zlib's wrapper copies the rest of
    the region once per stream.
    """
    pieces = []
    at, window = 0, len(data)
    view = memoryview(data)
    while at < len(data):
        stream = zlib.decompressobj()
        fed = at
        while not stream.eof:
            chunk = view[fed : fed + window]
            fed += len(chunk)
            window *= 2
            pieces.append(stream.decompress(chunk))
        start, at = at, fed - len(stream.unused_data)
        window = max(512, 2 * (at - start))
    return b"".join(pieces)


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def alternate(ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> tuple[float, ...]:
    """Run both alternately; give the medians of our time, their time and their time / our time."""
    ours()
    theirs()
    gc.collect()
    pairs = []
    for turn in range(rounds):
        # Who goes first changes, so that what one leaves in the caches favours nobody.
        if turn % 2:
            first, second = seconds(ours), seconds(theirs)
        else:
            second, first = seconds(theirs), seconds(ours)
        pairs.append((first, second))
    return (
        statistics.median(first for first, _ in pairs),
        statistics.median(second for _, second in pairs),
        statistics.median(second / first for first, second in pairs),
    )


def compare_with_inflate(logs: list[Path], rounds: int, results: Results) -> None:
    print("\neverything, against bare zlib inflate of the same regions (rate ratio, 1 = as fast)")
    print(f"{'inflated':>10} {'ours':>10} {'bare':>10} {'ratio':>6}  log")
    prepared = [(log, regions) for log in logs if (regions := compressed_regions(log))]
    small: list[float] = []
    for log, regions in prepared:
        size = sum(len(inflate(region)) for region in regions)
        ours, bare, ratio = alternate(
            lambda log=log: read_everything(log),  # type: ignore[misc]
            lambda regions=regions: [inflate(region) for region in regions],  # type: ignore[misc]
            rounds,
        )
        if size < MEGABYTE:
            small.append(ours)
            continue
        print(f"{size / MEGABYTE:8.2f}MB {ours * 1e3:8.2f}ms {bare * 1e3:8.2f}ms {ratio:6.2f}  {log.name}")
    if small:
        print(f"{len(small)} logs below 1 MB inflated: {statistics.median(small) * 1e3:.2f} ms per log")
    size = sum(len(inflate(region)) for _, regions in prepared for region in regions)
    ours, bare, ratio = alternate(
        lambda: [read_everything(log) for log, _ in prepared],
        lambda: [inflate(region) for _, regions in prepared for region in regions],
        rounds,
    )
    results.add(
        f"reading everything in a log against bare zlib inflate, {len(prepared)} logs in a row",
        f"{ratio:.2f} ×",
        target="≥ 0.6 ×",
        reached=ratio >= 0.6,
        ratio=ratio,
    )
    print(
        f"all {len(prepared)} logs one after another: {size / MEGABYTE:.1f} MB, "
        f"ours {size / ours / MEGABYTE:.0f} MB/s, bare {size / bare / MEGABYTE:.0f} MB/s, ratio {ratio:.2f}"
    )


def compare_with_pydarshan(logs: list[Path], rounds: int, results: Results) -> None:
    try:
        from darshan import DarshanReport
    except ImportError:
        print("\nPyDarshan is not installed: no comparison with it")
        return

    def pydarshan(path: Path) -> object:
        report = DarshanReport(str(path), read_all=False)
        for module in report.modules:
            if module in FIXED:
                report.mod_read_all_records(module, dtype="numpy")
        return report

    readable = []
    for log in logs:
        try:
            pydarshan(log)
            readable.append(log)
        except Exception as error:
            print(f"PyDarshan cannot read {log.name}: {error!r}")
    print("\ncounters only, against PyDarshan (how many times faster)")
    print(
        f"{'PyDarshan':>11} {'counters':>11} {'times':>6} {'and names':>11} {'times':>6} {'ceiling':>8}  log"
    )
    groups = [[log] for log in readable] + [readable]
    for group in groups:
        regions = [region for log in group for region in compressed_regions(log, FIXED.keys())]
        turns = rounds if len(group) > 1 else max(3, rounds // 3)

        def theirs(group: list[Path] = group) -> object:
            return [pydarshan(log) for log in group]

        ours, others, ratio = alternate(
            lambda group=group: [read_counters(open_log(log)) for log in group],  # type: ignore[misc]
            theirs,
            turns,
        )
        named, _, named_ratio = alternate(
            lambda group=group: [read_counters(open_log(log)).names for log in group],  # type: ignore[misc]
            theirs,
            turns,
        )
        _, _, ceiling = alternate(
            lambda regions=regions: [inflate(region) for region in regions],  # type: ignore[misc]
            theirs,
            turns,
        )
        if group is readable:
            results.add(
                f"counters only against PyDarshan, {len(group)} logs in a row",
                f"{ratio:.1f} × ({named_ratio:.1f} × with names; the ceiling, bare zlib against PyDarshan, is {ceiling:.1f} ×)",
                target="≥ 10 ×",
                reached=ratio >= 10,
                ratio=ratio,
                ceiling=ceiling,
            )
        print(
            f"{others * 1e3:9.2f}ms {ours * 1e3:9.2f}ms {ratio:6.1f} {named * 1e3:9.2f}ms {named_ratio:6.1f} "
            f"{ceiling:8.1f}  {group[0].name if len(group) == 1 else f'all {len(group)}, one after another'}"
        )


if __name__ == "__main__":
    sys.exit(main())
