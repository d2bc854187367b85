"""What must not be in a workload: a log's names, ids and absolute times, by kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import PurePosixPath

from workalike.darshan import Log


class Kind(StrEnum):
    """The origin of a name. A name of several kinds counts as the first of them."""

    EXECUTABLE = "executable"
    HOST = "host"
    USER = "user"
    COMMAND_WORD = "command word"
    PATH_COMPONENT = "path component"
    MOUNT_PATH = "mount path"
    METADATA = "metadata"
    PART = "part of a name"
    ID = "id"
    TIME = "time"
    RECORD_ID = "record id"


SHORT_TOO = (Kind.EXECUTABLE, Kind.HOST, Kind.USER)
"""Kinds whose names of two and three characters are searched as well, as whole words."""

LEAST_NAME = 4  # characters
LEAST_SHORT = 2
LEAST_DIGITS = 5
MOST_DIGITS = 19  # of a quantity, which fits into 64 bits

_HOMES = re.compile(r"/(?:home\d*|homes|users?|u|people)/([^/\s]+)(?:/([^/\s]+))?", re.IGNORECASE)
_INTERPRETERS = re.compile(r"python[0-9.]*|perl|bash|sh|julia|java|rscript|octave(?:-cli)?|env")
_TRUNCATED = "<TRUNCATED>"
_PARTS = re.compile(r"[^\W_]+")
_PUNCTUATION = " \t\"'`-_=,;:()[]{}<>"


@dataclass
class Secrets:
    """What to search: `names` as text in lower case, `numbers` as digits; and what is not: too short, or a quantity."""

    names: dict[str, Kind] = field(default_factory=dict)
    numbers: dict[str, Kind] = field(default_factory=dict)
    too_short: dict[str, Kind] = field(default_factory=dict)
    quantities: dict[str, Kind] = field(default_factory=dict)

    def add(self, kind: Kind, text: str) -> None:
        """Add a name; one without letters is searched by its numbers."""
        text = text.strip(_PUNCTUATION).lower()
        if not text:
            return
        if not any(c.isalpha() for c in text):
            runs = [run for run in re.findall(r"\d+", text) if len(run) >= LEAST_DIGITS]
            for run in runs:
                self.add_number(kind, run, of_command=kind is Kind.COMMAND_WORD)
            if not runs:
                self.too_short.setdefault(text, kind)
        elif len(text) >= (LEAST_SHORT if kind in SHORT_TOO else LEAST_NAME):
            self.names.setdefault(text, kind)
        else:
            self.too_short.setdefault(text, kind)

    def add_number(self, kind: Kind, digits: str, *, of_command: bool) -> None:
        """Take a number; a round one of the command line is a quantity, such as a count, and names nobody."""
        (self.quantities if of_command and is_round(digits) else self.numbers).setdefault(digits, kind)


def is_round(digits: str) -> bool:
    """Whether a number has one or two digits and then zeros, or is a power of two."""
    value = int(digits) if len(digits) <= MOST_DIGITS else 0
    return value > 0 and digits[0] != "0" and (not digits[2:].strip("0") or not value & (value - 1))


def secrets_of(logs: Iterable[Log]) -> Secrets:
    """Everything that the audit searches, for all logs together."""
    secrets = Secrets()
    for log in logs:
        _add_executable(secrets, log)
        _add_hosts(secrets, log)
        names = [name for name in log.names.values() if "/" in name]
        mounts = [path for _, path in log.job.mounts]
        for path in (log.job.exe, *names, *mounts):
            for user in _users(path):
                secrets.add(Kind.USER, user)
        for word in log.job.exe.split()[1:]:
            for part in re.split(r"[/=,:;]", word):
                _add_whole_and_parts(secrets, Kind.COMMAND_WORD, part)
        for component in _components([*names, log.job.exe.split(" ", 1)[0]]):
            _add_whole_and_parts(secrets, Kind.PATH_COMPONENT, component)
        for path in mounts:
            for component in path.split("/"):
                _add_whole_and_parts(secrets, Kind.MOUNT_PATH, component)
        _add_metadata(secrets, log)
        _add_ids(secrets, log)
    secrets.too_short = {
        text: kind
        for text, kind in secrets.too_short.items()
        if text not in secrets.names and text not in secrets.numbers
    }
    secrets.quantities = {
        digits: kind for digits, kind in secrets.quantities.items() if digits not in secrets.numbers
    }
    return secrets


def _add_executable(secrets: Secrets, log: Log) -> None:
    """Add the program's file name, with and without its suffix, and also that of an interpreter's script."""
    words = log.job.exe.replace(_TRUNCATED, "").split()
    programs = words[:1]
    if words and _INTERPRETERS.fullmatch(PurePosixPath(words[0]).name.lower()):
        programs += [word for word in words[1:] if not word.startswith("-")][:1]
    for word in programs:
        path = PurePosixPath(word)
        secrets.add(Kind.EXECUTABLE, path.stem)
        _add_whole_and_parts(secrets, Kind.EXECUTABLE, path.name)


def _add_hosts(secrets: Secrets, log: Log) -> None:
    """Add host names, which only traces have: the full name, its labels, and the first one without its number."""
    hosts: set[bytes] = set()
    for module in ("DXT_POSIX", "DXT_MPIIO"):
        table = log.dxt(module) if module in log.modules and module not in log.skipped else None
        if table is not None:
            hosts.update(table.hostnames.tolist())
    for raw in hosts:
        host = raw.decode("utf-8", "backslashreplace")
        label = host.split(".", 1)[0]
        for form in (host, label, *host.split(".")[1:-1]):
            secrets.add(Kind.HOST, form)
        stem = label.rstrip("0123456789-_")
        if len(stem) >= LEAST_NAME:
            secrets.add(Kind.HOST, stem)


def _users(path: str) -> Iterator[str]:
    """The users in a path: `jane` of /home/jane, and of /home/j/jane."""
    for match in _HOMES.finditer(path):
        yield match.group(1)
        if len(match.group(1)) == 1 and match.group(2):
            yield match.group(2)


def _components(paths: Iterable[str]) -> Iterator[str]:
    """Each path component once; a dataset name after a colon is a component, too.

    See docs/reference/darshan-format.md#name-region.
    """
    seen: set[str] = set()
    for path in paths:
        for component in path.replace(":", "/").split("/"):
            if component not in seen:
                seen.add(component)
                yield component


def _add_whole_and_parts(secrets: Secrets, kind: Kind, name: str) -> None:
    """Add a name, and the words and numbers within it (`merger` of `merger-tree.h5`)."""
    secrets.add(kind, name)
    parts = _PARTS.findall(name)
    for part in parts if len(parts) > 1 else []:
        if any(c.isalpha() for c in part):
            if len(part) >= LEAST_NAME:
                secrets.add(Kind.PART, part)
        elif len(part) >= LEAST_DIGITS:
            secrets.add_number(Kind.PART, part, of_command=kind is Kind.COMMAND_WORD)


def _add_metadata(secrets: Secrets, log: Log) -> None:
    """Add the values of the log's metadata, except `lib_ver` (Darshan's version) and `h` (hints for its writing)."""
    for key, value in log.job.metadata.items():
        if key not in ("lib_ver", "h"):
            for word in re.split(r"[\s/=,:;]+", value):
                _add_whole_and_parts(secrets, Kind.METADATA, word)


def _add_ids(secrets: Secrets, log: Log) -> None:
    for number in (log.job.job_id, log.job.uid):
        secrets.add(Kind.ID, str(abs(number)))
    for moment in (log.job.start_time, log.job.end_time):
        if moment <= 0:
            continue
        secrets.add(Kind.TIME, str(int(moment)))
        day = datetime.fromtimestamp(min(moment, 4e9), UTC)
        secrets.numbers.setdefault(f"{day:%Y%m%d}", Kind.TIME)
        secrets.names.setdefault(f"{day:%Y-%m-%d}", Kind.TIME)
    for record in log.names:
        secrets.numbers.setdefault(str(record), Kind.RECORD_ID)
        if record >= 2**63:
            secrets.numbers.setdefault(str(2**64 - record), Kind.RECORD_ID)  # as a signed number
        secrets.names.setdefault(f"{record:016x}", Kind.RECORD_ID)
        if record < 2**60:
            secrets.names.setdefault(f"{record:x}", Kind.RECORD_ID)
