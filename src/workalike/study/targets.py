"""What a setting sets: the closed list of fields, and how each changes the workload, its plan, or its run.

| field | what |
|---|---|
| `workload` | one of the study's workloads, by name |
| `ranks`, `scaling`, `bytes_scale`, `scale_by`, `time_scale`, `clock`, `gap_fill`, `compressibility`, `seed` | as `run` |
| `backend`, `nodes`, `ranks_per_node` | as `run` |
| `dumps` | the first so many dumps of each family; others are left out |
| `directory` | where the data goes: the file system |
| `capture` | whether the trial runs under `workalike profile`; without it the study's `capture` holds |
| `transfer` | the size of single operations, whose number follows |
| `what_if.PATH` | a change of families as `run --what-if PATH=VALUE` makes it, such as `what_if.checkpoint.every` |
| `sharing` | `shared`, `per-rank`, `root` or `groups:M` in every family |
| `tunable.NAME` | a field of `tunable` in every family: MPI-IO hints and settings of HDF5 |
| `hint.NAME` | any MPI-IO hint |
| `environment.NAME` | an environment variable of the ranks |
| `layout.NAME` | the layout of files on servers: `stripe_count`, `stripe_size`, `object_size`, `pool`, `components` |
| `families[0].content...`, `compute...` | any field of the workload by its path; `families[*]` is every family |
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, get_args

from workalike.errors import WorkalikeError
from workalike.plan.choices import BACKENDS, Clock, GapFill
from workalike.plan.resolve import Options
from workalike.study.layouts.base import components_of
from workalike.study.workload_path import is_path
from workalike.workload import units
from workalike.workload.tunable import Tunable
from workalike.workload.what_if import parse_what_if

LAYOUT_FIELDS = ("stripe_count", "stripe_size", "object_size", "pool", "components")
COUNT_WORDS = ("default", "nodes", "ranks", "all")
LARGEST_COUNT = 10**9
FACTOR = re.compile(r"[0-9]{1,20}/[0-9]{1,20}|[0-9]{0,20}\.?[0-9]{0,40}(?:[eE][+-]?[0-9]{1,3})?")
HINT_NAME = re.compile(r"[A-Za-z0-9_.-]{1,80}")
ALLOWED_VARIABLES = re.compile(
    r"OMPI_MCA_(io|fs|fcoll|fbtl|sharedfp|btl)(_[a-z0-9_]+)?|MPICH_MPIIO_[A-Z0-9_]+|ROMIO_[A-Z0-9_]+"
    r"|HDF5_USE_FILE_LOCKING|OMP_NUM_THREADS"
)
"""Variables that a study may set. Others can start programs or load code, and a study file may come from elsewhere."""


@dataclass
class Wanted:
    """What a setting asks for, sorted by the part that acts on it."""

    workload: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    backend: str | None = None
    nodes: int | None = None
    ranks_per_node: int | None = None
    directory: str | None = None
    capture: bool | None = None
    dumps: int | None = None
    transfer: int | None = None
    sharing: dict[str, Any] | None = None
    tunables: dict[str, Any] = field(default_factory=dict)
    hints: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    layout: dict[str, Any] = field(default_factory=dict)
    what_if: list[str] = field(default_factory=list)
    paths: dict[str, Any] = field(default_factory=dict)

    def resolve_options(self) -> Options:
        return Options(**self.options)


def wanted(values: dict[str, Any]) -> Wanted:
    """The values of a setting, checked and sorted.

    Raises:
        ValueError: there is no such field, or the value is not one of it; the text begins with the field.
    """
    out = Wanted()
    for name, value in values.items():
        try:
            _sort(out, name, value)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    return out


def _sort(out: Wanted, name: str, value: Any) -> None:
    group, _, rest = name.partition(".")
    if name in _OPTIONS:
        out.options[name] = _OPTIONS[name](value)
    elif name in _RUN:
        setattr(out, name, _RUN[name](value))
    elif group in _GROUPS and rest:
        _GROUPS[group](out, rest, value)
    elif is_path(name):
        out.paths[name] = value
    else:
        known = ", ".join([*_OPTIONS, *_RUN, *(f"{g}.NAME" for g in _GROUPS), "families[*].FIELD"])
        raise ValueError(f"there is no such field to set (known: {known})")


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST_COUNT:
        raise ValueError(f"{_quoted(value)} is not a whole number above 0")
    return value


def _yes_or_no(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{_quoted(value)} is neither true nor false")
    return value


def _seed(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise ValueError(f"{_quoted(value)} is not a seed: use a whole number from 0")
    return value


def _factor(value: Any) -> Fraction:
    text = str(value).strip()
    try:
        if isinstance(value, bool) or not FACTOR.fullmatch(text):
            raise ValueError
        number = Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise ValueError(f"{_quoted(value)} is not a number such as 0.01 or 1/64") from error
    if not Fraction(1, 10**12) <= number <= 10**6:
        raise ValueError("must lie between 1e-12 and 1e6")
    return number


def _between(least: float, most: float) -> Callable[[Any], float]:
    def check(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise ValueError(f"{_quoted(value)} is not a number from {least:g} to {most:g}")
        return float(value)

    return check


def _word(*allowed: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in allowed:
            raise ValueError(f"{_quoted(value)} is unknown: use {', '.join(allowed)}")
        return str(value)

    return check


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value or "\0" in value or len(value) > 4096:
        raise ValueError(f"{_quoted(value)} is not a text")
    return value


def _size(value: Any) -> int:
    size = units.parse_size(value)
    if size < 1:
        raise ValueError("must be at least one byte")
    return size


def _sharing(value: Any) -> dict[str, Any]:
    mode, _, files = str(value).partition(":")
    if mode in ("shared", "per-rank", "root") and not files:
        return {"mode": mode}
    if mode == "groups" and files.isdigit() and 1 <= int(files[:12]) <= LARGEST_COUNT:
        return {"mode": "groups", "files": int(files)}
    raise ValueError(f"{_quoted(value)} is unknown: use shared, per-rank, root or groups:M (M files)")


def _tunable(out: Wanted, name: str, value: Any) -> None:
    if name not in Tunable.model_fields:
        raise ValueError(f"tunable has no such field: use one of {', '.join(Tunable.model_fields)}")
    out.tunables[name] = value


def _hint(out: Wanted, name: str, value: Any) -> None:
    if not HINT_NAME.fullmatch(name):
        raise ValueError("is not a name of a hint")
    text = _plain(value)
    out.hints[name] = text


def _variable(out: Wanted, name: str, value: Any) -> None:
    if not ALLOWED_VARIABLES.fullmatch(name):
        raise ValueError(
            "a study sets only OMPI_MCA_io*, fs, fcoll, fbtl, sharedfp and btl, MPICH_MPIIO_*, ROMIO_*, "
            "HDF5_USE_FILE_LOCKING and OMP_NUM_THREADS"
        )
    out.environment[name] = _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float) or (
        isinstance(value, str) and value.isprintable() and len(value) <= 1000
    ):
        return str(value)
    raise ValueError(f"{_quoted(value)} is not a number or printable text")


def _layout(out: Wanted, name: str, value: Any) -> None:
    if name not in LAYOUT_FIELDS:
        raise ValueError(f"a layout has no such field: use one of {', '.join(LAYOUT_FIELDS)}")
    if name == "stripe_count":
        out.layout[name] = value if value in COUNT_WORDS else _count(value)
    elif name == "pool":
        if not HINT_NAME.fullmatch(_text(value)):
            raise ValueError(f"{_quoted(value)} is not a name of a pool")
        out.layout[name] = value
    elif name == "components":
        components_of(_text(value))
        out.layout[name] = value
    else:
        out.layout[name] = _size(value)
    if "components" in out.layout and {"stripe_count", "stripe_size"} & out.layout.keys():
        raise ValueError("components have stripe counts and sizes of their own: leave out layout.stripe_*")


def _what_if(out: Wanted, name: str, value: Any) -> None:
    text = f"{name}={_plain(value)}"
    try:
        if parse_what_if([text]).ranks is not None:
            raise ValueError("use the field `ranks`")
    except WorkalikeError as error:
        raise ValueError(f"{error.message} ({error.hint})") from error
    out.what_if.append(text)


def _quoted(value: Any) -> str:
    return repr(value)[:60]


_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "ranks": _count,
    "scaling": _word("strong", "weak"),
    "bytes_scale": _factor,
    "scale_by": _word("count", "size"),
    "time_scale": _between(0, 1e6),
    "clock": _word(*get_args(Clock)),
    "gap_fill": _word(*get_args(GapFill)),
    "compressibility": _between(0, 1),
    "seed": _seed,
}
_RUN: dict[str, Callable[[Any], Any]] = {
    "workload": _text,
    "backend": _word(*BACKENDS),
    "nodes": _count,
    "ranks_per_node": _count,
    "dumps": _count,
    "directory": _text,
    "capture": _yes_or_no,
    "transfer": _size,
    "sharing": _sharing,
}
_GROUPS: dict[str, Callable[[Wanted, str, Any], None]] = {
    "tunable": _tunable,
    "hint": _hint,
    "environment": _variable,
    "layout": _layout,
    "what_if": _what_if,
}
