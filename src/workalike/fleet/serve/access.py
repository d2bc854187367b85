"""Who is asking, and which jobs they may see."""

from __future__ import annotations

import base64
import hmac
import ipaddress
import re
import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from workalike.errors import ErrorKind, WorkalikeError
from workalike.fleet.site import Site

LEAST_TOKEN = 16
SECRET_HEADER = "x-proxy-secret"
"""In which a proxy proves that a request is its own."""
_HEADER = re.compile(r"[A-Za-z0-9-]{1,60}")


class Headers(Protocol):
    """The headers of a request, as Starlette has them."""

    def getlist(self, key: str) -> list[str]:
        """All values of a header."""


@dataclass(frozen=True)
class Viewer:
    """Who is asking. Staff see all jobs; others those whose stored user is `user`."""

    name: str
    staff: bool
    user: str

    def condition(self) -> tuple[str, list[str]]:
        """Which jobs they may see, as SQL and its values."""
        return ("true", []) if self.staff else ('"user" = ?', [self.user])


@dataclass(frozen=True)
class Access:
    """How the portal knows who is asking. Without all of these, who reaches it sees everything.

    `token` is what each request must have. `header` is where a proxy names the user, who sees own jobs; a proxy that
    does not come by a socket file sends `secret` in `SECRET_HEADER`. What is set must all hold.
    """

    site: Site
    token: str | None = None
    header: str | None = None
    secret: str | None = None

    def viewer(self, headers: Headers) -> Viewer | None:
        """Who is asking; None where they must not see anything. A header that comes twice counts as none."""
        if self.token is not None and not _same(_given(headers), self.token):
            return None
        if self.header is None:
            return Viewer("local" if self.token is None else "holder of the token", True, "")
        if self.secret is not None and not _same(_single(headers, SECRET_HEADER), self.secret):
            return None
        name = _single(headers, self.header)
        return Viewer(name, name in self.site.staff, self.site.shown_user(name)) if name else None


def _same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode(), secret.encode())


def _single(headers: Headers, name: str) -> str:
    """The value of a header as it came; empty where there is none, or more than one."""
    values = headers.getlist(name)
    return values[0] if len(values) == 1 else ""


def _given(headers: Headers) -> str:
    """The token in a request: `Authorization: Bearer TOKEN`, or the password of Basic, which browsers ask for."""
    kind, _, value = _single(headers, "authorization").partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    try:
        return (
            base64.b64decode(value, validate=True).decode().partition(":")[2]
            if kind.lower() == "basic"
            else ""
        )
    except (ValueError, UnicodeDecodeError):
        return ""


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server on this address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Names:
    """The names by which browsers may reach the portal: else a page of another site, whose name leads here, could read
    it. Numeric addresses are always allowed, since no name leads to them.
    """

    known: frozenset[str] = frozenset({"localhost"})

    @classmethod
    def of_host(cls, host: str, more: Sequence[str] = ()) -> Self:
        """Those of a portal that listens on an address, and `more`."""
        own = () if is_loopback(host) else (socket.gethostname(), socket.getfqdn())
        return cls(frozenset(name.lower() for name in ("localhost", host, *own, *more)))

    def allow(self, hosts: Sequence[str]) -> bool:
        """Whether a request with these values of the header `Host` is answered."""
        found = (
            re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^:/@\[\]]+)(?::\d{1,5})?", hosts[0])
            if len(hosts) == 1
            else None
        )
        if found is None:
            return False
        try:
            return bool(ipaddress.ip_address(found[1].strip("[]")))
        except ValueError:
            return found[1].lower() in self.known


@dataclass(frozen=True)
class Wanted:
    """How the portal is to be reached, as the command line states it. `open` is without any token."""

    host: str
    unix_socket: bool = False
    token: str | None = None
    header: str | None = None
    secret: str | None = None
    open: bool = False


def checked_access(site: Site, wanted: Wanted) -> Access:
    """How the portal knows its users: without a token, header or `open`, by a token that is drawn here.

    Raises:
        WorkalikeError: USAGE where others could see what they may not, or the wishes contradict each other.
    """
    for what, text in (("token", wanted.token), ("proxy's secret", wanted.secret)):
        if text is not None and (len(text) < LEAST_TOKEN or not text.isascii() or not text.isprintable()):
            raise WorkalikeError(
                ErrorKind.USAGE,
                f"a {what} needs at least {LEAST_TOKEN} characters of ASCII in one line",
                hint="make one with: openssl rand -hex 16",
            )
    if wanted.header is not None and not _HEADER.fullmatch(wanted.header):
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"--user-header {wanted.header[:40]!r} is not a name of a header",
            hint="X-Remote-User",
        )
    if wanted.header is not None and not wanted.unix_socket and wanted.secret is None:
        raise WorkalikeError(
            ErrorKind.USAGE,
            "with --user-header alone, anybody who reaches the port could name a user",
            hint="give --unix-socket or --proxy-secret-file, so that only the proxy counts",
        )
    if wanted.secret is not None and wanted.header is None:
        raise WorkalikeError(
            ErrorKind.USAGE,
            "--proxy-secret-file without --user-header",
            hint="name the header of the user, too",
        )
    if wanted.open and (wanted.token is not None or wanted.header is not None):
        raise WorkalikeError(
            ErrorKind.USAGE, "--open contradicts --token-file and --user-header", hint="leave out one of them"
        )
    reached = not wanted.unix_socket and not is_loopback(wanted.host)
    if reached and wanted.token is None and wanted.header is None:
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"--host {wanted.host[:60]} is reached from other machines",
            hint="give --token-file, or --user-header of a proxy that checks who is asking",
        )
    drawn = wanted.token is None and wanted.header is None and not wanted.open
    return Access(site, secrets.token_hex(16) if drawn else wanted.token, wanted.header, wanted.secret)
