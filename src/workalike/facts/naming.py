"""What file names tell: patterns, numbers in them, and words that name a role. Names stay in here."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workalike.facts.records import FileFacts
from workalike.workload.words import Role

_DIGITS = re.compile(r"\d+")
_OBFUSCATED = re.compile(r"(?:^|/)\d{5,}$")
_HASH = re.compile(
    r"(?<![0-9a-zA-Z])(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{8,}(?:-[0-9a-f]{4,}){0,4}(?![0-9a-zA-Z])"
)
"""Hexadecimal identifiers, UUIDs among them: they differ in their letters too."""


MOST_DIGITS = 18


def is_obfuscated(name: str) -> bool:
    """A name that an anonymiser replaced by a number, or no name at all: it tells nothing."""
    return not name or _OBFUSCATED.search(name) is not None


def pattern_of(name: str) -> str:
    """The name with every run of digits, and every hexadecimal identifier, replaced."""
    return _DIGITS.sub("#", _HASH.sub("#", name))


def numbers_of(name: str) -> list[str]:
    """The runs of digits in a name, as they are written."""
    return _DIGITS.findall(_HASH.sub("", name))


def width_keys(names: Sequence[str]) -> list[tuple[int, ...]]:
    """A key for each name of one pattern: the widths of the numbers that are padded with zeros in any of them.

    `dump_020` and `dump_10000` count different things; `chk.9` and `chk.10` do not.
    """
    runs = [numbers_of(name) for name in names]
    padded = sorted(
        {i for some in runs for i, run in enumerate(some) if len(run) > 1 and run.startswith("0")}
    )
    return [tuple(len(some[i]) for i in padded if i < len(some)) for some in runs]


def numbering(names: Sequence[str]) -> list[list[int]]:
    """The numbers of each name of one pattern that are not the same in all of them: one list a name."""
    runs = [[int(run[:MOST_DIGITS]) for run in numbers_of(name)] for name in names]
    fields = min((len(some) for some in runs), default=0)
    varying = [i for i in range(fields) if len({some[i] for some in runs}) > 1]
    return [[some[i] for i in varying] for some in runs]


_WORDS: tuple[tuple[Role, re.Pattern[str]], ...] = (
    (
        Role.CHECKPOINT,
        re.compile(r"(?i)ch(?:ec)?k(?:p(?:oin)?t)?(?![a-z])|checkpoint|ckpt|restart|(?<![a-z])rst(?![a-z])"),
    ),
    (
        Role.VISUALIZATION,
        re.compile(
            r"(?i)(?<![a-z])vi[sz](?![a-z])|visual|plot|plt|lammpstrj|traj|xdmf"
            r"|vt[kup](?![a-z])|fields?(?![a-z])|hydro"
        ),
    ),
    (Role.SCRATCH, re.compile(r"(?i)scratch/|(?<![a-z])(?:tmp|temp|swap|aoints|gridpts)[^/]*$")),
    (Role.LOG, re.compile(r"(?i)\.log$|(?:^|/)log\.")),
    (Role.INPUT, re.compile(r"(?i)input|\.in$|\.inp$|(?<![a-z])mesh")),
)


def role_by_name(files: Sequence[FileFacts]) -> Role | None:
    """The role that the base name speaks of, if all files agree."""
    bases = [f.name.rsplit("/", 1)[-1] for f in files]
    for role, words in _WORDS:
        if bases and all(words.search(base) for base in bases):
            return role
    return None
