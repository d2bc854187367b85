"""Log images made by hand, of any format version, byte order and compression.

Independent of ``workalike.darshan.write``, which writes only one kind of log, this module writes all others, including
damaged ones.
"""

from __future__ import annotations

import bz2
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

MAGIC = 6567223


@dataclass
class Image:
    """The contents of a log; the keys of ``modules`` are the numbers in the file (its slots).

    A module is (record version, streams): the inflated content of each of its streams. Without ``nanoseconds``,
    ``times`` are start and end in whole seconds.
    """

    version: str = "3.41"
    order: str = "<"
    compression: int = 0
    nprocs: int = 4
    uid: int = 1000
    times: Sequence[int] = (1_700_000_000, 0, 1_700_000_100, 500_000_000)
    job_id: int = 77
    metadata: bytes = b"lib_ver=3.5.0\nh=romio_no_indep_rw=true;cb_nodes=4\n"
    text: bytes = b"./app -x\next4\t/\nlustre\t/lus"
    names: Mapping[int, bytes] = field(default_factory=dict)
    name_region: bytes | None = None
    modules: Mapping[int, tuple[int, Sequence[bytes]]] = field(default_factory=dict)
    partial: int = 0
    nanoseconds: bool = True
    header_edit: Callable[[bytearray], None] | None = None

    @property
    def is_old(self) -> bool:
        return self.version != "3.41"

    def build(self) -> bytes:
        """Write the regions one after another, as Darshan does."""
        job = self._pack([self._job()])
        names = self.name_region if self.name_region is not None else self._names()
        regions = [(None, self._pack([names]) if names else b"")]
        regions += [(slot, self._pack(self.modules[slot][1])) for slot in sorted(self.modules)]
        size, slots, name_at, map_at, version_at = (
            (360, 16, 24, 40, 296) if self.is_old else (1328, 64, 32, 48, 1072)
        )
        header = bytearray(size)
        struct.pack_into(f"{self.order}8sqB", header, 0, self.version.encode(), MAGIC, self.compression)
        if self.is_old:
            struct.pack_into(self.order + "I", header, 20, self.partial)
        else:
            struct.pack_into(self.order + "Q", header, 24, self.partial)
        at = size + len(job)
        for slot, data in regions:
            where = name_at if slot is None else map_at + 16 * slot
            assert slot is None or slot < slots
            struct.pack_into(self.order + "2Q", header, where, at, len(data))
            if slot is not None:
                struct.pack_into(self.order + "I", header, version_at + 4 * slot, self.modules[slot][0])
            at += len(data)
        if self.header_edit:
            self.header_edit(header)
        return bytes(header) + job + b"".join(data for _, data in regions)

    def _pack(self, streams: Sequence[bytes]) -> bytes:
        pack = {0: zlib.compress, 1: bz2.compress, 2: bytes}[self.compression]
        return b"".join(pack(stream) for stream in streams)

    def _job(self) -> bytes:
        if self.nanoseconds:
            start, start_ns, end, end_ns = self.times
            times = (start, end) if self.is_old else (start, start_ns, end, end_ns)
        else:
            times = tuple(self.times)
        values = (self.uid, *times, self.nprocs, self.job_id)
        fixed = struct.pack(f"{self.order}{len(values)}q", *values)
        return fixed + self.metadata.ljust(1024, b"\0") + self.text + b"\0"

    def _names(self) -> bytes:
        return b"".join(named(self.version, self.order, number, name) for number, name in self.names.items())


def named(version: str, order: str, number: int, name: bytes) -> bytes:
    """One entry of the name region."""
    if version == "3.00":
        return struct.pack(order + "QI", number, len(name)) + name
    return struct.pack(order + "Q", number) + name + b"\0"


def record(order: str, number: int, rank: int, counters: Sequence[int], times: Sequence[float]) -> bytes:
    """One record of fixed size, values in stored order."""
    return struct.pack(f"{order}Qq{len(counters)}q{len(times)}d", number, rank, *counters, *times)


def ramp(count: int, first: int = 1000) -> list[int]:
    """Distinct integers, so that a value in a wrong place is noticed."""
    return list(range(first, first + count))


def times(count: int, first: float = 0.25) -> list[float]:
    """Distinct reals, exact in binary."""
    return [first + index for index in range(count)]
