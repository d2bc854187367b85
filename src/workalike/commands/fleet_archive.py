"""`workalike fleet archive` and `workalike fleet compact`"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from workalike.commands import options as opt
from workalike.errors import ErrorKind, WorkalikeError
from workalike.text import plural


def archive(
    db: Annotated[Path, typer.Option("--db", metavar="FLEET", help="Folder of the database.")],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Folder of the archives; with --restore, the log's file."
        ),
    ],
    older: Annotated[
        float, typer.Option(min=0, max=1e6, metavar="DAYS", help="Only jobs that began so long ago.")
    ] = 1.0,
    remove: Annotated[
        bool,
        typer.Option(
            "--remove", help="Remove originals after the archive was read back and has their bytes."
        ),
    ] = False,
    restore: Annotated[
        str | None, typer.Option(metavar="SHA256", help="Write one log of the archives in --from instead.")
    ] = None,
    archives: Annotated[
        Path | None, typer.Option("--from", metavar="DIR", help="With --restore: the archives.")
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Pack ingested logs into one compressed archive per day, or restore one.

    Examples:

        workalike fleet archive --db fleet/ -o archive/ --remove

        workalike fleet archive --db fleet/ --restore 3f2a90c81b7d --from archive/ -o job.darshan
    """
    from workalike.fleet.archive import archive as pack
    from workalike.fleet.archive import restore as restore_log
    from workalike.fleet.store import damage_named, open_store

    store = open_store(db)
    if restore is not None:
        if archives is None:
            raise WorkalikeError(
                ErrorKind.USAGE, "--restore needs --from", hint="name the folder of archives"
            )
        restore_log(archives, restore, output)
        return
    with damage_named(db):
        done = pack(store, output, time.time(), older_s=86400 * older, remove=remove)
    if as_json:
        opt.print_json(vars(done))
        return
    opt.console().print(
        f"{plural(done.packed, 'log')} packed into archives of {plural(done.days, 'day')}, "
        f"{done.present:,} were there, {done.removed:,} originals removed",
        soft_wrap=True,
    )
    if done.unplaced:
        opt.warn(
            f"of {plural(done.unplaced, 'log')} the path is not known any more: ingest their folders again"
        )
    if done.skipped:
        opt.warn(f"{plural(done.skipped, 'log')} changed since the ingestion and stayed where they are")


def compact(
    db: Annotated[Path, typer.Option("--db", metavar="FLEET", help="Folder of the database.")],
    grace: Annotated[
        float,
        typer.Option(
            min=0,
            max=1e9,
            metavar="SECONDS",
            help="Keep parts that were merged so long, for who reads them still.",
        ),
    ] = 3600.0,
    as_json: opt.Json = False,
) -> None:
    """Merge the small parts of a database into few, and remove what killed ingestions left.

    Run it once a day. Ingestions and readers may go on meanwhile, and it may be killed.

    Example:

        workalike fleet compact --db fleet/
    """
    from workalike.fleet.compact import compact as merge
    from workalike.fleet.store import damage_named, open_store

    with damage_named(db):
        done = merge(open_store(db), grace_s=grace)
    if as_json:
        opt.print_json(vars(done))
        return
    opt.console().print(
        f"{plural(done.merged, 'part')} merged into {done.into:,}, {done.orphans:,} of killed ingestions and "
        f"{done.removed:,} merged before removed",
        soft_wrap=True,
    )
