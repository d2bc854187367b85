"""For every workload, each exporter writes something well-formed, and its bytes are the workload's or noted as lost."""

from __future__ import annotations

import json
import shlex

import pytest
from hypothesis import HealthCheck, given, settings
from workload_strategies import workloads

from workalike.exchange.fio import MOST_JOBS, write_fio
from workalike.exchange.h5bench import write_h5bench
from workalike.exchange.ior import write_ior
from workalike.exchange.macsio_in import read_macsio
from workalike.exchange.macsio_out import write_macsio
from workalike.exchange.shape import shapes_of
from workalike.workload.model import Workload
from workalike.workload.words import Direction

KINDS = ("streams", "arrays", "fit")
quick = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


PART_SIZES = ("--part_size", "--plot_part_size")
"""MACSio reads them into 32 bits."""


@quick
@given(workloads(kinds=KINDS))
def test_macsio_reads_what_is_written_for_it(workload: Workload) -> None:
    for dialect in ("fork", "upstream"):
        exported = write_macsio(workload, dialect)
        words = shlex.split(exported.text)
        if int(words[words.index("--num_dumps") + 1]) and "--part_size" in words:
            sizes = [int(words[words.index(name) + 1]) for name in PART_SIZES if name in words]
            if max(sizes) < 2**31:
                assert read_macsio(exported.text, None).document["ranks"] == workload.ranks


@quick
@given(workloads(kinds=KINDS))
def test_ior_and_fio_and_h5bench(workload: Workload) -> None:
    for line in write_ior(workload).text.splitlines():
        assert line.startswith(("#", "set ", "sleep ", "mpiexec ", "IOR_HINT__MPI__"))
    fio = write_fio(workload)
    jobs = [int(line.split("=")[1]) for line in fio.text.splitlines() if line.startswith("numjobs=")]
    assert all(1 <= n <= MOST_JOBS for n in jobs)
    for benchmark in json.loads(write_h5bench(workload).text)["benchmarks"]:
        assert int(benchmark["configuration"]["DIM_1"]) >= 1


@quick
@given(workloads(kinds=("streams",)))
def test_the_bytes_of_streams(workload: Workload) -> None:
    """Means are rounded: an operation's size by half a byte, its count by half an operation per rank."""
    for shape in shapes_of(workload):
        for dump in range(min(len(shape.starts), 3)):
            transfers = shape.transfers(dump)
            assert all(t.count >= 1 and t.ranks >= 1 and t.segments >= 1 for t in transfers)
            content = shape.family.content_of(dump)
            own = sum(content.moved(shape.ranks, direction) for direction in Direction)
            found = sum(t.bytes for t in transfers)
            if shape.stated is None:
                error = sum(0.5 * t.ranks * t.size * t.segments for t in transfers)
                assert abs(found - own) <= error
                assert shape.bytes_of(dump) == found
            elif own:
                error = sum(t.ranks * t.count * t.segments for t in transfers)
                assert abs(found - shape.stated[dump]) <= error
                assert shape.bytes_of(dump) == shape.stated[dump]


def test_an_operation_of_a_huge_prime_number_of_bytes_is_split_approximately() -> None:
    """The search for a divisor is bounded: the prime 2^50 - 27 has none."""
    stream = {"direction": "write", "sizes": [f"1 x {2**50 - 27} B"]}
    family = {
        "role": "checkpoint", "interface": "posix", "sharing": "shared", "schedule": {"count": 1},
        "content": {"streams": [stream]},
    }  # fmt: skip
    exported = write_fio(Workload.model_validate({"workalike": 2, "ranks": 1, "families": [family]}))
    (block,) = [int(line[3:]) for line in exported.text.splitlines() if line.startswith("bs=")]
    assert 2**29 < block <= 2**30
    assert any("become about" in note.text for note in exported.notes.all)


@pytest.mark.parametrize(("count", "written"), [(-1, False), (0, False), (1, True), (65535, True)])
def test_a_number_of_targets_that_macsio_takes(count: int, written: bool) -> None:
    family = {
        "role": "checkpoint", "interface": "typhonio", "schedule": {"start": ["1 s"]}, "sizes": "1 MiB",
        "content": {"mesh": {"dimensions": 2, "variables": 3}}, "tunable": {"stripe_count": count},
    }  # fmt: skip
    text = write_macsio(
        Workload.model_validate({"workalike": 2, "ranks": 2, "families": [family]}), "upstream"
    ).text
    words = [
        word
        for line in text.splitlines()
        if not line.startswith("#")
        for word in shlex.split(line, comments=True)
    ]
    assert ("--striping_factor" in words) == written
