"""The libraries that only fleets need."""

from __future__ import annotations

from typing import Any

from workalike import extras

_WHAT, _GROUP = "a fleet", "fleet"


def require_all() -> None:
    """Refuse now what would end only later for want of a library.

    Raises:
        WorkalikeError: NOT_INSTALLED where one is not installed.
    """
    for module in ("duckdb", "pyarrow"):
        extras.require(module, _WHAT, _GROUP)


def arrow() -> tuple[Any, Any]:
    """pyarrow and its Parquet part.

    Raises:
        WorkalikeError: NOT_INSTALLED where they are not.
    """
    return extras.arrow(_WHAT, _GROUP)


def duck() -> Any:
    """duckdb.

    Raises:
        WorkalikeError: NOT_INSTALLED where it is not.
    """
    return extras.extra("duckdb", _WHAT, _GROUP)
