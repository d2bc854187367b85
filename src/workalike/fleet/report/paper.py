"""Tables 3 to 5 of the Cray XE6 paper, and which jobs appear in several of them.

Definitions and caveats: docs/reference/fleet-tables.md#metrics.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from workalike.fleet.report.period import Period
from workalike.fleet.report.rankings import Rows, rows
from workalike.text import size_text

TIB = 2**40


@dataclass(frozen=True)
class Thresholds:
    """The paper's thresholds.

    The paper contradicts itself on small writes: its Table 5 says 100 million, its text 1 million. The table's is the
    default. `stdio` counts STDIO's time too: Darshan 2, which the paper used, counted it at POSIX.
    """

    redundant_bytes: float = TIB
    meta_share: float = 0.25
    meta_per_rank_s: float = 30.0
    meta_ranks: int = 192
    small_writes: float = 100e6
    collective_writes: float = 0
    stdio: bool = True


@dataclass(frozen=True)
class Metric:
    """One of the paper's tables. `largest` is in bytes, a share, or writes."""

    name: str
    title: str
    thresholds: str
    total: int
    jobs: int
    users: int
    largest: float | None
    largest_text: str


@dataclass(frozen=True)
class Overlap:
    """Of the jobs of one metric, how many another one has too."""

    metric: str
    other: str
    jobs: int
    other_jobs: int
    both: int

    def text(self) -> str:
        return (
            f"of the {self.jobs:,} jobs of {self.metric}, {self.both:,} also appear "
            f"in the list of {self.other_jobs:,} of {self.other}"
        )


@dataclass(frozen=True)
class PaperTables:
    metrics: list[Metric]
    overlaps: list[Overlap]

    def to_json(self) -> dict[str, Any]:
        return {
            "tables": [asdict(m) for m in self.metrics],
            "overlap": [asdict(o) | {"text": o.text()} for o in self.overlaps],
        }

    def to_rows(self) -> dict[str, list[dict[str, Any]]]:
        """As tables: `paper`, a row for each of the paper's, and `overlap`, a row for each pair of them."""
        return {"paper": [asdict(m) for m in self.metrics], "overlap": [asdict(o) for o in self.overlaps]}


NAMES = ("redundant reads", "metadata", "small shared writes")


def meta_share(stdio: bool) -> str:
    """The paper's Eq. 2 as SQL: the share of metadata in the time of I/O; null where there is none."""
    more, more_io = (" + stdio_meta_s", " + stdio_meta_s + stdio_s") if stdio else ("", "")
    return f"((meta_s{more}) / nullif(meta_s + read_s + write_s{more_io}, 0))"


def conditions(at: Thresholds) -> dict[str, str]:
    """Which jobs each metric identifies, as SQL over the view `job`; with numbers only."""
    per_rank = "all_meta_per_rank_s" if at.stdio else "meta_per_rank_s"
    return {
        NAMES[0]: f"redundant_read > {float(at.redundant_bytes)!r}",
        NAMES[1]: f"({per_rank} > {float(at.meta_per_rank_s)!r} AND nprocs >= {int(at.meta_ranks)} "
        f"AND coalesce({meta_share(at.stdio)}, 0) >= {float(at.meta_share)!r})",
        NAMES[2]: f"(small_shared_writes > {float(at.small_writes)!r} "
        f"AND collective_writes <= {float(at.collective_writes)!r})",
    }


def paper_tables(connection: Any, period: Period, at: Thresholds) -> PaperTables:
    """The three tables and their overlap for the jobs of a period.

    Args:
        connection: of DuckDB, with the view or table `job`.
        period: when the jobs began.
        at: the thresholds.
    """
    tests = list(conditions(at).values())
    values = ["redundant_read", meta_share(at.stdio), "small_shared_writes"]
    parts = ["count(*)"]
    for test, value in zip(tests, values, strict=True):
        parts += [
            f"count(*) FILTER (WHERE {test})",
            f'count(DISTINCT "user") FILTER (WHERE {test})',
            f"max({value}) FILTER (WHERE {test})",
        ]
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    parts += [f"count(*) FILTER (WHERE {tests[i]} AND {tests[j]})" for i, j in pairs]
    row = connection.execute(f"SELECT {', '.join(parts)} FROM job WHERE {period.condition()}").fetchone()
    metrics = [_metric(i, row[0], row[1 + 3 * i : 4 + 3 * i], at) for i in range(3)]
    overlaps = [
        Overlap(NAMES[i], NAMES[j], metrics[i].jobs, metrics[j].jobs, both)
        for (i, j), both in zip(pairs, row[10:], strict=True)
    ]
    return PaperTables(metrics, overlaps)


def paper_jobs(connection: Any, period: Period, at: Thresholds, most: int) -> Rows:
    """The jobs that each metric identifies, those with the largest value first, at most `most` of each."""
    values = ["redundant_read", f"100 * {meta_share(at.stdio)}", "small_shared_writes"]
    out: Rows = []
    for (name, test), value in zip(conditions(at).items(), values, strict=True):
        out += rows(
            connection,
            f"""
            SELECT '{name}' AS metric, ({value})::DOUBLE AS value, site, job_id, "user", application, start, nprocs,
                job_key AS log_id
            FROM job WHERE {period.condition()} AND {test} ORDER BY value DESC, job_key LIMIT {int(most)}
            """,
        )
    return out


def _metric(place: int, total: int, found: tuple[int, int, float | None], at: Thresholds) -> Metric:
    jobs, users, largest = found
    titles = (
        "Jobs identified using the redundant read metric",
        "Jobs identified using the metadata ratio metric",
        "Jobs identified using the small independent shared write metric",
    )
    thresholds = (
        f"> {size_text(at.redundant_bytes)} read redundantly",
        f"metadata time per process > {at.meta_per_rank_s:g} s, processes ≥ {at.meta_ranks:,}, "
        f"metadata ratio ≥ {100 * at.meta_share:g} %",
        f"> {at.small_writes:,.0f} small writes, {'≤ ' if at.collective_writes else ''}{at.collective_writes:,.0f} "
        "collective writes",
    )
    texts = (
        lambda v: size_text(v),
        lambda v: f"{100 * v:.3g} %",
        lambda v: f"{v:,.0f}",
    )
    said = "-" if largest is None else texts[place](largest)
    return Metric(NAMES[place], titles[place], thresholds[place], total, jobs, users, largest, said)
