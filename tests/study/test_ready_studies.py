"""Every study of `studies/` from begin to end: few blocks, few ranks, tiny dumps, in a local directory.

What a plain file system cannot set is left out, as the study itself says then; `make test-system` runs stripes on CephFS.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from studies import trials_in, workalike

READY = Path(__file__).parents[2] / "studies"
MOST_RANKS, MOST_FACTORS = 4, 3
TINY = "1/64"
ASKED = {
    "weak-scaling": "How far does it scale?",
    "strong-scaling": "How far does it scale?",
    "typhonio-vs-hdf5": "How do times grow with ranks?",
    "file-modes": "Do the factors depend on each other?",
    "capture-overhead": "What matters most?",
    "hdf5-tuning": "Which is the best for each workload?",
    "systems": "What differs from the reference?",
}
"""What the page of a study must answer; studies of stripes have a single setting left here."""


def shortened(path: Path, folder: Path, *, layouts: bool) -> Path:
    """A small form of a ready study. Without `layouts` it leaves out what a plain file system cannot set."""
    document: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    if "workload" in document:
        document["workload"] = str(READY / document["workload"])
    else:
        document["workloads"] = {name: str(READY / file) for name, file in document["workloads"].items()}
    factors = {name: f if isinstance(f, dict) else {"levels": f} for name, f in document["factors"].items()}
    fixed = document["fixed"] | {"dumps": 2}
    if "bytes_scale" in factors:
        factors["bytes_scale"]["levels"] = [TINY]
    else:
        fixed.setdefault("bytes_scale", TINY)  # what a library adds would be more than smaller dumps
    if "ranks" in factors:
        factors["ranks"]["levels"] = [ranks for ranks in factors["ranks"]["levels"] if ranks <= MOST_RANKS]
    for name, factor in factors.items():
        if factor.get("set", name) == "directory":
            factor["levels"] = {level: str(folder / level) for level in factor["levels"]}
            for place in factor["levels"].values():
                Path(place).mkdir()
    if not layouts:
        fixed = {name: value for name, value in fixed.items() if not name.startswith("layout.")}
        gone = {name for name, f in factors.items() if f.get("set", name).startswith("layout.")}
        factors = {name: f for name, f in factors.items() if name not in gone}
        constraints = document.get("constraints", [])
        document["constraints"] = [c for c in constraints if not any(name in c["skip"] for name in gone)]
    document |= {"factors": factors, "fixed": fixed, "blocks": 2}
    if len(factors) > MOST_FACTORS:
        document |= {"design": "pairwise", "blocks": 1}
    small = folder / path.name
    small.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return small


@pytest.mark.mpi
@pytest.mark.parametrize("path", sorted(READY.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_ready_study_runs_to_its_page(path: Path, tmp_path: Path) -> None:
    study, out, data = shortened(path, tmp_path, layouts=False), tmp_path / "out", tmp_path / "data"
    data.mkdir()
    done = workalike("study", study, "-o", out, "--dir", data, "--no-ceiling", "-q")
    assert done.returncode == 0, done.stderr
    rows = trials_in(out)
    manifest = json.loads((out / "manifest.json").read_text())
    assert len(rows) == manifest["blocks"] * (len(manifest["settings"]) + 1), "each setting, and the A/A arm"
    for row in rows:
        assert row["counted"] and row["record_matches_plan"], row["reasons"]
        assert 0 < row["slowest_call_s"] <= row["wall_s"] and row["slowest_call_bytes"] > 0
        assert row["bandwidth"] > 0 and 0 < row["write_time_s"] <= row["processes"] * row["wall_s"]
    text = (out / "report.html").read_text(encoding="utf-8")
    assert "Can the comparison be trusted?" in text and ASKED.get(path.stem, "") in text
    assert not any(data.iterdir()), "nothing is left"


@pytest.mark.parametrize("name", ["striping", "stripe-counts", "hdf5-tuning"])
def test_a_ready_study_says_what_cannot_be_set(name: str, tmp_path: Path) -> None:
    """The first trial is not run on a file system without stripes."""
    study = shortened(READY / f"{name}.yaml", tmp_path, layouts=True)
    done = workalike("study", study, "-o", tmp_path / "out", "--dir", tmp_path, "--no-ceiling", "-q")
    assert done.returncode == 2
    assert "leave it out with a constraint `skip`" in done.stderr and "(plain)" in done.stderr
    assert not (tmp_path / "out" / "trials.jsonl").read_text()
