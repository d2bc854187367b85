"""The order of trials: every block has each setting once, in a random order of its own."""

from __future__ import annotations

import random
from collections.abc import Sequence

from workalike.study.prepare import Prepared
from workalike.study.trial import A_A, Trial


def block_of(number: int, settings: Sequence[Prepared], a_a: str | None, seed: int) -> list[Trial]:
    """The trials of a block, in their order, which depends on the seed and the block only.

    Args:
        number: the block's, from 0.
        settings: the settings.
        a_a: the id of the setting that runs a second time; None for a study without that arm.
        seed: the study's.
    """
    arms = [(prepared, "") for prepared in settings]
    arms += [(prepared, A_A) for prepared in settings if prepared.setting.id == a_a]
    random.Random(f"{seed}:{number}").shuffle(arms)
    first = number * len(arms)
    return [
        Trial(first + position, number, position, prepared, arm)
        for position, (prepared, arm) in enumerate(arms)
    ]
