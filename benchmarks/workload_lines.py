"""How long is the workload of a log? Lines of YAML of every known log, and of jobs of several logs.

    python benchmarks/workload_lines.py

Targets: at most 60 lines for nine in ten logs; 120 for `mphys-c-small-typhonio-4`; none above 300, unless an operation
table stands beside it; 40 for the training loop of four logs, 80 for the PyTorch loader of thirteen, whose bytes and
opens are exact.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from full_scale import known_logs
from results import Results

from workalike.characterize import Characterization, characterize
from workalike.compare.lines import model_against_log
from workalike.compare.pairing import pair_up
from workalike.darshan import open_log
from workalike.errors import WorkalikeError
from workalike.workload.workload_file import workload_texts

SHORT, SHARE, LONGEST = 60, 0.9, 300
OF_ONE = {"mphys-c-small-typhonio-4.darshan": 120}
JOBS = {"training-loop-4": 40, "pytorch-loader": 80}
EXACT = ("OPENS", "BYTES_READ", "BYTES_WRITTEN")


def workload_of(paths: Sequence[Path]) -> Characterization | None:
    """None for a log in which nothing can be replicated."""
    try:
        return characterize([open_log(path) for path in paths])
    except WorkalikeError:
        return None


def lines_of(found: Characterization) -> int:
    """Of the workload file, as `characterize -o` writes it."""
    return workload_texts(found.workload)[0].count("\n")


def lists_beside(found: Characterization) -> int:
    """Lines of the file with its long lists."""
    return workload_texts(found.workload)[1].count("\n")


def add_logs(results: Results, found: dict[str, Characterization]) -> None:
    """The figures of single logs."""
    lines = {name: lines_of(each) for name, each in found.items()}
    for name, number in sorted(lines.items(), key=lambda item: -item[1]):
        beside = lists_beside(found[name])
        also = "  + operation table" if found[name].workload.operations else ""
        print(f"{number:6}  {name[:60]}{also}{f'  + {beside} lines of lists' if beside else ''}")
    short = sum(number <= SHORT for number in lines.values())
    results.add(
        f"lines of YAML: logs with at most {SHORT}",
        f"{short} of {len(lines)}",
        target="nine in ten",
        reached=short >= SHARE * len(lines),
        logs=float(short),
    )
    apart = {name: lists_beside(each) for name, each in found.items() if lists_beside(each)}
    results.add(
        "… of them with long lists in a file beside the workload",
        ", ".join(f"`{name}` ({number} lines)" for name, number in sorted(apart.items())) or "none",
    )
    for name, most in OF_ONE.items():
        if name in lines:
            results.add(
                f"… `{name}`",
                f"{lines[name]}",
                target=f"≤ {most}",
                reached=lines[name] <= most,
                lines=float(lines[name]),
            )
    without = {name: number for name, number in lines.items() if found[name].workload.operations is None}
    longest = max(without, key=lambda name: without[name])
    results.add(
        "… the longest without an operation table",
        f"{without[longest]} (`{longest}`)",
        target=f"≤ {LONGEST}",
        reached=without[longest] <= LONGEST,
        lines=float(without[longest]),
    )


def add_jobs(results: Results, shared: Path) -> None:
    """The figures of jobs of several logs."""
    for name, most in JOBS.items():
        paths = sorted((shared / name).glob("*.darshan"))
        found = workload_of(paths) if paths else None
        if found is None:
            continue
        rows = [row for row in model_against_log(pair_up(found, None)) if row.counter in EXACT]
        off = [row for row in rows if row.expected != row.found]
        number = lines_of(found)
        print(f"{number:6}  {name}/: {len(rows) - len(off)} of {len(rows)} bytes and opens exact")
        exact = (
            "all bytes and opens exact" if not off else f"{len(off)} of {len(rows)} bytes and opens are off"
        )
        results.add(
            f"… `{name}/`, {len(paths)} logs",
            f"{number}; {exact}",
            target=f"≤ {most}; exact",
            reached=number <= most and not off,
            lines=float(number),
        )


def main() -> int:
    logs = known_logs()
    found = {path.name: each for path in logs if (each := workload_of([path])) is not None}
    results = Results()
    add_logs(results, found)
    add_jobs(results, logs[-1].parent)
    results.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
