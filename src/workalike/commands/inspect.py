"""`workalike inspect FILE`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workalike.commands import options as opt
from workalike.errors import ExitCode


def register(app: typer.Typer) -> None:
    app.command(
        "inspect",
        epilog="Exit codes: 0 sound, or an ordinary HDF5 file; 1 errors were found; "
        "2 not readable as HDF5, or no such file.",
    )(command)


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="TyphonIO or other HDF5 file.")],
    as_json: opt.Json = False,
) -> None:
    """Print the tree of a TyphonIO file, and check what the library leaves unchecked.

    An error makes a release-built library fail, crash or silently return wrong values. A warning marks a contradiction
    that the library survives. A note marks what is legal but worth knowing. Nothing outside of the file is opened, and
    nothing is written. Of an ordinary HDF5 file, groups and datasets are listed.

    Examples:

        workalike inspect checkpoint_000.h5

        workalike inspect checkpoint_000.h5 --json
    """
    from workalike.extras import require
    from workalike.typhonio.inspection import inspect_file
    from workalike.typhonio.show import lines

    require("h5py", "inspect", "hdf5")
    found = inspect_file(file)
    if as_json:
        opt.print_json(found.as_dict(file))
    else:
        screen = opt.console()
        for line in lines(found):
            screen.print(line, markup=False, soft_wrap=True)
    if found.typhonio and found.errors:
        raise typer.Exit(ExitCode.FAILED)
