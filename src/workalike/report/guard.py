"""The report names nothing of the log: no file, host, user or program (design, rule 5).

Everything on the page is made of numbers and closed words; free text (rules, warnings, notes) passes
through here all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from workalike.characterize.result import Characterization
from workalike.plan.choices import BACKENDS

LEAST_LENGTH = 4  # shorter parts of names occur by chance in any text
WITHHELD = "(a line that names something of the log is withheld)"
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
"""`lib_ver` of the instruments that are known, with the version as its group."""


def names_of(log: Characterization | None) -> frozenset[str]:
    """Every word of 4 or more characters of the log's file names, command line, mounts and numbers."""
    if log is None:
        return frozenset()
    words: set[str] = set()
    for one in log.logs:
        texts = [
            one.job.exe,
            *(path for _, path in one.job.mounts),
            *one.names.values(),
            *PurePosixPath(one.path).parts,
        ]
        for text in texts:
            words.update(_PARTS.split(text.lower()))
        words.update({str(one.job.uid), str(one.job.job_id)})
    for family in log.families:
        for file in family.files():
            words.update(_PARTS.split(file.name.lower()))
    return frozenset(w for w in words if len(w) >= LEAST_LENGTH) - OUR_WORDS


def withhold(lines: Iterable[str], names: frozenset[str]) -> list[str]:
    """Lines as they are, or the word that one is withheld; equal lines once."""
    out: dict[str, None] = {}
    for line in lines:
        said = set(_PARTS.split(line.lower()))
        out[WITHHELD if said & names else line] = None
    return list(out)


def instrument_text(lib_ver: str) -> str:
    """The instrument that wrote a log and its version, from the log's `lib_ver`.

    The log may say anything there, a user's name as well: what is not of a known form is "unknown".
    """
    for instrument, form in _INSTRUMENTS.items():
        if found := form.fullmatch(lib_ver):
            return f"{instrument} {found.group(1)}"
    return UNKNOWN
