"""Logs with tokens instead of names: reads them all, decides every token, and writes the new logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workalike.darshan import Log, open_logs, record_id
from workalike.darshan.rewrite import TEXT_BYTES, Substitutes, rewritten
from workalike.file_kind import side_file_of
from workalike.files import make_folder, write_bytes, write_text
from workalike.fleet.anonymize import public
from workalike.fleet.anonymize.key import Key
from workalike.fleet.anonymize.paths import Paths
from workalike.fleet.anonymize.side import anonymous_side, names_in, read_side
from workalike.text import plural

_STANDARD_STREAMS = {record_id(name): name for name in ("<STDIN>", "<STDOUT>", "<STDERR>")}
_METADATA_FORMS = {"lib_ver": public.LIBRARY_VERSION, "h": public.LOG_HINTS}
_CONTROL = "\0\t\n\r"


@dataclass(frozen=True)
class Anonymized:
    """One log and its new form.

    Attributes:
        original: the log.
        published: the new log.
        side: the new side file, if the log has one.
        dropped: modules that are not in the new log, since their records cannot be read.
        shortened: what was cut because the job region has no room for it.
    """

    original: Path
    published: Path
    side: Path | None
    dropped: tuple[str, ...]
    shortened: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The result for --json."""
        return {
            "original": str(self.original),
            "published": str(self.published),
            "side": str(self.side) if self.side else None,
            "dropped": list(self.dropped),
            "shortened": list(self.shortened),
        }


def anonymize(paths: Sequence[Path], folder: Path, key: Key) -> list[Anonymized]:
    """Write the new form of each log into a folder, with its side file if it has one.

    All logs are read before the first is written: the places of numbers follow from all names together, so logs of one
    job should be given together.

    Args:
        paths: logs, or folders of them.
        folder: made if it does not exist.
        key: what all tokens follow from.

    Raises:
        WorkalikeError: a log or side file is damaged or missing; CANNOT_WRITE. No log is written before all are read.
    """
    logs = open_logs(paths)
    sides = [read_side(log.path) for log in logs]
    tokens = _paths(key, logs, sides)
    images = [_image(log, key, tokens) for log in logs]
    make_folder(folder)
    out = []
    for log, side, (image, shortened) in zip(logs, sides, images, strict=True):
        place = folder / f"{key.word('log', image)}.darshan"
        write_bytes(place, image)
        if side is not None:
            write_text(side_file_of(place), anonymous_side(side, tokens))
        else:
            side_file_of(place).unlink(missing_ok=True)
        out.append(
            Anonymized(
                log.path,
                place,
                side_file_of(place) if side is not None else None,
                tuple(log.skipped),
                shortened,
            )
        )
    return out


def _paths(key: Key, logs: Sequence[Log], sides: Sequence[dict[str, Any] | None]) -> Paths:
    names = [name for log in logs for name in log.names.values()]
    names += [name for side in sides for name in names_in(side)]
    return Paths(
        key,
        names,
        folders=[path for log in logs for _, path in log.job.mounts],
        commands=[_command_line(log) for log in logs],
    )


def _image(log: Log, key: Key, paths: Paths) -> tuple[bytes, tuple[str, ...]]:
    """The bytes of the new log, and what was cut."""
    names = _names(log.names, key, paths)
    command, cut = _command(log, key, paths)
    metadata, cut_too = _metadata(log.job.metadata, key)
    new = Substitutes(
        names=names,
        other_id=key.id64,
        host=lambda host: key.word("host", host).encode(),
        pool=lambda pool: key.word("pool", pool).encode(),
        uid=key.number("user", log.job.uid),
        job_id=key.number("job", log.job.job_id),
        shift_ns=key.shift_ns,
        metadata=metadata,
        command=command,
    )
    return rewritten(log, new), (*cut, *cut_too)


def _names(names: Mapping[int, str], key: Key, paths: Paths) -> dict[int, tuple[int, str]]:
    """The new id and name by old id. No two old ids share a new one, even where a log says they have one name."""
    out: dict[int, tuple[int, str]] = {}
    taken: set[int] = set()
    for old, name in names.items():
        stream = _STANDARD_STREAMS.get(old)
        new_name = stream if stream is not None else paths.path(name)
        new_id = record_id(new_name) if new_name else key.id64(old)
        if new_id in taken:
            new_id = key.id64(old)
        taken.add(new_id)
        out[old] = (new_id, new_name)
    return out


def _command(log: Log, key: Key, paths: Paths) -> tuple[str, tuple[str, ...]]:
    """The command line and mounts, as far as there is room, and what was cut.

    Tokens may be longer than what they replace. Mounts without a file of the log go first, then arguments, then mounts.
    """
    line = paths.command(_command_line(log))
    unused: list[int] = []
    used: list[int] = []
    lines = []
    for kind, path in log.job.mounts:
        lines.append(f"\n{_file_system(kind, key)}\t{paths.path(path, folder=True)}")
        (used if _is_used(path, log) else unused).append(len(lines) - 1)
    size = len(line) + sum(map(len, lines))
    kept = dict(enumerate(lines))
    while size > TEXT_BYTES and unused:
        size -= len(kept.pop(unused.pop()))
    program, *arguments = line.split(" ")
    while size > TEXT_BYTES and arguments:
        size -= len(arguments.pop()) + 1
    while size > TEXT_BYTES and used:
        size -= len(kept.pop(used.pop()))
    cut = []
    if len(kept) < len(lines):
        cut.append(plural(len(lines) - len(kept), "mount"))
    shown = " ".join([program, *arguments])
    if len(shown) < len(line):
        cut.append("the end of the command line")
    return (shown if size <= TEXT_BYTES else "") + "".join(kept.values()), tuple(cut)


def _command_line(log: Log) -> str:
    """The command line without the characters that end a field of the job region."""
    return "".join(c for c in log.job.exe if c not in _CONTROL)


def _file_system(kind: str, key: Key) -> str:
    return kind if kind in public.FILE_SYSTEMS else key.word("file system", kind)


def _is_used(mount: str, log: Log) -> bool:
    folder = mount.rstrip("/") + "/"
    return any(name.startswith(folder) for name in log.names.values())


def _metadata(metadata: Mapping[str, str], key: Key) -> tuple[str, tuple[str, ...]]:
    """The text of the metadata: known keys with known values stay, everything else is replaced."""
    lines = []
    for name, value in metadata.items():
        form = _METADATA_FORMS.get(name)
        if form is not None and form.fullmatch(value):
            lines.append(f"{name}={value}\n")
        elif name == "fork_parent" and value.isdecimal() and len(value) < 20:
            lines.append(f"{name}={key.number('job', int(value))}\n")
        else:
            known = name if name in ("lib_ver", "h", "fork_parent") else key.word("metadata", name)
            lines.append(f"{known}={key.word('metadata', value)}\n")
    text = ""
    for done, line in enumerate(lines):
        if len(text) + len(line) >= 1024:
            return text, (f"{len(lines) - done} lines of metadata",)
        text += line
    return text, ()
