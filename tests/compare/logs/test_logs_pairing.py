"""Which file of a log is which of another: by names, by what of names stays, by what was done with files."""

from __future__ import annotations

import random
import string
from pathlib import Path

import pytest
from logs_compared import builder, compared, rows, with_writes

from workalike.compare.logs.names import common_folder, kind_of_name, random_keys
from workalike.darshan import LogBuilder


def log_of(*files: tuple[str, int], exe: str = "./app") -> LogBuilder:
    log = builder(exe=exe)
    for name, writes in files:
        with_writes(log, name, writes)
    return log


def test_files_more_and_less_are_named_with_their_bytes(tmp_path: Path) -> None:
    first = log_of(("/d/a", 10), ("/d/b", 20), ("/d/old", 30))
    second = log_of(("/d/a", 10), ("/d/b", 20), ("/d/first", 40), ("/d/second", 5))
    found = compared(tmp_path, first, second)
    assert found.headline == "Changed: 2 files more; 1 file less."
    assert [(c.kind, c.file, c.before, c.now) for c in found.compared.changes] == [
        ("file more", "/d/first", 0, 4000),
        ("file less", "/d/old", 3000, 0),
        ("file more", "/d/second", 0, 500),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("/scratch/one/out/a", "/scratch/one/b"), ("/scratch/two/out/a", "/scratch/two/b")),
        (("/d/log.1234", "/d/out-2026-01-02.csv"), ("/d/log.987", "/d/out-2027-11-12.csv")),
        (("/d/tmpab12cd9_", "/d/x.Ab3xYz"), ("/d/tmpq_7zk31x", "/d/x.pQ9rSt")),
        (("/d/tmpab12cd9_/left", "/d/tmpab12cd9_/right"), ("/d/tmpq_7zk31x/left", "/d/tmpq_7zk31x/right")),
        (("/d/12345678", "/d/87654321"), ("/d/34567890", "/d/98765432")),
    ],
    ids=["folder", "numbers", "random names", "random folder", "anonymous"],
)
def test_names_that_differ_from_run_to_run(
    tmp_path: Path, before: tuple[str, str], after: tuple[str, str]
) -> None:
    first, second = log_of(*zip(before, (10, 20), strict=True)), log_of(*zip(after, (10, 25), strict=True))
    found = compared(tmp_path, first, second)
    assert not found.compared.files_more and not found.compared.files_less
    changed = {change.file for change in found.compared.changes}
    assert changed == {after[1]}
    assert {change.file_before for change in found.compared.changes} == {before[1]}
    assert any("paired by" in note for note in found.notes)


def test_another_name_among_equal_ones_is_a_change(tmp_path: Path) -> None:
    found = compared(tmp_path, log_of(("/d/a", 1), ("/d/before", 2)), log_of(("/d/a", 1), ("/d/output", 2)))
    assert (found.compared.files_more, found.compared.files_less) == (1, 1)


def test_other_programs_are_paired_by_use_in_the_order_of_opens(tmp_path: Path) -> None:
    first, second = builder(exe="/bin/ior -w"), builder(exe="hacc_io")
    for place, name in enumerate(("/x/c", "/x/a", "/x/b")):
        first.posix(
            name, 0, OPENS=1, WRITES=10 * (place + 1), BYTES_WRITTEN=100, F_OPEN_START_TIMESTAMP=1.0 + place
        )
    first.posix("/x/input", 0, OPENS=1, READS=3, BYTES_READ=30, F_OPEN_START_TIMESTAMP=0.5)
    for place, name in enumerate(("/y/one.h5", "/y/two.h5", "/y/three.h5")):
        second.posix(
            name, 0, OPENS=1, WRITES=11 * (place + 1), BYTES_WRITTEN=100, F_OPEN_START_TIMESTAMP=5.0 + place
        )
    second.posix("/y/deck", 0, OPENS=1, READS=3, BYTES_READ=30, F_OPEN_START_TIMESTAMP=9.0)
    found = compared(tmp_path, first, second)
    assert rows(found.compared.changes) == {
        ("one.h5", "WRITES", 10, 11),
        ("two.h5", "WRITES", 20, 22),
        ("three.h5", "WRITES", 30, 33),
    }
    assert any("different programs: ior, hacc_io" in note for note in found.notes)
    assert any("4 files are paired by what was done with them" in note for note in found.notes)


def test_equal_files_are_paired_before_others(tmp_path: Path) -> None:
    """Threads open files with random names in another order: each still has its partner."""
    first = log_of(("/d/t.1", 10), ("/d/t.2", 20), ("/d/t.3", 30))
    second = log_of(("/d/t.4", 30), ("/d/t.5", 10), ("/d/t.6", 25))
    found = compared(tmp_path, first, second)
    assert {(c.file_before, c.file) for c in found.compared.changes} == {("/d/t.2", "/d/t.6")}


def test_names_of_libraries_for_temporary_files() -> None:
    dice = random.Random(1)
    letters = string.ascii_lowercase + string.digits + "_"
    alike = 0
    for _ in range(200):
        keys = [
            {text for text, look in random_keys(f"/d/tmp{''.join(dice.choices(letters, k=8))}.npy")}
            for _ in range(2)
        ]
        alike += bool(keys[0] & keys[1])
    assert alike == 200
    assert not any(look for _, look in random_keys("/d/longword-after"))


def test_folders_and_kinds() -> None:
    assert common_folder(["/a/b/c", "/a/bc/d"]) == "/a/"
    assert common_folder(["/a/b/c"]) == "/a/b/"
    assert common_folder(["x", "y"]) == ""
    names = ("4c9539e3", "71234567", "3262e718", "12345abc")
    assert len({kind_of_name(f"/d/cache-{name}.bin") for name in names}) == 1
    assert kind_of_name("/d/pressure.dat") != kind_of_name("/d/velocity.dat")
    assert kind_of_name("/run12/x.nc") == kind_of_name("/run7/x.nc") == "/run#/x.nc"


def test_many_files_with_one_name_and_without_any(tmp_path: Path) -> None:
    """A hostile log may name two ids alike, or not at all."""
    first = log_of(("/d/a", 1), ("/d/b", 2), ("/d/c", 3))
    for number in list(first.names):
        first.names[number] = "/d/same"
    assert compared(tmp_path, first, first).word == "equal"
    first.names.clear()
    found = compared(tmp_path, first, first)
    assert found.word == "equal" and found.compared.files == 3
