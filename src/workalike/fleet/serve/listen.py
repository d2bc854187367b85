"""The socket on which the portal listens: an address, or a file that only a group may write to."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

from workalike.errors import ErrorKind, WorkalikeError

MODE = 0o660
"""Of a socket file: who may write to it may name any user to the portal."""


@contextlib.contextmanager
def listening(host: str, port: int, unix_socket: Path | None) -> Iterator[socket.socket]:
    """A bound socket, whose file is removed at the end.

    Raises:
        WorkalikeError: USAGE where the address or the file is taken, or cannot be had.
    """
    try:
        if unix_socket is not None:
            _remove_unused(unix_socket)
            bound = _bound_file(unix_socket)
        else:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            bound = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"cannot listen there: {getattr(error, 'strerror', None) or error}",
            file=unix_socket or f"{host}:{port}",
            hint="choose another --port, --host or --unix-socket",
        ) from error
    with bound:
        try:
            yield bound
        finally:
            if unix_socket is not None:
                unix_socket.unlink(missing_ok=True)


def _bound_file(path: Path) -> socket.socket:
    """A socket with a file that has its mode from the first moment."""
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o777 & ~MODE)
    try:
        bound.bind(str(path))
        bound.listen()
    except OSError:
        bound.close()
        raise
    finally:
        os.umask(before)
    return bound


def _remove_unused(path: Path) -> None:
    """Remove the socket file of a portal that was killed; what else is there stays."""
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.connect(str(path))
    except ConnectionRefusedError:
        path.unlink()
    except FileNotFoundError:
        pass


def url_of(bound: socket.socket, token: str | None) -> str:
    """The address for a browser, which sends the token as the password; of a socket file its path."""
    if bound.family == socket.AF_UNIX:
        return f"unix:{bound.getsockname()}"
    host, port = bound.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{f'token:{token}@' if token else ''}{shown}:{port}/"
