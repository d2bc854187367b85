"""What file names show: patterns, numbers, and words that name a role. The names themselves are not passed on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from workalike.facts.records import FileFacts
from workalike.workload.words import Role

_DIGITS = re.compile(r"(?<![^/])\d+(?:\.\d+)?(?:e[-+]?\d{1,2})?(?=/)|\d+")
"""Runs of digits; a folder that is named by a whole number, such as OpenFOAM's times (0.02, 1e-05), is one."""

_OBFUSCATED = re.compile(r"(?:^|/)\d{5,}$")
_HASH = re.compile(
    r"(?<![0-9a-zA-Z])(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{8,}(?:-[0-9a-f]{4,}){0,4}(?![0-9a-zA-Z])"
)
"""Hexadecimal identifiers such as UUIDs: unlike numbers, they differ in letters too."""


MOST_DIGITS = 18
"""Digits of a number that are read: more of them do not fit into 64 bits."""


def is_obfuscated(name: str) -> bool:
    """Whether the name is empty or a number that an anonymiser put there: it says nothing of the file."""
    return not name or (name[-1].isdecimal() and _OBFUSCATED.search(name) is not None)


@lru_cache(maxsize=1 << 12)
def pattern_of(name: str) -> str:
    """The name with `#` for every run of digits and every hexadecimal identifier."""
    return _DIGITS.sub("#", _HASH.sub("#", name))


def numbers_of(name: str) -> list[str]:
    """The runs of digits in a name, and numbers that name folders, as they are written; identifiers are left out."""
    return _DIGITS.findall(_HASH.sub("", name))


def width_keys(names: Sequence[str]) -> list[tuple[int, ...]]:
    """A key for each name of one pattern: the widths of those numbers that any of the names pads with zeros.

    `dump_020` and `dump_10000` are of different series; `chk.9` and `chk.10` are of the same, and so are the times
    `0.02` and `0.1`.
    """
    numbers = [numbers_of(name) for name in names]
    padded = sorted(
        {
            i
            for row in numbers
            for i, run in enumerate(row)
            if len(run) > 1 and run[0] == "0" and run.isdigit()
        }
    )
    return [tuple(len(row[i]) for i in padded if i < len(row)) for row in numbers]


def numbering(names: Sequence[str]) -> list[list[Fraction]]:
    """One list per name of a pattern: its numbers, without those that are the same in all names."""
    numbers = [[Fraction(run[:MOST_DIGITS].rstrip(".e+-")) for run in numbers_of(name)] for name in names]
    fields = min((len(row) for row in numbers), default=0)
    varying = [i for i in range(fields) if len({row[i] for row in numbers}) > 1]
    return [[row[i] for i in varying] for row in numbers]


_WORDS: tuple[tuple[Role, re.Pattern[str]], ...] = (
    (
        Role.CHECKPOINT,
        re.compile(r"(?i)ch(?:ec)?k(?:p(?:oin)?t)?(?![a-z])|checkpoint|ckpt|restart|(?<![a-z])rst(?![a-z])"),
    ),
    (
        Role.VISUALIZATION,
        re.compile(
            r"(?i)(?<![a-z])vi[sz](?![a-z])|visual|plot|plt|lammpstrj|traj|xdmf|\.xyz$"
            r"|vt[kup](?![a-z])|fields?(?![a-z])|hydro"
        ),
    ),
    (Role.SCRATCH, re.compile(r"(?i)scratch/|(?<![a-z])(?:tmp|temp|swap|aoints|gridpts)[^/]*$")),
    (Role.LOG, re.compile(r"(?i)\.log$|(?:^|/)log\.")),
    (Role.INPUT, re.compile(r"(?i)input|\.in$|\.inp$|(?<![a-z])mesh")),
)


_ANY_WORD = re.compile("(?i)" + "|".join(f"(?:{words.pattern.removeprefix('(?i)')})" for _, words in _WORDS))


def role_by_name(files: Sequence[FileFacts]) -> Role | None:
    """The role that words of the base names stand for, if all files agree on one."""
    return role_of_names([file.name for file in files])


def role_of_names(names: Sequence[str]) -> Role | None:
    """As `role_by_name`, of names."""
    bases = {name.rsplit("/", 1)[-1] for name in names}
    if not all(
        _ANY_WORD.search(base) for base in bases
    ):  # most names: one search instead of one for each role
        return None
    for role, words in _WORDS:
        if bases and all(words.search(base) for base in bases):
            return role
    return None
