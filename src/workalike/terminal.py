"""Output on terminals that cannot show every character: others take the place of those, and nothing fails."""

from __future__ import annotations

import codecs
import io
import re
import sys

HANDLER = "workalike"
IN_PLACE_OF = {
    "…": "...",
    "×": "x",
    "≥": ">=",
    "≤": "<=",
    "→": "->",
    "–": "-",
    "—": "-",
    "─": "-",
    "│": "|",
    "·": ".",
    "•": "*",
    "µ": "u",
    "²": "2",
}
_FIRST_ESCAPED, _LAST_ESCAPED = "\udc80", "\udcff"


def degrade_output() -> None:
    """Let standard output and error replace characters that their encoding does not have."""
    codecs.register_error(HANDLER, _replaced)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=HANDLER)


def _replaced(error: UnicodeError) -> tuple[bytes, int]:
    """What is written in place of characters. Bytes of a file's name that Python could not decode stay as they are."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    out = b""
    for character in error.object[error.start : error.end]:
        if _FIRST_ESCAPED <= character <= _LAST_ESCAPED:
            out += bytes([ord(character) - 0xDC00])
        else:
            out += IN_PLACE_OF.get(character, "?").encode("ascii")
    return out, error.end


def printable(text: str, keep: str = "") -> str:
    """Text of a stranger without what a terminal acts upon; characters of `keep` stay."""
    return "".join(
        c if c.isprintable() or c in keep else "\N{REPLACEMENT CHARACTER}"
        for c in re.sub(r"\r\n?", "\n", text)
    )
