"""The verdict in words, and the table on the terminal."""

from __future__ import annotations

import io

import pytest
from compare_builders import MIB, original, record, record_dump
from rich.console import Console

from workalike.compare.fidelity import compare
from workalike.compare.table import print_fidelity
from workalike.compare.verdict import verdict_of
from workalike.record.run_record import RecordScale, Stamp
from workalike.text import count_text, percent_text, plural, seconds_text, size_text


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


def test_the_scale_is_in_the_sentence() -> None:
    dump = record_dump(0, written=16 * MIB, operations=16)
    text = verdict_of(compare(original(dumps=1), record(dump, scale=RecordScale(bytes=0.5)))).sentence
    assert "with 50 % of the bytes" in text


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
