"""Each of the joined machines by itself: its best setting, what share of the possible that is, its tails and scaling."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workalike.study.journal import Finished
from workalike.study.machine_file import Ceiling, Machine, machine_names, read_machine
from workalike.study.objective import Objective
from workalike.study.report.beside import Beside, beside_of
from workalike.study.report.chances import chance_text
from workalike.study.report.numbers import Row
from workalike.study.report.scaling import Scaling, scalings_of
from workalike.study.report.scaling_text import scaling_text
from workalike.study.report.sentences import exceeding_text, share_of_ceiling_text
from workalike.study.report.setting_rows import rows_of
from workalike.study.report.systems import looks_of
from workalike.study.report.table import COUNTS, StudyTable, shown
from workalike.study.results_page import study_table
from workalike.study.settings import SETTERS
from workalike.study.share_of_ceiling import possible_of
from workalike.study.statistics.table import geometric_means
from workalike.text import plural, rate_text, seconds_text

SOURCE = "source"
MOST_NAMED = 4
HEADER = (
    *("system", "setting", "mean", "unit", "p_best", "settings", "share_of_possible"),
    *("slowest_dump_s", "p95_dump_s"),
)
CEILINGS_HEADER = ("system", "file", "what", "unit", "median", "low", "high")
WHAT = {
    "write": "sequential writes with a sync",
    "write_cached": "sequential writes into the page cache",
    "read": "sequential reads from the storage",
    "read_cached": "sequential reads from the page cache",
    "small_random_writes": "small random writes",
    "small_random_reads": "small random reads",
    "files_created_and_removed": "files created and removed",
    "sync_latency": "time of a sync",
}


@dataclass(frozen=True)
class BestOfSystem:
    """The setting that is most likely the best on one machine, by the objective; tails are of that setting."""

    source: str
    setting: str
    objective: Objective
    mean: float
    p_best: float
    settings: int
    share: float
    """Of what one process gets; NaN where that was not measured."""
    slowest_s: float
    p95_s: float
    is_decided: bool
    """It is better than every other setting on this machine."""

    def row(self) -> Row:
        numbers = (self.mean, self.objective.unit, self.p_best, self.settings, self.share)
        return (self.source, self.setting, *numbers, self.slowest_s, self.p95_s)


@dataclass(frozen=True)
class MeasuredCeiling:
    """What one process gets of one kind on one machine."""

    source: str
    file: str
    kind: str
    ceiling: Ceiling

    @property
    def what(self) -> str:
        return WHAT.get(self.kind, self.kind)

    @property
    def texts(self) -> tuple[str, str]:
        """The median, and the least and the most of the repeats."""
        values = (self.ceiling.median, min(self.ceiling.values), max(self.ceiling.values))
        middle, least, most = (_ceiling_text(value, self.ceiling.unit) for value in values)
        return middle, f"{least} to {most}"

    def row(self) -> Row:
        values = self.ceiling.values
        numbers = (self.ceiling.unit, self.ceiling.median, min(values), max(values))
        return (self.source, self.file, self.kind, *numbers)


def _ceiling_text(value: float, unit: str) -> str:
    if unit == "B/s":
        return rate_text(value)
    return seconds_text(value) if unit == "s" else f"{value:,.0f} {shown(unit)}"


@dataclass(frozen=True)
class EachSystem:
    """What the page says of single machines."""

    bests: list[BestOfSystem]
    ceilings: list[MeasuredCeiling]
    scalings: list[Scaling]
    """A group for each machine."""
    whole: StudyTable
    """All trials, with the machine as the first factor."""
    names: list[str]
    """Of the settings of `whole`: each on each machine."""


def each_system(
    folder: Path, manifest: Mapping[str, Any], finished: Sequence[Finished], objective: Objective
) -> EachSystem:
    """The results of joined studies, machine by machine.

    Raises:
        WorkalikeError: BAD_STUDY for a damaged machine file.
    """
    own = [trial for trial in finished if not trial.trial.get("arm")]
    sources = list(dict.fromkeys(str(trial.trial.get(SOURCE)) for trial in own))
    described = {str(s.get("name")): s for s in manifest.get("sources", []) if isinstance(s, dict)}
    factors = [str(name) for name in manifest.get("factors", []) if name != SOURCE]
    bests, ceilings = [], []
    for source in sources:
        trials = [trial for trial in own if str(trial.trial.get(SOURCE)) == source]
        about = described.get(source, {})
        machines = _machines(folder, about)
        ceilings += [
            MeasuredCeiling(source, name, kind, ceiling)
            for name, machine in machines.items()
            for kind, ceiling in machine.ceilings.items()
        ]
        bests += _best(source, trials, factors, objective, machines, about)
    whole = _whole(own, factors, objective, manifest)
    return EachSystem(bests, ceilings, scalings_of(whole), whole, list(dict.fromkeys(whole.setting)))


def _machines(folder: Path, about: Mapping[str, Any]) -> dict[str, Machine]:
    """The machine files of a source, by their names; none where it was joined by an earlier version."""
    return {name: read_machine(folder / name) for name in machine_names(about)}


def _best(
    source: str,
    trials: Sequence[Finished],
    factors: Sequence[str],
    objective: Objective,
    machines: Mapping[str, Machine],
    about: Mapping[str, Any],
) -> list[BestOfSystem]:
    """A row for a machine; none if no trial of it worked."""
    table = study_table(source, factors, trials, objectives=(objective,))
    if machines:
        study = about.get("study")
        drops = isinstance(study, dict) and study.get("caches") == "drop"
        table = replace(table, possible=possible_of(trials, list(machines.values()), drops_caches=drops))
    others = beside_of(table)
    rows = rows_of(table, table.trials(), others)
    first = rows[0]
    if not math.isfinite(first.mean):
        return []
    slowest, p95 = (
        _mean_by(table, others, kind, first.name) for kind in (Objective.SLOWEST_DUMP, Objective.P95_DUMP)
    )
    known = sum(math.isfinite(row.mean) for row in rows)
    return [
        BestOfSystem(
            *(source, first.name, objective, first.mean, first.p_best, known, first.share, slowest, p95),
            is_decided=first.is_best,
        )
    ]


def _mean_by(table: StudyTable, others: Sequence[Beside], kind: Objective, setting: str) -> float:
    """The mean of a setting by an objective; NaN where it was not measured."""
    if table.objective is kind:
        return geometric_means(table.trials()).get(setting, math.nan)
    return next((o.means.get(setting, math.nan) for o in others if o.objective is kind), math.nan)


def _whole(
    trials: Sequence[Finished], factors: Sequence[str], objective: Objective, manifest: Mapping[str, Any]
) -> StudyTable:
    rows = [
        Finished(
            trial.trial | {"setting": f"{trial.trial['setting']}, {trial.trial.get(SOURCE)}"}, trial.dumps
        )
        for trial in trials
    ]
    counts = _counts(manifest)
    table = study_table("", [SOURCE, *factors], rows, objectives=(objective,), counts=counts)
    return replace(table, group_by=SOURCE, looks=looks_of(manifest))


def _counts(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Factors that set ranks or nodes, as the joined studies say."""
    counts = dict(COUNTS)
    for source in manifest.get("sources", []):
        study = source.get("study") if isinstance(source, dict) else None
        factors = study.get("factors") if isinstance(study, dict) else None
        for name, factor in factors.items() if isinstance(factors, dict) else ():
            field = factor.get("set") if isinstance(factor, dict) else None
            if field in SETTERS:
                counts[str(name)] = field
    return counts


def bests_text(bests: Sequence[BestOfSystem]) -> str:
    """The best setting of each machine, in a sentence."""
    parts = [f"{shown(best.source)}: {_best_text(best)}" for best in bests[:MOST_NAMED]]
    return _joined(parts, len(bests))


def _best_text(best: BestOfSystem) -> str:
    name = f"{shown(best.setting)}, {best.objective.shown(best.mean)}"
    if best.settings == 1:
        return f"only {name}, was measured"
    chance = chance_text(best.p_best)
    sure = "" if best.is_decided else "not decided, perhaps "
    return f"{sure}{name} (probability {chance} among {plural(best.settings, 'setting')})"


def shares_text(bests: Sequence[BestOfSystem]) -> str:
    """What share of the possible each machine's best setting reaches; empty where that is not known."""
    known = [best for best in bests if math.isfinite(best.share)]
    parts = [
        f"{shown(best.source)}: {share_of_ceiling_text(best.share)} what one process gets there{exceeding_text(best.share)}"
        for best in known[:MOST_NAMED]
    ]
    return _joined(parts, len(known)) if parts else ""


def _joined(parts: Sequence[str], count: int) -> str:
    hidden = count - len(parts)
    return "; ".join(parts) + (f"; and {hidden} more in the table." if hidden else ".")


def systems_scale_text(each: EachSystem) -> str:
    """How far each machine scales; empty where neither ranks nor nodes vary."""
    return scaling_text(each.scalings)
