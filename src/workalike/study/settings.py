"""The settings of a study: which combinations of levels its design takes."""

from __future__ import annotations

import hashlib
import itertools
import math
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from workalike.extras import extra
from workalike.study.document import Design, Factor, Study
from workalike.study.expression import holds
from workalike.study.pairwise import covering
from workalike.study.study_file import StudyFile, bad

MOST_SETTINGS = 100_000
MOST_COMBINATIONS = 50_000
"""Combinations that a pairwise design chooses from; of more, it takes a random sample."""
LONGEST_ID = 160
WORKLOAD = "workload"
SETTERS = ("ranks", "nodes")
"""Fields whose values count what a trial runs on."""

Levels = dict[str, Any]
"""Factor -> its level as shown in results; None where the factor does not apply."""


@dataclass(frozen=True)
class Setting:
    """One combination of levels. `values` are the fields that it sets, with the study's fixed ones."""

    id: str
    levels: Levels
    values: dict[str, Any]


def settings_of(file: StudyFile) -> list[Setting]:
    """The settings of a study, in the order of its levels; each once.

    Raises:
        WorkalikeError: BAD_STUDY if a combination is an `error`, or none or too many are left.
    """
    study = file.study
    factors = factors_of(study)
    try:
        found = {_id(levels): levels for levels in _designed(study, factors)}
        for levels in found.values():
            _refuse_errors(file, levels)
            _refuse_set_twice(file, factors, levels)
    except ValueError as error:
        raise bad(file.path, str(error)) from error
    if file.only is not None:
        found = {name: levels for name, levels in found.items() if name in file.only}
    if not found:
        raise bad(file.path, "no setting is left: constraints skip every combination", "constraints")
    return [Setting(name, levels, _values(study, factors, levels)) for name, levels in found.items()]


def factors_of(study: Study) -> dict[str, Factor]:
    """The factors, the choice of the workload first."""
    chosen = {WORKLOAD: Factor(levels=list(study.workloads))} if study.workloads else {}
    return chosen | {name: factor for name, factor in study.factors.items() if name not in chosen}


def counting_factors(study: Study) -> dict[str, str]:
    """Factor -> `ranks` or `nodes`, for those that set one of them."""
    fields = {name: factor.set or name for name, factor in study.factors.items()}
    return {name: field for name, field in fields.items() if field in SETTERS}


def a_a_setting(file: StudyFile, settings: list[Setting]) -> Setting | None:
    """The setting that runs under a second name, too; None for a study without that arm.

    Raises:
        WorkalikeError: BAD_STUDY if the levels that the study names belong to no setting.
    """
    wanted = file.study.a_a
    if not isinstance(wanted, dict):
        return settings[0] if wanted else None
    for setting in settings:
        if all(setting.levels.get(name) == level for name, level in wanted.items()):
            return setting
    raise bad(file.path, "no setting has these levels", "a_a")


def _id(levels: Levels) -> str:
    """A name of the setting that is the same in every study with these levels."""
    text = " ".join(f"{name}={_word(level)}" for name, level in levels.items() if level is not None) or "only"
    if len(text) <= LONGEST_ID:
        return text
    return f"{text[: LONGEST_ID - 9]}~{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _word(level: Any) -> str:
    return str(level).lower() if isinstance(level, bool) else str(level)


def _values(study: Study, factors: dict[str, Factor], levels: Levels) -> dict[str, Any]:
    values = dict(study.fixed)
    for name, level in levels.items():
        if level is not None:
            factor = factors[name]
            values[factor.set or name] = factor.named_levels()[level]
    return values


def _refuse_errors(file: StudyFile, levels: Levels) -> None:
    for number, constraint in enumerate(file.study.constraints):
        if constraint.error is not None and _holds(constraint.error, levels, f"constraints[{number}].error"):
            reason = constraint.reason or f"`{constraint.error}` holds"
            raise bad(file.path, f"the setting {_id(levels)}: {reason}", f"constraints[{number}]")


def _refuse_set_twice(file: StudyFile, factors: dict[str, Factor], levels: Levels) -> None:
    """Refuse two factors that set one field: one of them would have no effect."""
    setters: dict[str, str] = {}
    for name in (name for name, level in levels.items() if level is not None):
        field = factors[name].set or name
        if field in setters:
            raise bad(
                file.path,
                f"the setting {_id(levels)}: {setters[field]} and {name} both set {field}",
                f"factors.{name}",
                "leave one out, or give it a `when` that is false where the other applies",
            )
        setters[field] = name


def _holds(condition: str, levels: Levels, place: str) -> bool:
    """Whether a condition holds.

    Raises:
        ValueError: it cannot be computed; the text begins with its place in the study.
    """
    try:
        return holds(condition, levels)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


def _applied(study: Study, factors: dict[str, Factor], chosen: Levels) -> Levels | None:
    """The levels of those factors that apply; None if a constraint skips the combination."""
    levels: Levels = {}
    for name, factor in factors.items():
        applies = factor.when is None or _holds(factor.when, levels, f"factors.{name}.when")
        levels[name] = chosen[name] if applies else None
    skipped = any(
        constraint.skip is not None and _holds(constraint.skip, levels, f"constraints[{number}].skip")
        for number, constraint in enumerate(study.constraints)
    )
    return None if skipped else levels


def _designed(study: Study, factors: dict[str, Factor]) -> Iterator[Levels]:
    makers: dict[Design, Callable[[Study, dict[str, Factor]], Iterable[Levels]]] = {
        Design.FULL: _full,
        Design.ONE_AT_A_TIME: _one_at_a_time,
        Design.PAIRWISE: _pairwise,
        Design.LATIN_HYPERCUBE: _sampled,
        Design.SOBOL: _sampled,
    }
    for chosen in makers[study.design](study, factors):
        levels = _applied(study, factors, chosen)
        if levels is not None:
            yield levels


def _full(study: Study, factors: dict[str, Factor]) -> Iterator[Levels]:
    lists = [list(factor.named_levels()) for factor in factors.values()]
    if math.prod(len(levels) for levels in lists) > MOST_SETTINGS:
        raise ValueError(f"more than {MOST_SETTINGS:,} combinations: choose another `design`")
    for levels in itertools.product(*lists):
        yield dict(zip(factors, levels, strict=True))


def _one_at_a_time(study: Study, factors: dict[str, Factor]) -> Iterator[Levels]:
    """The first levels of all factors, then each factor's other levels in turn."""
    base = {name: next(iter(factor.named_levels())) for name, factor in factors.items()}
    yield base
    for name, factor in factors.items():
        for level in list(factor.named_levels())[1:]:
            yield base | {name: level}


def _pairwise(study: Study, factors: dict[str, Factor]) -> list[Levels]:
    """Combinations in which every pair of levels occurs that an allowed combination has (greedy)."""
    candidates = _candidates(study, factors)
    chosen = covering([[_word(level) for level in levels.values()] for levels in candidates])
    return [candidates[place] for place in chosen] or candidates  # of fewer than two factors, all


def _candidates(study: Study, factors: dict[str, Factor]) -> list[Levels]:
    """All allowed combinations, or a random sample of many."""
    lists = {name: list(factor.named_levels()) for name, factor in factors.items()}
    every: Iterable[Levels]
    if math.prod(len(levels) for levels in lists.values()) <= MOST_COMBINATIONS:
        every = _full(study, factors)
    else:
        generator = random.Random(study.seed)
        every = (
            {name: generator.choice(levels) for name, levels in lists.items()}
            for _ in range(MOST_COMBINATIONS)
        )
    applied = (_applied(study, factors, chosen) for chosen in every)
    return [levels for levels in applied if levels is not None]


def _sampled(study: Study, factors: dict[str, Factor]) -> Iterator[Levels]:
    """Levels at the points of a Latin hypercube or of a scrambled Sobol sequence."""
    qmc = extra("scipy.stats", f"the design {study.design}", "study").qmc
    lists = [list(factor.named_levels()) for factor in factors.values()]
    if not lists:
        raise ValueError("the study has no factors to sample")
    count = study.samples or 1
    if study.design is Design.SOBOL:
        # Only a power of two of its points is balanced; the first `count` of them are taken.
        points = qmc.Sobol(d=len(lists), seed=study.seed).random_base2(max(0, count - 1).bit_length())[:count]
    else:
        points = qmc.LatinHypercube(d=len(lists), seed=study.seed).random(count)
    for point in points:
        levels = [
            known[min(int(u * len(known)), len(known) - 1)] for u, known in zip(point, lists, strict=True)
        ]
        yield dict(zip(factors, levels, strict=True))
