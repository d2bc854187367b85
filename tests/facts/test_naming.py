"""What names of files tell."""

from __future__ import annotations

import pytest
from facts_by_hand import file_facts

from workalike.facts.naming import is_obfuscated, numbering, numbers_of, pattern_of, role_by_name, width_keys
from workalike.workload.words import Role


@pytest.mark.parametrize(
    ("name", "hidden"),
    [("", True), ("/a/12345", True), ("12345", True), ("/a/1234", False), ("/a/x12345", False)],
)
def test_names_that_an_anonymiser_made(name: str, hidden: bool) -> None:
    assert is_obfuscated(name) is hidden


@pytest.mark.parametrize(
    ("name", "pattern", "numbers"),
    [
        ("chk_0012.h5", "chk_#.h#", ["0012", "5"]),
        ("a-deadbeef1.dat", "a-#.dat", []),
        ("a-123e4567-e89b-12d3-a456-426614174000.dat", "a-#.dat", []),
        ("deadbeef.dat", "deadbeef.dat", []),  # a word
        ("12345678.dat", "#.dat", ["12345678"]),
    ],
)
def test_patterns(name: str, pattern: str, numbers: list[str]) -> None:
    assert pattern_of(name) == pattern
    assert numbers_of(name) == numbers


def test_padded_numbers_are_told_apart_by_width() -> None:
    assert width_keys(["dump_020", "dump_10000"]) == [(3,), (5,)]
    assert width_keys(["chk.9", "chk.10"]) == [(), ()]
    assert width_keys(["a0", "a1"]) == [(), ()]
    assert width_keys(["a_1_007", "a_12_008"]) == [(3,), (3,)]


def test_numbers_that_vary() -> None:
    assert numbering(["a5_1_x", "a5_2_x", "a5_10_x"]) == [[1], [2], [10]]
    assert numbering(["a", "b1"]) == [[], []]
    assert numbering([]) == []
    assert numbering([f"x{'1' * 30}", "x2"]) == [[int("1" * 18)], [2]]


@pytest.mark.parametrize(
    ("names", "role"),
    [
        (["/x/chk_1.h5", "/x/ckpt"], Role.CHECKPOINT),
        (["/x/plot_1"], Role.VISUALIZATION),
        (["/x/run.log"], Role.LOG),
        (["/x/case.inp"], Role.INPUT),
        (["/x/swap.1"], Role.SCRATCH),
        (["/x/chk_1", "/x/data"], None),
        (["/chk/data"], None),  # the base name speaks
        ([], None),
    ],
)
def test_roles_that_names_speak_of(names: list[str], role: Role | None) -> None:
    assert role_by_name([file_facts(name) for name in names]) is role
