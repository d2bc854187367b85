"""From processes that read a data set to its workload, and back: captured, characterized, replicated, captured again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from workalike.characterize import characterize
from workalike.compare.lines import model_against_log
from workalike.compare.pairing import pair_up
from workalike.darshan import open_log
from workalike.predict.agreement import share
from workalike.workload.model import Dataset, Order
from workalike.workload.workload_file import workload_text

from .conftest import MPI_ENVIRONMENT, PROGRAMS, WORKALIKE

PROGRAM = [sys.executable, str(PROGRAMS / "reads_epochs.py")]
FILES, SAMPLES, SIZE, READERS, EPOCHS = 10, 12, 4096, 3, 4


@pytest.fixture
def logs(library: Path, tmp_path: Path) -> list[Path]:
    """The logs of three processes that read at the same time."""
    data = str(tmp_path / "data")
    subprocess.run([*PROGRAM, "make", data, *map(str, (FILES, SAMPLES, SIZE))], check=True)
    out = [tmp_path / f"reader-{reader}.darshan" for reader in range(READERS)]
    arguments = [(READERS, reader, EPOCHS, SAMPLES, SIZE) for reader in range(READERS)]
    running = [
        subprocess.Popen(
            [*WORKALIKE, "profile", "-o", str(log), "--", *PROGRAM, "read", data, *map(str, numbers)]
        )
        for log, numbers in zip(out, arguments, strict=True)
    ]
    assert [process.wait(timeout=120) for process in running] == [0] * READERS
    return out


def test_the_data_set_is_that_of_the_program(logs: list[Path]) -> None:
    found = characterize([open_log(path) for path in logs])
    facts = found.families[0]  # the others are files at which Python looks
    order = Order.SHUFFLED_EACH_EPOCH
    assert facts.family.content_of(0).dataset == Dataset(
        files=FILES, samples=SAMPLES, sample=SIZE, order=order
    )
    assert (found.workload.ranks, facts.family.schedule.dumps) == (READERS, EPOCHS)
    rows = model_against_log(pair_up(found, None))
    assert share(rows) == 1.0
    exact = {row.counter: row.found for row in rows}
    assert exact["READS"] == EPOCHS * FILES * SAMPLES and exact["OPENS"] == EPOCHS * FILES
    assert len(workload_text(found.workload).splitlines()) <= 45  # with files at which Python looks


def test_its_replica_reads_the_same(logs: list[Path], tmp_path: Path) -> None:
    """Performed and captured again: all determined counters of both lines agree; a read that fell short would have failed the run."""
    if shutil.which("mpiexec") is None:
        pytest.skip("no mpiexec")
    out = tmp_path / "replica"
    done = subprocess.run(
        [*WORKALIKE, "replicate", *map(str, logs), "-o", str(out), "--time-scale", "0"],
        env={**os.environ, **MPI_ENVIRONMENT},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    fidelity = json.loads((out / "fidelity.json").read_text())
    assert fidelity["verdict"]["grade"] in ("exact", "faithful"), fidelity["verdict"]
    assert (fidelity["agreement"]["model"], fidelity["agreement"]["replica"]) == (1.0, 1.0)
    dumps = [
        line
        for line in map(json.loads, (out / "run.jsonl").read_text().splitlines())
        if line["type"] == "dump"
    ]
    assert [d["bytes_read"] for d in dumps if d["bytes_read"]] == [FILES * SAMPLES * SIZE] * EPOCHS
