"""Images of damaged logs, and what reading them must give."""

from __future__ import annotations

from pathlib import Path

import darshan_everything
import pytest
from darshan_images import Image, ramp, record, times

from workalike.darshan import Log, open_log
from workalike.errors import ErrorKind, WorkalikeError

STDIO = 9
GOOD = record("<", 11, 0, ramp(14), times(15))
NAMES = {11: b"/a"}


def refused(path: Path, kind: ErrorKind, *words: str) -> WorkalikeError:
    """Read all of a log, which must fail with a complete error that contains these words."""
    with pytest.raises(WorkalikeError) as caught:
        darshan_everything.read(path)
    error = caught.value
    assert error.kind == kind
    assert error.file == str(path)
    assert error.hint
    for word in words:
        assert word in error.one_line()
    return error


def left_out(path: Path, module: str, *words: str) -> None:
    """Read all of a log, of which one module cannot be read: a warning has these words, and the rest is there."""
    log = open_log(path)
    parts = darshan_everything.digest(log)
    assert not [name for name in parts if name.startswith(module)]
    assert log.skipped == list(log.unreadable) == [module]
    [warning] = [text for text in log.warnings if "left out" in text]
    for word in (module, log.unreadable[module], *words):
        assert word in warning


def made(path: Path, image: Image | bytes) -> Path:
    path.write_bytes(image if isinstance(image, bytes) else image.build())
    return path


def opened(path: Path, image: Image) -> Log:
    return open_log(made(path, image))
