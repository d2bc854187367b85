"""Reading and writing plan files (JSON)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from workalike import _core
from workalike.errors import ErrorKind, WorkalikeError
from workalike.file_kind import FileKind, kind_of
from workalike.files import open_file, read_text, write_bytes, write_text
from workalike.plan.plan_schema import Plan, Ranges
from workalike.workload.model import Workload
from workalike.workload.workload_file import first_error, read_workload

_HINT = "make it again with `workalike plan`"


def read_plan(path: str | Path) -> Plan:
    """Read and check a plan: what the core refuses, is refused.

    Raises:
        WorkalikeError: MISSING, or BAD_PLAN naming the place.
    """
    text = read_text(path, ErrorKind.BAD_PLAN)
    try:
        plan = _parsed(text)
    except ValidationError as error:
        place, message = first_error(error)
        raise WorkalikeError(ErrorKind.BAD_PLAN, message, file=path, place=place, hint=_HINT) from error
    for place, message in _contradictions(plan):
        raise WorkalikeError(ErrorKind.BAD_PLAN, message, file=path, place=place, hint=_HINT)
    for name in {stream.table for content in plan.contents for stream in content.streams if stream.table}:
        plan.tables[name] = _table_bytes(Path(path), name)
    try:
        _core.Plan(text, str(path), None, plan.tables)
    except _core.PlanError as error:
        raise WorkalikeError(
            ErrorKind.BAD_PLAN, error.reason, file=path, place=error.place or None, hint=error.hint or _HINT
        ) from error
    return plan


def _table_bytes(plan: Path, name: str) -> bytes:
    """The bytes of an operation table in the folder of a plan, which the core checks."""
    if Path(name).name != name:
        raise WorkalikeError(
            ErrorKind.BAD_PLAN, "a table must lie in the folder of the plan", file=plan, hint=_HINT
        )
    with open_file(plan.parent / name, ErrorKind.BAD_PLAN) as file:
        return file.read()


def _parsed(text: str) -> Plan:
    """A plan of this version, or of an older one, which is upgraded."""
    try:
        return Plan.model_validate_json(text)
    except ValidationError as error:
        if all(found["loc"] != ("version",) for found in error.errors(include_url=False)):
            raise
        try:
            upgraded = _core.upgraded_plan(text)
        except _core.PlanError:
            raise error from None
        return Plan.model_validate_json(upgraded)


def _contradictions(plan: Plan) -> Iterator[tuple[str, str]]:
    """(place, message) of dangling references and duplicates."""
    names: set[tuple[str, int]] = set()
    numbers: set[int] = set()
    for i, family in enumerate(plan.families):
        if family.id in numbers:
            yield f"families[{i}].id", "another family has the same id"
        if (family.role, family.number) in names:
            yield f"families[{i}].number", "another family of this role has the same number"
        numbers.add(family.id)
        names.add((family.role, family.number))
        if _rank_beyond(family.sharing.ranks, plan.ranks):
            yield f"families[{i}].sharing.ranks", "names ranks that the plan does not have"
    for i, content in enumerate(plan.contents):
        used = [stream.ranks for stream in content.streams]
        used += [access.ranks for arrays in content.arrays for access in arrays.access]
        if any(_rank_beyond(ranges, plan.ranks) for ranges in used):
            yield f"contents[{i}]", "names ranks that the plan does not have"
    for i, dump in enumerate(plan.dumps):
        if dump.family not in numbers:
            yield f"dumps[{i}].family", "no family has this id"
        if dump.content >= len(plan.contents):
            yield f"dumps[{i}].content", "there is no such content"


def _rank_beyond(ranges: Ranges, ranks: int) -> bool:
    """Whether a set of ranks is empty, does not ascend, or exceeds the plan's ranks."""
    if ranges == "all":
        return False
    before = -1
    for first, last, _ in ranges:
        if not before < first <= last < ranks:
            return True
        before = last
    return not ranges


def write_plan(plan: Plan, path: str | Path) -> None:
    """Write a plan, with its operation tables beside it."""
    for name, table in plan.tables.items():
        write_bytes(Path(path).parent / name, table)
    write_text(path, plan_text(plan))


def plan_text(plan: Plan) -> str:
    """The plan as JSON."""
    return plan.model_dump_json(exclude_none=True) + "\n"


def read_workload_or_plan(path: Path) -> Workload | Plan:
    """Read a workload or a plan.

    Raises:
        WorkalikeError: USAGE for a log, and those of `read_workload` and `read_plan`.
    """
    kind = kind_of(path)
    if kind is FileKind.LOG:
        raise WorkalikeError(
            ErrorKind.USAGE,
            "is a log, not a workload",
            file=path,
            hint="use `workalike replicate`, or characterize it first",
        )
    return read_plan(path) if kind is FileKind.PLAN else read_workload(path)
