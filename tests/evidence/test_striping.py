"""The self-test of striping, on file systems that are made up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from workalike.errors import ErrorKind, WorkalikeError
from workalike.evidence.bench import Bench, Placement
from workalike.evidence.document import Striping
from workalike.evidence.striping import ASKED, self_test
from workalike.evidence.words import Reason
from workalike.study.layouts.base import CannotSet, Layout
from workalike.study.layouts.plain import Gpfs, Plain
from workalike.study.layouts.registry import KINDS

DEFAULT = Layout(stripe_count=1, stripe_size=2**20, pool="pool-of-ann")


class MadeUp:
    """A file system that gives a folder's layout to its files, changed by `gives`."""

    tested_on = "nothing"

    def __init__(
        self, name: str, gives: Callable[[Layout], Layout | None], targets: int | None = None
    ) -> None:
        self.name = name
        self._gives = gives
        self._targets = targets
        self._asked: dict[Path, Layout] = {}

    def is_on(self, file_system: str, folder: Path) -> bool:
        return True

    def apply(self, folder: Path, layout: Layout) -> None:
        self._asked[folder] = layout

    def read(self, path: Path) -> Layout | None:
        asked = self._asked[path.parent]
        return self._gives(DEFAULT if asked == Layout() else replace(asked, pool="pool-of-ann"))

    def targets(self, folder: Path) -> int | None:
        return self._targets


class Refusing(MadeUp):
    """It has no tool, or refuses and names the folder."""

    def __init__(self, cause: Exception | None) -> None:
        super().__init__("lustre", lambda layout: layout)
        self._cause = cause

    def apply(self, folder: Path, layout: Layout) -> None:
        if layout != Layout():
            raise CannotSet(f"lfs setstripe: {folder}: not allowed for ann") from self._cause
        super().apply(folder, layout)


class NoEngine(Bench):
    """A bench whose engine writes nothing."""

    failing = False

    def run(self, plan: Any, out: str, **more: Any) -> Any:
        if self.failing:
            raise WorkalikeError(ErrorKind.RUN_FAILED, "no", file="/scratch/ann")
        self.skip(1)
        more["examine"]([more["data"] / "checkpoint-1.000000"])
        return SimpleNamespace()

    def seconds_of(self, plan: Any) -> float:
        return 1.0


@pytest.fixture
def bench(tmp_path: Path) -> NoEngine:
    return NoEngine(tmp_path, tmp_path, Placement(2), ends=float("inf"))


def words(found: Striping) -> list[tuple[bool | None, Reason | None]]:
    return [(test.as_asked, test.not_measured) for test in found.tests]


@pytest.mark.parametrize("name", ASKED)
def test_layouts_that_are_given_are_as_asked(bench: NoEngine, name: str) -> None:
    found = self_test(bench, MadeUp(name, lambda layout: layout))
    assert words(found) == [(None, None), *[(True, None)] * (len(ASKED[name]) - 1)]
    assert found.tests[0].found is not None and found.tests[0].found.stripe_count == 1
    assert "ann" not in found.model_dump_json()
    assert list(bench.data.iterdir()) == []


def test_layouts_that_are_not_given_are_not(bench: NoEngine) -> None:
    """Every file has one stripe: only what asks for that is met."""
    found = self_test(bench, MadeUp("beegfs", lambda _: DEFAULT))
    assert [test.as_asked for test in found.tests] == [None, True, False, False]
    assert found.tests[2].found is not None and found.tests[2].found.stripe_count == 1


def test_all_targets_are_asked_for_where_their_number_is_known(bench: NoEngine) -> None:
    found = self_test(bench, MadeUp("lustre", lambda layout: layout, targets=24))
    assert found.tests[-1].asked.stripe_count == 24 and found.tests[-1].as_asked


@pytest.mark.parametrize(("cause", "reason"), [(None, Reason.REFUSED), (FileNotFoundError(), Reason.NO_TOOL)])
def test_a_refusal_is_a_word_and_no_text_of_a_tool(
    bench: NoEngine, cause: Exception | None, reason: Reason
) -> None:
    found = self_test(bench, Refusing(cause))
    assert words(found) == [(None, None), *[(None, reason)] * 3]
    assert "ann" not in found.model_dump_json()


def test_a_file_system_that_tells_nothing(bench: NoEngine) -> None:
    found = self_test(bench, MadeUp("lustre", lambda _: None))
    assert words(found) == [(None, Reason.NOT_SHOWN)] * 4


def test_a_run_that_fails_is_a_word(bench: NoEngine) -> None:
    said: list[str] = []
    bench.failing, bench.report = True, said.append
    found = self_test(bench, MadeUp("lustre", lambda layout: layout))
    assert words(found) == [(None, Reason.FAILED)] * 4
    assert len(said) == 4 and "ann" not in found.model_dump_json()


def test_without_time_nothing_is_tested(bench: NoEngine) -> None:
    bench.ends = 0.0
    assert words(self_test(bench, MadeUp("cephfs", lambda layout: layout))) == [(None, Reason.NO_TIME)] * 4


@pytest.mark.parametrize(
    ("kind", "reason"), [(Plain(), Reason.NO_LAYOUT), (Gpfs(), Reason.ALL_DISKS)], ids=["plain", "gpfs"]
)
def test_file_systems_without_layouts(bench: NoEngine, kind: Any, reason: Reason) -> None:
    found = self_test(bench, kind)
    assert (found.tests, found.not_measured) == ([], reason)


def test_every_kind_with_layouts_is_asked() -> None:
    assert {kind.name for kind in KINDS} == {*ASKED, "plain", "gpfs"}
