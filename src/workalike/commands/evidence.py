"""`workalike evidence --dir DIR -o FILE`, and `workalike evidence FILE`"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workalike.commands import options as opt
from workalike.errors import ErrorKind, ExitCode, WorkalikeError

if TYPE_CHECKING:
    from workalike.evidence.document import Evidence
    from workalike.evidence.measure import Measurement

LEAST_RANKS, MOST_RANKS = 2, 4
"""Of a node, where --ranks does not say."""
EXIT_CODES = (
    "Exit codes: 0 done; 1 no run succeeded, or nothing can be written; 2 bad usage, or FILE is none; 3 done, but "
    "something is left out, which the file states."
)


def register(app: typer.Typer) -> None:
    app.command("evidence", epilog=EXIT_CODES)(command)


def command(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="An evidence file: show what it says.")
    ] = None,
    directory: Annotated[
        Path | None,
        typer.Option("--dir", metavar="DIR", help="A folder in the file system to measure; left as it was."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The file to write, in a folder that all nodes see."
        ),
    ] = None,
    repeats: Annotated[
        int, typer.Option(metavar="N", min=1, max=1000, help="Runs of a workload, and pairs of a program.")
    ] = 5,
    ranks: Annotated[
        int | None,
        typer.Option(
            "--ranks", "-n", min=1, help="Ranks of a run [default: 2 to 4 on each node, by its cores]."
        ),
    ] = None,
    nodes: Annotated[int | None, typer.Option(min=1, help="Nodes [default: those of the batch job].")] = None,
    launcher: Annotated[
        str | None,
        typer.Option(
            help="mpiexec, srun, flux or serial [default: the one that is available].",
            metavar="NAME",
            autocompletion=opt.complete_launcher,
        ),
    ] = None,
    limit: Annotated[
        float,
        typer.Option(
            metavar="MINUTES", min=0.1, max=1440, help="What does not fit into this time is left out."
        ),
    ] = 60.0,
    quiet: opt.Quiet = False,
    as_json: opt.Json = False,
) -> None:
    """Measure a file system for others to see: one file without names of hosts, users, mounts or paths.

    The file has a self-test of striping, the variance of a workload over repeats, and six transfers: programs, the
    workloads that are made of their logs, and the replicas that perform these. It holds numbers and words of closed
    lists only. Ctrl-C removes all data, and writes no file. With FILE alone, such a file is shown.

    Examples:

        workalike evidence --dir /scratch/me -o evidence.json

        workalike evidence --dir /scratch/me -o evidence.json --ranks 64 --limit 20

        workalike evidence evidence.json
    """
    from workalike.evidence.document import read_evidence, write_evidence

    if file is not None:
        if directory is not None or output is not None:
            raise WorkalikeError(
                ErrorKind.USAGE, "FILE is shown, and --dir is measured", hint="leave one of them out"
            )
        _show(read_evidence(file), quiet=quiet, as_json=as_json)
        return
    if directory is None or output is None:
        raise WorkalikeError(
            ErrorKind.USAGE,
            "--dir DIR and -o FILE are missing",
            hint="or name an evidence file to show",
        )
    found = _measured(
        _measurement(directory, output, ranks, nodes, launcher, repeats, limit), silent=quiet or as_json
    )
    write_evidence(found, output)
    _show(found, quiet=quiet, as_json=as_json)
    if not (quiet or as_json):
        opt.console().print(f"file: {output}", soft_wrap=True)
    if found.left_out:
        raise typer.Exit(ExitCode.PARTLY)


def _measurement(
    directory: Path,
    output: Path,
    ranks: int | None,
    nodes: int | None,
    launcher: str | None,
    repeats: int,
    limit: float,
) -> Measurement:
    from dataclasses import replace

    from workalike.evidence.bench import Placement
    from workalike.evidence.measure import Measurement
    from workalike.study.system import node_count

    on_nodes = nodes or node_count()
    of_a_node = max(LEAST_RANKS, min(MOST_RANKS, os.cpu_count() or 1))
    number = ranks or of_a_node * on_nodes
    if on_nodes > number:
        raise WorkalikeError(
            ErrorKind.USAGE, f"{number} ranks do not fill {on_nodes} nodes", hint="raise --ranks"
        )
    placement = Placement(number, launcher=launcher)
    if on_nodes > 1:
        placement = replace(placement, nodes=on_nodes, ranks_per_node=-(-number // on_nodes))
    return Measurement(directory, output, placement, repeats, limit)


def _measured(asked: Measurement, *, silent: bool) -> Evidence:
    from workalike.commands.progress import progress
    from workalike.evidence.measure import measure

    screen = opt.console(silent)
    with progress("runs", hidden=silent) as advanced:
        return measure(
            asked,
            say=lambda line: screen.print(line, soft_wrap=True),
            warn=opt.warn,
            progress=advanced,
        )


def _show(evidence: Evidence, *, quiet: bool, as_json: bool) -> None:
    from workalike.evidence.document import evidence_text

    if as_json:
        opt.print_json(json.loads(evidence_text(evidence)))
    elif not quiet:
        from workalike.commands.evidence_tables import print_evidence

        print_evidence(evidence, opt.console())
