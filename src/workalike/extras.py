"""Libraries that only some parts need (the extras of pyproject.toml), imported where they are used."""

from __future__ import annotations

import importlib
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError


def extra(module: str, what: str, group: str) -> Any:
    """A module of an extra; `what` is the part that needs it, `group` the name of the extra.

    Raises:
        WorkalikeError: MISSING where it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise WorkalikeError(
            ErrorKind.MISSING, f"{what} needs {library}", hint=f"pip install 'workalike[{group}]'"
        ) from error


def arrow(what: str, group: str) -> tuple[Any, Any]:
    """pyarrow and its Parquet part.

    Raises:
        WorkalikeError: MISSING where they are not installed.
    """
    return extra("pyarrow", what, group), extra("pyarrow.parquet", what, group)
