"""A small reader of CDF-1, 2 and 5 files, for tests: dimensions, variables and their data (the format's specification)."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

TYPES = {1: ">i1", 2: "S1", 3: ">i2", 4: ">i4", 5: ">f4", 6: ">f8"}


@dataclass
class Variable:
    name: str
    dims: tuple[int, ...]  # the records' as many as there are
    record: bool
    dtype: np.dtype[Any]
    begin: int
    data: np.ndarray[Any, Any]


class Netcdf:
    """`variables` by name, `records`, and `header`: bytes of the header."""

    def __init__(self, path: Path) -> None:
        self.raw = path.read_bytes() + bytes(2**20)  # a file ends with the last byte that was written
        self.at = 4
        assert self.raw[:3] == b"CDF"
        self.version = self.raw[3]
        self.wide = self.version == 5
        self.records = self._count()
        lengths = [(self._name(), self._count()) for _ in range(self._list())]
        self._no_attributes()
        found = [self._variable(lengths) for _ in range(self._list())]
        self.header = self.at
        recsize = sum(size for _, _, record, _, _, size in found if record)
        self.variables = {
            name: Variable(
                name, (self.records, *shape[1:]) if record else shape, record, dtype, begin,
                self._data(shape, record, dtype, begin, recsize),
            )
            for name, shape, record, dtype, begin, _ in found
        }  # fmt: skip

    def _take(self, kind: str) -> int:
        size = struct.calcsize(kind)
        (value,) = struct.unpack_from(f">{kind}", self.raw, self.at)
        self.at += size
        return int(value)

    def _count(self) -> int:
        return self._take("q" if self.wide else "i")

    def _name(self) -> str:
        length = self._count()
        text = self.raw[self.at : self.at + length].decode()
        self.at += -(-length // 4) * 4
        return text

    def _list(self) -> int:
        self._take("i")
        return self._count()

    def _no_attributes(self) -> None:
        assert self._list() == 0

    def _variable(self, lengths: list[tuple[str, int]]) -> tuple[Any, ...]:
        name = self._name()
        shape = tuple(lengths[self._count()][1] for _ in range(self._count()))
        self._no_attributes()
        dtype = np.dtype(TYPES[self._take("i")])
        size = self._count()
        begin = self._take("i" if self.version == 1 else "q")
        return name, shape, bool(shape) and shape[0] == 0, dtype, begin, size

    def _data(
        self, shape: tuple[int, ...], record: bool, dtype: np.dtype[Any], begin: int, recsize: int
    ) -> np.ndarray[Any, Any]:
        if not record:
            return np.frombuffer(self.raw, dtype, math.prod(shape), begin).reshape(shape)
        inner = shape[1:]
        rows = [
            np.frombuffer(self.raw, dtype, math.prod(inner), begin + r * recsize).reshape(inner)
            for r in range(self.records)
        ]
        return np.stack(rows) if rows else np.empty((0, *inner), dtype)
