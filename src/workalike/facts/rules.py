"""Rules by which something was decided: words of closed lists. Code compares the words, people read the sentences."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self


class Rule(StrEnum):
    """A word of a closed list, with its sentence; `{name}` in it is a detail of the decision."""

    sentence: str

    def __new__(cls, word: str, sentence: str) -> Self:
        made = str.__new__(cls, word)
        made._value_ = word
        made.sentence = sentence
        return made


class LevelRule(Rule):
    """Why a file is counted at a level."""

    ONLY_STDIO = "only-stdio", "level {level}: only STDIO moved data"
    LOWEST = "lowest", "level {level}: the lowest level that saw the file"
    EXPLAINS = "explains", "level {level}: {level} explains {below}"
    EXPLAINS_DATA = "explains-data", "level {level}: {level} explains {below} less {library}"
    HIGHEST_OF_PARTIAL = "highest-of-partial", "level {level}: every level is partial: the highest"
    AS_ASKED = "as-asked", "level {level}: as asked"


class NoiseRule(StrEnum):
    """Why a file is not the application's data; the words are plain enough for people."""

    STREAM = "standard stream"
    LIBRARY = "shared library or module"
    SYSTEM = "system path"
    MPI = "MPI's temporary file"
    UNTOUCHED = "no data moved"
    TEXT_LOG = "text log"
    NEGLIGIBLE = "negligible"


@dataclass(frozen=True)
class Decision:
    """A rule that decided, with the words and numbers that its sentence names."""

    rule: Rule
    details: tuple[tuple[str, str | int | float], ...] = ()

    @property
    def sentence(self) -> str:
        """What people read."""
        return self.rule.sentence.format(**dict(self.details))


def by(rule: Rule, **details: str | int | float) -> Decision:
    """The decision by a rule."""
    return Decision(rule, tuple(details.items()))
