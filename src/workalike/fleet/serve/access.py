"""Who is asking, and which jobs they may see."""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass

from workalike.errors import ErrorKind, WorkalikeError
from workalike.fleet.site import Site

LEAST_TOKEN = 16


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
    """How the portal knows who is asking: on this machine only, by a token, or by a proxy's header."""

    site: Site
    token: str | None = None
    header: str | None = None

    def viewer(self, headers: Mapping[str, str]) -> Viewer | None:
        """Who is asking; None where they must not see anything.

        The holder of the token is staff. Where a proxy names the user, a request without the header is refused.
        """
        if self.token is not None and hmac.compare_digest(_given(headers).encode(), self.token.encode()):
            return Viewer("holder of the token", True, "")
        if self.header is not None:
            name = headers.get(self.header, "").strip()
            return Viewer(name, name in self.site.staff, self.site.shown_user(name)) if name else None
        return Viewer("local", True, "") if self.token is None else None


def _given(headers: Mapping[str, str]) -> str:
    """The token in a request: `Authorization: Bearer TOKEN`, or the password of Basic, which browsers ask for."""
    kind, _, value = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    try:
        return (
            base64.b64decode(value, validate=True).decode().partition(":")[2]
            if kind.lower() == "basic"
            else ""
        )
    except (binascii.Error, UnicodeDecodeError):
        return ""


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server on this address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def checked_access(host: str, site: Site, token: str | None, header: str | None) -> Access:
    """How the portal knows its users.

    Raises:
        WorkalikeError: USAGE where other machines reach it and neither a token nor a header is given.
    """
    if token is not None and len(token) < LEAST_TOKEN:
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"a token needs at least {LEAST_TOKEN} characters",
            hint="make one with: openssl rand -hex 16",
        )
    if not is_loopback(host) and token is None and header is None:
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"--host {host[:60]} is reached from other machines",
            hint="give --token-file, or --user-header of a proxy that checks who is asking",
        )
    return Access(site, token, header)
