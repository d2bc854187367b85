"""The verdict in words, and the table on the terminal."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from compare_builders import MIB, original, record, record_dump
from rich.console import Console

from workalike.compare.fidelity import Fidelity, compare
from workalike.compare.fidelity_schema import (
    GradeReason,
    GradeWord,
    HistogramDistance,
    LineFidelity,
    ScaleFidelity,
)
from workalike.compare.summary import summary_lines
from workalike.compare.table import print_fidelity
from workalike.compare.verdict import (
    full_scale_words,
    is_operation_count,
    only_at_storage,
    scale_words,
    verdict_of,
    worst_counters,
)
from workalike.record.run_record import RecordScale, Stamp
from workalike.text import count_text, percent_text, plural, seconds_text, size_text
from workalike.workload.words import Level


@pytest.mark.parametrize(
    ("written", "grade"),
    [(32 * MIB, "exact"), (32 * MIB + 20_000, "faithful"), (33 * MIB, "close"), (48 * MIB, "different")],
)
def test_grades(written: int, grade: str) -> None:
    counters = record_dump(0).counters
    verdict = verdict_of(
        compare(original(dumps=1), record(record_dump(0, written=written, counters=counters)))
    )
    assert verdict.grade == grade
    assert verdict.sentence.startswith("Run at full scale, ")


def at_storage(fidelity: Fidelity, model: GradeWord = "exact") -> Fidelity:
    """Made to differ in one counter of POSIX, in the replica's log only."""
    fidelity.verdict.grade = "different"
    lines = fidelity.verdict.lines
    lines.model = LineFidelity(grade=model, counters=12, judged=True)
    lines.replica = LineFidelity(grade="close", counters=12, judged=True)
    lines.storage = LineFidelity(grade="different", counters=12, judged=True)
    fidelity.verdict.reasons = [
        GradeReason(
            line="storage",
            family="checkpoint 1",
            module="POSIX",
            counter="SEQ_WRITES",
            expected=23,
            found=33,
            error_pct=43.5,
        )
    ]
    return fidelity


def test_a_grade_of_storage_has_a_sentence_with_the_counter_and_its_level() -> None:
    fidelity = at_storage(compare(original(dumps=1), record(record_dump(0))))
    fidelity.families[0].level = Level.H5D
    sentence = (
        "The grade is that of storage, below H5D: "
        "POSIX SEQ_WRITES of checkpoint 1 is 23 in the log and 33 in the replica's log."
    )
    assert only_at_storage(fidelity) == sentence
    assert verdict_of(fidelity).sentence.endswith(sentence)
    assert dict(summary_lines(fidelity, Path("r"), has_trace=True))["because"] == sentence
    fidelity.families[0].level = Level.POSIX
    assert only_at_storage(fidelity).startswith("The grade is that of storage: POSIX SEQ_WRITES")


def test_a_grade_of_another_line_has_no_sentence_on_storage() -> None:
    fidelity = at_storage(compare(original(dumps=1), record(record_dump(0))), model="different")
    assert only_at_storage(fidelity) == ""
    assert "because" not in dict(summary_lines(fidelity, Path("r"), has_trace=True))
    equal = compare(original(dumps=1), record(record_dump(0)))
    assert only_at_storage(equal) == ""


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (32 * MIB, "the dump has exactly the bytes expected"),
        (32 * MIB + 20_000, "bytes are within 0.06 % of what is expected"),
        (48 * MIB, "bytes are off by up to 50 % (checkpoint 1)"),
    ],
)
def test_sentences_on_bytes(written: int, words: str) -> None:
    dump = record_dump(0, written=written, counters=record_dump(0).counters)
    assert words in verdict_of(compare(original(dumps=1), record(dump))).sentence


def test_several_exact_dumps_are_counted() -> None:
    sentence = verdict_of(compare(original(dumps=3), record(*(record_dump(i) for i in range(3))))).sentence
    assert "all 3 dumps have exactly the bytes expected" in sentence


def test_an_unfinished_run_is_never_faithful() -> None:
    assert (
        verdict_of(compare(original(dumps=1), record(record_dump(0), incomplete=True))).grade == "unfinished"
    )


def test_counters_that_chose_the_workload_are_marked_and_counted() -> None:
    log = original(dumps=1)
    assert "chose the workload" not in verdict_of(compare(log, record(record_dump(0)))).sentence
    log.families[0].fitted = True
    fidelity = compare(log, record(record_dump(0)))
    assert fidelity.agreement.counters_fitted == fidelity.agreement.counters_model > 0
    assert "of the log's counters chose the workload." in verdict_of(fidelity).sentence
    rows = {
        row.counter: row.fitted for rows in (fidelity.counters, fidelity.families[0].counters) for row in rows
    }
    assert rows["BYTES_WRITTEN"]
    assert not any(fitted for counter, fitted in rows.items() if counter.startswith(("F_", "MODE", "HINTS")))


def test_the_scale_is_in_the_sentence() -> None:
    dump = record_dump(0, written=16 * MIB, operations=16)
    text = verdict_of(compare(original(dumps=1), record(dump, scale=RecordScale(bytes=0.5)))).sentence
    assert "with 50 % of the bytes" in text


def perfect(dumps: int = 1, ranks: int = 4) -> Fidelity:
    return compare(original(ranks, dumps), record(*(record_dump(i) for i in range(dumps))))


def test_the_worst_family_decides_and_is_named() -> None:
    fidelity = perfect()
    (family,) = fidelity.families
    worse = family.model_copy(update={"name": "output 3", "bytes_error_max_pct": 40.0})
    fidelity.families = [family, worse]
    assert verdict_of(fidelity).sentence.startswith(
        "Run at full scale, bytes are off by up to 40 % (output 3)."
    )
    worse.bytes_error_max_pct = 5.0
    assert "bytes are within 5 % of what is expected." in verdict_of(fidelity).sentence


@pytest.mark.parametrize(
    ("operations", "distance", "said"),
    [
        (0.0, 0.0, "Operations agree in number and size."),
        (0.0, None, "Operations agree in number."),
        (2.0, 0.0, "Operations are within 2 % in number and equal in size."),
        (10.0, 0.0, "Operations are within 10 % in number and equal in size."),
        (10.9, 0.0, "Operations are off by up to 11 % in number and equal in size."),
        (20.0, None, "Operations are off by up to 20 % in number."),
        (
            0.0,
            0.25,
            "Operations are equal in number and their sizes 0.25 apart (0 is equal, 1 is all different).",
        ),
        (None, 0.5, "Operations: their sizes 0.5 apart (0 is equal, 1 is all different)."),
        (None, 0.0, "Operations agree in number and size."),
        (None, None, "the bytes expected."),
    ],
)
def test_what_is_said_of_operations(operations: float | None, distance: float | None, said: str) -> None:
    fidelity = perfect()
    for row in fidelity.counters:
        if row.counter in ("READS", "WRITES"):
            row.comparable, row.error_pct = operations is not None, operations
    fidelity.size_histogram_distance = HistogramDistance(write=distance)
    sentence = verdict_of(fidelity).sentence
    assert said in sentence
    assert sentence.endswith("agree with the replica (within 5 %).")
    assert said.startswith("the bytes") == ("Operations" not in sentence)


@pytest.mark.parametrize(
    ("ranks", "scale", "said"),
    [
        (1.0, 1.0, "at full scale"),
        (0.5, 1.0, "with 2 instead of 4 ranks"),
        (1.0, 0.25, "with 25 % of the bytes"),
        (1.0, 3.0, "with 3 times the bytes"),
        (0.5, 0.25, "with 2 instead of 4 ranks and 25 % of the bytes"),
    ],
)
def test_scale_in_words(ranks: float, scale: float, said: str) -> None:
    fidelity = perfect()
    fidelity.ranks_replica = round(4 * ranks)
    fidelity.scale = ScaleFidelity(ranks=ranks, bytes=scale, time=1.0)
    assert scale_words(fidelity) == said


def test_a_full_scale_count_in_words() -> None:
    fidelity = perfect()
    said = "bytes of a dump at most {} % off, size histograms {} apart (0..1)"
    assert full_scale_words(fidelity) == said.format(0, 0)
    fidelity.families[0].bytes_error_max_pct = 2.5
    fidelity.size_histogram_distance = HistogramDistance(read=0.125, write=0.0625)
    assert full_scale_words(fidelity) == said.format(2.5, 0.125)
    fidelity.families, fidelity.size_histogram_distance = [], HistogramDistance()
    assert full_scale_words(fidelity) == said.format(0, 0)


def test_worst_counters_are_those_at_the_level_first() -> None:
    fidelity = perfect()
    names = ["WRITES", "OPENS", "BYTES_WRITTEN", "CONSEC_WRITES"]
    rows = {row.counter: row for row in fidelity.counters if row.counter in names}
    for name, error in zip(names, (1.0, 7.0, 3.0, 50.0), strict=True):
        rows[name].error_pct = error
    rows["CONSEC_WRITES"].at_level = False
    assert [r.counter for r in worst_counters(fidelity, 9)] == [
        "OPENS",
        "BYTES_WRITTEN",
        "WRITES",
        "CONSEC_WRITES",
    ]
    assert [r.counter for r in worst_counters(fidelity, 2)] == ["OPENS", "BYTES_WRITTEN"]


@pytest.mark.parametrize(
    ("counter", "counts"),
    [
        ("READS", True),
        ("WRITES", True),
        ("INDEP_WRITES+COLL_WRITES", True),
        ("COLL_WRITES", False),
        ("INDEP_OPENS+COLL_OPENS", False),
        ("SEQ_WRITES", False),
    ],
)
def test_which_counters_are_operations(counter: str, counts: bool) -> None:
    assert is_operation_count(counter) is counts


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_table_fits_its_terminal(width: int) -> None:
    out = io.StringIO()
    stamp = Stamp(reasons=["time-scale 0 (no waiting)"])
    fidelity = compare(original(), record(*(record_dump(i) for i in range(3)), stamp=stamp))
    print_fidelity(fidelity, Console(file=out, width=width))
    text = out.getvalue()
    assert max(len(line) for line in text.splitlines()) <= width
    assert "checkpoint 1" in text
    assert "96 MiB" in text
    assert "An exact replica" in text
    assert "not a performance result" in text.replace("\n", " ")


def test_markup_in_reasons_is_printed_as_it_is() -> None:
    out = io.StringIO()
    fidelity = compare(original(), record(record_dump(0)))
    fidelity.notes.append("[bold]x[/nonsense]")
    print_fidelity(fidelity, Console(file=out, width=120))
    assert "[bold]x[/nonsense]" in out.getvalue()


def test_quantities() -> None:
    assert [size_text(n) for n in (0, 1023, 1024, 1_048_576, 1_048_575, 259 * MIB)] == [
        "0 B",
        "1023 B",
        "1 KiB",
        "1 MiB",
        "1 MiB",
        "259 MiB",
    ]
    assert [seconds_text(t) for t in (None, 0, 0.0005, 0.5, 12.34, 600, 9000)] == [
        "-",
        "0 s",
        "< 1 ms",
        "500 ms",
        "12.3 s",
        "10 min",
        "2.5 h",
    ]
    assert [percent_text(p) for p in (None, 0, 0.001, 0.123, 12.3, 3300)] == [
        "-",
        "0 %",
        "< 0.01 %",
        "0.12 %",
        "12 %",
        "3,300 %",
    ]
    assert [count_text(c) for c in (None, 3, 1234567, 2.5)] == ["-", "3", "1,234,567", "2.5"]
    assert [plural(1, "dump"), plural(2, "family"), plural(2, "way")] == ["1 dump", "2 families", "2 ways"]
