"""Does a workload say what its log says? The share of determined counters within 5 %, log by log.

    python benchmarks/agreement.py [LOG ...]
    python benchmarks/agreement.py --misses [LOG ...]

Each log is characterized, its full-scale plan predicted (nothing is run), and every counter that the application
determines is set beside the log's: with the log's trace (DXT), and as if it had none. With `--misses` each counter that
is off is printed. Called for all known logs, it writes docs/agreement.md: the counters that miss without a trace, and
why. Targets: median 1.0, every log at least 0.95.
"""

from __future__ import annotations

import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

from catalogue import ROOT
from full_scale import known_logs
from miss_reasons import reason
from results import Results

from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.compare.lines import model_against_log
from workalike.compare.pairing import pair_up
from workalike.darshan import open_log
from workalike.errors import WorkalikeError
from workalike.facts.records import FileFacts
from workalike.predict.agreement import DeterminedRow, share

LEAST = 0.95
PAGE = ROOT / "docs" / "agreement.md"


@dataclass
class Found:
    """The counters of one log, beside those of its workload."""

    characterization: Characterization
    rows: list[DeterminedRow]

    @property
    def agreement(self) -> float:
        return share(self.rows) or 0.0

    def misses(self) -> list[DeterminedRow]:
        return [row for row in self.rows if not row.agrees]

    def files_of(self, row: DeterminedRow) -> list[FileFacts]:
        return [
            file
            for facts in self.characterization.families
            if (facts.family.role, facts.family.number) in row.group
            for file in facts.files()
        ]


def found_in(path: Path, *, use_trace: bool) -> Found | None:
    """None for a log in which no counter is determined."""
    characterization = characterize([open_log(path)], CharacterizeOptions(use_trace=use_trace))
    rows = model_against_log(pair_up(characterization, None))
    return Found(characterization, rows) if rows else None


def families_of(row: DeterminedRow) -> str:
    return " + ".join(f"{role.value} {number}" for role, number in row.group)


def print_log(name: str, found: Found, misses: bool) -> None:
    agree = sum(row.agrees for row in found.rows)
    print(f"{name[:50]:50} {agree:6} of {len(found.rows):6}   {found.agreement:.3f}")
    for row in found.misses() if misses else ():
        print(
            f"    {families_of(row)}: {row.module} {row.counter}: {row.expected:,} in the log, {row.found:,} predicted"
        )


def page(without: dict[str, Found]) -> str:
    """The table of all misses of logs whose traces are left out."""
    lines = [
        "# Counters that a workload misses",
        "",
        "`python benchmarks/agreement.py` writes this page. Each known log is characterized without its trace, and its",
        "full-scale plan is predicted. A counter that the application determines is listed where the prediction is more",
        "than 5 % off. Logs that are not listed agree in every counter.",
        "",
        "| log | agreement | family | counter | log | predicted | why |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, found in sorted(without.items(), key=lambda item: (item[1].agreement, item[0])):
        for row in found.misses():
            lines.append(
                f"| `{name}` | {found.agreement:.3f} | {families_of(row)} | {row.module} {row.counter} | {row.expected:,} "
                f"| {row.found:,} | {reason(row, found.files_of(row), found.misses())} |"
            )
    return "\n".join(lines) + "\n"


def add_figures(results: Results, found: dict[str, Found], what: str) -> None:
    values = {name: each.agreement for name, each in found.items()}
    lowest = min(values, key=lambda name: values[name])
    reached = sum(value >= LEAST for value in values.values())
    median = statistics.median(values.values())
    print(f"{what}: median {median:.3f}; {reached} of {len(values)} logs at least {LEAST}")
    results.add(
        f"agreement, workload against log, {what}: median",
        f"{median:.3f} over {len(values)} logs",
        target="1.0",
        reached=median == 1.0,
        median=median,
    )
    results.add(
        "… logs of at least 0.95",
        f"{reached} of {len(values)}; lowest {values[lowest]:.2f} (`{lowest}`)",
        target="all",
        reached=reached == len(values),
        logs=float(reached),
    )


def main() -> int:
    given = [word for word in sys.argv[1:] if word != "--misses"]
    found: dict[str, Found] = {}
    without: dict[str, Found] = {}
    for path in [Path(word) for word in given] or known_logs():
        try:
            for of_log, use_trace in ((found, True), (without, False)):
                here = found_in(path, use_trace=use_trace)
                if here is not None:
                    of_log[path.name] = here
        except WorkalikeError as error:
            print(f"{path.name[:50]:50} {error.one_line().replace(str(path), '')[:90]}")
            continue
        if path.name in found:
            print_log(path.name, found[path.name], "--misses" in sys.argv)
            if without[path.name].agreement < found[path.name].agreement:
                print_log("    without its trace", without[path.name], "--misses" in sys.argv)
    if not found:
        return 2
    results = Results()
    add_figures(results, without, "DXT removed")
    add_figures(results, found, "DXT used")
    if not given:
        results.write()
        PAGE.write_text(page(without), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
