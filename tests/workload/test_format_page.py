"""docs/workload-*.md: every example is accepted, and every error message is that of the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from workalike.errors import WorkalikeError
from workalike.plan.plan_file import plan_text
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import (
    ArrayAccess,
    Arrays,
    Assumption,
    Content,
    Family,
    Fit,
    Interface,
    Level,
    Lifetime,
    Pattern,
    Reason,
    Role,
    Rows,
    Schedule,
    Sharing,
    Slab,
    Stream,
    Tunable,
    Workload,
)
from workalike.workload.summary import summarize
from workalike.workload.workload_file import parse_workload, workload_text

DOCS = Path(__file__).parents[2] / "docs"
PAGE = "".join((DOCS / f"workload-{part}.md").read_text() for part in ("format", "contents", "fields"))
GOOD = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.M | re.S)
WRONG = re.findall(r"^```yaml wrong\n(.*?)^```\n```text\n(.*?)\n```$", PAGE, re.M | re.S)


def title(example: str) -> str:
    return re.sub(r"\W+", "-", example.split("role: ")[1][:40]).strip("-")


@pytest.mark.parametrize("example", GOOD, ids=title)
def test_every_example_is_accepted(example: str) -> None:
    workload = parse_workload(example)
    assert parse_workload(workload_text(workload)) == workload
    plan = resolve(workload, Options())
    assert len(plan.dumps) == sum(f.schedule.dumps for f in workload.families)
    assert plan_text(plan) and summarize(workload)


@pytest.mark.parametrize(("example", "line"), WRONG, ids=[line.split(": ")[-1][:30] for _, line in WRONG])
def test_errors_are_said_as_the_page_says(example: str, line: str) -> None:
    with pytest.raises(WorkalikeError) as caught:
        parse_workload(example, "job.yaml")
    assert caught.value.one_line() == line


def test_there_are_enough_of_them() -> None:
    assert len(GOOD) >= 10 and len(WRONG) >= 5
    assert PAGE.count("```yaml") == len(GOOD) + len(WRONG)


def test_the_smallest_is_what_the_page_says() -> None:
    workload = parse_workload(GOOD[0])
    assert len(GOOD[0].splitlines()) == 10
    assert summarize(workload)[0].endswith("160 GiB written, 0 B read")


def test_schedules_are_what_the_page_says() -> None:
    example = next(e for e in GOOD if "gaps: [79 s" in e)
    starts = [family.schedule.starts() for family in parse_workload(example).families]
    assert starts[0] == [300 + 600 * i for i in range(6)]
    assert starts[2] == [79, 135, 197, 263]
    assert starts[3] == [10, 11, 12, 19]


@pytest.mark.parametrize(
    "words", [Role, Interface, Level, Lifetime, Pattern, Assumption, Reason], ids=lambda w: w.__name__
)
def test_every_word_is_on_the_page(words: type[Role]) -> None:
    for word in words:
        assert re.search(rf"(?<![\w-]){word.value}(?![\w-])", PAGE), word


@pytest.mark.parametrize(
    "part",
    [Workload, Family, Sharing, Schedule, Content, Stream, Arrays, ArrayAccess, Slab, Fit, Rows, Tunable],
    ids=lambda p: p.__name__,
)
def test_every_field_is_on_the_page(part: type[Workload]) -> None:
    for field in part.model_fields:
        assert re.search(rf"\b{field}\b", PAGE), field
