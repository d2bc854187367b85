"""Files of any kind as the sides of a comparison."""

from __future__ import annotations

from pathlib import Path

from compare_builders import original, record, record_dump
from known_logs import own

from workalike.characterize.result import Characterization
from workalike.compare.inputs import read_original, read_replica
from workalike.record.run_record import Record
from workalike.workload.model import Workload
from workalike.workload.workload_file import workload_text


def test_a_log_is_characterized() -> None:
    for read in (read_original, read_replica):
        found = read(own("checkpoints-4"))
        assert isinstance(found, Characterization)
        assert found.workload.ranks == 4


def test_a_workload_is_an_original(tmp_path: Path) -> None:
    workload = original().workload
    path = tmp_path / "workload.yaml"
    path.write_text(workload_text(workload))
    found = read_original(path)
    assert isinstance(found, Workload)
    assert workload_text(found) == workload_text(workload)


def test_a_record_is_a_replica(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(record(record_dump(0)).model_dump_json())
    found = read_replica(path)
    assert isinstance(found, Record)
    assert [d.index for d in found.dumps] == [0]
