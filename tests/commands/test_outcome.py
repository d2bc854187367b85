"""What commands say of a log at their end."""

from __future__ import annotations

from pathlib import Path

import pytest

from workalike.characterize import characterize
from workalike.commands.outcome import report_gaps
from workalike.darshan import LogBuilder, open_log


def test_counters_that_contradict_each_other_are_on_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    builder = LogBuilder(nprocs=2)
    builder.stdio("/s/secret", rank=0, OPENS=1, WRITES=1, BYTES_WRITTEN=1, BYTES_READ=5)
    found = characterize([open_log(builder.write(tmp_path / "app.darshan"))])
    assert found.complete  # what is doubtful is no loss
    report_gaps(found)
    said = capsys.readouterr().err
    assert "module STDIO: BYTES_READ is 5, READS is 0: these cannot be true together (1 file)" in said
    assert "secret" not in said


def test_a_partial_module_is_reported_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = LogBuilder(nprocs=2).stdio("/s/secret", rank=0, OPENS=1, WRITES=1, BYTES_WRITTEN=1)
    found = characterize([open_log(builder.partial("STDIO").write(tmp_path / "app.darshan"))])
    report_gaps(found)
    assert capsys.readouterr().err.count("STDIO") == 1
