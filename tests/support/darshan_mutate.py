"""Damages logs at random: the bytes of the file, or the contents of its regions."""

from __future__ import annotations

import random
import struct
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from darshan_everything import read

from workalike.errors import ErrorKind, WorkalikeError

NASTY = [0, 1, -1, 4, 1 << 31, -(1 << 31), 1 << 32, (1 << 62) + 5, (1 << 63) - 1, -(1 << 63), 0x7FF8 << 48]
"""Words that lead lesser readers astray: huge counts, negative ones, a NaN."""


@dataclass
class Spoilt:
    """A damaged log: its bytes, and the bytes of the original that differ (None if bytes moved)."""

    image: bytes
    touched: range | None


def spoil_file(image: bytes, dice: random.Random) -> Spoilt:
    """Change bytes of the file: flips, overwritten words, cuts, insertions, duplicated parts."""
    at = dice.randrange(len(image)) if dice.random() < 0.5 else dice.randrange(min(1400, len(image)))
    size = dice.choice([1, 1, 1, 2, 4, 8, 16, 100])
    kind = dice.choice(["flip", "flip", "overwrite", "word", "cut", "end", "insert", "double"])
    before, after = image[:at], image[at + size :]
    part = image[at : at + size]
    if kind == "flip":
        spoilt = bytes([image[at] ^ 1 << dice.randrange(8)])
        return Spoilt(before + spoilt + image[at + 1 :], range(at, at + 1))
    if kind == "overwrite":
        return Spoilt(before + dice.randbytes(len(part)) + after, range(at, at + len(part)))
    if kind == "word":
        at -= at % 8
        word = struct.pack("<q", dice.choice(NASTY))
        return Spoilt(image[:at] + word + image[at + 8 :], range(at, at + 8))
    if kind == "cut":
        return Spoilt(before + after, None)
    if kind == "end":
        return Spoilt(before, None)
    if kind == "insert":
        return Spoilt(before + dice.randbytes(size) + image[at:], None)
    return Spoilt(before + part + part + after, None)


def spoil_region(image: bytes, dice: random.Random) -> Spoilt:
    """Inflate a region, change its contents, deflate it, and reassemble the file."""
    header, regions = split(image)
    chosen = dice.choice([number for number, data in enumerate(regions) if data])
    inflated = bytearray(_inflate(regions[chosen]))
    for _ in range(dice.choice([1, 1, 2, 5])):
        at = dice.randrange(len(inflated) + 1)
        size = dice.choice([1, 4, 8, 40, 104, 704])
        kind = dice.choice(["byte", "word", "word", "word", "cut", "end", "insert", "double", "zero"])
        if kind == "byte":
            inflated[at : at + 1] = dice.randbytes(1)
        elif kind == "word":
            at -= at % 8
            inflated[at : at + 8] = struct.pack(dice.choice("<>") + "q", dice.choice(NASTY))
        elif kind == "cut":
            del inflated[at : at + size]
        elif kind == "end":
            del inflated[at:]
        elif kind == "insert":
            inflated[at:at] = dice.randbytes(size)
        elif kind == "double":
            inflated[at:at] = inflated[at : at + size]
        else:
            inflated[at : at + size] = bytes(len(inflated[at : at + size]))
    regions[chosen] = zlib.compress(bytes(inflated))
    return Spoilt(join(header, regions), None)


def split(image: bytes) -> tuple[bytes, list[bytes]]:
    """Split a log into header, job, names, and the modules in the order of their numbers."""
    size, maps, count, code = _geometry(image)
    table = struct.unpack_from(f"{code}{2 * count}Q", image, maps)
    pairs = list(zip(table[::2], table[1::2], strict=True))
    job_end = pairs[0][0] or min(offset for offset, length in pairs if length)
    return image[:size], [image[size:job_end], *(image[offset : offset + length] for offset, length in pairs)]


def join(header: bytes, regions: list[bytes]) -> bytes:
    """Assemble a log; the header gets the offsets and lengths of the regions."""
    size, maps, _, code = _geometry(header)
    spoilt = bytearray(header)
    at = size + len(regions[0])
    for number, data in enumerate(regions[1:]):
        struct.pack_into(code + "2Q", spoilt, maps + 16 * number, at, len(data))
        at += len(data)
    return bytes(spoilt) + b"".join(regions)


def _geometry(image: bytes) -> tuple[int, int, int, str]:
    """Size of the header, place of its table of names and modules, number of entries, byte order."""
    code = "<" if struct.unpack_from("<q", image, 8)[0] == 6567223 else ">"
    return (1328, 32, 65, code) if image.startswith(b"3.41") else (360, 24, 17, code)


def _inflate(data: bytes) -> bytes:
    inflated = b""
    while data:
        stream = zlib.decompressobj()
        inflated += stream.decompress(data)
        data = stream.unused_data
    return inflated


def uncovered(image: bytes) -> set[int]:
    """Bytes of the header without a check: the format version and the record versions.

    Everything compressed has a checksum (a weak one: ``torture`` counts collisions); offsets and
    lengths must tile the file; the magic number, the compression code and the partial flags show.
    """
    new = image.startswith(b"3.41")
    versions = range(1072, 1328) if new else range(296, 360)
    return {*range(8), *versions}


def torture(
    images: dict[str, bytes],
    spoil: Callable[[bytes, random.Random], Spoilt],
    scratch: Path,
    seed: int,
    count: int,
) -> Counter[str]:
    """Damage logs ``count`` times and read them; returns how often each outcome occurred.

    Raises:
        AssertionError: another exception than WorkalikeError, an error that is not complete, or
            other data without a warning although something guards the bytes.
    """
    ends: Counter[str] = Counter()
    originals = {}
    path = scratch / "spoilt.darshan"
    for name, image in images.items():
        path.write_bytes(image)
        originals[name] = read(path)
    for turn in range(count):
        dice = random.Random(seed * 1_000_003 + turn)
        name = dice.choice(sorted(images))
        spoilt = spoil(images[name], dice)
        path.write_bytes(spoilt.image)
        what = f"{name}, seed {seed}, turn {turn}"
        try:
            data, warnings = read(path)
        except WorkalikeError as error:
            assert error.kind in (ErrorKind.DAMAGED_LOG, ErrorKind.UNSUPPORTED_LOG), what
            assert error.file == str(path) and error.hint, what
            ends[error.kind.title] += 1
            continue
        except Exception as error:
            raise AssertionError(f"{what}: {error!r}") from error
        if data == originals[name][0]:
            ends["same data"] += 1
        elif warnings - originals[name][1]:
            ends["other data, with a warning"] += 1
        elif spoil is not spoil_file:
            ends["other data"] += 1  # with a good checksum, as a program could have written it
        elif spoilt.touched and spoilt.touched.start >= _geometry(images[name])[0]:
            # Adler-32 adds bytes up; a flip that turns 2, 0, 2 at even spacing into 0, 4, 0 passes.
            ends["checksum collision"] += 1
        else:
            ends["other data"] += 1
            guarded = spoilt.touched is None or not set(spoilt.touched) <= uncovered(images[name])
            assert not guarded, f"{what}: other data without a warning"
    return ends
