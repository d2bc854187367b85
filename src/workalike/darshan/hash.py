"""The record id of a name: Bob Jenkins' 64-bit hash of 1997 ("lookup8"), docs/reference/darshan-format.md#record-ids"""

from __future__ import annotations

import functools

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C13
_SHIFTS = ((43, 9, 8), (38, 23, 5), (35, 49, 11), (12, 18, 22))


def _mix(a: int, b: int, c: int) -> tuple[int, int, int]:
    """Mix three 64-bit words so that each bit affects all three."""
    for first, second, third in _SHIFTS:
        a = (a - b - c & _MASK) ^ (c >> first)
        b = (b - c - a & _MASK) ^ (a << second & _MASK)
        c = (c - a - b & _MASK) ^ (b >> third)
    return a, b, c


def _hash(key: bytes) -> int:
    a = b = 0
    c = _GOLDEN
    whole = len(key) // 24 * 24
    for at in range(0, whole, 24):
        a = a + int.from_bytes(key[at : at + 8], "little") & _MASK
        b = b + int.from_bytes(key[at + 8 : at + 16], "little") & _MASK
        c = c + int.from_bytes(key[at + 16 : at + 24], "little") & _MASK
        a, b, c = _mix(a, b, c)
    tail = key[whole:]
    a = a + int.from_bytes(tail[:8], "little") & _MASK
    b = b + int.from_bytes(tail[8:16], "little") & _MASK
    # The lowest byte of the last word is for the key's length, so the tail begins one byte higher.
    c = c + len(key) + (int.from_bytes(tail[16:], "little") << 8) & _MASK
    return _mix(a, b, c)[2]


@functools.lru_cache(maxsize=4096)
def record_id(name: str | bytes) -> int:
    """The 64-bit id that Darshan gives to a record of this name.

    Args:
        name: the name as in the log (a normalized path, ``<STDIN>``, ``heatmap:POSIX``); text is encoded as UTF-8.

    Returns:
        An unsigned 64-bit number.
    """
    return _hash(name.encode() if isinstance(name, str) else name)
