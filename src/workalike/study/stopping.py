"""When a study with `stop` ends, and which settings still run: by its finished blocks alone.

Nothing else decides, so that a resumed study goes on as an undisturbed one would. docs/statistics.md#stopping
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workalike.study.document import Study
from workalike.study.journal import Finished
from workalike.study.measured import trials_of
from workalike.study.objective import DEFAULT, Objective
from workalike.study.statistics.any_look import Looks
from workalike.study.statistics.sequential import Review, Reviews, Rule, review, review_differences


@dataclass(frozen=True)
class Stopping:
    """The rule of a study, and the setting that others are compared with."""

    rule: Rule
    reference: str
    objective: Objective = DEFAULT[0]
    """What ratios are of."""

    def review(
        self, finished: Sequence[Finished], blocks: int | None = None, *, ended: bool = False
    ) -> Review:
        """What the first `blocks` blocks say; all, if not given.

        Args:
            finished: trials of the study; those of the A/A arm have no part in it.
            blocks: whole blocks to look at, from the first.
            ended: the budget ended.
        """
        rows = [row for row in finished if not row.trial["arm"]]
        looked = [row for row in rows if blocks is None or row.trial["block"] < blocks]
        trials = trials_of(looked, self.objective)
        if self.reference not in trials.setting:
            return review_differences([], self.reference, self.rule, ended=ended)
        return review(trials, self.reference, self.rule, ended=ended)

    def reviews(self, finished: Sequence[Finished], same: str | None, *, ended: bool = False) -> Reviews:
        """Of a study that has ended; `same` is the name of the A/A arm, the only comparison of its own review."""
        if same is None:
            return Reviews(self.reference, self.review(finished, ended=ended))
        rows = [row for row in finished if row.trial["setting"] in (same, self.reference)]
        arm = review(trials_of(rows, self.objective), self.reference, self.rule, ended=ended)
        return Reviews(self.reference, self.review(finished, ended=ended), arm)

    def looks(self, finished: Sequence[Finished]) -> Looks:
        """After which blocks the study looks, and the last block of these trials, if that is not a look of its own."""
        last = max((int(row.trial["block"]) + 1 for row in finished), default=self.rule.most_blocks)
        return Looks(tuple(sorted({*self.rule.schedule(), min(last, self.rule.most_blocks)})))


def stopping_of(study: Study, reference: str) -> Stopping | None:
    """The stopping of a study; None if it always runs all its blocks."""
    if study.stop is None:
        return None
    rule = Rule(
        most_blocks=study.blocks.count,
        precision=study.stop.precision / 100,
        least_blocks=min(study.stop.least_blocks, study.blocks.count),
        early=study.stop.when == "decided",
    )
    return Stopping(rule, reference, study.objectives[0])
