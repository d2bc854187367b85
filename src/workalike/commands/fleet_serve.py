"""`workalike fleet serve`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workalike.commands import options as opt
from workalike.errors import ErrorKind


def serve(
    db: Annotated[Path, typer.Option("--db", metavar="FLEET", help="Folder of the database.")],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8080,
    site: Annotated[
        Path | None,
        typer.Option("--site", metavar="FILE", help="Site file: staff, pseudonyms (docs/fleet.md)."),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Who sends the token in this file sees everything.")
    ] = None,
    archive: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Archives, for workloads of logs that are no longer where they were read."
        ),
    ] = None,
    user_header: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The header in which a trusted proxy names the user, who sees own jobs. Nobody else may reach the port.",
        ),
    ] = None,
) -> None:
    """Show jobs, users, applications, days and file systems as web pages, and as JSON.

    The portal only reads. By default it answers this machine only.

    Examples:

        workalike fleet serve --db fleet/

        workalike fleet serve --db fleet/ --host 0.0.0.0 --user-header X-Remote-User --site site.yaml
    """
    from workalike.extras import extra
    from workalike.files import read_text
    from workalike.fleet.serve.access import checked_access, is_loopback
    from workalike.fleet.serve.app import portal
    from workalike.fleet.site import read_site
    from workalike.fleet.store import damage_named, open_store

    uvicorn = extra("uvicorn", "the portal", "fleet")
    token = read_text(token_file, ErrorKind.BAD_FILE, 4096).strip() if token_file else None
    access = checked_access(host, read_site(site), token, user_header)
    with damage_named(db):
        local = is_loopback(host) and user_header is None
        application = portal(open_store(db), access, local=local, archives=archive)
    opt.console().print(f"http://{host}:{port}/", soft_wrap=True)
    uvicorn.run(
        application, host=host, port=port, log_level="warning", server_header=False, proxy_headers=False
    )
