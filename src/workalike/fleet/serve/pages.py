"""What stands on each page, as blocks of charts and tables; templates escape every text."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

from markupsafe import Markup

from workalike.darshan.bins import SIZE_BINS
from workalike.diagnose.registry import all_rules
from workalike.fleet.report.paper import Thresholds, paper_tables
from workalike.fleet.report.period import Period
from workalike.fleet.report.rankings import coverage, ranked
from workalike.fleet.serve import queries
from workalike.fleet.serve.access import Viewer
from workalike.fleet.serve.charts import MOST_SPANS, Span, bars, timeline
from workalike.fleet.serve.queries import Row, Search
from workalike.fleet.serve.snapshot import Snapshot
from workalike.fleet.sums import total
from workalike.text import day_text, percent_text, plural, rate_text, seconds_text, size_text

TERMS = (
    "The estimated I/O rate is all bytes ÷ the I/O time of the slowest rank; the percentage of time in I/O is that time "
    "÷ the run time. Both are estimates from counters."
)
UNKNOWN_ADVICE = "not known: the log was ingested by an older version, and workalike diagnose says it"
AS_CSV = "The numbers as CSV"
FILE_BANDWIDTH = (
    "The file bandwidth is the bytes written to a file ÷ the time from its first to its last access, for families of "
    "one file. It contains compute time between the writes: a lower bound of what the file system gave."
)
HEADS = (
    "Job",
    "User",
    "Application",
    "Start (UTC)",
    "Run time",
    "Processes",
    "Read",
    "Written",
    "Rate",
    "In I/O",
)


@dataclass(frozen=True)
class Cell:
    text: str
    link: str = ""
    is_code: bool = False


@dataclass(frozen=True)
class Block:
    """A part of a page. `links` and `buttons`, which download, are (text, URL)."""

    title: str = ""
    note: str = ""
    chart: Markup | None = None
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[Cell]] = ()
    links: Sequence[tuple[str, str]] = ()
    buttons: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Page:
    title: str
    blocks: list[Block]
    more: dict[str, Any] = field(default_factory=dict)


def rate_of(job: Row) -> float | None:
    """The estimated I/O rate in bytes per second (docs/reference/terms.md#estimated-io-rate)."""
    return (job["bytes_read"] + job["bytes_written"]) / job["io_s"] if job["io_s"] > 0 else None


def share_of(job: Row) -> float | None:
    """The percentage of time in I/O (docs/reference/terms.md#percent-of-time-in-io)."""
    return 100 * job["io_s"] / job["run_time"] if job["run_time"] > 0 else None


def file_bandwidth(family: Row) -> float | None:
    """The bytes per second of a family of one file (docs/reference/terms.md#file-bandwidth); else None."""
    time_s = family["last_s"] - family["first_s"]
    if family["files"] != 1 or not family["bytes_written"] or not time_s > 0:
        return None
    return float(family["bytes_written"] / time_s)


def job_cells(job: Row) -> list[Cell]:
    """One row of a list of jobs."""
    return [
        Cell(str(job["job_id"]), f"/job/{job['job_key']}"),
        Cell(job["user"], f"/user/{quote(job['user'], safe='')}"),
        Cell(job["application"], f"/application/{quote(job['application'], safe='')}"),
        Cell(day_text(job["start"])),
        Cell(seconds_text(job["run_time"])),
        Cell(f"{job['nprocs']:,}"),
        Cell(size_text(job["bytes_read"])),
        Cell(size_text(job["bytes_written"])),
        Cell(rate_text(rate_of(job))),
        Cell(percent_text(share_of(job))),
    ]


def jobs_page(data: Snapshot, viewer: Viewer, parameters: Mapping[str, str]) -> Page:
    """Search and list."""
    search = queries.search_of(parameters, time.time())
    jobs, more = queries.found_jobs(data, viewer, search)
    block = _job_list(jobs, f"Page {search.page + 1}", search, more, parameters)
    return Page("Jobs", [block], {"search": search, "orders": list(queries.ORDERS)})


def _job_list(
    jobs: list[Row], title: str, search: Search, more: bool, parameters: Mapping[str, str]
) -> Block:
    links = []
    kept = {k: v for k, v in parameters.items() if k != "page" and v}
    for name, number, wanted in (
        ("Newer page", search.page - 1, search.page > 0),
        ("Next page", search.page + 1, more),
    ):
        if wanted:
            links.append((name, "/?" + urlencode(kept | {"page": str(number)})))
    links += [("As JSON", "/api/jobs?" + urlencode(kept)), ("As CSV", "/jobs.csv?" + urlencode(kept))]
    return Block(title, TERMS, heads=HEADS, rows=[job_cells(job) for job in jobs], links=links)


def job_page(data: Snapshot, viewer: Viewer, key: str) -> Page | None:
    """One job, as the Cray XE6 paper's Fig. 9 shows it, with its families and file systems."""
    job = queries.one_job(data, viewer, key)
    if job is None:
        return None
    logs = queries.logs_of(data, job)
    start, finish = day_text(job["start"]), day_text(job["finish"])
    heads = (
        "Start (UTC)",
        "End",
        "Wall clock",
        "Read",
        "Written",
        "Estimated I/O rate",
        "Percent of time in I/O",
    )
    facts = (
        start, finish, seconds_text(job["run_time"]), size_text(job["bytes_read"]), size_text(job["bytes_written"]),
        rate_text(rate_of(job)), percent_text(share_of(job)),
    )  # fmt: skip
    about = [
        ("User", Cell(job["user"], f"/user/{quote(job['user'], safe='')}")),
        ("Application", Cell(job["application"], f"/application/{quote(job['application'], safe='')}")),
        ("Processes", Cell(f"{job['nprocs']:,}")),
        ("Slowest call", Cell(_slowest_call(job))),
        ("Logs", Cell(str(job["logs"]))),
        ("Day", Cell(start[:10], f"/day/{start[:10]}")),
        (
            "Complete",
            Cell("no: a module lost records, so figures are lower bounds" if job["partial"] else "yes"),
        ),
    ]
    blocks = [
        Block("I/O summary", TERMS, heads=heads, rows=[[Cell(text) for text in facts]]),
        Block(
            "",
            heads=[name for name, _ in about],
            rows=[[cell for _, cell in about]],
            buttons=[("Download the workload", f"/job/{job['job_key']}/workload.yaml")],
        ),
    ]
    for kind, column in (("reads", "read_sizes"), ("writes", "write_sizes")):
        counts = [sum(log[column][i] for log in logs) for i in range(len(SIZE_BINS))]
        chart = bars(f"Number of {kind} per size range", SIZE_BINS, counts, [f"{c:,}" for c in counts])
        links = [(AS_CSV, f"/job/{job['job_key']}/sizes.csv")]
        blocks.append(Block(f"Number of {kind} per size range", chart=chart, links=links))
    families = queries.of_logs(data, "family", logs, "bytes_written + bytes_read DESC")
    blocks += [
        _timeline(families, logs, [(AS_CSV, f"/job/{job['job_key']}/timeline.csv")]),
        _findings(data, logs),
        _families(families),
        _file_systems(data, logs),
        *_load(data, job, logs),
        _history(data, viewer, job),
    ]
    return Page(f"Job {job['job_id']}", blocks)


def _slowest_call(job: Row) -> str:
    if not job["slowest_call"] or job["slowest_call_s"] is None:
        return "not known"
    moved = size_text(job["slowest_call_bytes"])
    return f"{job['slowest_call']} of {moved} in {seconds_text(job['slowest_call_s'])}"


def _timeline(rows: list[Row], logs: list[Row], links: Sequence[tuple[str, str]]) -> Block:
    """When each family was accessed, from the start of the job's first log."""
    begin = {row["log_id"]: row["start"] - logs[0]["start"] for row in logs}
    spans = []
    for r in rows[:MOST_SPANS]:
        kind = "both" if r["bytes_read"] and r["bytes_written"] else "read" if r["bytes_read"] else "written"
        said = f"{size_text(r['bytes_written'])} written, {size_text(r['bytes_read'])} read, "
        said += (
            f"{plural(r['dumps'], 'dump')} from {seconds_text(r['first_s'])} to {seconds_text(r['last_s'])}"
        )
        shift = begin[r["log_id"]]
        spans.append(
            Span(
                f"{r['role']}, {plural(r['files'], 'file')}", said, kind, shift + r["first_s"], shift + r["last_s"], r["dumps"],
                r["interval_s"],
            )
        )  # fmt: skip
    if not spans:
        return Block("Timeline", "No file family moved data.")
    end = max(row["start"] + row["run_time"] for row in logs) - logs[0]["start"]
    chart = timeline("File families over the time of the job", sorted(spans, key=lambda s: s.first_s), end)
    note = "A bar from the first to the last access of each file family: orange written, blue read, violet both. Lines mark dumps, at their median interval."
    return Block("Timeline", note, chart, links=links)


def _families(rows: list[Row]) -> Block:
    heads = (
        "Role",
        "Interface",
        "Sharing",
        "Ranks",
        "Files",
        "Dumps",
        "Read",
        "Written",
        "First",
        "Last",
        "File bandwidth",
        "Names",
    )
    return Block(
        "File families",
        FILE_BANDWIDTH,
        heads=heads,
        rows=[
            [
                *(Cell(str(r[n])) for n in ("role", "interface", "sharing", "ranks", "files", "dumps")),
                Cell(size_text(r["bytes_read"])), Cell(size_text(r["bytes_written"])),
                Cell(seconds_text(r["first_s"])), Cell(seconds_text(r["last_s"])), Cell(rate_text(file_bandwidth(r))),
                Cell(r["pattern"]),
            ]
            for r in rows
        ],
    )  # fmt: skip


def _file_systems(data: Snapshot, logs: list[Row]) -> Block:
    rows = queries.of_logs(data, "log_fs", logs, "bytes_written + bytes_read DESC")
    heads = (
        "File system",
        "Type",
        "Files",
        "Read",
        "Written",
        "Calls below 1 MiB",
        "Opens",
        "Syncs",
        "Metadata time",
    )
    return Block(
        "File systems",
        heads=heads,
        rows=[
            [
                Cell(r["mount"], f"/fs/{quote(r['mount'], safe='')}"), Cell(r["fs_type"]), Cell(f"{r['files']:,}"),
                Cell(size_text(r["bytes_read"])), Cell(size_text(r["bytes_written"])), Cell(f"{r['small']:,}"),
                Cell(f"{r['opens']:,}"), Cell(f"{r['syncs']:,}"), Cell(seconds_text(r["meta_s"])),
            ]
            for r in rows
        ],
    )  # fmt: skip


def _findings(data: Snapshot, logs: list[Row]) -> Block:
    rows = queries.of_logs(data, "finding", logs, "cost_s DESC, rule")
    return Block(
        "Findings",
        "The cost is time of all ranks together that a finding explains at most; the gain is the wall-clock time that a "
        "change saves at most. One cause is one finding.",
        heads=("Severity", "Finding", "What was seen", "Cost", "Gain at most", "Answer", "What to change"),
        rows=[
            [
                Cell(r["severity"]), Cell(_title(r["rule"]), f"/finding/{quote(r['rule'], safe='')}"), Cell(r["summary"]),
                Cell(seconds_text(r["cost_s"])), Cell(seconds_text(r["bound_s"])), Cell(r["answer"].replace("-", " ")),
                Cell(UNKNOWN_ADVICE if r["advice"] is None else r["advice"]),
            ]
            for r in rows
        ],
    )  # fmt: skip


def _title(rule: str) -> str:
    known = all_rules().get(rule)
    return known.title if known else rule


def finding_page(data: Snapshot, viewer: Viewer, rule: str) -> Page | None:
    """What a rule sees and advises, and the viewer's jobs where it explains most time."""
    known = all_rules().get(rule)
    if known is None:
        return None
    visible, values = viewer.condition()
    jobs = data.rows(
        f"""SELECT j.*, f.cost_s FROM (SELECT log_id, max(cost_s) AS cost_s FROM finding WHERE rule = ? GROUP BY 1) f
        JOIN (SELECT log_id, site, job_id, "user" AS who, start AS begun FROM log) l USING (log_id)
        JOIN job j ON j.site = l.site AND j.job_id = l.job_id AND j."user" = l.who
            AND l.begun BETWEEN j.start AND j.finish
        WHERE {visible} ORDER BY f.cost_s DESC, j.job_key LIMIT 50""",
        [rule, *values],
    )
    about = [("Seen as", known.seen_as), ("Costs", known.costs), ("Advice", known.advice)]
    about += [("Not this", known.not_this)] if known.not_this else []
    rows = [[Cell(name), Cell(text)] for name, text in about]
    snippets = ({known.language: known.snippet} if known.snippet else {}) | dict(known.other_snippets)
    rows += [
        [Cell(f"In {language.capitalize()}"), Cell(text, is_code=True)] for language, text in snippets.items()
    ]
    blocks = [Block("", heads=("What", "Text"), rows=rows)]
    rows = [[*job_cells(job), Cell(seconds_text(job["cost_s"]))] for job in jobs]
    blocks.append(Block("Jobs by cost", TERMS, heads=(*HEADS, "Cost"), rows=rows))
    return Page(known.title[:1].upper() + known.title[1:], blocks)


def _history(data: Snapshot, viewer: Viewer, job: Row) -> Block:
    past = queries.runs(data, viewer, job)
    chart = None
    if len(past) > 1:
        names = [day_text(row["start"])[5:10] for row in past[::-1]]
        chart = bars(
            "I/O time of runs of the same workload", names, [row["io_s"] for row in past[::-1]],
            [seconds_text(row["io_s"]) for row in past[::-1]],
        )  # fmt: skip
    links = [(AS_CSV, f"/job/{job['job_key']}/runs.csv")]
    rows = [job_cells(row) for row in past]
    return Block("Runs of the same workload", chart=chart, heads=HEADS, rows=rows, links=links)


def _load(data: Snapshot, job: Row, logs: list[Row]) -> list[Block]:
    """How busy the servers of the job's file systems were while it ran; nothing where no load is known."""
    by_mount: dict[str, list[Row]] = {}
    for row in queries.load_during(data, logs):
        by_mount.setdefault(row["mount"], []).append(row)
    if not by_mount:
        return []
    rows = []
    for mount, minutes in by_mount.items():
        moved = [row["bytes_read"] + row["bytes_written"] for row in minutes]
        full = max((row["fullness"] for row in minutes if row["fullness"] is not None), default=None)
        rows.append(
            [
                Cell(mount, f"/fs/{quote(mount, safe='')}"), Cell(f"{len(minutes):,}"),
                Cell(rate_text(sum(moved) / len(minutes) / 60)), Cell(rate_text(max(moved) / 60)),
                Cell(f"{sum(row['operations'] for row in minutes) / len(minutes) / 60:,.0f}"),
                Cell(percent_text(100 * full if full is not None else None)),
            ]
        )  # fmt: skip
    heads = ("File system", "Minutes", "Mean rate", "Highest rate", "Operations per second", "Full")
    note = "What the servers moved for all jobs together while this job ran."
    links = [(AS_CSV, f"/job/{job['job_key']}/load.csv")]
    return [Block("Load of the servers", note, heads=heads, rows=rows, links=links)]


def group_page(data: Snapshot, viewer: Viewer, kind: str, name: str) -> Page | None:
    """All jobs of a user or of an application."""
    visible, values = viewer.condition()
    where, value = f'"{kind}" = ?', name[: queries.LONGEST_VALUE]
    by_day = queries.days(data, viewer, where, [value])
    if not by_day:
        return None
    other = "application" if kind == "user" else "user"
    groups = data.rows(
        f'SELECT "{other}" AS name, count(*) AS jobs, {total("bytes_read")} AS bytes_read, '
        f"{total('bytes_written')} AS written, {total('io_s * nprocs')} AS spent FROM job WHERE {visible} AND {where} GROUP BY 1 ORDER BY spent DESC, name LIMIT 100",
        [*values, value],
    )
    search = replace(Search(), where=[where], values=[value])
    jobs, more = queries.found_jobs(data, viewer, search)
    return Page(
        f"{kind.capitalize()} {name}",
        [
            _days_block(by_day, {kind: value}),
            Block(
                f"By {other}",
                heads=(other.capitalize(), "Jobs", "Read", "Written"),
                rows=[
                    [
                        Cell(g["name"], f"/{other}/{quote(g['name'], safe='')}"), Cell(f"{g['jobs']:,}"),
                        Cell(size_text(g["bytes_read"])), Cell(size_text(g["written"])),
                    ]
                    for g in groups
                ],
            ),
            _job_list(jobs, "Newest jobs", search, more, {kind: name}),
        ],
    )  # fmt: skip


def groups_page(data: Snapshot, kind: str) -> Page:
    """All users or applications, by wasted rank-hours, then by rank-hours in I/O."""
    rows = [
        [
            Cell(r["name"], f"/{kind}/{quote(r['name'], safe='')}"), Cell(f"{r['jobs']:,}"), Cell(f"{r['logs']:,}"),
            Cell(f"{r['wasted_rank_hours']:,.1f}"), Cell(f"{r['io_rank_hours']:,.1f}"), Cell(percent_text(r["io_percent"])),
            Cell(size_text(r["bytes_read"])), Cell(size_text(r["bytes_written"])),
        ]
        for r in ranked(data.connection(), Period(), kind, 500)
    ]  # fmt: skip
    heads = (
        kind.capitalize(),
        "Jobs",
        "Logs",
        "Wasted rank-hours",
        "Rank-hours in I/O",
        "In I/O",
        "Read",
        "Written",
    )
    note = "Wasted rank-hours are the costs of findings that are problems of the job, of each log at most its time in I/O."
    return Page(f"{kind.capitalize()}s", [Block("", note, heads=heads, rows=rows)])


def file_systems_page(data: Snapshot, viewer: Viewer) -> Page:
    """All file systems that the viewer's jobs used."""
    visible, values = viewer.condition()
    found = data.rows(
        f"""SELECT f.mount, max(f.fs_type) AS fs_type, count(*) AS logs, sum(f.bytes_read)::DOUBLE AS bytes_read,
            sum(f.bytes_written)::DOUBLE AS written, {total("f.meta_s")} AS meta_s
        FROM log_fs f JOIN (SELECT log_id FROM log WHERE {visible}) l USING (log_id)
        GROUP BY 1 ORDER BY sum(f.bytes_read) + sum(f.bytes_written) DESC, f.mount LIMIT 500""",
        values,
    )
    rows = [
        [
            Cell(r["mount"], f"/fs/{quote(r['mount'], safe='')}"), Cell(r["fs_type"]), Cell(f"{r['logs']:,}"),
            Cell(size_text(r["bytes_read"])), Cell(size_text(r["written"])), Cell(seconds_text(r["meta_s"])),
        ]
        for r in found
    ]  # fmt: skip
    return Page(
        "File systems",
        [Block("", heads=("Mount", "Type", "Logs", "Read", "Written", "Metadata time"), rows=rows)],
    )


def days_page(data: Snapshot, viewer: Viewer) -> Page:
    return Page("Days", [_days_block(queries.days(data, viewer), {})])


def _days_block(by_day: list[Row], parameters: Mapping[str, str]) -> Block:
    last = by_day[:28][::-1]
    chart = bars(
        "Bytes by day", [_date(r["day"])[5:] for r in last], [r["bytes_read"] + r["bytes_written"] for r in last],
        ["" if len(last) > 14 else size_text(r["bytes_read"] + r["bytes_written"]) for r in last],
    )  # fmt: skip
    return Block(
        "Bytes by day",
        chart=chart,
        heads=("Day", "Jobs", "Users", "Read", "Written", "Rank-hours in I/O"),
        rows=[
            [
                Cell(_date(r["day"]), f"/day/{_date(r['day'])}"), Cell(f"{r['jobs']:,}"), Cell(f"{r['users']:,}"),
                Cell(size_text(r["bytes_read"])), Cell(size_text(r["bytes_written"])), Cell(f"{r['io_rank_hours']:,.1f}"),
            ]
            for r in by_day
        ],
        links=[(AS_CSV, "/days.csv?" + urlencode(parameters))],
    )  # fmt: skip


def _date(seconds: float) -> str:
    return day_text(seconds)[:10]


def day_page(data: Snapshot, viewer: Viewer, day: str) -> Page | None:
    """All jobs that began on a day (UTC)."""
    try:
        first = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
    search = replace(Search(), where=["start >= ? AND start < ?"], values=[first, first + 86400])
    jobs, more = queries.found_jobs(data, viewer, replace(search, order="most time in I/O"))
    until = _date(first + 86400)
    return Page(day, [_job_list(jobs, "Jobs by time in I/O", search, more, {"since": day, "until": until})])


def fs_page(data: Snapshot, viewer: Viewer, mount: str) -> Page:
    """One file system: who moved how much, and the load of its servers where it is known."""
    visible, values = viewer.condition()
    groups = data.rows(
        f"""SELECT l."user", l.application, count(*) AS logs, sum(f.bytes_read)::DOUBLE AS bytes_read,
            sum(f.bytes_written)::DOUBLE AS written, {total("f.meta_s")} AS meta_s
        FROM log_fs f JOIN (SELECT * FROM log WHERE {visible}) l USING (log_id)
        WHERE f.mount = ? GROUP BY 1, 2 ORDER BY sum(f.bytes_read) + sum(f.bytes_written) DESC, 1, 2 LIMIT 100""",
        [*values, mount[: queries.LONGEST_VALUE]],
    )
    rows = [
        [
            Cell(g["user"], f"/user/{quote(g['user'], safe='')}"),
            Cell(g["application"], f"/application/{quote(g['application'], safe='')}"),
            Cell(f"{g['logs']:,}"), Cell(size_text(g["bytes_read"])), Cell(size_text(g["written"])),
            Cell(seconds_text(g["meta_s"])),
        ]
        for g in groups
    ]  # fmt: skip
    heads = ("User", "Application", "Logs", "Read", "Written", "Metadata time")
    blocks = [Block("Most bytes", heads=heads, rows=rows)]
    if viewer.staff:
        load = data.rows(
            """SELECT floor(minute / 3600) * 3600 AS hour, sum(bytes_read)::DOUBLE AS bytes_read,
                sum(bytes_written)::DOUBLE AS written, sum(operations)::DOUBLE AS operations, max(fullness) AS full
            FROM server_load WHERE mount = ? GROUP BY 1 ORDER BY 1 DESC LIMIT 168""",
            [mount],
        )
        cells = [
            [
                Cell(day_text(r["hour"])), Cell(size_text(r["bytes_read"])), Cell(size_text(r["written"])),
                Cell(f"{r['operations']:,.0f}"), Cell(percent_text(100 * r["full"] if r["full"] is not None else None)),
            ]
            for r in load
        ]  # fmt: skip
        blocks.append(
            Block("Load of the servers", heads=("Hour", "Read", "Written", "Operations", "Full"), rows=cells)
        )
    return Page(f"File system {mount}", blocks)


def coverage_page(data: Snapshot) -> Page:
    """The share of jobs, users and node-hours with a log (Figs. 7 and 8 of the Cray XE6 paper)."""
    found = coverage(data.connection(), Period())[-366:]
    last = found[-28:]
    names = [_date(r["day"])[5:] for r in last]
    chart = (
        bars("Jobs with a log, %", names, [r["jobs_percent"] for r in last], ["" for _ in last])
        if last
        else None
    )
    rows = [
        [
            Cell(_date(r["day"])), Cell(f"{r['jobs']:,}"), Cell(percent_text(r["jobs_percent"])),
            Cell(percent_text(r["users_percent"])), Cell(percent_text(r["hours_percent"])),
        ]
        for r in found[::-1]
    ]  # fmt: skip
    note = "" if found else "No accounting has been read: workalike fleet ingest … --accounting FILE."
    heads = ("Day", "Jobs", "With a log", "Users with a log", "Node-hours with a log")
    return Page("Coverage", [Block("", note, chart, heads, rows, [(AS_CSV, "/coverage.csv")])])


def metrics_page(data: Snapshot) -> Page:
    """The paper's three tables."""
    found = paper_tables(data.connection(), Period(), Thresholds())
    rows = [
        [
            Cell(m.title),
            Cell(m.thresholds),
            Cell(f"{m.total:,}"),
            Cell(f"{m.jobs:,}"),
            Cell(f"{m.users:,}"),
            Cell(m.largest_text),
        ]
        for m in found.metrics
    ]
    heads = ("Metric", "Thresholds", "Jobs analyzed", "Jobs matching", "Users", "Largest")
    note = "; ".join(o.text() for o in found.overlaps if o.both)
    return Page("Metrics of the Cray XE6 paper", [Block("", note, heads=heads, rows=rows)])
