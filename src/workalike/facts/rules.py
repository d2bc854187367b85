"""Rules that decide something, as words of closed lists. Code compares the words; people read the sentences."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self


class Rule(StrEnum):
    """A word of a closed list with a sentence, in which `{name}` stands for a detail of the decision."""

    sentence: str

    def __new__(cls, word: str, sentence: str) -> Self:
        member = str.__new__(cls, word)
        member._value_ = word
        member.sentence = sentence
        return member


class Word(str):
    """A word with a sentence that is not a member of a closed list: of a reading, each of which is a file of its own."""

    sentence: str

    def __new__(cls, word: str, sentence: str) -> Self:
        made = str.__new__(cls, word)
        made.sentence = sentence
        return made


class LevelRule(Rule):
    """Why the calls of a file are counted at a level."""

    ONLY_STDIO = "only-stdio", "level {level}: only STDIO moved data"
    LOWEST = "lowest", "level {level}: the lowest level that saw the file"
    EXPLAINS = "explains", "level {level}: {level} explains {below}"
    EXPLAINS_DATA = "explains-data", "level {level}: {level} explains {below} less {library}"
    HIGHEST_OF_PARTIAL = "highest-of-partial", "level {level}: every level is partial: the highest"
    AS_ASKED = "as-asked", "level {level}: as asked"
    REHEARSED = (
        "rehearsed",
        "level {level}: the library above it, performed here, is further from the log in the calls below it",
    )


class NoiseRule(Rule):
    """Why a file is set aside: the rules of program start, and the one of files too small to matter."""

    STREAM = "stream", "standard stream"
    LIBRARY = "library", "shared library or module"
    SYSTEM = "system", "system path"
    MPI = "mpi", "MPI's temporary file"
    NEGLIGIBLE = "negligible", "negligible"


@dataclass(frozen=True)
class Decision:
    """The rule that decided, with the words and numbers of its sentence."""

    rule: Rule | Word
    details: tuple[tuple[str, str | int | float], ...] = ()

    @property
    def sentence(self) -> str:
        """The sentence of the rule with the details of this decision."""
        return self.rule.sentence.format(**dict(self.details))


def by(rule: Rule | Word, **details: str | int | float) -> Decision:
    """The decision by a rule, with the details that its sentence names."""
    return Decision(rule, tuple(details.items()))
