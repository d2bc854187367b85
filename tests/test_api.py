"""The public Python interface: what it returns, what it refuses, and that its page runs."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from known_logs import REPOSITORY, own
from needed import needs_engine, needs_mpiexec

import workalike
from workalike import api

LOG = own("checkpoints-4")
BYTES = 3 * 2097152
PAGE = REPOSITORY / "docs" / "python-api.md"


@pytest.fixture(scope="module")
def found() -> workalike.Characterization:
    return workalike.characterize(LOG)


def in_a_new_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_loads_nothing_until_it_is_asked_for() -> None:
    code = "import sys, workalike; print([m for m in ('numpy', 'pydantic', 'workalike.api') if m in sys.modules])"
    assert in_a_new_python(code) == "[]"


@pytest.mark.parametrize(
    "before", ["", "import workalike.plan.plan_file, workalike.compare", "import workalike.api"]
)
def test_functions_that_share_a_name_with_a_part_can_be_called_whatever_was_imported(before: str) -> None:
    code = f"""
import workalike
{before}
found = workalike.characterize({str(LOG)!r})
plan = workalike.plan(found)
print(workalike.count(plan).total("BYTES_WRITTEN"))
from workalike.plan.resolve import Options
import workalike.plan.plan_schema as model
assert type(plan) is model.Plan is workalike.Plan
"""
    assert in_a_new_python(code) == str(BYTES)


def test_every_name_is_there_and_documented() -> None:
    assert set(api.__all__) | {"__version__"} == set(workalike.__all__)
    for name in api.__all__:
        assert name in dir(workalike)
        assert getattr(api, name).__doc__, name
    assert inspect.signature(workalike.plan) == inspect.signature(api.plan)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = workalike.nothing


def test_log_and_its_path_give_the_same_workload(found: workalike.Characterization) -> None:
    log = workalike.open_log(LOG)
    assert isinstance(log, workalike.Log)
    for given in (log, str(LOG), [log]):
        assert workalike.characterize(given).workload == found.workload


def test_plan_takes_a_workload_in_any_form(found: workalike.Characterization, tmp_path: Path) -> None:
    from workalike.workload.workload_file import workload_text

    path = tmp_path / "app.yaml"
    path.write_text(workload_text(found.workload))
    plans = [workalike.plan(given, ranks=2) for given in (found, found.workload, path)]
    assert plans[0] == plans[1]
    assert [plan.ranks for plan in plans] == [2, 2, 2]
    assert workalike.count(plans[2]).total("BYTES_WRITTEN") == BYTES


def test_ranks_follow_from_nodes(found: workalike.Characterization) -> None:
    assert workalike.plan(found, nodes=3, ranks_per_node=4).ranks == 12
    assert workalike.plan(found, ranks=10, nodes=3, ranks_per_node=4).ranks == 10
    for wrong in ({"nodes": 3}, {"ranks_per_node": 4}, {"ranks": 13, "nodes": 3, "ranks_per_node": 4}):
        with pytest.raises(workalike.WorkalikeError) as caught:
            workalike.plan(found, **wrong)
        assert caught.value.kind is workalike.ErrorKind.USAGE


@pytest.mark.parametrize("half", [0.5, "1/2", Fraction(1, 2), "0.5"])
def test_bytes_scale_is_exact(found: workalike.Characterization, half: float | str | Fraction) -> None:
    assert workalike.count(workalike.plan(found, bytes_scale=half)).total("BYTES_WRITTEN") == BYTES // 2


def test_counts_have_a_row_per_dump(found: workalike.Characterization, tmp_path: Path) -> None:
    from workalike.plan.plan_file import write_plan

    plan = workalike.plan(found)
    counts = workalike.count(plan)
    assert len(counts) == len(plan.dumps) == 3
    assert counts["BYTES_WRITTEN"].tolist() == [BYTES // 3] * 3
    assert counts["BYTES_WRITTEN"].dtype == counts.family.dtype == np.int64
    assert counts["SIZE_WRITE"].shape == (3, 10)
    assert counts["SIZE_WRITE"].sum() == counts.total("WRITES")
    assert counts.index.tolist() == [0, 1, 2]
    assert counts.start_s.tolist() == [dump.start_s for dump in plan.dumps]
    write_plan(plan, tmp_path / "plan.json")
    from_file = workalike.count(tmp_path / "plan.json")
    assert all(np.array_equal(from_file[name], column) for name, column in counts.columns.items())


def test_counts_of_another_backend() -> None:
    plan = workalike.plan(workalike.characterize(LOG, level="mpiio"))
    assert workalike.count(plan)["INDEP_WRITES"].sum() + workalike.count(plan)["COLL_WRITES"].sum() > 0
    assert workalike.count(plan, backend="posix").total("BYTES_WRITTEN") == BYTES
    with pytest.raises(workalike.WorkalikeError, match="TyphonIO"):
        workalike.count(plan, backend="typhonio")


@pytest.mark.parametrize(
    "call",
    [
        lambda found: workalike.plan(found, bytes_scale=0),
        lambda found: workalike.plan(found, bytes_scale="1/0"),
        lambda found: workalike.plan(found, time_scale=-1),
        lambda found: workalike.plan(found, backend="none such"),
        lambda found: workalike.count(workalike.plan(found), backend="none such"),
        lambda _: workalike.characterize(LOG, level="none such"),
        lambda _: workalike.characterize(LOG, model="none such"),
    ],
)
def test_words_and_numbers_that_are_wrong_are_refused(call, found: workalike.Characterization) -> None:
    with pytest.raises(workalike.WorkalikeError) as caught:
        call(found)
    assert caught.value.kind is workalike.ErrorKind.USAGE
    assert caught.value.hint


def test_what_is_missing_is_said_to_be(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    calls = (workalike.open_log, workalike.characterize, workalike.plan, workalike.count)
    for call in (*calls, lambda path: workalike.compare(path, path)):
        with pytest.raises(workalike.WorkalikeError) as caught:
            call(gone)
        assert caught.value.kind is workalike.ErrorKind.MISSING


@needs_engine
@needs_mpiexec
def test_replica_and_its_comparison(tmp_path: Path) -> None:
    out = tmp_path / "replica"
    replica = workalike.replicate(LOG, out, ranks=2, time_scale=0, verify=True)
    assert isinstance(replica, workalike.Replica)
    names = {"workload.yaml", "plan.json", "run.json", "fidelity.json", "report.html", "full-scale"}
    assert names <= {path.name for path in out.iterdir()}
    assert not (out / "data").exists()
    assert replica.plan.ranks == 2
    assert replica.record.verified is not None and replica.record.verified.errors == 0
    assert replica.fidelity.families[0].bytes_replica == BYTES
    by_record = workalike.compare(LOG, out / "run.json", out / "plan.json")
    assert isinstance(by_record, workalike.Fidelity)
    assert by_record == workalike.compare(replica.characterization, replica.record, replica.plan)
    assert by_record.families[0].total_bytes_error_pct == 0


def test_a_report_without_matplotlib_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(workalike.WorkalikeError) as caught:
        workalike.replicate(LOG, tmp_path / "replica", ranks=2, time_scale=0)
    assert caught.value.kind is workalike.ErrorKind.NOT_INSTALLED
    assert not (tmp_path / "replica").exists()


@needs_engine
@needs_mpiexec
def test_a_replica_without_its_report_needs_no_matplotlib(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    replica = workalike.replicate(LOG, tmp_path, ranks=2, time_scale=0, report=False)
    assert replica.fidelity.verdict.grade == "exact"
    assert not (tmp_path / "report.html").exists()


@needs_engine
@needs_mpiexec
def test_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 4
    printed: list[str] = []
    names = {"out": tmp_path / "replica", "print": lambda *words: printed.append(" ".join(map(str, words)))}
    monkeypatch.chdir(REPOSITORY)
    for block in blocks:
        exec(block, names)
    assert printed[0] == "4 6291456"
    assert printed[2].split()[:2] == ["3", str(BYTES * 1024)]
    assert printed[3] == str(BYTES // 2)
    assert printed[-2].split() == [str(BYTES)] * 2
    assert printed[-1].startswith("USAGE | bytes_scale")
