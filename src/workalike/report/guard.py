"""The report contains no name from the log: no file, host, user or program.

The page consists of numbers and words of closed lists. Its free text (rules, warnings, notes) is checked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from workalike.characterize.result import Characterization
from workalike.plan.choices import BACKENDS

LEAST_LENGTH = 4  # shorter parts of names occur by chance in any text
WITHHELD = "(a line with a name from the log is withheld)"
_VOCABULARY = """
    checkpoint visualization restart input scratch output other data file files dump dumps level posix stdio
    mpiio hdf5 module modules rule role state states size sizes rank ranks bytes growth
    name names word words read written write library shared standard stream negligible heatmap trace
"""
OUR_WORDS = frozenset(_VOCABULARY.split()) | set(BACKENDS)
_PARTS = re.compile(r"[^A-Za-z0-9]+")
UNKNOWN = "unknown"
_NUMBER = r"\d{1,2}\.\d{1,2}\.\d{1,2}"
_INSTRUMENTS = {
    "Darshan": re.compile(rf"({_NUMBER}(?:-(?:pre|rc)\d{{0,2}})?)"),
    "workalike capture": re.compile(rf"workalike-({_NUMBER})"),
}
"""The form of `lib_ver` for each known instrument, with the version as a group."""


def names_of(log: Characterization | None) -> frozenset[str]:
    """Words of 4 or more characters in the log's file names, command line, mounts, user and job number."""
    if log is None:
        return frozenset()
    words: set[str] = set()
    for log_file in log.logs:
        texts = [
            log_file.job.exe,
            *(path for _, path in log_file.job.mounts),
            *log_file.names.values(),
            *PurePosixPath(log_file.path).parts,
        ]
        for text in texts:
            words.update(_PARTS.split(text.lower()))
        words.update({str(log_file.job.uid), str(log_file.job.job_id)})
    for family in log.families:
        for file in family.files():
            words.update(_PARTS.split(file.name.lower()))
    return frozenset(w for w in words if len(w) >= LEAST_LENGTH) - OUR_WORDS


def withhold(lines: Iterable[str], names: frozenset[str]) -> list[str]:
    """The lines, each with a name replaced by a notice; equal lines are given once."""
    out: dict[str, None] = {}
    for line in lines:
        said = set(_PARTS.split(line.lower()))
        out[WITHHELD if said & names else line] = None
    return list(out)


def instrument_text(lib_ver: str) -> str:
    """The instrument that wrote a log and its version, from the log's `lib_ver`.

    The log may contain any text there, a user's name too: a text of no known form is "unknown".
    """
    for instrument, form in _INSTRUMENTS.items():
        if found := form.fullmatch(lib_ver):
            return f"{instrument} {found.group(1)}"
    return UNKNOWN
