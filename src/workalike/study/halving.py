"""A study with `search`: rungs of short trials choose the settings that are then measured at full length.

Each rung is a study of its own in `search/rung-N`, with a journal of its own, so that an interrupted search goes on
where it was. docs/statistics.md#search
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from workalike.errors import WorkalikeError
from workalike.files import write_text
from workalike.study.document import Blocks, Rung, Search
from workalike.study.driver import WAITING, DriverOptions, Loaded, Outcome, load, run_study
from workalike.study.estimate import Estimate
from workalike.study.journal import SEARCH, Finished
from workalike.study.known_times import Known
from workalike.study.measured import trials_of
from workalike.study.objective import DEFAULT, Objective
from workalike.study.search import Progress, advance, start
from workalike.study.search import Rung as Step
from workalike.study.statistics.table import geometric_means
from workalike.study.study_file import StudyFile, bad
from workalike.text import plural

RESULTS = "search.json"
ENDED = ("done", "decided")
TINY = 1e-9
"""Cost of a rung that moves no bytes."""
AGREES = 0.3
"""A rank correlation whose interval lies above this says that short trials rank settings as longer ones do."""


@dataclass(frozen=True)
class Searched:
    """A study that searched: what came of its last stage, and of the search; None where it did not reach its end."""

    outcome: Outcome
    progress: Progress | None
    settings: int = 0
    """Of the whole design."""
    objective: Objective = DEFAULT[0]
    """What scores are of."""
    share: float = math.nan
    """Bytes of all trials, the last stage's among them, as a share of those of the whole design at full length."""

    @property
    def is_complete(self) -> bool:
        return self.progress is not None

    def text(self) -> str:
        """A sentence on the search, for a reader who does not know the method."""
        if self.progress is None:
            return "The search has not ended."
        chosen = len(self.progress.scores[-1])
        return (
            f"{plural(self.settings, 'setting')} were tried with short trials, and {chosen} measured at full length, for "
            f"{100 * self.share:.0f} % of the bytes that all would take. {_agreement_text(self.progress)}"
        )


def run_search(file: StudyFile, options: DriverOptions) -> Searched:
    """Run all rungs, then the study with the settings that are left.

    Raises:
        WorkalikeError: as `run_study`; BAD_STUDY where a rung leaves no setting.
    """
    whole, rungs, objective = load(file, options.tracked), rungs_of(file), file.study.objectives[0]
    full_bytes = _bytes_of(whole)
    names = [prepared.setting.id for prepared in whole.settings]
    progress = start(names, _steps(file, rungs, full_bytes))
    moved, spent = 0, 0.0
    for number, rung in enumerate(rungs):
        own = replace(rung.file, only=frozenset(progress.settings))
        step = progress.rungs[number]
        options.report(f"rung {number + 1}: {plural(len(progress.settings), 'setting')}, {step.name}")
        outcome = run_study(own, _rung_options(options, number, spent))
        spent += sum(row.trial["core_hours"] for row in outcome.finished)
        if options.budget is not None and spent >= options.budget:
            return Searched(replace(outcome, state="budget"), None)
        if outcome.state not in ENDED:
            return Searched(outcome, None)
        moved += _moved(outcome.finished)
        progress = advance(progress, scores_of(outcome.finished, objective), objective.better)
        if not progress.settings:
            raise bad(
                file.path, f"no trial that counts has a {objective.value}", f"search, rung {number + 1}"
            )
    outcome = run_study(_last_file(file, progress.settings), _with_budget(options, spent))
    if outcome.state == WAITING:
        return Searched(outcome, None)
    progress = advance(progress, scores_of(outcome.finished, objective), objective.better)
    blocks = len({row.trial["block"] for row in outcome.finished})
    whole_bytes = full_bytes * blocks
    share = (moved + _moved(outcome.finished)) / whole_bytes if whole_bytes else math.nan
    searched = Searched(outcome, progress, len(names), objective, share)
    write_text(options.out / RESULTS, json.dumps(_document(searched), indent=1) + "\n")
    return searched


def rungs_of(file: StudyFile) -> list[Loaded]:
    """Each rung with all settings of the design, from the first.

    Raises:
        WorkalikeError: BAD_STUDY naming the rung.
    """
    search = _search_of(file)
    most = len(load(file).settings)
    loaded = []
    for number, rung in enumerate(search.rungs, 1):
        if rung.keep >= most:
            raise bad(
                file.path,
                f"keeps {rung.keep} of {most} settings: let it keep fewer",
                f"search, rung {number}",
            )
        most = rung.keep
        try:
            loaded.append(load(_rung_file(file, rung, search.repeats)))
        except WorkalikeError as error:
            raise bad(
                file.path, error.message, f"search, rung {number}, {error.place or ''}", error.hint or ""
            ) from error
    return loaded


def estimates_of(file: StudyFile, known: Known | None = None) -> list[Estimate]:
    """An estimate for each rung, from the mean of its settings, since it is not known which of them are left."""
    counts = [
        len(load(file).settings),
        *(rung.keep for rung in _search_of(file).rungs),
    ]
    estimates = [rung.estimate(known) for rung in rungs_of(file)]
    estimates.append(load(_last_file(file, None)).estimate(known))
    return [_with_settings(estimate, count) for estimate, count in zip(estimates, counts, strict=True)]


def scores_of(finished: Sequence[Finished], objective: Objective = DEFAULT[0]) -> dict[str, float]:
    """Setting -> geometric mean of the values of its trials that count; settings without any are left out."""
    rows = [row for row in finished if not row.trial["arm"]]
    return geometric_means(trials_of(rows, objective))


def _search_of(file: StudyFile) -> Search:
    if file.study.search is None:
        raise bad(file.path, "has no `search`")
    return file.study.search


def _rung_file(file: StudyFile, rung: Rung, repeats: int) -> StudyFile:
    study = file.study.model_copy(
        update={
            "fixed": file.study.fixed | rung.fields(),
            "blocks": Blocks(count=repeats),
            "a_a": False,
            "stop": None,
            "search": None,
        }
    )
    return replace(file, study=study)


def _last_file(file: StudyFile, settings: Sequence[str] | None) -> StudyFile:
    """The study at full length; an A/A arm of a setting that may have been dropped is one of the first that is left."""
    a_a = file.study.a_a if isinstance(file.study.a_a, bool) else True
    study = file.study.model_copy(update={"a_a": a_a})
    return replace(file, study=study, only=None if settings is None else frozenset(settings))


def _steps(file: StudyFile, rungs: Sequence[Loaded], full_bytes: int) -> list[Step]:
    """The rungs for the bookkeeping, the study at full length the last; costs are shares of its bytes."""
    search = _search_of(file)
    steps = [
        Step(_name(rung), max(search.repeats * _bytes_of(loaded) / max(1, full_bytes), TINY), rung.keep)
        for rung, loaded in zip(search.rungs, rungs, strict=True)
    ]
    return [*steps, Step("full length", float(file.study.blocks.count), 1)]


def _name(rung: Rung) -> str:
    words = {"dumps": "at most {} dumps", "bytes_scale": "bytes scale {}", "time_scale": "time scale {}"}
    return ", ".join(words[name].format(value) for name, value in rung.fields().items())


def _bytes_of(loaded: Loaded) -> int:
    return sum(prepared.bytes for prepared in loaded.settings)


def _moved(finished: Sequence[Finished]) -> int:
    return sum(row.trial["plan_bytes"] for row in finished if not row.trial["arm"])


def _rung_options(options: DriverOptions, number: int, spent: float) -> DriverOptions:
    own = replace(options, out=options.out / SEARCH / f"rung-{number + 1}", blocks=None, ceiling=False)
    return _with_budget(own, spent)


def _with_budget(options: DriverOptions, spent: float) -> DriverOptions:
    return options if options.budget is None else replace(options, budget=max(0.0, options.budget - spent))


def _with_settings(estimated: Estimate, count: int) -> Estimate:
    """An estimate for `count` settings of its mean size."""
    share = count / len(estimated.settings)
    return replace(
        estimated,
        trials_per_block=count + (1 if estimated.a_a else 0),
        trials=estimated.blocks * (count + (1 if estimated.a_a else 0)),
        bytes=round(estimated.bytes * share),
        seconds=estimated.seconds * share,
        core_hours=estimated.core_hours * share,
    )


def _agreement_text(progress: Progress) -> str:
    """Whether short trials rank settings as longer ones do."""
    parts, proven = [], True
    for number, found in enumerate(progress.agreement, 1):
        longer = "full length" if number == len(progress.agreement) else f"rung {number + 1}"
        if math.isnan(found.tau):
            parts.append(f"rung {number} and {longer}: too few settings to tell")
            continue
        proven = proven and found.low > AGREES
        parts.append(f"rung {number} and {longer}: {found.tau:.2f} ({found.low:.2f} to {found.high:.2f})")
    known = any(not math.isnan(found.tau) for found in progress.agreement)
    verdict = (
        "Short trials rank settings as longer ones do."
        if known and proven
        else "That short trials rank settings as longer ones do is not proven: the best may have been dropped."
    )
    return f"Rank correlations: {'; '.join(parts)}. {verdict}"


def _document(searched: Searched) -> dict[str, Any]:
    progress = searched.progress
    assert progress is not None
    return {
        "settings": searched.settings,
        "share_of_bytes": _number(searched.share),
        "rungs": [
            {
                "name": rung.name,
                "cost": rung.cost,
                "keep": rung.keep,
                "scores": {k: _number(v) for k, v in scores.items()},
            }
            for rung, scores in zip(progress.rungs, progress.scores, strict=True)
        ],
        "rank_correlations": [{k: _number(v) for k, v in asdict(row).items()} for row in progress.agreement],
        "objective": searched.objective.value,
        "best": progress.settings[0] if progress.settings else None,
    }


def _number(value: float) -> float | None:
    """JSON has no NaN."""
    return value if math.isfinite(value) else None
