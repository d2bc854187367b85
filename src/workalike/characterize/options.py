"""What a user may decide about characterization."""

from __future__ import annotations

from dataclasses import dataclass

from workalike.workload.model import Level


@dataclass(frozen=True)
class CharacterizeOptions:
    """`states` fixes the number of dumps in each long-lived file; `include_noise` keeps every file.

    `level` is taken where a file has it; `use_trace` off ignores DXT, as if the log had none.
    """

    states: int | None = None
    include_noise: bool = False
    level: Level | None = None
    use_trace: bool = True
