"""Data files of a plan in a folder: refused where they are in the way, and removed after a run.

Only names that the engine makes from the plan's own id are touched.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from workalike import _core
from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import path_for_core
from workalike.plan.core import refusal


def refuse_existing(core: _core.Plan, folders: Sequence[Path]) -> None:
    """Refuse folders with a live run of the plan, or with files in the way; files of a killed run are removed.

    Raises:
        WorkalikeError: CANNOT_WRITE or USAGE, naming the file.
    """
    for folder in folders:
        _refuse_existing_in(core, folder)


def _refuse_existing_in(core: _core.Plan, folder: Path) -> None:
    try:
        core.clean(path_for_core(folder))
    except _core.PlanError as error:
        raise refusal(error, None) from error
    except OSError as error:
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE,
            f"the lock file of this plan cannot be used: {error}",
            file=folder,
            hint="remove workalike-*.lock or choose another --dir",
        ) from error
    found = core.files_in(path_for_core(folder))
    if not found:
        return
    path = folder / found[0]
    raise WorkalikeError(
        ErrorKind.CANNOT_WRITE,
        "a data file of an earlier run is in the way"
        if path.is_file() and not path.is_symlink()
        else "is in the way: a data file needs this name",
        file=path,
        hint="remove it or choose another --dir; a run deletes only its own files",
    )


def remove_data(core: _core.Plan, folders: Sequence[Path]) -> None:
    """Remove what a killed engine left; the folders themselves may be gone."""
    for folder in folders:
        with contextlib.suppress(OSError, _core.PlanError):
            core.clean(path_for_core(folder))


def data_files(core: _core.Plan, folders: Sequence[Path]) -> list[Path]:
    """The data files of the plan in each folder, in the order of their names; some libraries make folders."""
    found = []
    for folder in folders:
        with contextlib.suppress(OSError, _core.PlanError):
            found += [folder / name for name in sorted(core.files_in(path_for_core(folder)))]
    return found


def remove_kept(core: _core.Plan, folders: Sequence[Path]) -> None:
    """Remove the plan's data files that a run has kept, as far as possible."""
    for folder in folders:
        core.remove_files(path_for_core(folder))
