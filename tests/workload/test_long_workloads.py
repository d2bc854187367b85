"""Long workloads: written closely, with long lists beside them, and read again as the same."""

from __future__ import annotations

import random
import re
import tempfile
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from known_logs import shared

from workalike.characterize import characterize
from workalike.darshan import open_log
from workalike.errors import ErrorKind, WorkalikeError
from workalike.exchange.schemas import workload_schema
from workalike.workload import long_lists, workload_file
from workalike.workload.audit import audit
from workalike.workload.long_lists import file_name, hash_of, put_back, taken_out
from workalike.workload.model import Workload
from workalike.workload.workload_file import (
    lists_text,
    parse_workload,
    read_workload,
    workload_text,
    workload_texts,
    write_workload,
)
from workalike.workload.yaml_text import WIDTH, filled

DUMPS = 400


def long_workload(families: int = 1) -> Workload:
    """A workload with starts, durations and sizes that no rule gives."""
    pick = random.Random(4)
    starts = [round(dump + pick.random() / 2, 6) for dump in range(DUMPS)]
    family = {
        "role": "checkpoint",
        "interface": "posix",
        "sharing": "root",
        "schedule": {"start": starts, "duration": [round(pick.random() / 3, 6) for _ in range(DUMPS)]},
        "contents": [
            {"opens": 1, "streams": [{"direction": "write", "sizes": [f"{n} x {n * 10} B"]}]}
            for n in pick.sample(range(1, 9999), DUMPS)
        ],
    }
    return Workload.model_validate({"workalike": 2, "ranks": 4, "families": [family] * families})


def test_long_lists_are_in_a_file_beside_it(tmp_path: Path) -> None:
    workload = long_workload()
    beside = write_workload(workload, tmp_path / "w.yaml")
    text = (tmp_path / "w.yaml").read_text()
    assert text.startswith("workalike: 2\nlists:")
    assert text.count("\n") < 20
    assert [path.name for path in beside] == [file_name(hash_of(beside[0].read_text()))]
    assert read_workload(tmp_path / "w.yaml") == workload
    lists = yaml.safe_load(beside[0].read_text())
    assert lists[0] == workload.families[0].schedule.start
    jsonschema.validate(yaml.safe_load(text), workload_schema())


def test_one_file_on_demand(tmp_path: Path) -> None:
    workload = long_workload()
    assert write_workload(workload, tmp_path / "w.yaml", tables=False) == []
    assert parse_workload((tmp_path / "w.yaml").read_text()) == workload
    assert [path.name for path in tmp_path.iterdir()] == ["w.yaml"]


def test_families_are_numbered_in_their_order() -> None:
    text = workload_text(long_workload(families=3))
    assert "number" not in text
    assert [family.number for family in parse_workload(text).families] == [1, 2, 3]


@pytest.mark.parametrize(
    ("stated", "numbers"),
    [
        ([2, None, 3], [2, 1, 3]),
        ([None, 1, None], [2, 1, 3]),
        ([5, None, 2, None, None], [5, 1, 2, 3, 4]),
    ],
)
def test_a_number_that_is_stated_stays(stated: list[int | None], numbers: list[int]) -> None:
    """The others have the lowest that nobody states; a family of another role has numbers of its own."""
    families = [
        {"role": "output", "schedule": {"count": 1}, "content": {"opens": 1}} | ({"number": n} if n else {})
        for n in stated
    ]
    families.append({"role": "input", "schedule": {"count": 1}, "content": {"opens": 1}})
    workload = Workload.model_validate({"workalike": 2, "ranks": 1, "families": families})
    assert [family.number for family in workload.families] == [*numbers, 1]
    assert parse_workload(workload_text(workload)) == workload


@pytest.mark.parametrize(
    "name", ["lammps-growth-4.darshan", "mphys-c-small-typhonio-4.darshan", "openfoam-2.darshan"]
)
def test_known_logs(name: str, tmp_path: Path) -> None:
    found = characterize([open_log(shared(name))]).workload
    write_workload(found, tmp_path / "w.yaml")
    assert read_workload(tmp_path / "w.yaml") == found
    text, _ = workload_texts(found)
    assert max(map(len, text.splitlines())) <= WIDTH
    jsonschema.validate(yaml.safe_load(text), workload_schema())


VALUES = st.recursive(
    st.one_of(
        st.integers(0, 10**9), st.sampled_from(["3 x 7 B", "each", "0-511:8", "a word"]), st.floats(0, 1e6)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=9), st.dictionaries(st.sampled_from("abcdefgh"), inner, max_size=5)
    ),
    max_leaves=120,
)


@settings(max_examples=200, deadline=None)
@given(VALUES, st.integers(0, 30))
def test_filled_lines_are_yaml_of_the_same_value(value: object, column: int) -> None:
    lines = filled(value, column)
    assert yaml.safe_load(" " * column + "\n".join(lines)) == value
    assert all(line.startswith(" " * column) for line in lines[1:])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.integers(0, 99), max_size=200), max_size=5))
def test_lists_are_put_back_where_they_were(lists: list[list[int]]) -> None:
    document = {"families": [{"schedule": {"start": values}, "use": values[::-1]} for values in lists]}
    short, text = taken_out(document)
    assert put_back(short, yaml.safe_load(text) if text else []) == document


def written(folder: Path) -> tuple[Path, Path]:
    """A workload of two files."""
    (beside,) = write_workload(long_workload(), folder / "w.yaml")
    return folder / "w.yaml", beside


def refused(path: Path) -> WorkalikeError:
    with pytest.raises(WorkalikeError) as caught:
        read_workload(path)
    assert "\n" not in str(caught.value)
    return caught.value


def test_missing_lists(tmp_path: Path) -> None:
    workload, beside = written(tmp_path)
    beside.unlink()
    error = refused(workload)
    assert error.kind is ErrorKind.MISSING
    assert error.file == str(beside)
    assert "copy it into the folder" in str(error.hint)


def test_changed_lists(tmp_path: Path) -> None:
    workload, beside = written(tmp_path)
    beside.write_text(beside.read_text().replace("1", "2", 1))
    assert "SHA-256 differs" in refused(workload).message


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ("", "not a list"),
        ("7\n", "not a list"),
        ("- [1, 2]\n", "1 lists, not 3"),
        ("- [1, 2]\n- []\n- []\n", "400 values is named"),
        ("- 7\n- 7\n- 7\n", "has none"),
        ("- &a [1]\n- *a\n", "aliases"),
        ("- [1\n", "not YAML"),
    ],
)
def test_other_lists(lists: str, message: str, tmp_path: Path) -> None:
    """Files whose hash is right, and which are still not the lists of this workload."""
    workload, beside = written(tmp_path)
    text = workload.read_text().replace(hash_of(beside.read_text()), hash_of(lists))
    workload.write_text(text)
    (tmp_path / file_name(hash_of(lists))).write_text(lists)
    assert message in refused(workload).message


def with_lists(workload: Path, beside: Path, lists: str) -> None:
    """Give a workload other lists, with the right hash and number."""
    text = workload.read_text().replace(hash_of(beside.read_text()), hash_of(lists))
    workload.write_text(re.sub(r"number: \d+}", f"number: {len(yaml.safe_load(lists))}}}", text, count=1))
    (workload.parent / file_name(hash_of(lists))).write_text(lists)


def test_more_lists_than_are_named(tmp_path: Path) -> None:
    workload, beside = written(tmp_path)
    with_lists(workload, beside, beside.read_text() + "- [1]\n")
    assert "more lists" in refused(workload).message


def test_another_number_of_lists(tmp_path: Path) -> None:
    workload, _ = written(tmp_path)
    workload.write_text(re.sub(r"number: \d+}", "number: 99}", workload.read_text(), count=1))
    assert refused(workload).message == "has 3 lists, not 99"


def test_a_faulty_value_is_named_in_the_file_that_has_it(tmp_path: Path) -> None:
    workload, beside = written(tmp_path)
    lists = yaml.safe_load(beside.read_text())
    lists[1][2] = "soon"
    with_lists(workload, beside, "".join(f"- {values}\n" for values in lists))
    error = refused(workload)
    assert error.file == str(tmp_path / file_name(hash_of("".join(f"- {values}\n" for values in lists))))
    assert error.place == "list 2, families[0].schedule.duration[2]"


@pytest.mark.parametrize("mark", ["true", "'400'", "4.0", "{listed: 400}"])
def test_a_mark_is_a_number(mark: str, tmp_path: Path) -> None:
    workload, _ = written(tmp_path)
    workload.write_text(workload.read_text().replace("{listed: 400}", f"{{listed: {mark}}}", 1))
    assert len(str(refused(workload))) < 300


def test_families_cannot_be_listed(tmp_path: Path) -> None:
    workload, _ = written(tmp_path)
    head = workload.read_text().split("families:")[0]
    workload.write_text(head + "families: {listed: 1}\n")
    refused(workload)


def test_a_link_has_its_lists_beside_what_it_points_to(tmp_path: Path) -> None:
    for name in ("real", "links"):
        (tmp_path / name).mkdir()
    link = tmp_path / "links" / "w.yaml"
    link.symlink_to(tmp_path / "real" / "w.yaml")
    (beside,) = write_workload(long_workload(), link)
    assert beside.parent == tmp_path / "real"
    assert read_workload(link) == read_workload(tmp_path / "real" / "w.yaml") == long_workload()


def test_a_device_gets_one_text() -> None:
    assert write_workload(long_workload(), Path("/dev/null")) == []


def test_a_missing_folder_is_named_by_the_workload(tmp_path: Path) -> None:
    path = tmp_path / "none" / "w.yaml"
    with pytest.raises(WorkalikeError) as caught:
        write_workload(long_workload(), path)
    assert caught.value.file == str(path)


@pytest.mark.parametrize(
    "head",
    [
        "7",
        "[]",
        "{}",
        "{sha256: 12}",
        "{sha256: ../../etc/passwd}",
        "{sha256: abc, other: 1}",
        f"{{sha256: {64 * 'a'}}}",
        f"{{sha256: {64 * 'a'}, number: true}}",
    ],
)
def test_a_faulty_head(head: str, tmp_path: Path) -> None:
    (tmp_path / "w.yaml").write_text(f"workalike: 2\nlists: {head}\nranks: 1\nfamilies: []\n")
    error = refused(tmp_path / "w.yaml")
    assert error.kind is ErrorKind.BAD_WORKLOAD
    assert error.place == "lists"


def test_a_text_alone_has_no_lists() -> None:
    text, _ = workload_texts(long_workload())
    with pytest.raises(WorkalikeError, match="beside"):
        parse_workload(text)


def test_the_lists_have_no_words_but_those_of_the_schema() -> None:
    """A log may have any other word in its command line, and the audit would find it."""
    _, lists = workload_texts(long_workload())
    assert set(re.findall(r"[A-Za-z]+", lists)) <= {"x", "B", "kB", "KiB", "none", "each"}


def test_the_audit_searches_the_lists(tmp_path: Path) -> None:
    log = open_log(shared("lammps-growth-4.darshan"))
    workload, beside = written(tmp_path)
    text = workload.read_text()
    assert lists_text(text, workload) == beside.read_text()
    assert audit(text, [log], None, beside.read_text()).clean
    job = str(log.job.job_id)
    planted = beside.read_text().replace("- [", f"- [{job}, ", 1)
    report = audit(text, [log], None, planted)
    assert [(hit.token, hit.listed) for hit in report.hits] == [(job, True)]
    assert "of the long lists" in report.hits[0].where()


def runs_of(draw: st.DrawFn, dumps: int, values: st.SearchStrategy[object]) -> list[object]:
    """A value for each dump, in runs of equal ones."""
    out: list[object] = []
    while len(out) < dumps:
        out += [draw(values)] * draw(st.sampled_from([1, 2, 5, 9]))
    return out[:dumps]


@st.composite
def foldable(draw: st.DrawFn) -> dict[str, object]:
    """A family whose dumps have the same calls, streams or rows, with numbers that change in runs."""
    dumps = draw(st.sampled_from([1, 2, 6, 24]))
    contents: list[dict[str, object]] = [{"opens": 1} for _ in range(dumps)]
    for name in ("opens", "fsyncs", "seeks"):
        values = st.integers(0, 2) if name != "seeks" else st.sampled_from([0, 3, "each"])
        for content, value in zip(contents, runs_of(draw, dumps, values), strict=True):
            content[name] = value
    if draw(st.booleans()):
        for _ in range(draw(st.integers(1, 2))):
            sizes = runs_of(draw, dumps, st.sampled_from([None, ["1 x 10 B"], ["2 x 8 KiB", "1/rank x 3 B"]]))
            bases = runs_of(draw, dumps, st.sampled_from([None, "0 B", "4 KiB"]))
            for content, size, base in zip(contents, sizes, bases, strict=True):
                if size is not None:
                    stream = {"direction": "write", "sizes": size} | ({"base": base} if base else {})
                    content.setdefault("streams", []).append(stream)  # type: ignore[attr-defined]
        rows = 0
    else:
        rows = draw(st.integers(0, 2))
        for content, more in zip(contents, runs_of(draw, dumps, st.integers(1, 3)), strict=True):
            assert isinstance(more, int)
            content["table"] = {"first": rows, "reads": more, "bytes_read": 10 * more}
            rows += more + (draw(st.integers(0, 9)) == 0)
    starts = [float(dump) for dump in range(dumps)]
    return {
        "role": draw(st.sampled_from(["output", "input"])),
        "interface": "posix",
        "schedule": {"start": starts},
        "contents": contents,
    } | ({"rows": rows} if rows else {})


@settings(max_examples=200, deadline=None)
@given(st.lists(foldable(), min_size=1, max_size=4), st.integers(0, 40), st.integers(2, 300))
def test_whatever_is_written_is_read_as_the_same(
    families: list[dict[str, object]], most_lines: int, long_text: int
) -> None:
    rows = max(int(str(family.pop("rows", 0))) for family in families)
    document: dict[str, object] = {"workalike": 2, "ranks": 2, "families": families}
    if rows:
        document["operations"] = {"sha256": 64 * "a", "rows": rows + 9, "extent": "1 MiB"}
    workload = Workload.model_validate(document)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(workload_file, "MOST_LINES", most_lines)
        patch.setattr(workload_file, "MOST_WITH_LISTS", most_lines)
        patch.setattr(long_lists, "LONG_TEXT", long_text)
        text, lists = workload_texts(workload)
        if lists:
            (Path(folder) / file_name(hash_of(lists))).write_text(lists)
        assert parse_workload(text, "w.yaml", Path(folder)) == workload
        jsonschema.validate(yaml.safe_load(text), workload_schema())


def test_more_dumps_than_values_may_be_made_of_are_written_one_by_one() -> None:
    """Each family alone could be a list of values; together they would be more than a file may hold."""
    family = {
        "role": "output",
        "interface": "posix",
        "schedule": {"count": 100_000, "every": "1 s"},
        "contents": [
            {"opens": n, "streams": [{"direction": "write", "sizes": ["1 x 1 B"]}] * 5} for n in (1, 2)
        ],
        "use": [0, 1] * 50_000,
    }
    workload = Workload.model_validate({"workalike": 2, "ranks": 1, "families": [family, family]})
    assert parse_workload(workload_text(workload)) == workload
