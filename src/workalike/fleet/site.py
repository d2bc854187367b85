"""The site file: names, filters, pseudonyms and who may see what (docs/fleet.md#site-file)."""

from __future__ import annotations

import csv
import hashlib
import hmac
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, field_validator

from workalike.diagnose.site import Site as RuleLimits
from workalike.diagnose.site import read_site as read_rules
from workalike.errors import ErrorKind, WorkalikeError
from workalike.facts.mounts import UNKNOWN
from workalike.files import read_text
from workalike.fleet.anonymize import public
from workalike.workload.workload_file import load_yaml

LONGEST_EXPRESSION = 200
LONGEST_SUBJECT = 200
"""Characters of a user or program that expressions are matched with."""
MOST_REPETITIONS = 3
MOST_OPTIONAL = 6
MOST_KEY_BYTES = 4096
LEAST_KEY_BYTES = 16
OTHER_TYPE = "other"
"""Stands for types of file systems that are in no list, where names are hidden."""
TOO_EARLY = "before --since: began at "
"""Begins the reason for a log that was left out by its start, which follows: seconds since 1970."""


@lru_cache(maxsize=256)
def safe_expression(text: str) -> re.Pattern[str]:
    """A compiled expression that is matched in a short time, whatever the subject.

    Python's matcher tries alternatives one after the other, so a repeated group can take exponential time, and each
    further repetition multiplies the time by the length of the subject. Groups may not be repeated, references back are
    refused, and repetitions are few.

    Raises:
        ValueError: it is too long, refused, or no expression.
    """
    if len(text) > LONGEST_EXPRESSION:
        raise ValueError(f"an expression of more than {LONGEST_EXPRESSION} characters")
    if re.search(r"\\[1-9]|\(\?P?[=<(]", text.replace("(?P<", "(?:")):
        raise ValueError(f"expression {text!r} refers back to a group or looks back, which may take for ever")
    plain = re.sub(r"\\.|\[\^?\]?[^\]]*\]", "x", text).replace("(?", "(")
    if re.search(r"\)[*+{?]", plain):
        raise ValueError(f"expression {text!r} repeats a group, which may take for ever")
    if len(re.findall(r"[*+{]", plain)) > MOST_REPETITIONS or plain.count("?") > MOST_OPTIONAL:
        raise ValueError(f"expression {text!r} has too many repetitions, which may take for ever")
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"expression {text!r}: {error}") from error


Expression = Annotated[str, Field(max_length=LONGEST_EXPRESSION)]


class Filters(BaseModel):
    """Which logs are ingested; expressions are searched for (not matched whole) in the real user and the program."""

    model_config = ConfigDict(extra="forbid")

    users: Expression | None = None
    not_users: Expression | None = None
    applications: Expression | None = None
    not_applications: Expression | None = None

    @field_validator("*")
    @classmethod
    def _is_safe(cls, value: str | None) -> str | None:
        if value is not None:
            safe_expression(value)
        return value


class Application(BaseModel):
    """Programs that are one application."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=120)]
    programs: Expression

    @field_validator("programs")
    @classmethod
    def _is_safe(cls, value: str) -> str:
        safe_expression(value)
        return value


class Site(BaseModel):
    """A site file.

    `users` is a CSV file of `uid,name`. `key` is a file of at least 16 secret bytes: with it no name of a log is stored.
    Keyed pseudonyms stand for users, programs, mounts and logs, but for the programs of `applications` and for `mounts`.
    `staff` are users who may see all jobs in the portal, by their real names. `diagnose` is a TOML file of thresholds,
    as `workalike diagnose --show-site` prints it.
    """

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=60)] = "site"
    users: Path | None = None
    key: Path | None = None
    file_names: bool = True
    filters: Filters = Filters()
    applications: list[Application] = []
    mounts: list[str] = []
    staff: list[str] = []
    diagnose: Path | None = None

    _names: dict[int, str] = PrivateAttr(default_factory=dict)
    _key: bytes = PrivateAttr(default=b"")
    _since: float | None = PrivateAttr(default=None)
    _rules: RuleLimits | None = PrivateAttr(default=None)

    @property
    def keeps_names(self) -> bool:
        """Whether patterns of file names are stored."""
        return self.file_names and not self._key

    @property
    def rules(self) -> RuleLimits:
        """The numbers by which the rules of `diagnose` decide."""
        if self._rules is None:
            self._rules = RuleLimits()
        return self._rules

    @property
    def key_mark(self) -> str:
        """Says which key it is, and nothing of the key; empty without one."""
        return hmac.new(self._key, b"which key", hashlib.sha256).hexdigest()[:16] if self._key else ""

    def user_of(self, uid: int) -> str:
        """The user's real name, or `uid N`."""
        return self._names.get(uid, f"uid {uid}")

    @property
    def hides(self) -> bool:
        """Whether names are stored as pseudonyms."""
        return bool(self._key)

    def shown_user(self, user: str) -> str:
        """The user as stored: the name itself, or its pseudonym."""
        if not self._key:
            return user
        return "user-" + hmac.new(self._key, user.encode(), hashlib.sha256).hexdigest()[:12]

    def shown_application(self, application: str) -> str:
        """The application as stored: with a key a pseudonym, but for the names of `applications`."""
        if not self._key or application in {each.name for each in self.applications}:
            return application
        return f"program-{self._pseudonym('program', application)[:12]}"

    def shown_mount(self, mount: str) -> str:
        """The mount as stored: with a key a pseudonym, but for the root and those of `mounts`."""
        if not self._key or mount in ("", "/", UNKNOWN, *self.mounts):
            return mount
        return f"mount-{self._pseudonym('mount', mount)[:12]}"

    def shown_type(self, fs_type: str) -> str:
        """The type of a file system as stored: with a key `other`, but for known types."""
        storage = self.rules.storage
        known = not self._key or fs_type == UNKNOWN or fs_type in public.FILE_SYSTEMS
        listed = fs_type in (*storage.local, *storage.memory, *storage.shared)
        return fs_type if known or listed else OTHER_TYPE

    def shown_library(self, version: str) -> str:
        """The version of Darshan as stored: with a key nothing where it has not the form of one."""
        return version if not self._key or public.LIBRARY_VERSION.fullmatch(version) else ""

    def shown_path(self, path: str) -> str:
        """Where a log lies, as stored: the path, whose bytes that are no UTF-8 are escaped; with a key a pseudonym."""
        if not self._key:
            return os.fsencode(path).decode("utf-8", "backslashreplace")
        return f"log-{self._pseudonym('log', path)[:24]}"

    def shown_id(self, record_id: int) -> int:
        """The id of a file as stored, a signed 64-bit number. Darshan's is a hash of the path, which can be guessed."""
        if not self._key:
            return record_id
        digest = hmac.digest(self._key, b"record\0%d" % record_id, "sha256")
        return int.from_bytes(digest[:8], "big", signed=True)

    def _pseudonym(self, kind: str, name: str) -> str:
        """64 hexadecimal digits."""
        data = f"{kind}\0{name}".encode(errors="surrogateescape")
        return hmac.digest(self._key, data, "sha256").hex()

    def application_of(self, program: str) -> str:
        """The application that a program belongs to; by default the program itself."""
        for application in self.applications:
            if safe_expression(application.programs).search(program[:LONGEST_SUBJECT]):
                return application.name
        return program

    def refuses(self, user: str, application: str, start: float) -> str:
        """Why a log is not ingested; empty where it is."""
        if self._since is not None and start < self._since:
            return f"{TOO_EARLY}{start!r}"
        subjects = {"users": user, "applications": application}
        for name, subject in subjects.items():
            wanted, unwanted = getattr(self.filters, name), getattr(self.filters, f"not_{name}")
            if wanted and not safe_expression(wanted).search(subject[:LONGEST_SUBJECT]):
                return f"not in the filter for {name}"
            if unwanted and safe_expression(unwanted).search(subject[:LONGEST_SUBJECT]):
                return f"left out by the filter for {name}"
        return ""

    def since(self, start: float | None) -> Site:
        """The same site, whose logs begin at `start` (seconds since 1970) or later."""
        self._since = start
        return self


def read_site(path: Path | None) -> Site:
    """A site file with the files that it names; without a path, the defaults.

    Raises:
        WorkalikeError: BAD_FILE, naming file, place and fix; MISSING.
    """
    if path is None:
        return Site()
    try:
        _, document = load_yaml(read_text(path, ErrorKind.BAD_FILE, 1 << 20), path)
        site = Site.model_validate(document or {})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise _bad(path, first["msg"].removeprefix("Value error, "), place) from error
    except WorkalikeError as error:
        if error.kind is ErrorKind.BAD_WORKLOAD:
            raise _bad(path, error.message, error.place) from error
        raise
    except RecursionError as error:
        raise _bad(path, "nested too deeply", None) from error
    if site.users is not None:
        site._names = _read_users(path.parent / site.users)
    if site.diagnose is not None:
        site._rules = read_rules(path.parent / site.diagnose)
    if site.key is not None:
        site._key = _read_key(path.parent / site.key)
    return site


def _bad(path: Path, message: str, place: str | None) -> WorkalikeError:
    return WorkalikeError(
        ErrorKind.BAD_FILE, message, file=path, place=place, hint="see docs/fleet.md, site file"
    )


def _read_users(path: Path) -> dict[int, str]:
    found: dict[int, str] = {}
    for number, row in enumerate(csv.reader(read_text(path, ErrorKind.BAD_FILE).splitlines()), 1):
        if not row or (number == 1 and row[0].strip() == "uid"):
            continue
        if len(row) < 2 or not row[0].strip().isdecimal() or len(row[0]) > 20:
            raise _bad(path, "is not uid,name", f"line {number}")
        found[int(row[0])] = row[1].strip()[:120]
    return found


def _read_key(path: Path) -> bytes:
    key = read_text(path, ErrorKind.BAD_FILE, MOST_KEY_BYTES).strip().encode()
    if len(key) < LEAST_KEY_BYTES:
        raise _bad(path, f"is a key of fewer than {LEAST_KEY_BYTES} characters", None)
    return key
