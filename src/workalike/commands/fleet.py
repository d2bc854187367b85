"""`workalike fleet ingest|report|…`: many logs in one database."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workalike.commands import fleet_archive, fleet_serve, fleet_suite
from workalike.commands import options as opt
from workalike.commands.progress import progress
from workalike.errors import ErrorKind, WorkalikeError
from workalike.text import plural

if TYPE_CHECKING:
    from workalike.fleet.ingest import Outcome

Db = Annotated[Path, typer.Option("--db", metavar="FLEET", help="Folder of the database.")]
SiteFile = Annotated[
    Path | None,
    typer.Option(
        "--site", metavar="FILE", help="Site file: names, filters, pseudonyms, staff (docs/fleet.md)."
    ),
]
Since = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help="Only jobs that began then or later: 2026-11-03, or 7d for a week ago."
    ),
]
Until = Annotated[str | None, typer.Option(metavar="TIME", help="Only jobs that began before.")]
PARTLY = 3


def register(app: typer.Typer) -> None:
    fleet = typer.Typer(
        no_args_is_help=True, help="Many logs in one database: reports and a portal for a centre."
    )
    fleet.command("ingest", epilog=opt.EXIT_CODES)(ingest)
    fleet.command("report")(opt.with_options(report))
    fleet.command("serve")(fleet_serve.serve)
    fleet.command("archive", epilog=opt.EXIT_CODES)(fleet_archive.archive)
    fleet.command("compact")(fleet_archive.compact)
    fleet.command("suite")(fleet_suite.suite)
    fleet.command("generate")(generate)
    app.add_typer(fleet, name="fleet")


def ingest(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="SOURCE...", help="Folders of logs, logs, or text files that list them."),
    ],
    db: Db,
    site: SiteFile = None,
    since: Since = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Worker processes [default: one for each core].")
    ] = None,
    watch: Annotated[
        float | None,
        typer.Option(min=1, max=1e9, metavar="SECONDS", help="Look for new logs again and again."),
    ] = None,
    share: Annotated[
        str,
        typer.Option(
            metavar="I/N", help="Take the I-th (from 0) of N shares of the logs, as in a job array."
        ),
    ] = "0/1",
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Read on the workers of this Dask cluster, which share the file system."
        ),
    ] = None,
    array: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1000,
            metavar="N",
            help="Read in a job array of N tasks, each with --jobs workers, and wait.",
        ),
    ] = None,
    submit: Annotated[
        str, typer.Option(metavar="SYSTEM", help="With --array: the batch system, slurm or pbs.")
    ] = "slurm",
    batch_option: Annotated[
        list[str] | None,
        typer.Option(metavar="OPTION", help="With --array: a directive, such as --partition=debug."),
    ] = None,
    accounting: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also the jobs that the scheduler knows (CSV or sacct -P)."),
    ] = None,
    server_load: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also the load of file systems, by minute (CSV or Parquet)."),
    ] = None,
    quiet: opt.Quiet = False,
    as_json: opt.Json = False,
) -> None:
    """Read new logs into a database, which is made at the first time.

    Logs that were read before are skipped. Damaged logs are set aside with the reason; the others are read. Several
    ingestions may run at once, and one that was killed is simply run again.

    Exit code 3: done, but logs were damaged or could not be read.

    Examples:

        workalike fleet ingest /darshan-logs --db fleet/

        workalike fleet ingest /darshan-logs --db fleet/ --site site.yaml --since 2d --watch 300

        workalike fleet ingest /darshan-logs --db fleet/ --array 8 --batch-option=--account=ops
    """
    from workalike.fleet.ingest import ingest as ingest_logs
    from workalike.fleet.job_array import ArrayOptions, ingest_as_array
    from workalike.fleet.report.period import moment
    from workalike.fleet.site import read_site
    from workalike.fleet.tables_in import read_accounting, read_server_load
    from workalike.fleet.upgrade import open_to_write
    from workalike.launch.batch.jobs import batch_system

    if array is not None and (watch is not None or scheduler is not None or share != "0/1"):
        raise WorkalikeError(
            ErrorKind.USAGE,
            "--array does not go with --watch, --scheduler or --share",
            hint="submit again when there are new logs",
        )
    settings = read_site(site)
    store = open_to_write(db, settings)
    for file, read in ((accounting, read_accounting), (server_load, read_server_load)):
        if file is not None:
            added = read(store, file, settings)
            if not quiet and not as_json:
                opt.console().print(f"{file.name}: {added.text()}", soft_wrap=True)
    while True:
        first = moment(since, "--since", time.time()) if since else None
        if array is not None:
            report = (lambda _: None) if quiet or as_json else opt.warn
            arguments = [*_paths(sources, db, site), *([f"--since={since}"] if since else [])]
            outcome = ingest_as_array(
                store,
                arguments,
                ArrayOptions(batch_system(submit), array, jobs or 1, tuple(batch_option or ())),
                report,
            )
        else:
            with progress("logs", hidden=quiet or as_json) as report_done:
                outcome = ingest_logs(
                    store,
                    sources,
                    settings,
                    site,
                    since=first,
                    jobs=jobs,
                    share=_share_of(share),
                    scheduler=scheduler,
                    progress=report_done,
                )
        _show(outcome, quiet=quiet, as_json=as_json)
        if watch is None:
            break
        time.sleep(watch)
        store.refresh()
    if outcome.found == 0 and not accounting and not server_load:
        raise WorkalikeError(
            ErrorKind.MISSING,
            "no log (*.darshan) in it",
            file=sources[0],
            hint="name a folder of Darshan logs",
        )
    if outcome.problems:
        raise typer.Exit(PARTLY)


def _paths(sources: list[Path], db: Path, site: Path | None) -> list[str]:
    """The arguments of an ingestion that runs elsewhere."""
    paths = [str(source.absolute()) for source in sources]
    return [*paths, f"--db={db.absolute()}", *([f"--site={site.absolute()}"] if site else [])]


def _share_of(text: str) -> tuple[int, int]:
    number, slash, shares = text.partition("/")
    if not (
        slash and number.isdecimal() and shares.isdecimal() and len(text) < 12 and int(number) < int(shares)
    ):
        raise WorkalikeError(
            ErrorKind.USAGE, f"--share {text[:20]!r} is not a share", hint="write 0/4 to 3/4"
        )
    return int(number), int(shares)


def _show(outcome: Outcome, *, quiet: bool, as_json: bool) -> None:
    if as_json:
        opt.print_json(outcome.to_json())
        return
    said = outcome.to_json()
    if not quiet:
        counts = ", ".join(
            f"{said[n]:,} {n}" for n in ("ingested", "quarantined", "filtered", "duplicate") if said[n]
        )
        rate = f", {said['ingested'] / outcome.seconds:,.0f} a second" if said["ingested"] > 50 else ""
        opt.console().print(
            f"{plural(outcome.found, 'log')}, {outcome.known:,} of them known: {counts or 'nothing new'}{rate}",
            soft_wrap=True,
        )
    for path, reason in outcome.problems[:20]:
        opt.warn(WorkalikeError(ErrorKind.DAMAGED_LOG, reason, file=path).one_line())
    if len(outcome.problems) > 20:
        opt.warn(f"and {len(outcome.problems) - 20} more; they are in the table source")


def report(
    db: Db,
    since: Since = None,
    until: Until = None,
    redundant: Annotated[
        float, typer.Option(min=0, metavar="BYTES", help="Table 3: more bytes read redundantly than this.")
    ] = 2.0**40,
    meta_share: Annotated[
        float, typer.Option(min=0, max=1, metavar="F", help="Table 4: share of metadata in the time of I/O.")
    ] = 0.25,
    meta_time: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="Table 4: metadata time per process.")
    ] = 30.0,
    meta_ranks: Annotated[int, typer.Option(min=1, help="Table 4: processes.")] = 192,
    small_writes: Annotated[
        float,
        typer.Option(
            min=0, help="Table 5: small writes; the paper's table says 100 million, its text 1 million."
        ),
    ] = 100e6,
    collective: Annotated[int, typer.Option(min=0, help="Table 5: most collective writes.")] = 0,
    stdio: Annotated[bool, typer.Option(help="Table 4: count the time of STDIO too.")] = True,
    top: Annotated[int, typer.Option(min=1, max=10**6, metavar="N", help="Rows of each ranking.")] = 20,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write one HTML page.")] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write each table as CSV into this folder.")
    ] = None,
    notify: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND", help="Hand each new finding, once, to this command as JSON on its stdin."
        ),
    ] = None,
    above: Annotated[
        float, typer.Option(min=0, metavar="HOURS", help="With --notify: cost in rank-hours.")
    ] = 1.0,
    as_json: opt.Json = False,
) -> None:
    """Print what the logs of a centre say.

    The tables of the Cray XE6 paper for any period and threshold, and how they overlap; users and applications by
    wasted rank-hours and time of I/O; growth; jobs slower than their own past; slow storage targets; checkpoints that
    nobody reads; coverage; and the jobs that the paper's tables count.

    Examples:

        workalike fleet report --db fleet/

        workalike fleet report --db fleet/ --since 2026-01-01 --until 2026-03-14 --small-writes 1e6

        workalike fleet report --db fleet/ --top 1000 --csv tables/
    """
    from workalike.columns import NARROW, broken
    from workalike.files import write_text
    from workalike.fleet.report.paper import Thresholds
    from workalike.fleet.report.period import Period, moment
    from workalike.fleet.report.text import paper_lines
    from workalike.fleet.report.whole import TITLES, html_page, plain, table_lines, whole_report
    from workalike.fleet.report.whole import notify as notify_of
    from workalike.fleet.store import damage_named, open_store

    now = time.time()
    period = Period(
        moment(since, "--since", now) if since else None, moment(until, "--until", now) if until else None
    )
    at = Thresholds(redundant, meta_share, meta_time, meta_ranks, small_writes, collective, stdio)
    store = open_store(db)
    with damage_named(db):
        connection = store.connect()
        tables, more = whole_report(connection, period, at, top)
        if html is not None:
            write_text(html, html_page(tables, more, period))
        if csv is not None:
            _write_tables(csv, tables.to_rows() | more)
        handed = notify_of(store, connection, period, notify, 3600 * above) if notify else 0
    if as_json:
        shown = {name: [plain(row) for row in rows] for name, rows in more.items()}
        opt.print_json({"period": vars(period), "paper": tables.to_json(), **shown, "notified": handed})
        return
    columns = opt.console().width
    width = columns if columns < NARROW else None
    for text in paper_lines(tables, period):
        for line in broken(text, width):
            print(line)
    for name, rows in more.items():
        for line in table_lines(TITLES[name], rows, width):
            print(line)


def _write_tables(folder: Path, tables: dict[str, list[dict[str, Any]]]) -> None:
    from workalike.files import make_folder, write_text
    from workalike.fleet.serve.charts import table_csv

    make_folder(folder)
    for name, rows in tables.items():
        text = table_csv(list(rows[0]), [list(row.values()) for row in rows]) if rows else ""
        write_text(folder / f"{name}.csv", text)


def generate(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder of the logs and the site file.")
    ],
    jobs: Annotated[int, typer.Option(min=1, max=10**7, help="Number of jobs.")] = 5000,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    days: Annotated[float, typer.Option(min=1, max=3650, help="Days over which the jobs are spread.")] = 56.0,
    parts: Annotated[
        bool,
        typer.Option(
            "--parts", help="Make a database straight away, in DIR/db, without logs: for very many jobs."
        ),
    ] = False,
    files: Annotated[int, typer.Option(min=1, help="With --parts: files of a job, on average.")] = 573,
    as_json: opt.Json = False,
) -> None:
    """Make the logs of a made-up centre with known properties, for demonstrations and tests.

    Example:

        workalike fleet generate -o demo-fleet/ && workalike fleet ingest demo-fleet/logs --db demo-fleet/db
    """
    if parts:
        from workalike.fleet.generate.parts import LEAST_JOBS, write_parts
        from workalike.fleet.store import open_or_make

        if jobs < LEAST_JOBS:
            raise WorkalikeError(ErrorKind.USAGE, f"--parts needs at least {LEAST_JOBS:,} --jobs")
        store = open_or_make(output / "db", "")
        if store.parts:
            raise WorkalikeError(
                ErrorKind.USAGE, "holds a database already", file=output / "db", hint="choose another folder"
            )
        rows = write_parts(store, jobs, files, seed=seed, days=days)
        opt.console(as_json).print(
            f"{plural(jobs, 'job')}, {rows:,} rows of files in {output / 'db'}", soft_wrap=True
        )
        if as_json:
            opt.print_json({"jobs": jobs, "files": rows})
        return
    from workalike.fleet.generate.logs import write_fleet

    with progress("logs", hidden=as_json) as report_done:
        truth = write_fleet(output, jobs, seed=seed, days=days, progress=report_done)
    if as_json:
        opt.print_json(vars(truth))
        return
    opt.console().print(f"{plural(jobs, 'log')} in {output / 'logs'}", soft_wrap=True)
