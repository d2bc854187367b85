"""The page of joined studies: its table of systems, its means, and ratios against SciPy's own Welch test."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from workalike.study.merge import merge
from workalike.study.report.systems_page import write_systems_page

HOSTILE = "<script>alert(1)</script>"
HERE, THERE = [100.0, 110.0, 95.0, 104.0], [150.0, 170.0, 140.0, 155.0, 149.0]


def results(folder: Path, rates: dict[str, list[float]], cpu: str = "EPYC 9654", **found: str) -> Path:
    """The results of a study with a block for each rate of a setting."""
    folder.mkdir()
    system = {
        "host": "node1",
        "cpu": cpu,
        "cores": 96,
        "memory_bytes": 2**37,
        "kernel": "6.1",
        "file_systems": {
            "/scratch": {"type": "lustre", "bytes": 2**50},
            "/tmp": {"type": "ext4", "bytes": None},
        },
        "versions": {"libmpi": "libmpi.so.40", "libhdf5": "libhdf5.so.103"},
    }
    manifest = {"format": "workalike-study", "version": 1, "id": folder.name, "identity": "i", "created": "c"}
    (folder / "manifest.json").write_text(json.dumps(manifest | {"system": system, "factors": ["s"]}))
    lines = []
    for setting, values in rates.items():
        for block, rate in enumerate(values):
            row: dict[str, Any] = {"block": block, "setting": setting, "arm": "", "trial": len(lines)}
            row |= {"bandwidth": rate, "counted": True, "state": "ok", "found": found, "s": setting}
            lines.append(json.dumps({"trial": row, "dumps": []}) + "\n")
    (folder / "trials.jsonl").write_text("".join(lines))
    return folder


def joined(tmp_path: Path, **more: Any) -> Path:
    here = results(tmp_path / "here", {"x": HERE, "y": HERE}, mpi="Open MPI 4.1.4", hdf5="1.10.8")
    there = results(tmp_path / "there", {"x": THERE, "y": HERE}, **more)
    merge([here, there], tmp_path / "both")
    page = write_systems_page(tmp_path / "both")
    assert page is not None
    return page


def numbers(page: Path, name: str) -> list[dict[str, str]]:
    with (page.parent / "figures" / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def test_means_have_standard_errors(tmp_path: Path) -> None:
    rows = {(row["setting"], row["system"]): row for row in numbers(joined(tmp_path), "systems")}
    assert len(rows) == 4
    row = rows["x", "there"]
    assert float(row["mean_bytes_per_s"]) == pytest.approx(np.mean(THERE))
    assert float(row["standard_error"]) == pytest.approx(stats.sem(THERE))
    assert row["trials"] == "5"


def test_ratios_are_those_of_welch(tmp_path: Path) -> None:
    """Two settings are compared, so each interval has half of the error of 5 %."""
    rows = {row["setting"]: row for row in numbers(joined(tmp_path), "comparison")}
    tested = stats.ttest_ind(np.log(THERE), np.log(HERE), equal_var=False)
    low, high = tested.confidence_interval(0.975)
    found = rows["x"]
    assert (found["system"], found["reference"]) == ("there", "here")
    assert float(found["ratio"]) == pytest.approx(math.exp(np.log(THERE).mean() - np.log(HERE).mean()))
    assert (float(found["low"]), float(found["high"])) == pytest.approx((math.exp(low), math.exp(high)))
    assert float(found["p"]) == pytest.approx(tested.pvalue)
    assert float(rows["y"]["low"]) < 1 < float(rows["y"]["high"])


def test_the_page_says_which_system_is_faster(tmp_path: Path) -> None:
    text = joined(tmp_path).read_text()
    assert "Beside here: faster in 1 setting of 2, most of all in x: 1.49 times its bandwidth" in text
    assert "no difference found" in text and "<script" not in text


def test_the_table_of_systems(tmp_path: Path) -> None:
    """MPI and HDF5 as the trials found them, else as the engine's libraries are called; no markup is acted upon."""
    text = joined(tmp_path, cpu=HOSTILE).read_text()
    for word in (
        "128 GiB",
        "1 PiB lustre; ext4",
        "Open MPI 4.1.4",
        "1.10.8",
        "libmpi.so.40",
        "libhdf5.so.103",
    ):
        assert word in text, word
    assert "<script" not in text and "&lt;script&gt;" in text


def test_one_trial_of_each_says_nothing(tmp_path: Path) -> None:
    for name in ("a", "b"):
        results(tmp_path / name, {"x": [1.0]})
    merge([tmp_path / "a", tmp_path / "b"], tmp_path / "both")
    page = write_systems_page(tmp_path / "both")
    assert page is not None and "Nothing can be said beside a" in page.read_text()


def test_settings_of_one_system_only(tmp_path: Path) -> None:
    results(tmp_path / "a", {"x": HERE})
    results(tmp_path / "b", {"y": THERE})
    merge([tmp_path / "a", tmp_path / "b"], tmp_path / "both")
    page = write_systems_page(tmp_path / "both")
    assert page is not None and "no setting was measured on two systems" in page.read_text()
    assert len(numbers(page, "systems")) == 2


def test_counts_alone_have_no_page(tmp_path: Path) -> None:
    for name in ("a", "b"):
        results(tmp_path / name, {"x": [None, None]})
    merge([tmp_path / "a", tmp_path / "b"], tmp_path / "both")
    assert write_systems_page(tmp_path / "both") is None
