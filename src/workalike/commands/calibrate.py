"""`workalike calibrate --backend B`"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workalike.commands import options as opt
from workalike.errors import ErrorKind, WorkalikeError
from workalike.plan.choices import TRAITS

if TYPE_CHECKING:
    from workalike.calibrate.equation import Fit
    from workalike.calibrate.study import Calibration

BACKENDS = tuple(name for name, traits in TRAITS.items() if traits["hdf5_settings"])
PATTERNS = ("faithful", "optimised")
MOST_RANKS_WRITTEN = 16  # a file to check the inverted size is written by at most so many


def register(app: typer.Typer) -> None:
    app.command("calibrate", epilog=opt.EXIT_CODES)(command)


def command(
    backend: Annotated[
        str, typer.Option(help="Backend whose files are fitted.", metavar="|".join(BACKENDS))
    ] = "typhonio",
    mesh: Annotated[str, typer.Option(help="Type of the mesh.", metavar="TYPE")] = "unstructured",
    dimensions: Annotated[int, typer.Option(min=1, max=3, help="Dimensions of the mesh.")] = 2,
    pattern: Annotated[
        str, typer.Option(help="Call pattern of the typhonio backend.", metavar="faithful|optimised")
    ] = "faithful",
    least: Annotated[str, typer.Option(help="Smallest part size of the study.", metavar="SIZE")] = "64 KiB",
    most: Annotated[str, typer.Option(help="Largest part size of the study.", metavar="SIZE")] = "4 MiB",
    points: Annotated[int, typer.Option(min=3, max=100, help="Part sizes between them.")] = 7,
    ranks: Annotated[
        str, typer.Option(help="Rank counts of the files, two at least.", metavar="N,N,...")
    ] = "1,2,4",
    invert: Annotated[
        str | None, typer.Option(help="Also print the part size that gives files of SIZE.", metavar="SIZE")
    ] = None,
    invert_ranks: Annotated[int, typer.Option(min=1, help="Ranks of those files.")] = 4,
    invert_variables: Annotated[int, typer.Option(min=1, help="Variables of those files.")] = 43,
    folder: Annotated[
        Path | None, typer.Option("--dir", help="Where the study's files go [default: a temporary folder].")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of the calibration's JSON file.")
    ] = Path(),
    as_json: opt.Json = False,
) -> None:
    """Fit the file-size model of a backend (Eq. 1 of the workload-replication paper) to files written for it.

    The fit is printed as in the paper, and with the boundary term that near-square meshes need. Both are compared with
    files that were held out. The JSON file is named after backend, mesh and library version.

    Examples:

        workalike calibrate --backend typhonio

        workalike calibrate --backend hdf5 --mesh curvilinear --dimensions 3 --invert '259 MiB' --invert-ranks 80
    """
    from workalike.calibrate.document import document_of
    from workalike.calibrate.inversion import invert_size
    from workalike.calibrate.study import Study, calibrate, spread_of, write_one
    from workalike.files import make_data_folder, make_folder, write_text
    from workalike.workload.mesh import CYCLE, MeshType

    least_size, most_size = _size(least, "--least"), _size(most, "--most")
    if not 8 * 4**dimensions <= least_size < most_size:
        raise WorkalikeError(ErrorKind.USAGE, f"--least must lie between {8 * 4**dimensions} B and --most")
    target = None if invert is None else _size(invert, "--invert")
    fitted, held = spread_of(least_size, most_size, points)
    study = Study(
        backend=opt.one_of(backend, BACKENDS, "--backend"),
        type=MeshType(opt.one_of(mesh, tuple(MeshType), "--mesh")),
        dimensions=dimensions,
        pattern=opt.one_of(pattern, PATTERNS, "--pattern"),
        remainder=0 if target is None else invert_variables % len(CYCLE),
        ranks=_numbers(ranks),
        part_sizes=fitted,
        held_sizes=held,
    )
    make_folder(output)
    if folder is not None:
        make_data_folder(folder)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        calibration = calibrate(study, Path(scratch), (lambda _: None) if as_json else opt.warn)
        inverted = (
            None if target is None else invert_size(calibration, target, invert_ranks, invert_variables)
        )
        written = None
        if inverted is not None and invert_ranks <= MOST_RANKS_WRITTEN:
            written = write_one(
                study, invert_ranks, invert_variables, inverted.part_size, Path(scratch) / "inverted"
            )
    report = document_of(calibration, inverted, written)
    path = output / f"{study.name}-{calibration.library.lower().replace(' ', '-')}.json"
    write_text(path, json.dumps(report, indent=1) + "\n")
    if as_json:
        opt.print_json({"calibration": str(path), **report})
        return
    _print(calibration)
    if inverted is not None:
        _print_inverted(report["inverted"])
    opt.console().print(f"calibration: {path}", soft_wrap=True)


def _size(text: str, option: str) -> int:
    from workalike.workload import units

    try:
        return int(units.parse_size(text))
    except ValueError as error:
        raise WorkalikeError(ErrorKind.USAGE, f"{option}: {error}") from None


def _numbers(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(p.strip().isdecimal() and 1 <= int(p) <= 4096 for p in parts):
        raise WorkalikeError(
            ErrorKind.USAGE, "--ranks takes numbers from 1 to 4096, separated by commas, such as 1,2,4"
        )
    return tuple(sorted({int(p) for p in parts}))


def _print(calibration: Calibration) -> None:
    console = opt.console()
    fitted, held = len(calibration.fitted), len(calibration.held)
    console.print(f"{calibration.study.name}, {calibration.library}: {fitted} files, {held} held out")
    console.print("F = Pr (PS (alpha V + beta) + gamma V + delta) + eta V + psi", highlight=False)
    _print_fit("as in the paper", calibration.paper, calibration, "paper")
    if calibration.boundary is not None:
        _print_fit("with the boundary term", calibration.boundary, calibration, "boundary")


def _print_fit(title: str, equation: Fit, calibration: Calibration, key: str) -> None:
    from rich.table import Table

    from workalike.workload import units

    extra = "" if equation.power is None else f" + Pr PS^{equation.power:.3g} (epsilon V + zeta)"
    table = Table(title=title + extra, title_justify="left", show_edge=False)
    table.add_column("coefficient")
    table.add_column("value", justify="right")
    table.add_column("standard error", justify="right")
    for name, value, error in zip(equation.names, equation.values, equation.errors, strict=True):
        table.add_row(name, f"{value:.6g}", f"{error:.2g}")
    worst = max(map(abs, equation.residuals(calibration.held)))
    holds = calibration.holds_from[key]
    console = opt.console()
    console.print(table)
    holds_from = "for none of them" if holds is None else f"from part size {units.format_size(holds)} on"
    console.print(
        f"R2 {equation.r_squared:.9f}; held-out files at most {100 * worst:.4f} % off; within 0.1 % {holds_from}",
        soft_wrap=True,
    )


def _print_inverted(found: dict[str, Any]) -> None:
    from workalike.workload import units

    size = units.format_size(found["size"])
    opt.console().print(
        f"{size} of {found['ranks']} ranks with {found['variables']} variables: part_size {found['part_size']} B by the "
        f"equation, {found['closed_form_part_size']:.1f} B in closed form ({found['closed_form_bytes']} B of mesh and "
        f"{found['library_bytes']} B of the library)",
        soft_wrap=True,
    )
    if "written_bytes" in found:
        off = 100 * (found["written_bytes"] / found["size"] - 1)
        opt.console().print(
            f"a file with that part_size has {found['written_bytes']} B: {off:+.4f} %", soft_wrap=True
        )
