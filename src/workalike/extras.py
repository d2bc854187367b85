"""Libraries that only some parts need (the extras of pyproject.toml), imported where they are used."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError

GROUP_OF = {
    "matplotlib": "report",
    "h5py": "hdf5",
    "scipy": "study",
    "pyarrow": "study",
    "duckdb": "fleet",
    "starlette": "fleet",
    "uvicorn": "fleet",
    "distributed": "fleet-dask",
}
"""Library -> the smallest extra that has it."""


def missing(module: str, what: str = "this command", group: str = "") -> WorkalikeError | None:
    """The error for a library that is not installed; None for one that no extra has."""
    library = module.partition(".")[0]
    group = group or GROUP_OF.get(library, "")
    if not group:
        return None
    return WorkalikeError(
        ErrorKind.NOT_INSTALLED, f"{what} needs {library}", hint=f"pip install 'workalike[{group}]'"
    )


def require(module: str, what: str, group: str = "") -> None:
    """Refuse now what would end only later, after long work, for want of a library.

    Raises:
        WorkalikeError: NOT_INSTALLED where it is not installed.
    """
    if importlib.util.find_spec(module) is None:
        raise missing(module, what, group) or ModuleNotFoundError(module)


def extra(module: str, what: str, group: str) -> Any:
    """A module of an extra; `what` is the part that needs it, `group` the name of the extra.

    Raises:
        WorkalikeError: NOT_INSTALLED where it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise missing(module, what, group) or error from error


def arrow(what: str, group: str) -> tuple[Any, Any]:
    """pyarrow and its Parquet part.

    Raises:
        WorkalikeError: NOT_INSTALLED where they are not installed.
    """
    return extra("pyarrow", what, group), extra("pyarrow.parquet", what, group)
