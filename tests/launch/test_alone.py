"""A folder for records that cannot be opened, or that another run has locked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workalike.errors import ErrorKind, WorkalikeError
from workalike.launch.run import _alone_in


def test_a_folder_that_may_not_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that names the folder; the superuser may open everything, so the error is simulated."""

    def refused(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(WorkalikeError, match="Permission denied") as caught, _alone_in(tmp_path):
        pass
    assert caught.value.kind is ErrorKind.CANNOT_WRITE
    assert str(tmp_path) in caught.value.one_line()


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    with _alone_in(tmp_path), pytest.raises(WorkalikeError, match="another run"), _alone_in(tmp_path):
        pass
    with _alone_in(tmp_path):  # the lock was released
        pass
