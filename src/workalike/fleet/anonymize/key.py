"""The key: what turns a name into a token, and nobody without it can turn back or check a guess."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from functools import cached_property
from pathlib import Path

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import open_file

LEAST_BYTES = 16
MOST_BYTES = 1 << 16
LETTERS = "bdgjkmqvwxz"
"""The letters of tokens: no word of a file's purpose can be spelt with them, and no digit is among them."""
TOKEN_LETTERS = 14
YEAR_NS = 365 * 86_400 * 1_000_000_000
MOST_SHIFT_NS = 5 * YEAR_NS


class Key:
    """A secret from which all tokens follow; logs with the same key have the same tokens for the same names.

    Args:
        secret: at least 16 bytes.
    """

    def __init__(self, secret: bytes) -> None:
        if len(secret) < LEAST_BYTES:
            raise ValueError(f"a key of {len(secret)} bytes")
        self._secret = hashlib.sha256(secret).digest()

    def _digest(self, kind: str, text: str | bytes) -> bytes:
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        return hmac.new(self._secret, kind.encode() + b"\0" + data, hashlib.sha256).digest()

    def word(self, kind: str, text: str | bytes) -> str:
        """14 letters."""
        number = int.from_bytes(self._digest(kind, text), "big")
        letters = []
        for _ in range(TOKEN_LETTERS):
            number, letter = divmod(number, len(LETTERS))
            letters.append(LETTERS[letter])
        return "".join(letters)

    def digits(self, kind: str, text: str) -> str:
        """12 decimal digits, the first not zero."""
        return str(10**11 + int.from_bytes(self._digest(kind, text)[:8], "big") % (9 * 10**11))

    def hexadecimal(self, kind: str, text: str) -> str:
        """16 hexadecimal digits, the first two `a0`, so that both letters and digits are among them."""
        return "a0" + self._digest(kind, text).hex()[:14]

    def number(self, kind: str, value: int) -> int:
        """A number from 1 to 2^31 - 1."""
        return 1 + int.from_bytes(self._digest(kind, str(value))[:8], "big") % ((1 << 31) - 1)

    def id64(self, value: int) -> int:
        """A record id, never 0."""
        return int.from_bytes(self._digest("record id", str(value))[:8], "big") or 1

    @cached_property
    def shift_ns(self) -> int:
        """What is added to all times, nanoseconds: between 1 and 5 years, forwards or backwards."""
        drawn = int.from_bytes(self._digest("time", "")[:16], "big")
        size = YEAR_NS + drawn // 2 % (MOST_SHIFT_NS - YEAR_NS)
        return size if drawn % 2 else -size


def key_of_file(path: Path) -> Key:
    """The key in a file; a new random one is written there, readable by its owner only, if there is no file.

    Raises:
        WorkalikeError: USAGE if the file is too short or too long; CANNOT_WRITE.
    """
    if not path.exists():
        _make(path)
    with open_file(path, ErrorKind.USAGE) as file:
        secret = file.read(MOST_BYTES + 1)
    if not LEAST_BYTES <= len(secret) <= MOST_BYTES:
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"a key has {LEAST_BYTES} to {MOST_BYTES} bytes",
            file=path,
            hint="name a file that does not exist, and a random key is written there",
        )
    return Key(secret)


def _make(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(32))
    except (OSError, ValueError) as error:
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE,
            getattr(error, "strerror", None) or "cannot be written",
            file=path,
            hint="choose another place for the key",
        ) from error


def random_key() -> Key:
    """A key that nobody keeps: no other log will ever have the same tokens."""
    return Key(secrets.token_bytes(32))
