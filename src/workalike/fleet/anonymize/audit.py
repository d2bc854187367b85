"""Proves that nothing of the original logs is in the new ones, from the files alone and without the key.

* Every text of a new log has the form of a token, or is a word of the closed list. Numbers in names are places: for
  each token they are 0, 1, 2, … without a gap.
* Every byte of a new log belongs to something that was read: no bytes between or after regions, none after the last
  record of a region, none after the end of a text.
* No name of the original is among the tokens, or anywhere outside of them. No record id, and no first 8 bytes of a
  longer name, is anywhere in a region, aligned or not.
* User, job, start and end differ.

What an audit cannot prove is in `LIMIT`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from workalike.darshan import Log, layouts, open_log, record_id
from workalike.fleet.anonymize import public
from workalike.fleet.anonymize.key import LETTERS, TOKEN_LETTERS
from workalike.fleet.anonymize.logs import Anonymized
from workalike.fleet.anonymize.side import names_in, read_side, unknown_in
from workalike.workload.secrets import Kind, Secrets, secrets_of

LIMIT = (
    "counters, sizes and times within the run are the original's: who has the original log, or other records of the "
    "run, can recognise it by them"
)
MAX_HITS = 1000
_SHOWN = 20
_LEAST_ID = 1 << 40  # smaller numbers are counters by chance
_LONG = 8  # bytes of a name that cannot be in a region by chance

_TOKEN = rf"[{LETTERS}]{{{TOKEN_LETTERS}}}"
_FIELD = r"-(?:a0[0-9a-f]{14}|[0-9]+)"
_EXTENSION = "|".join(sorted(map(re.escape, public.EXTENSIONS)))
_MPI = "|".join(re.escape(form).replace(r"\{\}", _TOKEN) for _, form in public.MPI_FILES)
_COMPONENT = re.compile(
    rf"(?P<token>{_TOKEN})(?P<fields>(?:{_FIELD})*)(?:\.(?:{_EXTENSION}))?|[0-9]{{12}}|{_MPI}"
)
_FOLDERS = public.SYSTEM_FOLDERS | public.FOLDERS | {"", ".", "..", "lib"}
_TOKENS = re.compile(rf"{_TOKEN}|{_FIELD}|(?<![0-9])[0-9]{{12}}(?![0-9])")
_FORMAT_WARNINGS = ("left over", "belong to no region", "zero bytes between")


Needles = npt.NDArray[np.uint64]
"""Words to find in regions, ascending."""

Numbers = dict[tuple[str, int], set[str]]
"""The numbers in new names, by token and place after it."""


@dataclass(frozen=True)
class Hit:
    """Something in a new log that should not be there: the file, the place in it, and what it is."""

    file: Path
    place: str
    message: str

    def text(self) -> str:
        return f"{self.file.name}: {self.place}: {self.message}"


@dataclass(frozen=True)
class Audit:
    """What was searched and found.

    Attributes:
        logs: number of pairs of an old and a new log.
        searched: number of names and numbers of the originals, by kind.
        hits: what was found, at most 1,000.
        public_words: words of the closed list that the originals have too.
    """

    logs: int
    searched: dict[str, int]
    hits: list[Hit]
    public_words: list[str]

    @property
    def clean(self) -> bool:
        return not self.hits

    def as_dict(self) -> dict[str, Any]:
        """The audit for --json."""
        return {
            "clean": self.clean,
            "logs": self.logs,
            "searched": self.searched,
            "hits": [{"file": str(h.file), "place": h.place, "message": h.message} for h in self.hits],
            "public_words": self.public_words,
            "limit": LIMIT,
        }

    def lines(self) -> list[str]:
        """The audit for a person to read and sign."""
        kinds = ", ".join(f"{kind} {count}" for kind, count in self.searched.items())
        out = [
            f"audit: {sum(self.searched.values())} names and numbers of {self.logs} logs searched",
            f"  by kind: {kinds}",
        ]
        out += [f"  {hit.text()}" for hit in self.hits[:_SHOWN]]
        if len(self.hits) > _SHOWN:
            out.append(f"  and {len(self.hits) - _SHOWN} more (see --json)")
        if self.public_words:
            out.append(f"  kept, as words of the closed list: {', '.join(self.public_words)}")
        out.append(f"  {LIMIT}")
        end = (
            "no name, id or host of the original is in the result"
            if self.clean
            else f"{len(self.hits)} FOUND"
        )
        return [*out, f"audit: {end}"]


def audit(pairs: Sequence[Anonymized]) -> Audit:
    """Audit each new log against its original, and against the names of all originals.

    Raises:
        WorkalikeError: a log cannot be read.
    """
    originals = [open_log(pair.original) for pair in pairs]
    secrets = secrets_of(originals)
    for pair in pairs:
        for name in names_in(read_side(pair.original)):
            for part in re.split("[/:]", name):
                secrets.add(Kind.PATH_COMPONENT, part)
    kept = sorted(name for name in secrets.names if name in public.WORDS)
    for name in kept:
        del secrets.names[name]
    ids = _needles({number for log in originals for number in _ids(log)})
    needles = np.union1d(ids, _beginnings(secrets))
    hits: list[Hit] = []
    numbers: Numbers = defaultdict(set)
    for pair, original in zip(pairs, originals, strict=True):
        published = open_log(pair.published)
        hits += _Published(published, secrets, ids, needles, numbers).hits()
        hits += _job_hits(original, published)
    if not any(pair.shortened for pair in pairs):  # a number that was cut leaves a gap
        hits += _gaps(pairs, numbers)
    kinds = Counter(kind.value for kind in (*secrets.names.values(), *secrets.numbers.values()))
    return Audit(len(pairs), dict(sorted(kinds.items())), hits[:MAX_HITS], kept)


def _ids(log: Log) -> Iterator[int]:
    """Record ids of a log, except those of names that stay."""
    public_ids = {record_id(name) for name in public.NAMES}
    found = set(log.names)
    for module in layouts.FIXED:
        table = log.records(module)
        if table is not None:
            found.update(table.ids.tolist())
            found.update(table.file_ids.tolist() if table.file_ids is not None else ())
    yield from (number for number in found if number >= _LEAST_ID and number not in public_ids)


def _job_hits(old: Log, new: Log) -> Iterator[Hit]:
    for field in ("uid", "job_id", "start_time", "end_time"):
        value = getattr(old.job, field)
        if value == getattr(new.job, field) and not (field.endswith("time") and old.job.start_time <= 0):
            yield Hit(new.path, "job region", f"{field} is the original's")


def _gaps(pairs: Sequence[Anonymized], numbers: Numbers) -> Iterator[Hit]:
    """Numbers in names that are more than places: those of a token and width go from 0 up, without a gap."""
    for (token, place), texts in numbers.items():
        padded = any(len(text) > 1 and text[0] == "0" for text in texts)
        for width in {len(text) for text in texts} if padded else {0}:
            found = [text for text in texts if not padded or len(text) == width]
            if any(int(text[-18:]) >= len(found) for text in found):
                yield Hit(
                    pairs[0].published, f"names with {token}", f"number {place} is not a place: {max(found)}"
                )


class _Published:
    """One new log, and what is searched in it."""

    def __init__(self, log: Log, secrets: Secrets, ids: Needles, needles: Needles, numbers: Numbers) -> None:
        self.log = log
        self.secrets = secrets
        self.ids = ids
        self.needles = needles
        self.numbers = numbers

    def hits(self) -> list[Hit]:
        log = self.log
        side = read_side(log.path)
        paths = [*log.names.values(), *(path for _, path in log.job.mounts), *names_in(side)]
        paths += [word for word in log.job.exe.split(" ") if word != "<TRUNCATED>"]
        texts = [*self._other_texts(), log.path.name.removesuffix(".darshan")]
        found = [*self._read_everything()]
        for path in dict.fromkeys(paths):
            found += self._path(path)
        for text in dict.fromkeys(texts):
            if not re.fullmatch(_TOKEN, text):
                found.append(self._hit("text", f"{text!r} is not a token"))
            found += self._search(text)
        for place in unknown_in(side) if side is not None else ():
            found.append(self._hit("side file", f"{place} is not known"))
        return found + self._regions()

    def _hit(self, place: str, message: str, file: Path | None = None) -> Hit:
        return Hit(file or self.log.path, place, message)

    def _other_texts(self) -> Iterator[str]:
        """Texts that are not paths: hosts, pools, metadata, and unknown types of file systems."""
        log = self.log
        for module in ("DXT_POSIX", "DXT_MPIIO"):
            table = log.dxt(module)
            if table is not None:
                yield from (
                    host.decode("utf-8", "backslashreplace") for host in table.hostnames.tolist() if host
                )
        for record in log.lustre():
            yield from (part.pool for part in record.components if part.pool)
        for name, value in log.job.metadata.items():
            known = {
                "lib_ver": public.LIBRARY_VERSION,
                "h": public.LOG_HINTS,
                "fork_parent": re.compile("[0-9]{1,10}"),
            }
            if name not in known:
                yield name
            if name not in known or not known[name].fullmatch(value):
                yield value
        yield from (kind for kind, _ in log.job.mounts if kind not in public.FILE_SYSTEMS)

    def _path(self, path: str) -> Iterator[Hit]:
        """Whether each component is a token or public."""
        if path in public.NAMES:
            return
        for part in re.split("[/:]", path):
            match = _COMPONENT.fullmatch(part)
            if match is None and part not in _FOLDERS:
                yield self._hit("names", f"{part!r} is neither a token nor public")
            elif match is not None and match["token"]:
                for place, text in enumerate(match["fields"].split("-")[1:]):
                    if not text.startswith("a0"):
                        self.numbers[match["token"], place].add(text)
            yield from self._search(part)

    def _search(self, text: str) -> Iterator[Hit]:
        """Names of the originals among the tokens of a text, or outside of them."""
        text = text.lower()
        for token in _TOKENS.findall(text):
            if token in self.secrets.names:
                yield self._hit("text", f"{token!r} is a name of the original")
        rest = _TOKENS.sub(" ", text)
        if any(c.isalpha() for c in rest):
            for word in set(re.findall(r"[^\s.,:;=\"{}\[\]-]{2,}", rest)):
                if word in self.secrets.names:
                    yield self._hit("text", f"{word!r} is a name of the original")

    def _read_everything(self) -> Iterator[Hit]:
        """Read all regions; every byte must belong to something."""
        log = self.log
        for module in log.modules:
            if module in layouts.FIXED:
                log.records(module)
        log.heatmaps()
        known = log.names
        for warning in log.warnings:
            if any(words in warning for words in _FORMAT_WARNINGS):
                yield self._hit("format", warning)
        for module in log.skipped:
            yield self._hit("format", f"module {module} is not read")
        size = (12 if log.header.layout.counted_names else 9) * len(known)
        size += sum(len(name.encode()) for name in known.values())
        if known and len(log.inflated(log.header.names)) != size:
            yield self._hit("name region", "has more than the names")
        if not _job_is_whole(log):
            yield self._hit("job region", "has more than its fields")
        used = log.header.layout
        fields = (used.partial, used.names, used.maps, used.versions)
        if any(log.path.read_bytes()[17 : min(fields)]):
            yield self._hit("header", "has bytes between its fields")

    def _regions(self) -> list[Hit]:
        """Ids and beginnings of names anywhere in the inflated regions."""
        log = self.log
        found = []
        places = [(log.header.names, self.ids), (log.header.job, self.ids)]
        places += [(info.region, self.needles) for info in log.modules.values()]
        for region, needles in places:
            data = log.inflated(region) if region.length else b""
            for shift in range(min(8, len(data))):
                words = np.frombuffer(data, "<u8", (len(data) - shift) // 8, shift)
                for at in np.flatnonzero(np.isin(words, needles))[:_SHOWN].tolist():
                    found.append(
                        self._hit(region.name, f"an id or name of the original at byte {8 * at + shift}")
                    )
        return found


def _job_is_whole(log: Log) -> bool:
    """Whether the job region is its numbers, metadata, command line and mounts, and nothing else."""
    data, job = log.inflated(log.header.job), log.job
    metadata = "".join(f"{name}={value}\n" for name, value in job.metadata.items()).encode()
    command = "\n".join([job.exe, *(f"{kind}\t{path}" for kind, path in job.mounts)]).encode()
    texts = metadata.ljust(layouts.METADATA_BYTES, b"\0") + command + b"\0"
    return any(data[size:] == texts for size in (40, 56))


def _needles(ids: Iterable[int]) -> Needles:
    """Ids in both byte orders."""
    found = {form for number in ids for form in (number, int.from_bytes(number.to_bytes(8, "little"), "big"))}
    return np.array(sorted(found), dtype=np.uint64)


def _beginnings(secrets: Secrets) -> Needles:
    """The first 8 bytes of longer names."""
    found = set()
    for name in secrets.names:
        raw = name.encode("utf-8", "replace")
        if len(raw) >= _LONG and not set(name) <= set(LETTERS):
            found |= {int.from_bytes(form[:_LONG], "little") for form in (raw, raw.upper(), raw.capitalize())}
    return np.array(sorted(found), dtype=np.uint64)
