"""Ways of spoiling a sound file, each a function of the open file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import h5py
import numpy as np
from typhonio_samples import number, quant, table

MESH = "state0/mesh"


class Defect(NamedTuple):
    kind: str
    spoil: Callable[[Any], None]
    level: str
    place: str
    what: str


def drop(name: str) -> Callable[[Any], None]:
    def spoil(file: Any) -> None:
        del file[name]

    return spoil


def drop_attribute(group: str, name: str) -> Callable[[Any], None]:
    def spoil(file: Any) -> None:
        del file[group].attrs[name]

    return spoil


def attribute(group: str, name: str, value: Any, kind: str = "u8") -> Callable[[Any], None]:
    def spoil(file: Any) -> None:
        number(file[group], name, value, kind)

    return spoil


def data(name: str, values: Any, **how: Any) -> Callable[[Any], None]:
    def spoil(file: Any) -> None:
        if name in file:
            del file[name]
        file.create_dataset(name, data=values, **how)

    return spoil


def change(name: str, index: int, value: Any) -> Callable[[Any], None]:
    def spoil(file: Any) -> None:
        file[name][index] = value

    return spoil


def resized(name: str, by: int) -> Callable[[Any], None]:
    """The dataset longer or shorter by some elements."""

    def spoil(file: Any) -> None:
        values = file[name][...]
        del file[name]
        file[name] = values[:by] if by < 0 else np.concatenate([values, values[:by]])

    return spoil


def both(*spoils: Callable[[Any], None]) -> Callable[[Any], None]:
    def spoil(file: Any) -> None:
        for each in spoils:
            each(file)

    return spoil


def listed(group: str, ref: str, *names: bytes) -> Callable[[Any], None]:
    def spoil(file: Any) -> None:
        if ref in file[group]:
            del file[group][ref]
        table(file[group], ref, list(names))

    return spoil


def words(chunk: int, **values: int) -> Callable[[Any], None]:
    """Words of CHUNKINFO by their place, `w3=5`."""

    def spoil(file: Any) -> None:
        for word, value in values.items():
            file[f"{MESH}/TIO_MESH_CHUNKINFO"][12 * chunk + int(word[1:])] = value

    return spoil


def utf8(group: str, name: str) -> Callable[[Any], None]:
    def spoil(file: Any) -> None:
        file[group].attrs.create(name, "text", dtype=h5py.string_dtype("utf-8", 64))

    return spoil


def vlen(group: str, name: str) -> Callable[[Any], None]:
    def spoil(file: Any) -> None:
        file[group].attrs[name] = "text"

    return spoil


def extra_quant(name: str, *arguments: Any, **how: Any) -> Callable[[Any], None]:
    """Another quant, listed."""

    def spoil(file: Any) -> None:
        mesh = file[MESH]
        quant(mesh, name, *arguments, **how)
        names = [*mesh["TIO_QUANT_REF"][...], name.encode()]
        del mesh["TIO_QUANT_REF"]
        table(mesh, "TIO_QUANT_REF", names)

    return spoil


def empty_vargroup(file: Any) -> None:
    del file["state0/numbers"]
    file["state0"].create_group("numbers")
