"""What the engine or the schema refuses of workalike's own workload is called its own fault, never the log's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from workalike.characterize import characterize
from workalike.characterize.result import Characterization
from workalike.darshan import LogBuilder, open_log
from workalike.errors import ErrorKind, WorkalikeError
from workalike.launch.run import RunOptions
from workalike.plan.resolve import Options
from workalike.replica.replicate import replicate
from workalike.workload.model import Workload


@pytest.fixture
def found(tmp_path: Path) -> Characterization:
    builder = LogBuilder(nprocs=1)
    builder.posix("/run/f", 0, OPENS=1, WRITES=4, BYTES_WRITTEN=400, SIZE_WRITE_100_1K=4)
    return characterize([open_log(builder.write(tmp_path / "app.darshan"))])


def refused(found: Characterization, tmp_path: Path, options: Options) -> WorkalikeError:
    """What a replica ends with whose family has a hint that no engine takes."""
    for family in found.workload.families:
        content = family.content
        assert content is not None
        for stream in content.streams:
            object.__setattr__(stream, "base", 2**60)  # beyond what the engine takes
    with pytest.raises(WorkalikeError) as caught:
        replicate(found, options, RunOptions(tmp_path / "data", tmp_path, quiet=True))
    return caught.value


@pytest.mark.mpi
def test_a_refusal_of_the_core_is_our_fault(found: Characterization, tmp_path: Path) -> None:
    error = refused(found, tmp_path, Options())
    assert error.kind is ErrorKind.FAULT and error.exit_code == 1
    assert "app.darshan" in error.one_line() and "the log is not to blame" in error.one_line()
    assert "damaged" not in error.one_line() and "usage" not in error.one_line()


@pytest.mark.mpi
def test_what_the_user_asked_for_stays_bad_usage(found: Characterization, tmp_path: Path) -> None:
    assert refused(found, tmp_path, Options(backend="posix")).kind is ErrorKind.USAGE


def test_a_workload_that_the_schema_refuses_is_our_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: Any) -> Workload:
        return Workload.model_validate({"workalike": 2, "ranks": 1, "families": [{"role": "nobody"}]})

    from workalike.characterize import pipeline

    monkeypatch.setattr(pipeline._Characterizer, "run", refuses)
    builder = LogBuilder(nprocs=1)
    builder.posix("/run/f", 0, OPENS=1, WRITES=1, BYTES_WRITTEN=100, SIZE_WRITE_100_1K=1)
    with pytest.raises(WorkalikeError, match="fault of workalike") as caught:
        characterize([open_log(builder.write(tmp_path / "app.darshan"))])
    assert caught.value.file is not None and "app.darshan" in caught.value.file
