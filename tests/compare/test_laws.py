"""The table of laws is complete, and docs/scaling-laws.md is made from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from workalike.compare.laws import Law, all_counters, instrument_difference, laws_markdown, rule_of


def test_every_counter_of_every_module_has_a_law() -> None:
    for module, counter in all_counters():
        rule = rule_of(module, counter)
        assert (rule.law is Law.NONE) == bool(rule.why), f"{module} {counter}"


def test_the_page_is_the_table() -> None:
    page = Path(__file__).parents[2] / "docs" / "scaling-laws.md"
    assert page.read_text() == laws_markdown(), "write it again with workalike.compare.laws.laws_markdown"


@pytest.mark.parametrize(
    ("module", "counter", "law"),
    [
        ("POSIX", "BYTES_WRITTEN", Law.BYTES),
        ("POSIX", "WRITES", Law.OPERATIONS),
        ("POSIX", "SIZE_READ_0_100", Law.SIZES),
        ("MPI-IO", "COLL_WRITES", Law.OPERATIONS),
        ("MPI-IO", "INDEP_OPENS+COLL_OPENS", Law.OPENS),
        ("POSIX", "CONSEC_READS", Law.FOLLOWING),
        ("POSIX", "MAX_BYTE_READ", Law.EXTENT),
        ("POSIX", "FASTEST_RANK", Law.NONE),
        ("POSIX", "F_READ_TIME", Law.NONE),
        ("H5D", "OPENS", Law.NONE),
    ],
)
def test_some_laws(module: str, counter: str, law: Law) -> None:
    assert rule_of(module, counter).law is law


def test_unknown_counters_are_refused() -> None:
    with pytest.raises(KeyError):
        rule_of("POSIX", "NONSENSE")


def test_instruments_differ_over_stat() -> None:
    assert instrument_difference("POSIX", "STATS", "darshan", "engine")
    assert not instrument_difference("POSIX", "STATS", "plan", "engine")
    assert not instrument_difference("POSIX", "READS", "darshan", "engine")
