"""Studies of several machines side by side: the systems, means with standard errors, and ratios between machines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workalike.study.journal import Finished
from workalike.study.measured import objective_value
from workalike.study.objective import DEFAULT, Objective, recorded_objectives
from workalike.study.report.findings import Answer, standard_error
from workalike.study.report.numbers import Row
from workalike.study.report.table import shown
from workalike.study.statistics.any_look import ONE_LOOK, Looks
from workalike.study.statistics.power import none_found_text
from workalike.study.statistics.ratios import Ratio, unpaired_ratio
from workalike.study.statistics.sequential import Rule
from workalike.study.statistics.table import Floats, Trials
from workalike.text import plural, size_text

ERROR_SHARE = 0.05
"""Of the intervals of all comparisons together; each gets its part of it (Bonferroni)."""

MOST_LOOKS = Looks(tuple(range(1, Rule.looks + 1)))
"""Evenly spaced, as those of a study with `stop` are."""


@dataclass(frozen=True)
class System:
    """A machine as its study found it: a column of a table like the paper's Table I. Texts are for people."""

    source: str
    host: str
    cpu: str
    cores: str
    memory: str
    file_systems: str
    mpi: str
    hdf5: str
    kernel: str


@dataclass(frozen=True)
class MeanOfSystem:
    """Mean of a setting on one machine and its standard error, in the unit of the objective."""

    source: str
    setting: str
    mean: float
    error: float
    trials: int


@dataclass(frozen=True)
class Comparison:
    """A setting on one machine beside the same setting on the first machine that has it."""

    source: str
    reference: str
    setting: str
    ratio: Ratio
    objective: Objective

    @property
    def verdict(self) -> str:
        return self.ratio.verdict(self.objective.better)

    def row(self) -> Row:
        ratio = self.ratio
        return (self.setting, self.source, self.reference, ratio.ratio, ratio.low, ratio.high, ratio.p)


@dataclass(frozen=True)
class Systems:
    """All numbers of the page."""

    objective: Objective
    systems: list[System]
    means: list[MeanOfSystem]
    comparisons: list[Comparison]
    tails: list[Comparison]
    """The same pairs by the slowest dump and by the 95th percentile of dumps."""
    answers: list[Answer]


def systems_of(manifest: Mapping[str, Any], finished: Sequence[Finished]) -> Systems:
    """The numbers of joined studies.

    Args:
        manifest: of the joined results.
        finished: their trials, each with its `source`. A second arm of a setting has no part in them.
    """
    objective = objective_of(manifest)
    own = [trial for trial in finished if not trial.trial.get("arm")]
    known = _values(own, objective)
    means = [
        MeanOfSystem(source, setting, float(rates.mean()), standard_error(rates), len(rates))
        for setting, sources in known.items()
        for source, rates in sources.items()
        if len(rates)
    ]
    looks = looks_of(manifest)
    comparisons = _comparisons(known, objective, looks)
    described = _described(manifest, [trial.trial for trial in own])
    tails = [
        comparison
        for kind in (Objective.SLOWEST_DUMP, Objective.P95_DUMP)
        if kind is not objective
        for comparison in _comparisons(_values(own, kind), kind, looks)
        if comparison.ratio.is_known
    ]
    return Systems(
        objective, described, means, comparisons, tails, _answers(comparisons) + _tail_answers(tails)
    )


def _values(trials: Sequence[Finished], objective: Objective) -> dict[str, dict[str, Floats]]:
    """Setting -> source -> the values of its trials."""
    values: dict[str, dict[str, list[float]]] = {}
    for trial in trials:
        of_setting = values.setdefault(str(trial.trial["setting"]), {})
        value = objective_value(trial, objective)
        of_setting.setdefault(str(trial.trial.get("source")), []).append(value)
    return {
        setting: {source: _positive(rates) for source, rates in sources.items()}
        for setting, sources in values.items()
    }


def objective_of(manifest: Mapping[str, Any]) -> Objective:
    """What all joined studies compare by; the bandwidth where they do not agree."""
    found = {recorded_objectives(source.get("study"))[0] for source in _mappings(manifest.get("sources"))}
    return found.pop() if len(found) == 1 else DEFAULT[0]


def _positive(rates: Sequence[float]) -> Floats:
    array = np.array(rates, dtype=np.float64)
    return np.asarray(array[np.isfinite(array) & (array > 0)])


def looks_of(manifest: Mapping[str, Any]) -> Looks:
    """After which blocks joined studies may have ended by their results; as many looks as any may have had."""
    studies = [_mapping(source.get("study")) for source in _mappings(manifest.get("sources"))]
    return MOST_LOOKS if any(study.get("stop") is not None for study in studies) else ONE_LOOK


def _comparisons(
    known: Mapping[str, Mapping[str, Floats]], objective: Objective, looks: Looks
) -> list[Comparison]:
    pairs = [
        (setting, first, source)
        for setting, sources in known.items()
        for first, *others in [list(sources)]
        for source in others
    ]
    level = 1 - looks.error(ERROR_SHARE / max(1, len(pairs)))
    return [
        Comparison(source, first, setting, _welch(known[setting], source, first, level), objective)
        for setting, first, source in pairs
    ]


def _welch(rates: Mapping[str, Floats], source: str, reference: str, level: float) -> Ratio:
    """The unpaired ratio of two machines: their trials were at different times, so that no block has both."""
    both = np.concatenate([rates[source], rates[reference]])
    names = [source] * len(rates[source]) + [reference] * len(rates[reference])
    if not {source, reference} <= set(names):
        return Ratio(source, reference, math.nan, 0.0, math.inf, level, 0, math.nan, 1.0)
    return unpaired_ratio(Trials(np.arange(len(both)), names, both), source, reference, level=level)


def _tail_answers(tails: Sequence[Comparison]) -> list[Answer]:
    """What the slow dumps say of each two machines: one answer, of the slowest dump and of the 95th percentile."""
    answers = []
    for source, reference in dict.fromkeys((c.source, c.reference) for c in tails):
        own = [c for c in tails if (c.source, c.reference) == (source, reference)]
        kinds = {
            kind: [c for c in own if c.objective is kind] for kind in dict.fromkeys(c.objective for c in own)
        }
        texts = {kind: _pair_text(found) for kind, found in kinds.items()}
        first, *others = texts.items()
        text = first[1]
        for kind, said in others:
            if _verdicts(kinds[kind]) == _verdicts(kinds[first[0]]):
                text += f" The {kind.phrase} says the same."
            else:
                text += f" By the {kind.phrase}: {said[:1].lower()}{said[1:]}"
        answers.append(Answer(f"And the {first[0].phrase} of {shown(source)}?", text))
    return answers


def _verdicts(comparisons: Sequence[Comparison]) -> dict[str, str]:
    """Setting -> faster, slower or no difference."""
    return {c.setting: c.verdict for c in comparisons}


def _answers(comparisons: Sequence[Comparison]) -> list[Answer]:
    if not comparisons:
        return [
            Answer("Which system is faster?", "Nothing can be said: no setting was measured on two systems.")
        ]
    pairs = dict.fromkeys((c.source, c.reference) for c in comparisons)
    return [
        Answer(
            f"How fast is {shown(source)}?",
            _pair_text([c for c in comparisons if (c.source, c.reference) == (source, reference)]),
        )
        for source, reference in pairs
    ]


def _pair_text(comparisons: Sequence[Comparison]) -> str:
    """What the settings say of two machines."""
    reference = shown(comparisons[0].reference)
    known = [c for c in comparisons if c.ratio.is_known]
    if not known:
        return f"Nothing can be said beside {reference}: that takes two trials of a setting on each system."
    parts = []
    for verdict in ("faster", "slower"):
        found = [c for c in known if c.verdict == verdict]
        if found:
            most = max(found, key=lambda c: abs(math.log(c.ratio.ratio)))
            parts.append(
                f"{verdict} in {plural(len(found), 'setting')} of {len(known)}, most of all in {shown(most.setting)}: "
                f"{most.objective.times(most.ratio)}"
            )
    if not parts:
        widest = max((c.ratio for c in known), key=lambda ratio: ratio.high / ratio.low)
        return f"Beside {reference}: {none_found_text(widest, alpha=1 - widest.level)}"
    return f"Beside {reference}: {'; '.join(parts)}."


def _described(manifest: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[System]:
    """A system for each source, in the order of the folders. What a manifest does not say is a dash."""
    found = {str(row.get("source")): _mapping(row.get("found")) for row in reversed(rows) if row.get("found")}
    return [
        _system(
            str(source.get("name")), _mapping(source.get("system")), found.get(str(source.get("name")), {})
        )
        for source in _mappings(manifest.get("sources"))
    ]


def _system(name: str, system: Mapping[str, Any], found: Mapping[str, Any]) -> System:
    versions = _mapping(system.get("versions"))
    memory = system.get("memory_bytes")
    return System(
        source=name,
        host=_text(system.get("host")),
        cpu=_text(system.get("cpu")),
        cores=_text(system.get("cores")),
        memory=size_text(memory) if isinstance(memory, int) and memory else "-",
        file_systems="; ".join(_file_systems(_mapping(system.get("file_systems")))) or "-",
        mpi=_text(found.get("mpi") or versions.get("libmpi")),
        hdf5=_text(found.get("hdf5") or versions.get("libhdf5")),
        kernel=_text(system.get("kernel")),
    )


def _file_systems(described: Mapping[str, Any]) -> Iterator[str]:
    for file_system in map(_mapping, described.values()):
        size = file_system.get("bytes")
        kind = _text(file_system.get("type"))
        yield f"{size_text(size)} {kind}" if isinstance(size, int) and size else kind


def _text(value: object) -> str:
    return "-" if value in (None, "", 0) else shown(str(value))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [_mapping(item) for item in value] if isinstance(value, list) else []
