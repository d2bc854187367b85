"""The prediction of families of datasets is held against the log, counter by counter."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from known_logs import DATA, find

from workalike.characterize import CharacterizeOptions, characterize
from workalike.characterize.contents.arrays.dataset_misfit import misfit_of_datasets
from workalike.characterize.options import Model
from workalike.characterize.result import FamilyFacts
from workalike.darshan import open_log
from workalike.facts.jobs import job_of
from workalike.facts.levels import WITH_DATASETS
from workalike.workload.model import Content, Family


def families(log: str, **options: Model) -> list[FamilyFacts]:
    found = characterize([open_log(find(log))], CharacterizeOptions(**options)).families
    return [facts for facts in found if facts.family.counted_at in WITH_DATASETS]


@pytest.mark.parametrize(
    "log", ["hdf5-states-4", "h5py-series-1", "ior-hdf5-4", "ior-pnetcdf-4", "meep-hdf5-4"]
)
def test_datasets_of_known_logs_are_compared_and_none_is_off(log: str) -> None:
    found = families(log)
    assert found and all(facts.misfit == [] for facts in found)


def with_content(facts: FamilyFacts, content: Content) -> FamilyFacts:
    """The same family with this content in each dump."""
    document = facts.family.model_dump(exclude={"content", "contents", "use", "sizes", "growth"})
    return replace(facts, family=Family.model_validate(document | {"content": content.model_dump()}))


def test_a_dataset_that_is_larger_than_the_log_s_is_named_with_its_counters() -> None:
    (facts,) = families("h5py-series-1")
    content = facts.family.content_of(0)
    (first, *others) = content.arrays
    twice = first.model_copy(update={"element": 2 * first.element})
    other = with_content(facts, content.model_copy(update={"arrays": [twice, *others]}))
    off = misfit_of_datasets(other, job_of([open_log(find("h5py-series-1"))]))
    assert off is not None
    assert [(row.module, row.counter) for row in off][:2] == [("H5D", "BYTES_READ"), ("H5D", "BYTES_WRITTEN")]


def test_of_a_mesh_the_bytes_alone_are_compared() -> None:
    (facts,) = families("hdf5-states-4", model=Model.MESH)
    content = facts.family.content_of(0)
    assert content.mesh is not None and facts.misfit == []
    small = content.mesh.model_copy(update={"part_size": 3000, "part_dims": None})
    other = with_content(facts, content.model_copy(update={"mesh": small}))
    off = misfit_of_datasets(other, job_of([open_log(find("hdf5-states-4"))]))
    assert off is not None
    assert [row.counter for row in off] == ["BYTES_WRITTEN"]


def test_the_command_does_not_call_datasets_uncompared() -> None:
    command = [
        sys.executable,
        "-m",
        "workalike",
        "characterize",
        "--rules",
        str(DATA / "hdf5-states-4.darshan"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "not compared with the log's counters" not in done.stderr
