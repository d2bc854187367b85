"""The diagnosis as a document: what `--json` prints."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from workalike.diagnose.rule import Answer, Sure
from workalike.notebook import html_table
from workalike.text import percent_text, plural, seconds_text


class Severity(StrEnum):
    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    NOTE = "NOTE"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CostOut(_Part):
    """`rank_seconds` by `formula` with the numbers in `terms`; `share` is of ranks x run time."""

    rank_seconds: float
    share: float
    slowest_rank_s: float
    slowest_rank_share: float
    formula: str
    terms: dict[str, float]


class Tried(_Part):
    """A change that was measured: the workload of the log with and without it, in turns (`--try`).

    `ratio` is the I/O time after the change over that before it, with its 95 % interval `low` to `high`; `saved_s` is
    what that comes to at the scale that was run, whose I/O took `io_time_s`. `pays` is null where the interval holds 1.
    With `reason`, it could not be measured.
    """

    rule: str
    change: str
    says: str
    reason: str = ""
    ranks: int | None = None
    bytes_scale: float | None = None
    blocks: int = 0
    io_time_s: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    saved_s: float | None = None
    saved_low_s: float | None = None
    saved_high_s: float | None = None
    pays: bool | None = None


class Finding(_Part):
    """One diagnosed problem; `also` are rules that saw the same cause.

    `snippet` shows the change as code or a command, `other_snippets` the same in other languages, by language.

    `gain_at_most_s` is a bound in seconds of wall-clock time. It is null where `measured` has the gain of a change, at
    the scale that was run, in its place. `assumes` is what the log does not tell and the finding takes for granted.
    """

    rule: str
    title: str
    severity: Severity
    answer: Answer
    summary: str
    families: list[str]
    cost: CostOut
    gain_at_most_s: float | None
    measured: list[Tried] = []
    evidence: dict[str, float]
    also: list[str]
    advice: str
    snippet: str
    other_snippets: dict[str, str]
    sure: Sure
    partial: list[str]
    assumes: str = ""


class Standing(_Part):
    """A quantity of this run among earlier runs of the same workload (`--history`).

    `low` and `high` are their 5th and 95th percentile, `percentile` is this run's place among them (ties count half).
    `changed` needs five earlier runs, and a distance from their median that is not a scatter. `unit` is B, B/s, s, or
    empty for a count; `always` it is shown, or where it has changed.
    """

    key: str
    name: str
    unit: str
    always: bool
    value: float
    median: float
    low: float
    high: float
    percentile: float
    changed: bool


class Moment(_Part):
    """A run: its start in seconds since 1970, its bandwidth in bytes per second or null where it has none."""

    start: float
    bandwidth: float | None


class History(_Part):
    """This run against earlier runs of the same program, with as many ranks and the same I/O (`--history`).

    A job of several logs (`of_logs`) is judged by the one that spent most time in I/O. `logs` were looked through, `damaged` of them could not be read; `program_runs` are of the program with as many
    ranks, `runs` of them did the same I/O, `enough` to tell what changed. `changes` are differences that are no quantities; without such runs, those
    from the newest run of the program. `moments` are those runs and then this one, in order of their starts.
    """

    of_logs: int = 1
    logs: int
    damaged: int
    program_runs: int
    runs: int
    enough: bool
    standings: list[Standing]
    changes: list[str]
    moments: list[Moment]


class Unknown(_Part):
    """A rule that cannot tell, and why."""

    rule: str
    reason: str


class FamilyOut(_Part):
    label: str
    files: int
    pattern: str | None


class ConflictOut(_Part):
    """Two ranks touch bytes `offset` to `end` - 1 of a file of a family; `ordered_under` are consistency models."""

    family: str
    ranks: tuple[int, int]
    offset: int
    end: int
    kind: str
    ordered_under: list[str]


class Consistency(_Part):
    """Conflicting accesses of ranks, tested under four consistency models (docs/diagnose.md).

    `weakest` is the model that promises least and under which the job is still correct; null if not even POSIX orders
    its accesses. `broken` counts the pairs that a model does not order. With any of `gaps`, an order may be missing:
    conflicts are then possible, not certain.
    """

    weakest: str | None
    pairs: int
    broken: dict[str, int]
    gaps: list[str]
    examples: list[ConflictOut]


class SlowestCallOut(_Part):
    """The slowest read or write of the job: its interface and direction (`call`), and what it moved.

    `share` is of the run time.
    """

    call: str
    seconds: float
    bytes: int
    share: float


class Diagnosis(_Part):
    """All findings of a job, the one that explains most time first. `consistency` needs recorded events.

    `slowest_call` is null where the log does not keep it.
    """

    version: int = 1
    ranks: int
    run_time_s: float
    io_share: float
    slowest_call: SlowestCallOut | None = None
    warnings: list[str]
    partial_modules: list[str]
    unreadable_modules: list[str] = []
    families: list[FamilyOut]
    consistency: Consistency | None
    findings: list[Finding]
    cannot_tell: list[Unknown]
    tried: list[Tried] = []
    history: History | None = None

    def _repr_html_(self) -> str:
        """For notebooks: a row for each finding, the costliest first."""
        rows = [
            (
                f.severity.value,
                f.rule,
                f.title,
                percent_text(100 * f.cost.share),
                seconds_text(f.cost.slowest_rank_s),
            )
            for f in self.findings
        ]
        title = f"Diagnosis: {plural(len(rows), 'finding')} on {plural(self.ranks, 'rank')}"
        return html_table(title, ("severity", "rule", "finding", "share of rank time", "slowest rank"), rows)
