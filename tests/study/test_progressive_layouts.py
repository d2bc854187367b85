"""Progressive layouts of Lustre, by texts of the documented form: set, read back, and compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from studies import write_study

from workalike.errors import WorkalikeError
from workalike.study.driver import load
from workalike.study.layouts import beegfs, cephfs, lustre
from workalike.study.layouts.base import CannotSet, Component, Layout, components_of, components_text
from workalike.study.layouts.registry import layout_of
from workalike.study.study_file import read_study

MIB, GIB = 2**20, 2**30
ASKED = (Component(64 * MIB, 1), Component(GIB, 4), Component(None, 8))

# `lfs getstripe -d` of a folder.
FOLDER = """\
  lcm_layout_gen:    0
  lcm_mirror_count:  1
  lcm_entry_count:   3
    lcme_id:             N/A
    lcme_mirror_id:      N/A
    lcme_flags:          0
    lcme_extent.e_start: 0
    lcme_extent.e_end:   67108864
      stripe_count:  1       stripe_size:   1048576       pattern:       raid0       stripe_offset: -1

    lcme_id:             N/A
    lcme_mirror_id:      N/A
    lcme_flags:          0
    lcme_extent.e_start: 67108864
    lcme_extent.e_end:   1073741824
      stripe_count:  4       stripe_size:   1048576       pattern:       raid0       stripe_offset: -1

    lcme_id:             N/A
    lcme_mirror_id:      N/A
    lcme_flags:          0
    lcme_extent.e_start: 1073741824
    lcme_extent.e_end:   EOF
      stripe_count:  8       stripe_size:   4194304       pattern:       raid0       stripe_offset: -1       pool: flash

"""
# `lfs getstripe` of a file: the second component holds no data yet.
FILE = """\
/lustre/x
  lcm_layout_gen:    3
  lcm_mirror_count:  1
  lcm_entry_count:   2
    lcme_id:             1
    lcme_mirror_id:      0
    lcme_flags:          init
    lcme_extent.e_start: 0
    lcme_extent.e_end:   4194304
      lmm_stripe_count:  1
      lmm_stripe_size:   4194304
      lmm_pattern:       raid0
      lmm_layout_gen:    0
      lmm_stripe_offset: 1
      lmm_objects:
      - 0: { l_ost_idx: 1, l_fid: [0x100010000:0x56:0x0] }

    lcme_id:             2
    lcme_mirror_id:      0
    lcme_flags:          0
    lcme_extent.e_start: 4194304
    lcme_extent.e_end:   EOF
      lmm_stripe_count:  -1
      lmm_stripe_size:   4194304
      lmm_pattern:       raid0
      lmm_layout_gen:    0
      lmm_stripe_offset: -1
"""


def test_components_as_a_study_writes_them() -> None:
    assert components_of("64M:1,1G:4,-1:8") == ASKED
    assert components_of("64 MiB:1, 1 GiB:4 ,-1:8") == ASKED
    assert components_of("-1:-1:4M") == (Component(None, -1, 4 * MIB),)
    assert components_of(components_text(ASKED)) == ASKED


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a part of a layout"),
        ("64M", "not a part of a layout"),
        ("64M:1:1M:x", "not a part of a layout"),
        ("-1:1,64M:4", "only the last part"),
        ("1G:1,64M:4", "ends before"),
        ("64M:0", "not a stripe count"),
        ("64M:ranks", "not a stripe count"),
        ("64M:9999999", "not a stripe count"),
        ("0:1", "at least one byte"),
        ("64X:1", "unknown unit"),
        (",".join(f"{n}M:1" for n in range(1, 40)), "at most 32"),
    ],
)
def test_texts_that_state_no_layout(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        components_of(text)
    with pytest.raises(WorkalikeError, match=r"layout.components") as error:
        load(read_study(write_study(tmp_path, fixed={"layout.components": text or ","})))
    assert error.value.exit_code == 2


def test_what_lustre_says() -> None:
    folder, file = lustre.parsed(FOLDER), lustre.parsed(FILE)
    assert folder is not None and file is not None
    assert folder.components == (
        Component(64 * MIB, 1, MIB),
        Component(GIB, 4, MIB),
        Component(None, 8, 4 * MIB),
    )
    assert (folder.stripe_count, folder.stripe_size, folder.pool) == (8, 4 * MIB, "flash")
    assert file.components == (Component(4 * MIB, 1, 4 * MIB), Component(None, -1, 4 * MIB))
    assert folder.known()["components"] == "67108864:1:1048576,1073741824:4:1048576,-1:8:4194304"
    for damaged in (FOLDER.replace("67108864", "x"), FOLDER.replace("stripe_count:  4", ""), "lcme_id: 1\n"):
        assert lustre.parsed(damaged) is None


def test_what_was_asked_for_and_what_was_found() -> None:
    found = lustre.parsed(FOLDER)
    assert found is not None
    assert Layout(components=ASKED).differs_from(found) == []
    assert Layout(components=ASKED, pool="flash").differs_from(found) == []
    assert Layout(components=components_of("64M:-1,1G:4,-1:-1")).differs_from(found) == []
    (reason,) = Layout(components=components_of("64M:1,1G:2,-1:8")).differs_from(found)
    assert reason.startswith("components 67108864:1,1073741824:2,-1:8, found 67108864:1:1048576,")
    assert Layout(components=ASKED[:2]).differs_from(found)
    assert Layout(components=components_of("64M:1:2M,1G:4,-1:8")).differs_from(found)
    assert Layout(components=ASKED).differs_from(Layout(8, MIB)) == [
        "components 67108864:1,1073741824:4,-1:8, found one layout for the whole file"
    ]
    # The last component has the count that was asked for, but only it has.
    (reason,) = Layout(stripe_count=8).differs_from(found)
    assert reason.startswith("one layout for the whole file, found components ")
    assert Layout().differs_from(found) == []


def test_commands_of_a_progressive_layout(tmp_path: Path) -> None:
    given: list[Sequence[str]] = []

    def run(command: Sequence[str]) -> tuple[int, str]:
        given.append(command)
        return 0, FOLDER

    kind = lustre.Lustre(run)
    asked: dict[str, Any] = {"components": "64M:1,1G:4:2M,-1:8", "pool": "flash"}
    kind.apply(tmp_path, layout_of(asked, kind, tmp_path, ranks=2, nodes=1))
    assert " ".join(given[0]) == (
        "lfs setstripe -E 67108864 -c 1 -p flash -E 1073741824 -c 4 -S 2097152 -p flash -E -1 -c 8 -p flash "
        f"{tmp_path}"
    )
    read = kind.read(tmp_path)
    assert read is not None and read.components is not None and len(read.components) == 3
    assert given[1] == ["lfs", "getstripe", "-d", str(tmp_path)]


def test_other_file_systems_have_none(tmp_path: Path) -> None:
    for kind in (cephfs.CephFs(), beegfs.BeeGfs(lambda _: (0, ""))):
        with pytest.raises(CannotSet, match="no components"):
            kind.apply(tmp_path, Layout(components=ASKED))


def test_components_and_a_stripe_count_exclude_each_other(tmp_path: Path) -> None:
    fixed = {"layout.components": "-1:8", "layout.stripe_count": 4}
    with pytest.raises(WorkalikeError, match="of their own"):
        load(read_study(write_study(tmp_path, fixed=fixed)))
