"""Groups, attributes and datasets of an untrusted HDF5 file.

Only this module calls h5py. Nothing outside of the file is opened: external links, external datasets and virtual
datasets are refused, and soft links are resolved here step by step. What HDF5 or h5py cannot read becomes `Unreadable`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import h5py
import numpy as np
from numpy.typing import NDArray

MOST_LINKS = 200_000
MOST_TEXT = 64 * 2**10
MOST_TABLE = 1_000_000
MOST_TABLE_BYTES = 256 * 2**20
MOST_SOFT_LINKS = 16
BLOCK = 2**20

P = ParamSpec("P")
T = TypeVar("T")


class Unreadable(Exception):
    """A part of the file cannot be read; the message is the reason."""


class Budget:
    """The number of elements that may still be read, because a small file may claim any number of them."""

    left = 2 * 10**9


def _checked(call: Callable[P, T]) -> Callable[P, T]:
    """Turn every exception of h5py into `Unreadable`: it is caused by a damaged file."""

    @functools.wraps(call)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return call(*args, **kwargs)
        except Unreadable:
            raise
        except MemoryError as error:
            raise Unreadable("needs more memory than is allowed") from error
        except Exception as error:
            words = str(error).strip() or type(error).__name__
            raise Unreadable(f"HDF5 cannot read it: {words[:160]}") from error

    return checked


def text_of(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def string_of(raw: bytes) -> str:
    """A string of fixed length up to its first NUL, after which the library leaves uninitialised memory."""
    return text_of(raw.split(b"\0", 1)[0]).rstrip(" ")


def bytes_of(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class Kind:
    """A stored type, and for strings, whether TyphonIO can convert it."""

    word: str  # "integer", "float", "string", "other"
    size: int
    signed: bool = True
    fault: str = ""  # why a string does not convert to the library's type

    @property
    def numeric(self) -> bool:
        return self.word in ("integer", "float")

    def text(self) -> str:
        if self.word == "string":
            return "string" if self.fault else f"string{self.size}"
        prefix = {"integer": "int" if self.signed else "uint", "float": "float"}.get(self.word)
        return f"{prefix}{8 * self.size}" if prefix else self.word


def _kind(datatype: Any) -> Kind:
    family = datatype.get_class()
    size = int(datatype.get_size())
    if family == h5py.h5t.INTEGER:
        return Kind("integer", size, datatype.get_sign() != h5py.h5t.SGN_NONE)
    if family == h5py.h5t.FLOAT:
        return Kind("float", size)
    if family != h5py.h5t.STRING:
        return Kind("other", size)
    if datatype.is_variable_str():
        return Kind("string", size, fault="of variable length")
    if datatype.get_cset() != h5py.h5t.CSET_ASCII:
        return Kind("string", size, fault="UTF-8")
    return Kind("string", size)


def _memory(kind: Kind) -> Any:
    """The NumPy type into which numbers are read."""
    if kind.word == "float":
        return np.dtype("f8")
    return np.dtype("i8" if kind.signed else "u8")


class Data:
    """A dataset."""

    @_checked
    def __init__(self, identifier: Any) -> None:
        self._id = identifier
        space = identifier.get_space()
        self.simple = space.get_simple_extent_type() in (h5py.h5s.SIMPLE, h5py.h5s.SCALAR)
        self.shape: tuple[int, ...] = space.get_simple_extent_dims() if self.simple else (0,)
        most = space.get_simple_extent_dims(True) if self.simple else (0,)
        self.unlimited = bool(most) and most[0] == h5py.h5s.UNLIMITED
        self.kind = _kind(identifier.get_type())
        properties = identifier.get_create_plist()
        self.layout: str = {
            h5py.h5d.COMPACT: "compact",
            h5py.h5d.CONTIGUOUS: "contiguous",
            h5py.h5d.CHUNKED: "chunked",
        }.get(properties.get_layout(), "virtual")
        self.chunk: tuple[int, ...] | None = properties.get_chunk() if self.layout == "chunked" else None
        self.filters = [_filter(properties, i) for i in range(min(properties.get_nfilters(), 32))]
        self.elsewhere = self.layout == "virtual" or (
            self.layout == "contiguous" and properties.get_external_count() > 0
        )

        self.written = identifier.get_storage_size() > 0 or self.length == 0
        self._offset = identifier.get_offset() if self.layout == "contiguous" and not self.elsewhere else None

    @property
    def length(self) -> int:
        return math.prod(self.shape)

    def beyond(self, size: int) -> bool:
        """Whether a contiguous dataset would end after the `size` bytes of the file."""
        return self._offset is not None and self._offset + self.length * self.kind.size > size

    @property
    def extendible(self) -> bool:
        return self.layout == "chunked" and self.unlimited

    @_checked
    def strings(self) -> list[str]:
        """All elements of a small dataset of fixed strings, without padding."""
        self._small(self.kind.size)
        if self.kind.word != "string" or self.kind.fault or self.kind.size < 1:
            raise Unreadable("has no strings of fixed length")
        raw = np.zeros(self.shape, dtype=f"S{self.kind.size}")
        self._id.read(h5py.h5s.ALL, h5py.h5s.ALL, raw, self._id.get_type())
        return [string_of(bytes(item)) for item in raw.ravel()]

    @_checked
    def numbers(self) -> NDArray[Any]:
        """All elements of a small dataset of numbers, as int64, uint64 or float64."""
        self._small(8)
        return self._read(0, self.length, whole=True)

    def blocks(self, budget: Budget, most: int) -> Iterator[tuple[int, NDArray[Any]]]:
        """(first, values) of the first `most` elements of a 1-D dataset, block by block.

        Raises:
            Unreadable: also if the budget is used up.
        """
        end = min(self.length, most)
        for first in range(0, end, BLOCK):
            count = min(BLOCK, end - first)
            budget.left -= count
            if budget.left < 0:
                raise Unreadable("too large to be read to its end")
            yield first, self._block(first, count)

    @_checked
    def _block(self, first: int, count: int) -> NDArray[Any]:
        return self._read(first, count, whole=False)

    def _small(self, element: int) -> None:
        if self.length > MOST_TABLE or self.length * element > MOST_TABLE_BYTES:
            raise Unreadable(f"{self.length:,} elements are too many for a table")

    def _read(self, first: int, count: int, *, whole: bool) -> NDArray[Any]:
        if self.elsewhere:
            raise Unreadable("its data are in another file, which is not opened")
        if not self.simple or not self.kind.numeric:
            raise Unreadable("has no numbers")
        self._chunks_fit()
        values = np.zeros(self.shape if whole else (count,), dtype=_memory(self.kind))
        memory = h5py.h5t.py_create(values.dtype)
        if whole:
            self._id.read(h5py.h5s.ALL, h5py.h5s.ALL, values, memory)
            return values
        stored = self._id.get_space()
        stored.select_hyperslab((first,), (count,))
        self._id.read(h5py.h5s.create_simple((count,)), stored, values, memory)
        return values

    def _chunks_fit(self) -> None:
        """Refuse large chunks: HDF5 reads and decompresses a chunk as a whole."""
        if self.chunk and math.prod(self.chunk) * max(self.kind.size, 1) > 2**30:
            raise Unreadable("its chunks are larger than 1 GiB")


def _filter(properties: Any, index: int) -> str:
    code, _, _, name = properties.get_filter(index)
    known = {1: "deflate", 2: "shuffle", 3: "fletcher32", 4: "szip", 5: "nbit", 6: "scaleoffset"}
    return known.get(code, text_of(name)[:40] or f"filter {code}")


@dataclass(frozen=True)
class Attribute:
    """An attribute: a string or a number, or a fault because of which it is neither."""

    kind: Kind
    value: str | int | float | None
    fault: str = ""


class Group:
    """A group."""

    def __init__(self, identifier: Any, root: Any) -> None:
        self._id = identifier
        self._root = root

    @_checked
    def address(self) -> int:
        """The address in the file, which identifies an object."""
        return int(h5py.h5o.get_info(self._id).addr)

    @_checked
    def links(self) -> dict[str, str]:
        """The kind of each link by name, in order of names: group, dataset, datatype, soft, external or broken."""
        names: list[bytes] = []

        def keep(name: bytes) -> bool | None:
            names.append(bytes(name))
            return True if len(names) > MOST_LINKS else None

        self._id.links.iterate(keep)
        if len(names) > MOST_LINKS:
            raise Unreadable(f"more than {MOST_LINKS:,} links")
        return {text_of(name): self._link(name) for name in names}

    def _link(self, name: bytes) -> str:
        try:
            kind = self._id.links.get_info(name).type
            if kind == h5py.h5l.TYPE_SOFT:
                return "soft"
            if kind != h5py.h5l.TYPE_HARD:
                return "external"
            what = h5py.h5o.get_info(self._id, name).type
        except Exception:
            return "broken"
        return {h5py.h5o.TYPE_GROUP: "group", h5py.h5o.TYPE_DATASET: "dataset"}.get(what, "datatype")

    def has(self, name: str) -> bool:
        try:
            return bool(self._id.links.exists(bytes_of(name)))
        except Exception:
            return False

    @_checked
    def attribute_names(self) -> list[str]:
        count = min(h5py.h5a.get_num_attrs(self._id), MOST_LINKS)
        return [text_of(h5py.h5a.open(self._id, index=i).name) for i in range(count)]

    def has_attribute(self, name: str) -> bool:
        try:
            return bool(h5py.h5a.exists(self._id, bytes_of(name)))
        except Exception:
            return False

    @_checked
    def attribute(self, name: str) -> Attribute:
        """An attribute, which must have one element."""
        attribute = h5py.h5a.open(self._id, bytes_of(name))
        kind = _kind(attribute.get_type())
        if math.prod(attribute.shape) != 1 or kind.word == "other":
            return Attribute(kind, None, "is not a single number or string")
        if kind.word == "string":
            if kind.fault:
                return Attribute(
                    kind, None, f"is a string {kind.fault}".replace("string UTF-8", "UTF-8 string")
                )
            if not 0 < kind.size <= MOST_TEXT:
                return Attribute(kind, None, f"is a string of {kind.size} bytes")
            raw = np.zeros(attribute.shape, dtype=f"S{kind.size}")
            attribute.read(raw, attribute.get_type())
            return Attribute(kind, string_of(bytes(raw.reshape(-1)[0])))
        number = np.zeros(attribute.shape, dtype=_memory(kind))
        attribute.read(number, h5py.h5t.py_create(number.dtype))
        return Attribute(kind, number.reshape(-1)[0].item())

    def group(self, name: str) -> Group:
        """Raises Unreadable."""
        found = self._open(name)
        if not isinstance(found, h5py.h5g.GroupID):
            raise Unreadable("is not a group")
        return Group(found, self._root)

    def data(self, name: str) -> Data:
        """Raises Unreadable."""
        found = self._open(name)
        if not isinstance(found, h5py.h5d.DatasetID):
            raise Unreadable("is not a dataset")
        return Data(found)

    @_checked
    def _open(self, name: str) -> Any:
        return self._resolve(self._id, bytes_of(name), MOST_SOFT_LINKS)

    def _resolve(self, start: Any, path: bytes, hops: int) -> Any:
        """The object at a path of hard and soft links; HDF5 itself would also follow external ones."""
        here = self._root if path.startswith(b"/") else start
        for part in path.split(b"/"):
            if part in (b"", b"."):
                continue
            kind = here.links.get_info(part).type
            if kind == h5py.h5l.TYPE_SOFT and hops > 0:
                here = self._resolve(here, here.links.get_val(part), hops - 1)
            elif kind == h5py.h5l.TYPE_HARD:
                here = h5py.h5o.open(here, part)
            else:
                what = "a chain of links" if kind == h5py.h5l.TYPE_SOFT else "a link into another file"
                raise Unreadable(f"is {what}, which is not followed")
        return here


@_checked
def open_root(path: str) -> Group:
    """The root group of a file, read only.

    Raises:
        Unreadable: the file is not HDF5, or damaged.
    """
    file = h5py.h5f.open(path.encode("utf-8", "surrogateescape"), h5py.h5f.ACC_RDONLY)
    root = h5py.h5g.open(file, b"/")
    return Group(root, root)
