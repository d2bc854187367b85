"""A mix of three logs' workloads at full scale: does each move the bytes that it moves alone, and that its log has?

    python benchmarks/mix_of_logs.py

The logs are of `../shared/logs`. Bytes come from three places: PyDarshan's counters of the log, the record of the run
alone, and the record of the run side by side. A log has a few bytes more: those of files that count as noise. Counts
are those of the two records, dump by dump.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from results import Results

ROOT = Path(__file__).parents[1]
LOGS = ROOT.parent / "shared" / "logs"
CHOSEN = {"ior": "ior-strided-views-4", "lammps": "lammps-growth-4", "gromacs": "gromacs-2"}
TIME_SCALE = 0.1
NOISE = 0.02
"""Share of a log's bytes that files of no weight may have."""


def workalike(*arguments: object) -> None:
    done = subprocess.run([sys.executable, "-m", "workalike", *map(str, arguments)], check=False)
    if done.returncode not in (0, 3):
        sys.exit(f"workalike {arguments[0]} ended with {done.returncode}")


def bytes_of_log(log: Path) -> tuple[int, int]:
    """Bytes that the application wrote and read, by PyDarshan: those of POSIX, and of STDIO but for its streams."""
    import darshan

    report = darshan.DarshanReport(str(log), read_all=True)
    written = read = 0
    for module in ("POSIX", "STDIO"):
        if module not in report.records:
            continue
        table = report.records[module].to_df()["counters"]
        names = table["id"].map(report.name_records)
        table = table[~names.isin(["<STDIN>", "<STDOUT>", "<STDERR>"])]
        written += int(table[f"{module}_BYTES_WRITTEN"].sum())
        read += int(table[f"{module}_BYTES_READ"].sum())
    return written, read


def bytes_of_record(path: Path) -> tuple[int, int]:
    dumps: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["dumps"]
    return sum(d["bytes_written"] for d in dumps), sum(d["bytes_read"] for d in dumps)


def main() -> int:
    results = Results()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        lines = ["mix: 1", f"time_scale: {TIME_SCALE}", "repeats: 3", "workloads:"]
        for name, log in CHOSEN.items():
            workalike("characterize", LOGS / f"{log}.darshan", "-o", folder / f"{name}.yaml")
            lines.append(f"- {{name: {name}, file: {name}.yaml}}")
        (folder / "mix.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        workalike("mix", folder / "mix.yaml", "--dir", folder / "data", "-o", folder / "out", "-q")
        mix = json.loads((folder / "out" / "mix.json").read_text(encoding="utf-8"))
        for copy in mix["copies"]:
            name = copy["name"]
            alone = bytes_of_record(folder / "out" / "round-1" / "alone" / name / "run.json")
            together = bytes_of_record(folder / "out" / "round-1" / "together" / f"{name}-1" / "run.json")
            logged = bytes_of_log(LOGS / f"{CHOSEN[name]}.darshan")
            is_same = alone == together and copy["as_alone"] and abs(sum(together) / sum(logged) - 1) < NOISE
            results.add(
                f"a mix of three logs, `{CHOSEN[name]}`: bytes written and read side by side, alone, and in the log; counts; slowdown",
                f"{together[0]:,} and {together[1]:,} B side by side; {'the same' if alone == together else f'{alone[0]:,} and {alone[1]:,} B'} alone; "
                f"{sum(together) / sum(logged):.2%} of the log's; "
                f"counts {'as' if copy['as_alone'] else 'not as'} alone; slowed down {copy['slowdown']:.2f} × "
                f"({copy['slowdown_low']:.2f} to {copy['slowdown_high']:.2f} in three rounds)",
                target="as alone",
                reached=is_same,
                slowdown=copy["slowdown"],
            )
            print(results.figures[-1].figure, flush=True)
    results.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
