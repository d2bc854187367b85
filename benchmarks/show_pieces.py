"""The pictures of docs/show-pieces.md: two applications captured, replicated, and the figures of their reports.

Each application goes through the commands of the page: `workalike profile` of the application, its input shortened, then
`workalike replicate --full` of that log, in its time, on as many ranks. Two figures of the report are kept, with
coordinates rounded, so that a picture has a few kilobytes.

    python benchmarks/show_pieces.py [--to docs/pictures] [--work DIR] [--reports]

`--reports` takes the reports that an earlier run left in DIR.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from behaviour_lammps import SHARED, shortened

from workalike.launch.launchers import Mpiexec

FIGURES = {"lammps": ("timeline", "sizes"), "meep": ("timeline", "cumulative")}
RANKS = 4
MOST_BYTES = 20_000
DOCS = Path(__file__).parents[1] / "docs/pictures"


def commands(name: str, folder: Path) -> list[str]:
    """The application's command; its input is made in the folder."""
    if name == "lammps":
        text = (SHARED / "apps/lammps-growth.in").read_text(encoding="utf-8")
        (folder / "in.lammps").write_text(shortened(text, 5, 10), encoding="utf-8")
        return ["lmp", "-in", "in.lammps", "-log", "none", "-screen", "none"]
    text = (SHARED / "apps/meep-fields.py").read_text(encoding="utf-8")
    (folder / "fields.py").write_text(text.replace("until=20", "until=5"), encoding="utf-8")
    return ["/usr/bin/python3", "fields.py"]


def loop(name: str, folder: Path) -> None:
    """Capture and replicate; what `replicate` prints is shown."""
    folder.mkdir(parents=True)
    program = ["mpiexec", "-n", str(RANKS), *commands(name, folder)]
    workalike = [sys.executable, "-m", "workalike"]
    environment = {**os.environ, **Mpiexec().environment(), "OMP_NUM_THREADS": "1"}
    run = [*workalike, "profile", "-o", "app.darshan", "--", *program]
    subprocess.run(run, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    options = ["--full", "--clock", "deadline", "--gap-fill", "busy", "--verify"]
    subprocess.run(
        [*workalike, "replicate", "app.darshan", "-o", "replica", *options], cwd=folder, check=True
    )


def picture(page: str, figure: str) -> str:
    """A figure of a report as a file of its own: on white, and no digit more than can be seen."""
    found = re.search(rf'<svg(?:(?!</svg>).)*?id="{figure}-figure_1".*?</svg>', page, re.DOTALL)
    if found is None:
        raise SystemExit(f"the report has no figure {figure}")
    text = re.sub(r"-?\d+\.\d{2,}", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), found[0])
    text = re.sub(r"\s*\n\s*", "\n", text)
    text = re.sub(r' id="[^"]*(?:patch|line2d|text|xtick|ytick|axes|figure|legend)[^"]*"', "", text)
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text)
    assert box is not None
    white = f'<rect width="{box[1]}" height="{box[2]}" fill="#fff"/>'
    return text.replace(">", f' width="{box[1]}" height="{box[2]}">{white}', 1) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--to", type=Path, default=DOCS)
    parser.add_argument("--work", type=Path, default=None, help="where the loops run [a temporary folder]")
    parser.add_argument("--reports", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = options.work or Path(name)
        options.to.mkdir(parents=True, exist_ok=True)
        for application, figures in FIGURES.items():
            if not options.reports:
                loop(application, work / application)
            page = (work / application / "replica/report.html").read_text(encoding="utf-8")
            for figure in figures:
                text = picture(page, figure)
                assert len(text) < MOST_BYTES, f"{application} {figure}: {len(text)} bytes"
                target = options.to / f"{application}-{figure}.svg"
                target.write_text(text, encoding="utf-8")
                print(f"{target}: {len(text)} bytes")


if __name__ == "__main__":
    main()
