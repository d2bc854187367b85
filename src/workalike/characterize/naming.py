"""What file names tell: patterns, numbers in them, and words that name a role. Names stay in here."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from workalike.characterize.facts import FileFacts
from workalike.workload.model import Role

_DIGITS = re.compile(r"\d+")
_OBFUSCATED = re.compile(r"(?:^|/)\d{5,}$")


def is_obfuscated(name: str) -> bool:
    """A name that an anonymiser replaced by a number, or no name at all: it tells nothing."""
    return not name or _OBFUSCATED.search(name) is not None


def pattern_of(name: str) -> str:
    """The name with every run of digits replaced."""
    return _DIGITS.sub("#", name)


def widths_of(name: str) -> tuple[int, ...]:
    return tuple(len(run) for run in _DIGITS.findall(name))


def split_by_width(files: Sequence[FileFacts]) -> list[list[FileFacts]]:
    """Files of one pattern, apart where numbers are zero-padded to different widths.

    `dump_020` and `dump_10000` count different things; `chk.9` and `chk.10` do not.
    """
    padded = any(run.startswith("0") and len(run) > 1 for f in files for run in _DIGITS.findall(f.name))
    if not padded:
        return [list(files)]
    groups: dict[tuple[int, ...], list[FileFacts]] = defaultdict(list)
    for file in files:
        groups[widths_of(file.name)].append(file)
    return list(groups.values())


_WORDS: tuple[tuple[Role, re.Pattern[str]], ...] = (
    (
        Role.CHECKPOINT,
        re.compile(r"(?i)ch(?:ec)?k(?:p(?:oin)?t)?(?![a-z])|checkpoint|ckpt|restart|(?<![a-z])rst(?![a-z])"),
    ),
    (
        Role.VISUALIZATION,
        re.compile(
            r"(?i)(?<![a-z])vi[sz](?![a-z])|visual|plot|plt|lammpstrj|traj|xdmf|vt[kup](?![a-z])|fields?(?![a-z])|hydro"
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
