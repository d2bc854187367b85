"""workalike: replicate the I/O of a real HPC application anywhere.

The line: log -> `characterize` -> workload -> `plan` -> engine -> record -> `compare`.

The functions and types of the Python interface (docs/python-api.md) are loaded when they are asked for.
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
"""Parts of the package and functions of the interface alike."""


class _CallablePart(ModuleType):
    """A part of the package that can be called as the function of the interface that has its name."""

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
    """The import of a part sets an attribute of the package, whoever imports it, and when."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in SHARED_NAMES and type(value) is ModuleType:
            value.__class__ = _CallablePart
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
