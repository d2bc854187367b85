"""Fidelity on the terminal, line by line."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from compare_builders import MIB, original, record, record_dump
from rich.console import Console

from workalike.compare.fidelity import Fidelity, compare
from workalike.compare.fidelity_schema import (
    FamilyFidelity,
    HistogramDistance,
    UncoveredShare,
    VerdictFidelity,
)
from workalike.compare.summary import summary_lines
from workalike.compare.table import (
    MAX_FAMILIES,
    WORST_COUNTERS,
    print_fidelity,
    print_summary,
    reason_text,
    short_counter,
)


def shown(fidelity: Fidelity, width: int = 200) -> str:
    out = io.StringIO()
    print_fidelity(fidelity, Console(file=out, width=width))
    return out.getvalue()


def lines(fidelity: Fidelity) -> list[list[str]]:
    """Each line's words, split where columns are."""
    return [[w.strip() for w in line.split("  ") if w.strip()] for line in shown(fidelity).splitlines()]


def perfect(**more: object) -> Fidelity:
    return compare(original(dumps=1), record(record_dump(0), **more))


def off() -> Fidelity:
    """One of two dumps is missing, and half of the other's writes are in another bin."""
    counters = {**record_dump(0).counters, "SIZE_WRITE": [0, 16, 0, 0, 16, 0, 0, 0, 0, 0]}
    return compare(original(dumps=2), record(record_dump(0, start_s=13.0, counters=counters)))


def test_a_family_s_line() -> None:
    found = lines(perfect())
    head = ["family", "level", "dumps", "expected", "replica", "mean off", "max off", "sizes off"]
    assert [*head, "starts off", "I/O rank-s was", "is"] in found
    assert ["checkpoint 1", "posix", "1", "32 MiB", "32 MiB", "0 %", "0 %", "0", "0 s", "2", "1"] in found


def test_a_family_that_is_off() -> None:
    expected = ["checkpoint 1", "posix", "1 of 2", "64 MiB", "32 MiB", "50 %", "100 %", "0.5"]
    assert [*expected, "3 s", "4", "1"] in lines(off())


def test_columns_without_a_value_are_left_out() -> None:
    head = next(line for line in lines(perfect(time_scale=0.0, backend="null")) if line[:1] == ["family"])
    assert head[-1] == "sizes off"


def test_a_family_without_a_histogram() -> None:
    fidelity = perfect()
    fidelity.families[0].size_histogram_distance = HistogramDistance()
    assert "-" in lines(fidelity)[3]
    fidelity.families[0].size_histogram_distance = HistogramDistance(read=0.25, write=0.125)
    assert "0.25" in lines(fidelity)[3]


def families(count: int) -> list[FamilyFidelity]:
    known = perfect().families[0]
    return [
        known.model_copy(update={"name": f"output {n}", "bytes_original": n * MIB})
        for n in range(1, count + 1)
    ]


def test_the_largest_families_are_shown_and_the_others_counted() -> None:
    fidelity = perfect()
    fidelity.families = families(MAX_FAMILIES)
    text = shown(fidelity)
    assert "more famil" not in text
    assert text.index(f"output {MAX_FAMILIES}") < text.index("output 2 ") < text.index("output 1 ")
    fidelity.families = families(MAX_FAMILIES + 2)
    text = shown(fidelity)
    assert "  and 2 more families in fidelity.json" in text
    assert "output 3 " in text and "output 2 " not in text and "output 1 " not in text


def test_counters_that_are_off_are_shown_with_the_worst_first() -> None:
    fidelity = off()
    found = [line for line in lines(fidelity) if line[:1] == ["POSIX"]]
    assert [line[1] for line in found][:2] == ["SIZE_WRITE_100_1K", "SIZE_WRITE_100K_1M"]
    assert found[0][2:] == ["0", "0", "16", "100 %"]
    assert found[1][2:] == ["64", "64", "16", "75 %"]
    assert len(found) == WORST_COUNTERS
    assert "Counters furthest off" in shown(fidelity)


def test_no_counters_where_none_is_off() -> None:
    assert "Counters furthest off" not in shown(perfect())
    assert "0 %" in shown(perfect())


def test_counters_below_the_level_have_another_title() -> None:
    fidelity = off()
    for row in fidelity.counters:
        row.at_level = False
    assert "POSIX (below)" not in shown(fidelity), "where storage was not judged, they say nothing"
    fidelity.verdict.lines.storage.judged = True
    text = shown(fidelity)
    assert "Off only below the families' level" in text
    assert "POSIX (below)" in text
    fidelity.counters[1].error_pct, fidelity.counters[1].at_level = 5.0, True
    assert "Counters furthest off" in shown(fidelity)


def test_how_many_counters_agree_and_who_measured() -> None:
    fidelity = perfect()
    compared = [row for row in fidelity.counters if row.comparable]
    whole = len(compared)
    assert f"{whole} of {whole} comparable counters as expected; replica measured by the run's record." in (
        shown(fidelity)
    )
    compared[0].error_pct = 3.0
    assert f"{whole - 1} of {whole} comparable counters" in shown(fidelity)


@pytest.mark.parametrize(("share", "said"), [(0.0, False), (12.0, True)])
def test_what_is_not_covered(share: float, said: bool) -> None:
    fidelity = perfect()
    fidelity.uncovered = UncoveredShare(bytes_pct=share, reason="mmap")
    assert ("Not covered: 12 % of the bytes (mmap)." in shown(fidelity)) is said


def test_notes_and_nothing_to_replicate() -> None:
    fidelity = perfect()
    fidelity.notes, fidelity.families, fidelity.counters = ["first", "second"], [], []
    fidelity.verdict = VerdictFidelity(grade="empty")
    text = shown(fidelity)
    assert "Note: first\nNote: second" in text
    assert text.startswith("Nothing to replicate. The original moved no data")


def test_errors_are_coloured_by_the_grades() -> None:
    fidelity = perfect()
    for error, code in ((0.1, "32"), (0.2, "33"), (5.0, "33"), (5.1, "31")):
        fidelity.families[0].bytes_error_max_pct = error
        out = io.StringIO()
        print_fidelity(fidelity, Console(file=out, width=200, force_terminal=True, color_system="standard"))
        assert re.search(rf"\x1b\[{code}m *{error:.2g} %", out.getvalue())


def test_sums_have_short_names() -> None:
    assert short_counter("INDEP_WRITES+COLL_WRITES") == "all WRITES"
    assert short_counter("SIZE_WRITE_0_100") == "SIZE_WRITE_0_100"


def summarized(fidelity: Fidelity) -> str:
    out = io.StringIO()
    print_summary(fidelity, Path("out/report.html"), Console(file=out, width=200), has_trace=False)
    return out.getvalue()


def test_the_summary_says_what_was_compared_and_what_was_not() -> None:
    fidelity = perfect()
    said = dict(summary_lines(fidelity, Path("out/report.html"), has_trace=False))
    assert f"the log of {fidelity.ranks_original} ranks" in said["compared"]
    assert said["as expected"].startswith("all bytes, ") and "within 5 %" in said["as expected"]
    assert "storage: " in said["not judged"] and "the log has no trace" in said["not known"]
    assert "trace" not in dict(summary_lines(fidelity, Path("r"), has_trace=True))["not known"]
    fidelity.verdict.lines.storage.judged = True
    fidelity.stamp = None
    assert "storage" not in dict(summary_lines(fidelity, Path("r"), has_trace=True))["not judged"]
    assert "out/report.html" in said["report"]


def test_the_summary_compares_the_end_of_the_run_where_scales_allow() -> None:
    fidelity = perfect()
    times = fidelity.times
    times.calls_original_s, times.calls_replica_s, times.calls_ratio = 10.0, 12.0, 1.2
    said = dict(summary_lines(fidelity, Path("r"), has_trace=True))
    assert said["length"] == "first to last call 10 s in the original, 12 s in the replica (× 1.2)"
    times.calls_ratio = None
    assert "length" not in dict(summary_lines(fidelity, Path("r"), has_trace=True))


def test_the_summary_of_a_replica_that_differs_has_its_reasons_and_notes() -> None:
    fidelity = off()
    fidelity.notes.append("something is odd")
    text = summarized(fidelity)
    assert fidelity.verdict.reasons and reason_text(fidelity.verdict.reasons[0]) in text
    assert "Note: something is odd" in text
    assert "all bytes" not in text
