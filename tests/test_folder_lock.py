"""A folder for results that cannot be opened, or that another command has locked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import alone_in


def test_a_folder_that_may_not_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that names the folder; the superuser may open everything, so the error is simulated."""

    def refused(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refused)
    refusal = pytest.raises(WorkalikeError, match="Permission denied")
    with refusal as caught, alone_in(tmp_path, "busy"):
        pass
    assert caught.value.kind is ErrorKind.CANNOT_WRITE
    assert str(tmp_path) in caught.value.one_line()


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    with (
        alone_in(tmp_path, "first"),
        pytest.raises(WorkalikeError, match="second"),
        alone_in(tmp_path, "second"),
    ):
        pass
    with alone_in(tmp_path, "busy"):  # the lock was released
        pass
