"""The header of a log: byte order, format version, and the places of the regions.

See docs/reference/darshan-format.md#header.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Literal, NamedTuple

from workalike.darshan import layouts
from workalike.darshan.source import Region, Source, Warn

ByteOrder = Literal["little", "big"]


class ModuleInfo(NamedTuple):
    """One module of a log.

    Attributes:
        name: Darshan's name ("MPI-IO"); an unknown number becomes "MODULE_<n>".
        id: the module's current number, even if the file's format version has another.
        version: version of its records.
        partial: whether the module ran out of memory, so that records or trace segments are missing.
        offset: start of its region in the file, bytes.
        length: size of its (compressed) region in the file, bytes.
    """

    name: str
    id: int
    version: int
    partial: bool
    offset: int
    length: int

    @property
    def region(self) -> Region:
        return Region(f"module {self.name}", self.offset, self.length)


@dataclass(frozen=True, slots=True)
class Header:
    """A checked header: every region is within the file, and no two overlap."""

    format_version: str
    byte_order: ByteOrder
    layout: layouts.HeaderLayout
    compression: int
    job: Region
    names: Region
    modules: dict[str, ModuleInfo]

    @property
    def code(self) -> str:
        """The byte order as the character that the module struct uses."""
        return "<" if self.byte_order == "little" else ">"


def read_header(source: Source, warn: Warn) -> Header:
    """Read and check the header.

    Raises:
        WorkalikeError: UNSUPPORTED_LOG if the file is not a Darshan log, or of an unsupported version; DAMAGED_LOG if
            it is truncated or contradicts itself.
    """
    head = source.read(0, min(source.size, 16))
    version, order = _recognise(source, head)
    layout = layouts.HEADERS[version]
    if source.size < layout.size:
        raise source.damaged(f"the file ends within the header ({source.size} of {layout.size} bytes)")
    raw = source.read(0, layout.size)
    code = "<" if order == "little" else ">"
    compression = raw[16]
    if compression not in (layouts.ZLIB, layouts.BZIP2, layouts.UNCOMPRESSED):
        raise source.damaged(f"unknown compression code {compression}", place="header, byte 16")
    (flags,) = struct.unpack_from(code + layout.partial_code, raw, layout.partial)
    offset, length = struct.unpack_from(code + "2Q", raw, layout.names)
    names = Region("name region", offset, length)
    modules = _read_modules(raw, layout, code, flags, warn)
    job = _job_region(source, layout, names, modules, warn)
    if compression == layouts.UNCOMPRESSED:
        warn("uncompressed log, as left by a job that did not finish: no checksum guards it")
    _check_tiling(source, [job, names, *(module.region for module in modules.values())], compression, warn)
    return Header(version, order, layout, compression, job, names, modules)


def _recognise(source: Source, head: bytes) -> tuple[str, ByteOrder]:
    """The format version and byte order; raises an error that says what another file is."""
    if not head:
        raise source.damaged("the file is empty")
    if head.startswith(b"\x1f\x8b") or head.startswith(b"BZh"):
        raise source.unsupported(
            "is a gzip or bzip2 file: a log of Darshan 1 or 2, or a log that was compressed",
            place="byte 0",
            hint="decompress it; logs of Darshan 1 and 2 cannot be read",
        )
    if len(head) < 16:
        raise source.damaged(f"the file ends within the header ({len(head)} bytes)")
    if not any(head):
        raise source.damaged(
            "the header is empty: the job was still running, or was killed before it wrote its log",
            place="byte 0",
            hint="use a log that Darshan finished, not a .darshan_partial file",
        )
    order: ByteOrder
    if int.from_bytes(head[8:], "little") == layouts.MAGIC:
        order = "little"
    elif int.from_bytes(head[8:], "big") == layouts.MAGIC:
        order = "big"
    else:
        raise source.unsupported("is not a Darshan log", place="byte 8", hint="give a *.darshan file")
    version = head[:8].rstrip(b"\0").decode("ascii", "backslashreplace")
    if version not in layouts.HEADERS:
        raise source.unsupported(
            f"log format {version!r} is not known",
            place="byte 0",
            hint=f"the formats {', '.join(layouts.HEADERS)} are read",
        )
    return version, order


def _read_modules(
    raw: bytes, layout: layouts.HeaderLayout, code: str, flags: int, warn: Warn
) -> dict[str, ModuleInfo]:
    """The modules that have a region, by name, in ascending order of their current numbers."""
    maps = struct.unpack_from(f"{code}{2 * layout.slots}Q", raw, layout.maps)
    versions = struct.unpack_from(f"{code}{layout.slots}I", raw, layout.versions)
    modules: dict[str, ModuleInfo] = {}
    lengths = maps[1::2]
    for slot in [slot for slot, length in enumerate(lengths) if length or flags >> slot & 1]:
        length, partial = lengths[slot], bool(flags >> slot & 1)
        number = slot
        for first in layout.shifts:
            number += number >= first
        known = number < len(layouts.MODULE_NAMES)
        name = layouts.MODULE_NAMES[number] if known else f"MODULE_{number}"
        if length:
            modules[name] = ModuleInfo(name, number, versions[slot], partial, maps[2 * slot], length)
            if partial:
                warn(f"module {name}: ran out of memory in the job, its data is incomplete")
        else:
            warn(f"module {name}: ran out of memory in the job and left no data")
    return modules


def _job_region(
    source: Source, layout: layouts.HeaderLayout, names: Region, modules: dict[str, ModuleInfo], warn: Warn
) -> Region:
    """The job region, which has no entry in the header and ends where the next region begins."""
    begins = [names.offset] if names.offset else [module.offset for module in modules.values()]
    end = min(begins, default=source.size)
    if not layout.size < end <= source.size:
        raise source.damaged(
            f"the job region would end at byte {end} of {source.size}", place=f"header, byte {layout.names}"
        )
    begin = layout.size
    if end - begin > layouts.LONGER_HEADER and not any(source.read(begin, layouts.LONGER_HEADER)):
        warn(
            f"{layouts.LONGER_HEADER} zero bytes between header and job region, as a modified Darshan writes them"
        )
        begin += layouts.LONGER_HEADER
    return Region("job region", begin, end - begin)


def _check_tiling(source: Source, regions: list[Region], compression: int, warn: Warn) -> None:
    """Check that regions are within the file and do not overlap; warn of bytes between them.

    The header has no checksum. As Darshan writes regions without gaps, a wrong offset or length is found here.
    """
    at = regions[0].offset
    for region in sorted((r for r in regions if r.length), key=lambda r: r.offset):
        if region.end > source.size:
            raise source.damaged(
                f"the file ends at byte {source.size}, but the region should end at {region.end}",
                place=region.name,
            )
        if region.offset < at:
            raise source.damaged(
                f"begins at byte {region.offset}, within the region before it", place=region.name
            )
        if region.offset > at and compression != layouts.UNCOMPRESSED:
            warn(f"{region.offset - at} bytes at byte {at} belong to no region")
        at = region.end
    if at < source.size and compression != layouts.UNCOMPRESSED:
        warn(f"{source.size - at} bytes at byte {at}, the end of the file, belong to no region")
