"""STUDY.yaml as a model: workloads, factors with their levels, constraints, the design and its blocks."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    field_validator,
    model_serializer,
    model_validator,
)

from workalike.study.expression import Expression, names_in
from workalike.study.json_numbers import out_of_range
from workalike.study.objective import DEFAULT, Objective
from workalike.study.statistics.intervals import Method
from workalike.workload.quantities import Seconds, Size, Strict

SCHEMA_VERSION = 1
MAX_FACTORS = 64
MAX_LEVELS = 1000
MAX_BLOCKS = 10_000
MAX_SAMPLES = 100_000
DEFAULT_BANDWIDTH = 500 * 2**20
DEFAULT_LAUNCH_S = 1.0

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,39}$")]
LevelName = Annotated[str, StringConstraints(min_length=1, max_length=80)]
FilePath = Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")]
Scalar = bool | int | float | str
RESERVED = frozenset(
    (
        *("trial", "block", "position", "setting", "arm", "state", "counted", "reasons", "study", "session"),
        *(
            "bandwidth",
            "wall_s",
            "io_time_s",
            "slowest_dump_s",
            "transfer_time_s",
            "write_time_s",
            "slowest_call_s",
            "slowest_call_bytes",
            "bytes_written",
            "bytes_read",
        ),
        *("system", "nodes_used", "load", "started", "took_s", "core_hours", "asked", "found", "versions"),
        *(
            "plan",
            "plan_bytes",
            "free_before",
            "free_after",
            "caches",
            "dirty_bytes",
            "cached_bytes",
            "dumps",
        ),
        *("reused_from", "record_matches_plan", "family", "role", "number", "index", "processes"),
        "source",  # of joined studies
    )
)
"""Names of the results' own columns."""


class Design(StrEnum):
    """Which combinations of levels become settings."""

    FULL = "full"
    ONE_AT_A_TIME = "one-at-a-time"
    PAIRWISE = "pairwise"
    LATIN_HYPERCUBE = "latin-hypercube"
    SOBOL = "sobol"


SAMPLED = (Design.LATIN_HYPERCUBE, Design.SOBOL)


class Factor(Strict):
    """What varies: `set` is the field that the levels are values of, by default the factor's name.

    Levels are a list of values, or names with their values. The factor is left at its default where `when` is false.
    """

    set: Annotated[str, StringConstraints(min_length=1, max_length=400)] | None = None
    levels: list[Scalar] | dict[LevelName, Any]
    when: Expression | None = None

    @model_validator(mode="before")
    @classmethod
    def _list(cls, value: Any) -> Any:
        return {"levels": value} if isinstance(value, list) else value

    @field_validator("levels")
    @classmethod
    def _some(cls, value: list[Scalar] | dict[str, Any]) -> list[Scalar] | dict[str, Any]:
        if not 1 <= len(value) <= MAX_LEVELS:
            raise ValueError(f"a factor has 1 to {MAX_LEVELS} levels")
        names = [str(level) for level in value]
        if len(set(names)) < len(names) or len(set(value)) < len(value):  # 1, 1.0 and true are one
            raise ValueError("a level occurs twice")
        for name in names:
            if not name.isprintable():
                raise ValueError(f"the level {name[:40]!r} has characters that cannot be shown")
        if (place := out_of_range(value)) is not None:
            raise ValueError(f"{place}: no number that results can hold")
        return value

    def named_levels(self) -> dict[str | int | float | bool, Any]:
        """Level as shown in results -> value."""
        named: dict[str | int | float | bool, Any] = {}
        for level in self.levels:
            named[level] = self.levels[level] if isinstance(self.levels, dict) else level  # type: ignore[index]
        return named


class Constraint(Strict):
    """Combinations to leave out (`skip`), or that must not occur (`error`)."""

    skip: Expression | None = None
    error: Expression | None = None
    reason: Annotated[str, StringConstraints(max_length=400)] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.skip is None) == (self.error is None):
            raise ValueError("a constraint has either `skip` or `error`")
        return self


class Assumed(Strict):
    """What estimates assume before anything was measured."""

    bandwidth: Size = DEFAULT_BANDWIDTH  # bytes per second
    launch: Seconds = DEFAULT_LAUNCH_S


class Blocks(Strict):
    """How many blocks a study has; also a number alone. With `every`, a block begins so long after the one before."""

    count: Annotated[int, Field(ge=1, le=MAX_BLOCKS)] = 5
    every: Annotated[Seconds, Field(gt=0)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        return value if isinstance(value, dict | cls) else {"count": value}

    @model_serializer(mode="wrap")
    def _shown(self, handler: SerializerFunctionWrapHandler) -> Any:
        return self.count if self.every is None else handler(self)


class Stop(Strict):
    """When a study ends before its last block, by its results; `blocks` is then the most that it runs.

    A setting leaves once its ratio to the reference is known: `decided` (the interval leaves out 1, or is narrow) or
    `narrow` (only the latter). Narrow is an interval within `precision` percent of its middle.
    """

    precision: Annotated[float, Field(gt=0, le=100)] = 5.0
    least_blocks: Annotated[int, Field(ge=2, le=MAX_BLOCKS)] = 3
    when: Literal["decided", "narrow"] = "decided"


class Rung(Strict):
    """Short trials of a search: they replace the study's `fixed` fields of the same names. `keep` settings go on."""

    keep: Annotated[int, Field(ge=1, le=MAX_SAMPLES)]
    dumps: Annotated[int, Field(ge=1)] | None = None
    bytes_scale: int | float | str | None = None
    time_scale: Annotated[float, Field(ge=0)] | None = None

    def fields(self) -> dict[str, Any]:
        """The fields that this rung sets, with their values."""
        return {name: getattr(self, name) for name in SHORTENED if getattr(self, name) is not None}

    @model_validator(mode="after")
    def _shorter(self) -> Self:
        if not self.fields():
            raise ValueError(f"a rung shortens trials by {', '.join(SHORTENED)}: give one of them")
        return self


SHORTENED = ("dumps", "bytes_scale", "time_scale")


class Search(Strict):
    """Successive halving: rungs of short trials choose the settings that the study then measures at full length."""

    rungs: Annotated[list[Rung], Field(min_length=1, max_length=10)]
    repeats: Annotated[int, Field(ge=1, le=MAX_BLOCKS)] = 1

    @model_validator(mode="after")
    def _narrower(self) -> Self:
        keeps = [rung.keep for rung in self.rungs]
        if sorted(keeps, reverse=True) != keeps or len(set(keeps)) < len(keeps):
            raise ValueError("each rung must keep fewer settings than the one before")
        return self


class Study(Strict):
    """A study file, schema version 1."""

    study: Annotated[int, Field(ge=SCHEMA_VERSION, le=SCHEMA_VERSION)] = SCHEMA_VERSION
    title: Annotated[str, StringConstraints(max_length=200)] = ""
    workload: FilePath | None = None
    workloads: dict[Name, FilePath] | None = None
    directory: FilePath | None = None
    objective: Objective | Annotated[list[Objective], Field(min_length=1)] = DEFAULT[0]
    interval: Method = Method.STUDENT
    fixed: dict[str, Any] = Field(default_factory=dict)
    factors: dict[Name, Factor] = Field(default_factory=dict, max_length=MAX_FACTORS)
    constraints: Annotated[list[Constraint], Field(max_length=1000)] = Field(default_factory=list)
    design: Design = Design.FULL
    samples: Annotated[int, Field(ge=1, le=MAX_SAMPLES)] | None = None
    blocks: Blocks = Field(default_factory=Blocks)
    stop: Stop | None = None
    search: Search | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    a_a: bool | dict[Name, Scalar] = True
    launcher: Literal["auto", "mpiexec", "srun", "flux", "serial"] = "auto"
    caches: Literal["keep", "sync", "drop"] = "keep"
    timeout: Seconds | None = None
    capture: bool = False
    assume: Assumed = Field(default_factory=Assumed)

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """What settings are compared by: the first decides, and the others are reported beside it."""
        return tuple(self.objective) if isinstance(self.objective, list) else (self.objective,)

    @field_validator("fixed")
    @classmethod
    def _in_range(cls, value: dict[str, Any]) -> dict[str, Any]:
        if (place := out_of_range(value)) is not None:
            raise ValueError(f"{place}: no number that results can hold")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(set(self.objectives)) < len(self.objectives):
            raise ValueError("`objective` has a word twice")
        if self.stop and self.interval is not Method.STUDENT:
            raise ValueError("with `stop`, intervals are those of all looks: leave `interval` out")
        if (self.workload is None) == (self.workloads is None):
            raise ValueError("give either `workload: FILE` or `workloads: {NAME: FILE}`")
        if self.workloads is not None and not self.workloads:
            raise ValueError("`workloads` names no file")
        if (self.samples is None) == (self.design in SAMPLED):
            raise ValueError(
                "`samples` is the number of settings of latin-hypercube and sobol, and only theirs"
            )
        for name in self.factors:
            if name in RESERVED:
                raise ValueError(
                    f"the factor {name!r} has the name of a column of the results: choose another"
                )
        if self.timeout is not None and self.timeout <= 0:
            raise ValueError("timeout must be above 0")
        self._check_names()
        self._check_search()
        return self

    def _check_search(self) -> None:
        """Check that no factor sets what a rung shortens."""
        shortened = {name for rung in self.search.rungs for name in rung.fields()} if self.search else set()
        for name, factor in self.factors.items():
            if (factor.set or name) in shortened:
                raise ValueError(f"the factor {name} and a rung of `search` set the same field")

    def _check_names(self) -> None:
        """Check that conditions name factors; `when` only earlier ones, so that no circle arises."""
        known: set[str] = {"workload"} if self.workloads else set()
        for name, factor in self.factors.items():
            unknown = names_in(factor.when) - known if factor.when else set()
            if unknown:
                raise ValueError(
                    f"`when` of {name} speaks of {', '.join(sorted(unknown))}, which is not a factor before it"
                )
            known.add(name)
        for constraint in self.constraints:
            unknown = names_in(constraint.skip or constraint.error or "") - known
            if unknown:
                raise ValueError(
                    f"a constraint speaks of {', '.join(sorted(unknown))}, which is not a factor"
                )
        if isinstance(self.a_a, dict) and set(self.a_a) - known:
            raise ValueError(
                f"`a_a` speaks of {', '.join(sorted(set(self.a_a) - known))}, which is not a factor"
            )
