"""`workalike docs`: the documentation that is installed, without a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workalike.commands import options as opt
from workalike.errors import ErrorKind, WorkalikeError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from http.server import ThreadingHTTPServer

ARCHIVE = Path(__file__).parents[1] / "site.tar.xz"
"""The site in an installation; `tools/build-wheels` makes it."""
CHECKOUT = Path(__file__).parents[3] / "build" / "site"
"""The site in a checkout, after `make docs`."""


def register(app: typer.Typer) -> None:
    app.command(
        "docs",
        epilog="Exit codes: 0 done, also after Ctrl-C; 2 no such page, or this installation has no pages.",
    )(opt.with_options(command))


def command(
    page: Annotated[
        str | None, typer.Argument(metavar="[PAGE]", help="A page, such as verdict or tutorial/first-week.")
    ] = None,
    extract: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the site into a new folder, and end.")
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of this machine; 0: one that is free.")
    ] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address alone.")] = False,
) -> None:
    """Open the documentation in a browser.

    The pages are part of the installation, and their search works, too: nothing comes from a network. They are served
    to this machine alone, until Ctrl-C.

    Examples:

        workalike docs

        workalike docs verdict

        workalike docs --extract site/
    """
    if extract is not None:
        _extract(extract)
        return
    import webbrowser

    with _Site() as site:
        path = _path_of(page, site)
        with _server(site, port) as server:
            address = f"http://127.0.0.1:{server.server_address[1]}/{path}"
            opt.console().print(f"{address}  (Ctrl-C ends it)", markup=False, soft_wrap=True)
            if not no_browser:
                webbrowser.open(address)
            server.serve_forever()


class _Site:
    """The folder of the site while it is shown: that of the checkout, or the archive, unpacked."""

    def __enter__(self) -> Path:
        import tempfile

        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        if ARCHIVE.is_file():
            self._scratch = tempfile.TemporaryDirectory(prefix="workalike-docs-")
            folder = Path(self._scratch.name)
            _unpack(folder)
            return folder
        if (CHECKOUT / "index.html").is_file():
            return CHECKOUT
        raise WorkalikeError(
            ErrorKind.MISSING,
            "this installation has no pages",
            file="site.tar.xz",
            hint="in a checkout, run `make docs` first; else install a wheel",
        )

    def __exit__(self, *_: object) -> None:
        if self._scratch is not None:
            self._scratch.cleanup()


def _unpack(folder: Path) -> None:
    import tarfile

    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")


def _extract(folder: Path) -> None:
    import shutil

    from workalike.files import make_folder

    make_folder(folder)
    if any(folder.iterdir()):
        raise WorkalikeError(ErrorKind.USAGE, "is not empty", file=folder, hint="choose another folder")
    with _Site() as site:
        shutil.copytree(site, folder, dirs_exist_ok=True)
    opt.console().print(f"pages: {folder / 'index.html'}", markup=False, soft_wrap=True)


def _path_of(page: str | None, site: Path) -> str:
    """The path of a page in the site, such as `verdict.html`."""
    if page is None:
        return ""
    wanted = page.removesuffix(".md").removesuffix(".html").strip("/")
    known = sorted(_pages(site))
    if wanted in known:
        return f"{wanted}.html"
    from difflib import get_close_matches

    near = get_close_matches(wanted, known, n=3, cutoff=0.4)
    raise WorkalikeError(
        ErrorKind.USAGE,
        f"there is no page {page[:60]!r}",
        hint=f"such as {', '.join(near or ['index', 'verdict', 'glossary'])}",
    )


def _pages(site: Path) -> Iterator[str]:
    for path in site.rglob("*.html"):
        yield path.relative_to(site).with_suffix("").as_posix()


def _server(site: Path, port: int) -> ThreadingHTTPServer:
    from functools import partial
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    try:
        return ThreadingHTTPServer(("127.0.0.1", port), partial(Quiet, directory=str(site)))
    except OSError as error:
        raise WorkalikeError(
            ErrorKind.USAGE, f"--port {port}: {error.strerror}", hint="choose another port, or none"
        ) from error
