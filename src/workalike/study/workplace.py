"""Where trials put their data: a folder of the study's own in each directory, which has the study's mark.

Nothing is removed but what trials made: the engine removes its files, and folders are removed only when they are empty.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import write_text

MARK = ".workalike-study"


class Workplace:
    """The study's folder in a directory."""

    def __init__(self, directory: Path, study_id: str) -> None:
        self.directory = directory
        self.folder = directory / f"workalike-study-{study_id}"
        self._id = study_id

    def prepare(self) -> None:
        """Make the folder, or find that of the study's killed driver.

        Raises:
            WorkalikeError: USAGE if the directory does not exist or is none; CANNOT_WRITE.
        """
        if not self.directory.is_dir():
            what = "is not a directory" if self.directory.exists() else "does not exist"
            raise WorkalikeError(
                ErrorKind.USAGE,
                what,
                file=self.directory,
                place="directory",
                hint="make it on the file system under test, or choose another",
            )
        mark = self.folder / MARK
        try:
            self.folder.mkdir()
        except FileExistsError:
            self._refuse_foreign(mark)
        except OSError as error:
            raise WorkalikeError(
                ErrorKind.CANNOT_WRITE,
                error.strerror or "cannot be written",
                file=self.directory,
                hint="choose a directory that you may write to",
            ) from error
        if not mark.exists():
            write_text(mark, self._id + "\n")

    def _refuse_foreign(self, mark: Path) -> None:
        ours = self.folder.is_dir() and not self.folder.is_symlink()
        if ours and mark.is_file():
            ours = mark.read_text(encoding="utf-8", errors="replace").strip() == self._id
        elif ours:  # killed before it was marked
            ours = not any(self.folder.iterdir())
        if not ours:
            raise WorkalikeError(
                ErrorKind.CANNOT_WRITE,
                "is in the way, and not this study's",
                file=self.folder,
                hint="look at it, and remove it if nobody needs it",
            )

    @contextlib.contextmanager
    def trial_folder(self, number: int) -> Iterator[Path]:
        """An empty folder for a trial's data, removed at the end if nothing is left in it."""
        path = self.folder / f"trial-{number:06}"
        path.mkdir(exist_ok=True)
        try:
            yield path
        finally:
            with contextlib.suppress(OSError):
                path.rmdir()

    def leave(self) -> bool:
        """Remove the folder; False if trials left something in it, which stays."""
        with contextlib.suppress(OSError):
            if [path.name for path in self.folder.iterdir()] == [MARK]:
                (self.folder / MARK).unlink()
        with contextlib.suppress(OSError):
            self.folder.rmdir()
        return not self.folder.exists()
