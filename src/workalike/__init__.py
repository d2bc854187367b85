"""workalike: replicate the I/O of a real HPC application anywhere.

The pipeline: log -> `characterize` -> workload -> `plan` -> engine -> record -> `compare`.

The functions and types of the Python interface (docs/python-api.md) are loaded at their first use.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from workalike.version import VERSION as __version__

if TYPE_CHECKING:
    from workalike.api import (
        Characterization,
        Counts,
        ErrorKind,
        Fidelity,
        Log,
        Plan,
        Record,
        Replica,
        WorkalikeError,
        Workload,
        characterize,
        compare,
        count,
        open_log,
        plan,
        replicate,
    )

__all__ = [
    "Characterization",
    "Counts",
    "ErrorKind",
    "Fidelity",
    "Log",
    "Plan",
    "Record",
    "Replica",
    "WorkalikeError",
    "Workload",
    "__version__",
    "characterize",
    "compare",
    "count",
    "open_log",
    "plan",
    "replicate",
]

API = "workalike.api"
SHARED_NAMES = ("characterize", "compare", "plan")
"""Names that are both a subpackage and a function of the interface."""


class _CallableSubpackage(ModuleType):
    """A subpackage that can be called as the function of the interface with the same name."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._function(*arguments, **options)

    @property
    def _function(self) -> Any:
        return getattr(import_module(API), self.__name__.rpartition(".")[2])

    @property
    def __signature__(self) -> Any:
        import inspect

        return inspect.signature(self._function)


class _Package(ModuleType):
    """The package. Importing a subpackage sets an attribute of it, at whatever time and from whatever module."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in SHARED_NAMES and type(value) is ModuleType:
            value.__class__ = _CallableSubpackage
        super().__setattr__(name, value)


def __getattr__(name: str) -> Any:
    if name in SHARED_NAMES:
        return import_module(f"workalike.{name}")
    if name in __all__:
        return getattr(import_module(API), name)
    raise AttributeError(f"module 'workalike' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


sys.modules[__name__].__class__ = _Package
