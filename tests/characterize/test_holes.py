"""Reads of bytes that no dump wrote, within the file: holes of a sparse file."""

from __future__ import annotations

from typing import Any

from workalike import _core
from workalike.characterize.holes import with_holes
from workalike.characterize.result import FamilyFacts
from workalike.plan.plan_file import plan_text
from workalike.plan.resolve import Options, families_that_read_holes, resolve
from workalike.workload.model import Workload


def workload(**more: Any) -> Workload:
    """Two families of one rank each; the second writes every second block of its file, and reads so many of all."""
    plain = {"direction": "write", "sizes": ["8 x 1 kB"]}
    strided = plain | {"pattern": "strided", "stride": "2 kB"}
    reads = {"direction": "read", "sizes": [f"{more.pop('blocks', 8)} x 1 kB"]}
    common = {"interface": "posix", "sharing": "per-rank", "lifetime": "reused"}
    families = [
        {
            "role": role,
            "schedule": {"count": 2, "every": "1 s"},
            "contents": [{"streams": [s]} for s in streams],
        }
        | common
        | keys
        for role, streams, keys in (("output", (plain, reads), {}), ("scratch", (strided, reads), more))
    ]
    return Workload.model_validate({"workalike": 2, "ranks": 1, "families": families})


def test_the_family_that_reads_holes_is_found() -> None:
    text = workload()
    assert families_that_read_holes(text) == {1}
    facts = with_holes([FamilyFacts(family, []) for family in text.families], text)
    assert [f.family.sparse for f in facts] == [False, True]
    assert facts[1].sentences() == [
        "reads: also of bytes between those that dumps wrote, which are taken as holes of the file"
    ]


def test_reads_beyond_the_end_are_of_a_file_that_was_there_before() -> None:
    text = workload(blocks=16)
    assert families_that_read_holes(text) == set()
    assert [d.prepare for d in resolve(text, Options()).dumps] == [False, False, True, True]


def test_a_sparse_family_keeps_its_holes_and_another_has_its_file_made() -> None:
    assert [d.prepare for d in resolve(workload(), Options()).dumps] == [False, False, False, True]
    plan = resolve(workload(sparse=True), Options())
    assert [d.prepare for d in plan.dumps] == [False] * 4
    assert [f.sparse for f in plan.families] == [None, True]
    _core.Plan(plan_text(plan))
