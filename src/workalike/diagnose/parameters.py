"""What all sections of the site file have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Parameters(BaseModel):
    """The numbers of a rule that a site may change: one section of the site file."""

    model_config = ConfigDict(extra="forbid", frozen=True)
