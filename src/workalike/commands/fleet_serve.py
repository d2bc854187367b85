"""`workalike fleet serve`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
        Path | None, typer.Option(metavar="FILE", help="Each request must have the token in this file.")
    ] = None,
    archive: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Archives, for workloads of logs that are no longer where they were read."
        ),
    ] = None,
    user_header: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The header in which a proxy names the user, who sees own jobs."),
    ] = None,
    unix_socket: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Listen on this socket file (mode 0660), for a proxy of the same group."
        ),
    ] = None,
    proxy_secret_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="What the proxy sends as X-Proxy-Secret; without it, no user header counts."
        ),
    ] = None,
    public_name: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A further host name by which browsers reach the portal."),
    ] = None,
    open_to_all: Annotated[
        bool, typer.Option("--open", help="No token: all users of this machine see all jobs.")
    ] = False,
) -> None:
    """Show jobs, users, applications, days and file systems as web pages, and as JSON.

    The portal only reads. By default it answers this machine only, and prints a URL with a new token in it: without the
    token, no user of the machine sees anything.

    Examples:

        workalike fleet serve --db fleet/

        workalike fleet serve --db fleet/ --host 0.0.0.0 --token-file token --public-name io.example.org

        workalike fleet serve --db fleet/ --site site.yaml --user-header X-Remote-User --unix-socket /run/io/portal

        workalike fleet serve --db fleet/ --site site.yaml --user-header X-Remote-User --proxy-secret-file secret
    """
    from workalike.extras import extra
    from workalike.files import read_text
    from workalike.fleet.serve.access import Names, Wanted, checked_access
    from workalike.fleet.serve.app import portal
    from workalike.fleet.serve.listen import listening, url_of
    from workalike.fleet.site import read_site
    from workalike.fleet.store import damage_named, open_store

    uvicorn = extra("uvicorn", "the portal", "fleet")
    token, secret = (
        read_text(file, ErrorKind.BAD_FILE, 4096).strip() if file else None
        for file in (token_file, proxy_secret_file)
    )
    wanted = Wanted(host, unix_socket is not None, token, user_header, secret, open_to_all)
    access = checked_access(read_site(site), wanted)
    names = None if unix_socket is not None else Names.of_host(host, public_name or ())
    with damage_named(db):
        application = portal(open_store(db), access, names=names, archives=archive)
    config = uvicorn.Config(application, log_level="warning", server_header=False, proxy_headers=False)
    with listening(host, port, unix_socket) as bound:
        print(url_of(bound, access.token if token is None else None), flush=True)
        if unix_socket is not None and token is None and access.token is not None:
            print(f"token: {access.token}", flush=True)
        uvicorn.Server(config).run(sockets=[bound])
