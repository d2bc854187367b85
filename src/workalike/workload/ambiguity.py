"""Readings of a family that its log does not tell apart: what was taken, and what has the same counters.

As text of a workload, a word of the closed vocabulary for each difference: `interleaved-writes or contiguous-writes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema

from workalike.workload.words import Difference

AND, OR = " and ", " or "
_WORD = "(?:" + "|".join(reading.value for reading in Difference) + ")"
_PHRASE = f"{_WORD}(?:{AND}{_WORD})*"


def ambiguity(readings: Sequence[Sequence[Difference]]) -> str:
    """The text of an ambiguity, what was taken first."""
    return OR.join(AND.join(word.value for word in words) for words in readings)


def ambiguity_words(text: str) -> str:
    """An ambiguity for people: `interleaved writes (the counters fit contiguous writes as well)`."""
    taken, *others = (phrase.replace("-", " ") for phrase in text.split(OR))
    return f"{taken} (the counters fit {OR.join(others)} as well)"


def _checked(text: str) -> str:
    sides = [phrase.split(AND) for phrase in text.split(OR)]
    if len(sides) < 2 or not all(word in set(Difference) for side in sides for word in side):
        raise ValueError(
            "must be a word of the list of assumptions, or two or more readings: interleaved-writes or contiguous-writes"
        )
    return text


Ambiguity = Annotated[
    str,
    AfterValidator(_checked),
    WithJsonSchema({"type": "string", "pattern": f"^{_PHRASE}(?:{OR}{_PHRASE})+$"}),
]
"""Two or more readings of a family as text."""
