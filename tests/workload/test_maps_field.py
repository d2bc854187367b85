"""The field `maps`: where it goes, what is said of it, and identities of older studies."""

from __future__ import annotations

from typing import Any

import pytest

from workalike.plan.resolve import Options, resolve
from workalike.study.study_file import YOUNGER
from workalike.workload.disclosure import disclose
from workalike.workload.model import Workload
from workalike.workload.phrases import call_words

STREAMS = [{"direction": "write", "sizes": ["4 x 1 MiB"]}]


def workload(interface: str = "posix", **content: Any) -> Workload:
    family = {"role": "output", "interface": interface, "schedule": {"start": [1]}, "content": content}
    return Workload.model_validate({"workalike": 2, "ranks": 4, "families": [family]})


@pytest.mark.parametrize("interface", ["mpiio", "hdf5", "pnetcdf"])
def test_maps_need_an_interface_with_descriptors(interface: str) -> None:
    content: dict[str, Any] = {"streams": STREAMS}
    workload(interface, **content)
    with pytest.raises(
        ValueError, match="`maps` need the descriptor of a file: use `interface: posix` or stdio"
    ):
        workload(interface, **content, maps=1)


def test_a_data_set_has_no_maps() -> None:
    with pytest.raises(ValueError, match="`dataset` has its own calls"):
        workload(maps=1, dataset={"files": 4, "samples": 2, "sample": 1000})


@pytest.mark.parametrize("interface", ["posix", "stdio"])
def test_maps_are_planned_said_and_disclosed(interface: str) -> None:
    job = workload(interface, streams=STREAMS, maps=8)
    assert call_words(job.families[0].content_of(0)) == "8 maps into memory"
    assert ("maps", "8") in {(row.field, row.value) for row in disclose(job)}
    for ranks, maps in ((4, 8), (2, 4), (1, 2)):
        assert resolve(job, Options(ranks=ranks)).contents[0].maps == maps
    assert resolve(workload(interface, streams=STREAMS), Options()).contents[0].maps is None


def test_older_studies_keep_their_identity() -> None:
    text = workload(streams=STREAMS).model_dump_json()
    assert [part for part in YOUNGER if "maps" in part and part in text] == ['"maps":0,']
