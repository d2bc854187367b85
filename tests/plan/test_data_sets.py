"""Data sets of a workload: what a valid one is, and what a plan at any scale makes of it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from workalike.plan.core import core_plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Dataset, Lifetime, Workload
from workalike.workload.summary import summarize
from workalike.workload.workload_file import parse_workload, workload_text

FAMILY: dict[str, Any] = {
    "role": "input",
    "interface": "posix",
    "schedule": {"count": 3, "first": 0, "every": 30},
}


def workload(ranks: int = 4, family: dict[str, Any] | None = None, **dataset: Any) -> Workload:
    shape = {"files": 16, "samples": 24, "sample": "16 KiB"} | dataset
    item = FAMILY | {"content": {"dataset": shape}} | (family or {})
    return Workload.model_validate({"ranks": ranks, "runtime": 90, "families": [item]})


def test_each_load_is_an_epoch_over_the_same_files() -> None:
    plan = resolve(workload(), Options())
    assert plan.families[0].lifetime is Lifetime.REUSED
    assert [(d.index, d.file, d.prepare) for d in plan.dumps] == [(0, 0, True), (1, 0, True), (2, 0, True)]
    assert core_plan(plan).count()["BYTES_READ"].tolist() == [16 * 24 * 16384] * 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"interface": "mpiio"}, "posix` or stdio"),
        ({"sharing": "per-rank"}, "`split` says who reads what"),
        ({"sizes": "1 MiB"}, "leave out `sizes`"),
        ({"lifetime": "appended"}, "leave out `lifetime`"),
        ({"keep": 2}, "leave out `lifetime`, `keep`"),
    ],
)
def test_what_a_family_with_a_data_set_cannot_have(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        workload(family=change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sample": 0}, "at least 1 B"),
        ({"transfer": 0}, "at least 1 B"),
        ({"files": 10**8, "samples": 10**8}, "samples"),
        ({"sample": "1 PiB"}, "at most"),
        ({"order": "random"}, "sequential"),
    ],
)
def test_impossible_data_sets(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        workload(**change)


def test_compute_time_stands_in_one_place() -> None:
    schedule = FAMILY["schedule"] | {"compute_time": 3}
    with pytest.raises(ValidationError, match="not in both"):
        workload(family={"schedule": schedule}, compute_time=1)


def test_nothing_else_is_in_its_content() -> None:
    content = {"opens": 4, "dataset": {"files": 1, "sample": 8}}
    with pytest.raises(ValidationError, match="own calls"):
        workload(family={"content": content})


def test_the_text_of_a_workload_is_read_back() -> None:
    before = workload(order="shuffled-each-epoch", file_order="shuffled", split="samples", batch=8, readers=2)
    text = workload_text(before)
    assert parse_workload(text) == before
    assert "dataset:" in text


def test_the_summary_says_what_is_read() -> None:
    lines = "\n".join(summarize(workload(readers=2, order="shuffled", deviation="1 KiB")))
    assert "3 epochs; 16 files read by all ranks" in lines
    assert "16 files with 24 samples of 16 KiB ± 1 KiB in each" in lines
    assert "2 readers that share out the files, other ranks in the next epoch" in lines


datasets = st.builds(
    Dataset,
    files=st.integers(1, 50),
    samples=st.integers(1, 50),
    sample=st.integers(1, 10**6),
    deviation=st.sampled_from([0, 10**4]),
    split=st.sampled_from(["files", "samples"]),
    batch=st.integers(1, 9),
    readers=st.none() | st.integers(1, 6),
)


@settings(max_examples=60, deadline=None)
@given(
    datasets,
    st.sampled_from([Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(5, 2)]),
    st.none() | st.integers(1, 20),
    st.sampled_from(["strong", "weak"]),
    st.sampled_from(["count", "size"]),
)
def test_bytes_of_an_epoch_are_exact(
    dataset: Dataset, scale: Fraction, ranks: int | None, how: Any, by: Any
) -> None:
    asked = Options(ranks=ranks, scaling=how, bytes_scale=scale, scale_by=by)
    found = resolve(workload(6, **dataset.model_dump()), asked)
    factor = scale * (Fraction(ranks or 6, 6) if how == "weak" else 1)
    counted = core_plan(found).count()["BYTES_READ"].tolist()
    assert counted == [max(1, round(dataset.total * factor))] * 3


def test_fewer_bytes_are_fewer_files_then_fewer_samples() -> None:
    shapes = []
    for scale in (Fraction(1), Fraction(1, 4), Fraction(1, 64)):
        (content,) = resolve(workload(), Options(bytes_scale=scale)).contents
        assert content.dataset is not None
        shapes.append((content.dataset.files, content.dataset.samples, content.dataset.bytes))
    assert shapes == [(16, 24, 16 * 24 * 16384), (4, 24, 4 * 24 * 16384), (1, 6, 6 * 16384)]


def test_scaled_by_size_samples_are_smaller() -> None:
    (content,) = resolve(
        workload(deviation="4 KiB"), Options(bytes_scale=Fraction(1, 4), scale_by="size")
    ).contents
    assert content.dataset is not None
    assert (content.dataset.files, content.dataset.samples) == (16, 24)
    assert (content.dataset.bytes, content.dataset.deviation) == (16 * 24 * 4096, 1024)


def test_readers_keep_their_share_of_the_ranks() -> None:
    found = [resolve(workload(8, readers=2), Options(ranks=n)).contents[0].dataset for n in (4, 8, 32, 1)]
    assert [d.readers for d in found if d is not None] == [1, 2, 8, 1]


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_readers_of_everything_read_the_same_bytes_in_all(ranks: int) -> None:
    plan = resolve(workload(4, split="none"), Options(ranks=ranks))
    assert core_plan(plan).count()["BYTES_READ"].tolist() == [4 * 16 * 24 * 16384] * 3


def test_compute_time_of_batches() -> None:
    """8 readers are 2 training processes of 4 workers: 384 samples are 24 batches of 8 for each."""
    whole = workload(8, workers=4, batch=8, compute_time="0.5 s")
    assert [d.compute_s for d in resolve(whole, Options()).dumps] == [12.0] * 3
    quarter = resolve(whole, Options(bytes_scale=Fraction(1, 4)))
    assert [d.compute_s for d in quarter.dumps] == [3.0] * 3
    assert [d.compute_s for d in resolve(whole, Options(ranks=4)).dumps] == [24.0] * 3
