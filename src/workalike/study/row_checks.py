"""What rows of trials and dumps must be, wherever they come from: types, and ranges that the statistics can work with.

Other fields, such as factors, are free; their numbers must fit into a table's column.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from workalike.study.json_numbers import MOST, out_of_range
from workalike.workload.workload_file import first_error

MOST_BLOCKS = 2**31
Count = Annotated[int, Field(ge=0, le=MOST)]
Seconds = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
Moment = Annotated[float, Field(ge=-1e12, le=1e12, allow_inf_nan=False)]
Rate = Annotated[float, Field(ge=0, le=1e21, allow_inf_nan=False)]
"""Bytes per second."""


class _Row(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)

    setting: str = ""
    arm: str = ""
    bytes_written: Count = 0
    bytes_read: Count = 0
    bandwidth: Rate | None = None
    transfer_time_s: Seconds | None = None
    write_time_s: Seconds | None = None
    slowest_call_s: Seconds | None = None
    slowest_call_bytes: Count | None = None

    @model_validator(mode="after")
    def _fits(self) -> _Row:
        if (place := out_of_range(self.model_extra)) is not None:
            raise ValueError(f"{place} is not a number that a table holds")
        return self


class _Trial(_Row):
    block: Annotated[int, Field(ge=0, le=MOST_BLOCKS)]
    setting: str
    arm: str
    trial: Count = 0
    position: Count = 0
    state: str = ""
    counted: bool = False
    reasons: list[str] = Field(default_factory=list)
    plan: str = ""
    reused_from: str | None = None
    io_time_s: Seconds | None = None
    slowest_dump_s: Seconds | None = None
    wall_s: Seconds | None = None
    took_s: Seconds | None = None
    core_hours: Seconds | None = None


class _Dump(_Row):
    bytes_written: Count
    bytes_read: Count
    start_s: Moment
    end_s: Moment
    io_time_s: Seconds | None = None
    fsyncs: Count = 0
    planned_bytes: Count | None = None


class _Line(BaseModel):
    model_config = ConfigDict(strict=True)

    trial: _Trial
    dumps: list[_Dump]


def fault_of_line(document: object) -> str | None:
    """What is wrong with a line of a journal, with its place; None if it is a trial."""
    try:
        _Line.model_validate(document)
    except ValidationError as error:
        place, message = first_error(error)
        return "".join(c for c in f"{place}: {message}"[:200] if c.isprintable())
    except RecursionError:
        return "nested too deeply"
    return None
