"""Every text of a workload file gives a workload, or one line that names file and place, with a hint."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workalike.errors import ErrorKind, WorkalikeError
from workalike.workload import strict_yaml, workload_file
from workalike.workload.workload_file import parse_workload, read_workload

GOOD = """\
workalike: 2
ranks: 4
runtime: 60 s
families:
- role: checkpoint
  sharing: shared
  schedule: {start: [1 s, 2 s]}
  content:
    streams:
    - {direction: write, sizes: [4/rank x 1 MiB]}
"""
STREAM = "    - {direction: write, sizes: [4/rank x 1 MiB]}\n"


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


HOSTILE = {
    "aliases": ("a: &a [1]\nb: *a\n", "line 2", "aliases"),
    "aliases that multiply": (
        "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\nworkalike: 2\n",
        "line 2",
        "aliases are not allowed",
    ),
    "deep nesting": ("[" * 100_000, "", "nest"),
    "deep nesting inside": (
        changed("ranks: 4", "ranks: " + "[" * 5000 + "]" * 5000),
        "",
        "nest",
    ),
    "a duplicate key": (GOOD + "  role: input\n", "line 11", "the key `role` occurs twice"),
    "a key that is not a word": ("workalike: 2\n? {a: 1}\n: 2\n", "line 2", "not a word"),
    "an object": ("!!python/object/apply:os.system ['id']", "line 1", "constructor"),
    "two documents": (GOOD + "---\na: 1\n", "line 11", "another document"),
    "nothing": ("", "", "does not begin with `workalike: 2`"),
    "a list": ("- 1\n", "", "does not begin with `workalike: 2`"),
    "a later version": (
        changed("workalike: 2", "workalike: 3"),
        "line 1, workalike",
        "made by a newer version",
    ),
    "a control character": (changed("ranks: 4", "ra\x07nks: 4"), "line 2", "control character"),
    "a control character in quotes": (
        changed("60 s", '"6\\x07"'),
        "line 3, runtime",
        "not a number with a unit",
    ),
    "a number of 5000 digits": (changed("ranks: 4", "ranks: " + "9" * 5000), "line 2", "5,000 digits"),
    "a huge number": (
        changed("ranks: 4", "ranks: 99999999999999999999"),
        "line 2, ranks",
        "less than or equal",
    ),
    "not a number": (changed("60 s", ".nan"), "line 3, runtime", "a time must lie between"),
    "infinity": (changed("60 s", ".inf"), "line 3, runtime", "a time must lie between"),
    "an infinite count": (changed("ranks: 4", "ranks: .inf"), "line 2, ranks", "finite"),
    "a negative count": (changed("ranks: 4", "ranks: -4"), "line 2, ranks", "greater than or equal to 1"),
    "no ranks": (changed("ranks: 4\n", ""), "ranks", "is missing"),
    "a date": (changed("60 s", "2001-01-01"), "line 3, runtime", "not date"),
    "a negative time": (
        changed("[1 s, 2 s]", "[1 s, -2 s]"),
        "line 7, families[0].schedule.start[1]",
        "'-2 s'",
    ),
    "an unknown unit": (
        changed("1 MiB", "1 MiX"),
        "line 10, families[0].content.streams[0].sizes[0]",
        "unknown unit 'MiX'",
    ),
    "a size with a fraction of a byte": (
        GOOD + "  sizes: 1.5\n",
        "line 11, families[0].sizes",
        "whole number",
    ),
    "a size beyond 2^63": (GOOD + "  sizes: 9e30 B\n", "line 11, families[0].sizes", "2^63"),
    "a size of the wrong type": (GOOD + "  sizes: {a: 1}\n", "line 11, families[0].sizes", "not dict"),
    "one bad size of many": (GOOD + "  sizes: [1 MiB, 2 XB]\n", "line 11, families[0].sizes[1]", "'XB'"),
    "too few sizes": (GOOD + "  sizes: [1 MiB]\n", "line 5, families[0]", "1 sizes for 2 dumps"),
    "an operation too many": (
        changed("4/rank", "999999999999999999"),
        "line 10, families[0].content.streams[0].sizes[0].count",
        "less than",
    ),
    "more bytes than a file can have": (
        changed("4/rank x 1 MiB", "1000000000000 x 1 PiB"),
        "",
        "moves more than",
    ),
    "growth without end": (
        GOOD + "  sizes: 1 PiB\n  growth: [1e300]\n",
        "line 5, families[0]",
        "grows beyond",
    ),
    "growth of nothing": (GOOD + "  growth: [2]\n", "line 5, families[0]", "growth needs `sizes`"),
    "negative growth": (GOOD + "  sizes: 1 MiB\n  growth: [-1]\n", "families[0].growth[0]", "greater than 0"),
    "an unknown field": (GOOD + "  owner: jane\n", "line 11, families[0].owner", "no such field"),
    "an unknown word": (changed("checkpoint", "chk"), "line 5, families[0].role", "use one of checkpoint, "),
    "an unknown sharing": (
        changed("sharing: shared", "sharing: all"),
        "families[0].sharing.mode",
        "per-rank",
    ),
    "a family that is none": (changed("families:\n", "families: [7]\nx:\n"), "line 4, families[0]", "fields"),
    "families that are none": ("workalike: 2\nranks: 1\nfamilies: 7\n", "line 3, families", "list"),
    "ranks that fall": (
        changed("sharing: shared", "sharing: {mode: subset, ranks: 3-1}"),
        "line 6, families[0].sharing.ranks",
        "ascend",
    ),
    "a rank that is not there": (
        changed("sharing: shared", "sharing: {mode: subset, ranks: 1-9}"),
        "",
        "names rank 9, but the job has 4 ranks",
    ),
    "a stream of ranks that do not take part": (
        changed("sharing: shared", "sharing: {mode: subset, ranks: 0-1}").replace(
            "direction: write", "direction: write, ranks: 3"
        ),
        "line 5, families[0]",
        "only 0-1 take part",
    ),
    "a subset of nobody": (
        changed("sharing: shared", "sharing: subset"),
        "families[0].sharing",
        "needs its ranks",
    ),
    "two roots": (
        changed("sharing: shared", "sharing: {mode: root, ranks: 0-1}"),
        "families[0].sharing",
        "one rank",
    ),
    "two families of a name": (
        (GOOD + GOOD.split("families:\n")[1]).replace("- role:", "- number: 1\n  role:"),
        "families[1]",
        "two families are checkpoint 1",
    ),
    "no schedule": (changed("  schedule: {start: [1 s, 2 s]}\n", ""), "families[0].schedule", "is missing"),
    "an empty schedule": (changed("{start: [1 s, 2 s]}", "{}"), "families[0].schedule", "needs `start`"),
    "two schedules": (
        changed("{start: [1 s, 2 s]}", "{start: [1 s], every: 2 s}"),
        "line 7, families[0].schedule",
        "leave out",
    ),
    "a dump too many": (
        changed("{start: [1 s, 2 s]}", "{count: 999999999, every: 1 s}"),
        "families[0].schedule.count",
        "less than or equal",
    ),
    "no content": (GOOD.split("  content:")[0], "line 5, families[0]", "a family needs either `content`"),
    "two contents for one dump": (
        GOOD.split("  content:")[0] + "  contents: [{}, {}, {}]\n",
        "line 5, families[0]",
        "3 contents for 2 dumps",
    ),
    "strides that overlap": (
        changed("direction: write", "direction: write, pattern: strided, stride: 1 B"),
        "line 10, families[0].content.streams[0]",
        "`stride` of at least its largest size",
    ),
    "a stride without a pattern": (
        changed("direction: write", "direction: write, stride: 1 MiB"),
        "",
        "strided",
    ),
    "a fit of no size": (
        GOOD.split("  content:")[0] + "  interface: hdf5\n  content: {fit: {datasets: 4}}\n",
        "line 5, families[0]",
        "content `fit` needs `sizes`",
    ),
    "datasets without a library": (
        GOOD.split("  content:")[0] + "  sizes: 1 MiB\n  content: {fit: {datasets: 4}}\n",
        "line 5, families[0]",
        "need `interface: hdf5`",
    ),
    "a slab larger than its dataset": (
        GOOD.split("  content:")[0]
        + "  interface: hdf5\n  content:\n    arrays:\n    - dims: [4, 4]\n"
        + "      access: [{direction: write, slabs: [{count: 1, shape: [4, 5]}]}]\n",
        "line 11, families[0].content.arrays[0]",
        "larger than the dataset",
    ),
    "a dimension that does not exist": (
        GOOD.split("  content:")[0]
        + "  interface: hdf5\n  content:\n    arrays:\n    - dims: [4, 4]\n      extendible: true\n"
        + "      unlimited: 2\n      access: [{direction: write, slabs: [{count: 1, shape: [4, 4]}]}]\n",
        "line 11, families[0].content.arrays[0]",
        "a dimension from 0 to 1",
    ),
    "a record dimension that is not the first": (
        GOOD.split("  content:")[0]
        + "  interface: pnetcdf\n  content:\n    arrays:\n    - dims: [4, 1]\n      extendible: true\n"
        + "      unlimited: 1\n      access: [{direction: write, slabs: [{count: 1, shape: [4, 1]}]}]\n",
        "line 5, families[0]",
        "leave out `unlimited`",
    ),
    "opens without end": (
        changed("  content:\n", "  content:\n    opens: 9000000000000000\n"),
        "line 9, families[0].content.opens",
        "less than or equal",
    ),
    "an octal number": (GOOD.replace("ranks: 4", "ranks: 010"), "line 2", "another number"),
    "a number in sixties": (
        changed("{start: [1 s, 2 s]}", "{start: [1:30, 2:30]}"),
        "line 7",
        "another number",
    ),
    "a date that is none": (GOOD.replace("ranks: 4", "ranks: 2020-99-99"), "", "date"),
    "growth beyond numbers": (
        GOOD.replace("[1 s, 2 s]", "[1 s, 2 s, 3 s]") + "  sizes: 0\n  growth: [1.0e+300, 1.0e+300]\n",
        "families[0]",
        "it grows beyond",
    ),
    "chunks that HDF5 cannot have": (
        GOOD + "  tunable: {chunk_bytes: 8 GiB}\n",
        "line 11, families[0].tunable",
        "4 GiB",
    ),
    "a dataset too large": (
        GOOD.split("  content:")[0]
        + "  interface: hdf5\n  content:\n    arrays:\n    - dims: [4000000000, 4000000000]\n"
        + "      access: [{direction: write, slabs: [{count: 1, shape: [4, 5]}]}]\n",
        "line 11, families[0].content.arrays[0]",
        "at most",
    ),
}


def test_the_good_one_is_good() -> None:
    assert parse_workload(GOOD).ranks == 4


@pytest.mark.parametrize("loader", ["StrictLoader", "PythonLoader"])
@pytest.mark.parametrize("case", HOSTILE)
def test_one_line_says_where_and_what(case: str, loader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workload_file, "StrictLoader", getattr(strict_yaml, loader))
    text, place, message = HOSTILE[case]
    with pytest.raises(WorkalikeError) as caught:
        parse_workload(text, "job.yaml")
    error = caught.value
    line = error.one_line()
    assert error.kind is ErrorKind.BAD_WORKLOAD and error.exit_code == 2
    assert line.startswith("bad workload: job.yaml: ")
    assert place in (error.place or "")
    assert message in error.message
    assert error.hint
    assert line.isprintable() and len(line) < 500


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_mutations_never_crash(data: st.DataObject) -> None:
    """Characters inserted, removed or duplicated: the result is a workload or a WorkalikeError."""
    text = GOOD
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        new = data.draw(
            st.sampled_from([*"[]{}:,-'\"&*!|>%@`#? \n\t0989eEx.", "\x00", "é", "null", ": ", "- "])
        )
        text = text[:at] + new + text[at + data.draw(st.integers(0, 3)) :]
    try:
        parse_workload(text)
    except WorkalikeError as error:
        assert error.kind is ErrorKind.BAD_WORKLOAD
        assert error.one_line().isprintable()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(WorkalikeError) as caught:
        read_workload(tmp_path / "none.yaml")
    assert caught.value.kind is ErrorKind.MISSING


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "bytes.yaml"
    path.write_bytes(b"workalike: 2\n\xff\xfe")
    with pytest.raises(WorkalikeError) as caught:
        read_workload(path)
    assert (caught.value.kind, caught.value.place) == (ErrorKind.BAD_WORKLOAD, "byte 13")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(WorkalikeError) as caught:
        read_workload(tmp_path)
    assert caught.value.kind is ErrorKind.MISSING


def test_values_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workalike.workload.strict_yaml.MAX_VALUES", 1000)
    assert parse_workload(GOOD).ranks == 4
    with pytest.raises(WorkalikeError, match=r"line 3: not YAML: more than 1,000 values"):
        parse_workload("workalike: 2\nranks: 4\nfamilies: [" + "[]," * 1000 + "]\n")


@pytest.mark.parametrize(
    "file", sorted((Path(__file__).parents[2] / "workloads").glob("**/*.yaml")), ids=lambda p: p.stem
)
def test_both_parsers_read_the_same(file: Path) -> None:
    text = file.read_text()
    read = [loader(text).get_single_data() for loader in (strict_yaml.StrictLoader, strict_yaml.PythonLoader)]
    assert read[0] == read[1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{streams: [{direktion: write, sizes: ['1 x 1 B']}]}", "direktion: there is no such field: did you mean `direction`?"),
        ("{fsync: 3, streams: [{direction: write, sizes: ['1 x 1 B']}]}", "fsync: there is no such field: did you mean `fsyncs`?"),
        ("{qqq: 3, streams: [{direction: write, sizes: ['1 x 1 B']}]}", "qqq: there is no such field (see"),
    ],
)  # fmt: skip
def test_a_name_that_does_not_exist_comes_first_with_the_one_that_was_meant(content: str, said: str) -> None:
    text = "workalike: 2\nranks: 1\nfamilies:\n- {role: output, interface: posix, schedule: {count: 1}, content: %s}\n"
    with pytest.raises(WorkalikeError) as caught:
        parse_workload(text % content)
    assert said in str(caught.value)
    assert "more)" not in str(caught.value)


@pytest.mark.parametrize(
    "content", ["{fsyncss: 1, fsync: 2}", "{'[0]': 3}", "{'int': 3}", "{'': 3}", "{opns: 1, opens: a}"]
)
def test_names_that_may_mean_each_other_or_nothing_are_one_line(content: str) -> None:
    text = "workalike: 2\nranks: 1\nfamilies:\n- {role: output, interface: posix, schedule: {count: 1}, content: %s}\n"
    for document in (text % content, f"workalike: 2\n{content[1:-1]}\n"):
        with pytest.raises(WorkalikeError) as caught:
            parse_workload(document)
        assert caught.value.kind is ErrorKind.BAD_WORKLOAD


def test_a_newer_version_is_said_and_nothing_else() -> None:
    with pytest.raises(WorkalikeError) as caught:
        parse_workload("workalike: 3\nfamilies: none\n")
    assert "made by a newer version of workalike: this one reads versions 1 to 2, so update it" in str(
        caught.value
    )


@pytest.mark.parametrize(
    "number", ["9" * 100_000, "-" + "9" * 100_000, "1_" * 50_000 + "1", "0x" + "f" * 100_000]
)
def test_numbers_of_many_digits(number: str) -> None:
    """Python neither reads nor prints them; the line is named."""
    with pytest.raises(WorkalikeError, match=r"line 3: not YAML: a number of 100,\d\d\d digits"):
        parse_workload(f"workalike: 2\nfamilies: []\nranks: {number}\n")


def test_impossible_dates() -> None:
    with pytest.raises(WorkalikeError, match="line 2: not YAML: `2026-13-41` is an impossible date"):
        parse_workload("workalike: 2\nranks: 2026-13-41\n")
