"""The tools that a workload can be imported from and exported to, one line each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from workalike.errors import ErrorKind
from workalike.exchange.dlio_in import read_dlio
from workalike.exchange.dlio_out import write_dlio
from workalike.exchange.fio import write_fio
from workalike.exchange.h5bench import write_h5bench
from workalike.exchange.ior import write_ior
from workalike.exchange.macsio_in import read_macsio
from workalike.exchange.macsio_out import write_macsio
from workalike.exchange.minio import read_minio
from workalike.exchange.notes import Exported, Imported
from workalike.files import read_text
from workalike.workload.model import Workload

MAX_SOURCE = 2**20


def _macsio(source: str, ranks: int | None) -> Imported:
    """Read a command line, or a file with one."""
    is_file = not source.lstrip().startswith("-") and len(source) < 4096 and Path(source).is_file()
    return read_macsio(read_text(source, ErrorKind.USAGE, MAX_SOURCE) if is_file else source, ranks)


def _minio(source: str, ranks: int | None) -> Imported:
    return read_minio(source, read_text(source, ErrorKind.USAGE, MAX_SOURCE), ranks)


def _dlio(source: str, ranks: int | None) -> Imported:
    return read_dlio(source, read_text(source, ErrorKind.USAGE, MAX_SOURCE), ranks)


IMPORTERS: dict[str, Callable[[str, int | None], Imported]] = {
    "macsio": _macsio,
    "minio": _minio,
    "dlio": _dlio,
}
EXPORTERS: dict[str, Callable[[Workload], Exported]] = {
    "macsio": write_macsio,
    "ior": write_ior,
    "h5bench": write_h5bench,
    "fio": write_fio,
    "dlio": write_dlio,
}
