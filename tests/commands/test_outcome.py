"""What commands say of a log at their end."""

from __future__ import annotations

from pathlib import Path

import pytest

from workalike.characterize import characterize
from workalike.cli import app
from workalike.commands.outcome import report_gaps, report_missing_sizes
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
    assert "module STDIO: BYTES_READ is 5, READS is 0: these contradict each other (1 file)" in said
    assert "secret" not in said


def test_a_partial_module_is_reported_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = LogBuilder(nprocs=2).stdio("/s/secret", rank=0, OPENS=1, WRITES=1, BYTES_WRITTEN=1)
    found = characterize([open_log(builder.partial("STDIO").write(tmp_path / "app.darshan"))])
    report_gaps(found)
    assert capsys.readouterr().err.count("STDIO") == 1


def test_how_sizes_of_stdio_can_be_had(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only where the workload has STDIO, and its log has no sizes."""
    builder = LogBuilder(nprocs=1, run_time=10.0)
    builder.stdio("/s/out", rank=0, OPENS=1, WRITES=4, BYTES_WRITTEN=400, F_OPEN_START_TIMESTAMP=1.0)
    report_missing_sizes(characterize([open_log(builder.write(tmp_path / "app.darshan"))]))
    assert "profile --stdio-sizes" in capsys.readouterr().err
    data = Path(__file__).parents[1] / "data"
    for name in ("stdio-output-1.darshan", "checkpoints-4.darshan"):
        report_missing_sizes(characterize([open_log(data / name)]))
        assert capsys.readouterr().err == ""


def test_a_comparison_that_is_replaced_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    workload = "workalike: 2\nranks: 1\nfamilies:\n- {role: output, interface: posix, schedule: {count: 1}, "
    Path("app.yaml").write_text(workload + "content: {streams: [{direction: write, sizes: [1 x 1 KiB]}]}}\n")
    app(["run", "app.yaml", "--backend", "null", "--dir", ".", "-o", "out", "--quiet"], standalone_mode=False)
    said = []
    for _ in range(2):
        app(["compare", "app.yaml", "out/run.json", "--quiet"], standalone_mode=False)
        said.append(capsys.readouterr().err)
    assert said == ["", "workalike: fidelity.json of an earlier comparison is replaced; -o FILE keeps it\n"]
