"""Who sees what in the portal: each attack on the token, on the header of a proxy, and by the name of another site."""

from __future__ import annotations

import base64
import http.client
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fleets import plain_log, stored
from portals import TestClient

from workalike.errors import WorkalikeError
from workalike.fleet.serve.access import Access, Names, Wanted, checked_access
from workalike.fleet.serve.app import HEADERS, portal
from workalike.fleet.serve.listen import listening
from workalike.fleet.site import Site
from workalike.fleet.store import Store

TOKEN, SECRET = "0123456789abcdef0123", "fedcba9876543210fedc"
STAFF = Site(staff=["flo"])


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("small")
    for job in range(3):
        plain_log(folder / "logs", job, uid=job)
    return stored(folder / "db", folder / "logs")[0]


def seen(store: Store, access: Access, headers: Any, **more: Any) -> int | None:
    """How many jobs a request sees; None where it is refused as nobody's."""
    answer = TestClient(portal(store, access, **more)).get("/api/jobs", headers=headers)
    assert answer.status_code in (200, 401)
    return len(answer.json()["jobs"]) if answer.status_code == 200 else None


def test_the_token_opens_everything_and_nothing_else_does(small: Store) -> None:
    access = Access(STAFF, token=TOKEN)
    basic = base64.b64encode(f"any:{TOKEN}".encode()).decode()
    for authorization in (f"Bearer {TOKEN}", f"Basic {basic}", f"basic {basic}"):
        assert seen(small, access, {"authorization": authorization}) == 3
    for authorization in (
        *("Bearer wrong", "Basic %%%", "Basic", "", "Bearer", f"Digest {TOKEN}", f"Bearer {TOKEN}x", TOKEN),
        "Basic " + base64.b64encode(b"\xff\xff:\xff").decode(),
    ):
        assert seen(small, access, {"authorization": authorization}) is None, authorization
    assert seen(small, access, {}) is None
    twice = [("authorization", f"Bearer {TOKEN}"), ("authorization", "Bearer x")]
    assert seen(small, access, twice) is None and seen(small, access, twice[::-1]) is None
    assert seen(small, access, {"x-user": "flo"}) is None


@pytest.mark.parametrize(
    ("headers", "jobs"),
    [
        ([("x-user", "flo"), ("x-proxy-secret", SECRET)], 3),
        ([("x-user", "uid 1"), ("x-proxy-secret", SECRET)], 1),
        ([("x-user", "nobody"), ("x-proxy-secret", SECRET)], 0),
        ([("x-user", "FLO"), ("x-proxy-secret", SECRET)], 0),
        ([("x-user", "flo")], None),
        ([("x-user", "flo"), ("x-proxy-secret", "")], None),
        ([("x-user", "flo"), ("x-proxy-secret", SECRET[:-1])], None),
        ([("x-user", "flo"), ("x-proxy-secret", SECRET), ("x-proxy-secret", SECRET)], None),
        ([("x-user", "flo"), ("x-proxy-secret", "x"), ("x-proxy-secret", SECRET)], None),
        ([("x-user", ""), ("x-proxy-secret", SECRET)], None),
        ([("x-proxy-secret", SECRET)], None),
        # A client's own header, to which the proxy adds its own, before or after it.
        ([("x-user", "flo"), ("x-user", "uid 1"), ("x-proxy-secret", SECRET)], None),
        ([("x-user", "uid 1"), ("X-USER", "flo"), ("x-proxy-secret", SECRET)], None),
        ([("x-user", "flo, uid 1"), ("x-proxy-secret", SECRET)], 0),
        ([("x-user", "uid 1, flo"), ("x-proxy-secret", SECRET)], 0),
        ([("x-user", "uid 1"), ("x_user", "flo"), ("x-proxy-secret", SECRET)], 1),
        # What Python takes for white space is a part of a name.
        ([("x-user", b"\xa0flo\xa0"), ("x-proxy-secret", SECRET)], 0),
        ([("x-user", b"\x1cflo"), ("x-proxy-secret", SECRET)], 0),
        ([("x-user", b"flo\x85"), ("x-proxy-secret", SECRET)], 0),
    ],
)
def test_a_header_counts_once_as_it_is_and_from_the_proxy(
    small: Store, headers: Any, jobs: int | None
) -> None:
    raw = [(name.encode(), value if isinstance(value, bytes) else value.encode()) for name, value in headers]
    assert seen(small, Access(STAFF, header="x-user", secret=SECRET), raw) == jobs


def test_with_a_token_and_a_header_both_must_hold(small: Store) -> None:
    access = Access(STAFF, token=TOKEN, header="x-user", secret=SECRET)
    token, user = ("authorization", f"Bearer {TOKEN}"), ("x-user", "uid 1")
    proof = ("x-proxy-secret", SECRET)
    assert seen(small, access, [token, user, proof]) == 1
    for parts in ([token], [user, proof], [token, user], [token, proof], [("x-user", "flo"), proof]):
        assert seen(small, access, parts) is None, parts


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Wanted("0.0.0.0"), "reached from other machines"),
        (Wanted("0.0.0.0", open=True), "reached from other machines"),
        (Wanted("127.0.0.1", token="short"), "at least 16"),
        (Wanted("127.0.0.1", token=f"{TOKEN}\u00e4"), "at least 16 characters of ASCII"),
        (Wanted("127.0.0.1", header="x-user"), "anybody who reaches the port"),
        (Wanted("127.0.0.1", header="x-user", token=TOKEN), "anybody who reaches the port"),
        (Wanted("127.0.0.1", header="x user", secret=SECRET), "not a name of a header"),
        (Wanted("127.0.0.1", header="x-user", secret="short"), "at least 16"),
        (Wanted("127.0.0.1", secret=SECRET), "without --user-header"),
        (Wanted("127.0.0.1", token=TOKEN, open=True), "contradicts"),
        (Wanted("", unix_socket=True, header="x-user", open=True), "contradicts"),
    ],
)
def test_unsafe_wishes_are_refused(wanted: Wanted, words: str) -> None:
    with pytest.raises(WorkalikeError, match=words):
        checked_access(STAFF, wanted)


def test_a_token_is_drawn_unless_the_portal_is_open() -> None:
    drawn = [checked_access(STAFF, Wanted("127.0.0.1")).token for _ in range(2)]
    assert drawn[0] != drawn[1] and all(token and len(token) == 32 for token in drawn)
    assert checked_access(STAFF, Wanted("127.0.0.1", open=True)).token is None
    assert checked_access(STAFF, Wanted("", unix_socket=True, header="x-user")).token is None


@pytest.mark.parametrize(
    ("hosts", "allowed"),
    [
        *(
            (["localhost"], True),
            (["LOCALHOST:80"], True),
            (["127.0.0.1:8080"], True),
            (["[::1]:8080"], True),
        ),
        *((["io.example.org"], True), ([], False), ([""], False), (["localhost", "localhost"], False)),
        *(
            (["evil.example"], False),
            (["localhost.evil.example"], False),
            (["localhost:80@evil.example"], False),
        ),
        *(
            (["evil.example:80"], False),
            (["localhost "], False),
            (["[localhost]"], False),
            (["a" * 9999], False),
        ),
    ],
)
def test_names_of_the_portal(hosts: list[str], allowed: bool) -> None:
    assert Names.of_host("127.0.0.1", ["io.example.org"]).allow(hosts) is allowed


@pytest.mark.parametrize("access", [Access(STAFF), Access(STAFF, header="x-user", secret=SECRET)])
def test_the_name_is_checked_with_a_header_too(small: Store, access: Access) -> None:
    headers = {"x-user": "flo", "x-proxy-secret": SECRET, "host": "evil.example"}
    assert TestClient(portal(small, access)).get("/", headers=headers).status_code == 400
    assert TestClient(portal(small, access, names=None)).get("/", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("method", "url", "host", "status"),
    [
        *(("GET", "/none", "localhost", 404), ("GET", "/none", "evil", 400), ("POST", "/", "localhost", 405)),
        *(("DELETE", "/style.css", "localhost", 405), ("GET", "/days/", "localhost", 307)),
        *(("HEAD", "/", "localhost", 200), ("GET", "/job/1/workload.yaml", "localhost", 404)),
        *(("GET", "/?page=-1", "localhost", 400), ("GET", "/api/job/1", "localhost", 404)),
        *(("OPTIONS", "/", "localhost", 405), ("GET", "/style.css", "localhost", 200)),
    ],
)
def test_every_answer_has_the_headers(small: Store, method: str, url: str, host: str, status: int) -> None:
    site = TestClient(portal(small, Access(STAFF)))
    answer = site.request(method, url, headers={"host": host}, follow_redirects=False)
    assert answer.status_code == status
    assert {name: answer.headers.get_list(name) for name in HEADERS} == {n: [v] for n, v in HEADERS.items()}


def test_a_failure_has_the_headers_too(small: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workalike.fleet.serve.queries.found_jobs", lambda *_: 1 / 0)
    answer = TestClient(portal(small, Access(STAFF)), raise_server_exceptions=False).get("/")
    assert answer.status_code == 500 and HEADERS.items() <= dict(answer.headers).items()
    assert "ZeroDivision" not in answer.text
    refused = TestClient(portal(small, Access(STAFF, token=TOKEN))).get("/")
    assert refused.status_code == 401 and HEADERS.items() <= dict(refused.headers).items()


@contextmanager
def served(store: Store, *words: Any) -> Iterator[str]:
    """A portal in a process of its own; what it prints first."""
    command = [
        sys.executable,
        "-m",
        "workalike",
        "fleet",
        "serve",
        "--db",
        store.folder,
        "--port",
        "0",
        *words,
    ]
    with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()


def status_of(connection: http.client.HTTPConnection, **headers: str) -> int:
    connection.request("GET", "/", headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    answer.read()
    return answer.status


def test_the_printed_url_has_the_token(small: Store) -> None:
    with served(small) as url:
        found = re.fullmatch(r"http://token:([0-9a-f]{32})@127\.0\.0\.1:(\d+)/", url)
        assert found is not None, url
        connection = http.client.HTTPConnection("127.0.0.1", int(found[2]), timeout=60)
        basic = base64.b64encode(f"token:{found[1]}".encode()).decode()
        assert status_of(connection) == 401
        assert status_of(connection, Authorization=f"Basic {basic}") == 200
        assert status_of(connection, Authorization=f"Basic {basic}", Host="evil.example") == 400


class OfFile(http.client.HTTPConnection):
    """A connection by a socket file."""

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self.host)


def test_a_socket_file_is_the_proxys(small: Store, tmp_path: Path) -> None:
    path = tmp_path / "portal"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as killed:
        killed.bind(str(path))  # what a killed portal leaves
    with served(small, "--user-header", "X-User", "--unix-socket", path) as printed:
        assert printed == f"unix:{path}"
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
        assert status_of(OfFile(str(path)), X_User="uid 1", Host="io.example.org") == 200
        assert status_of(OfFile(str(path)), Host="io.example.org") == 401
        with pytest.raises(WorkalikeError, match="cannot listen there"), listening("", 0, path):
            pass
        assert status_of(OfFile(str(path)), X_User="uid 1") == 200
    assert not path.exists()


def test_another_file_stays(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(WorkalikeError, match="cannot listen there"), listening("", 0, tmp_path / "file"):
        pass
    assert (tmp_path / "file").read_text() == "kept"
    with pytest.raises(WorkalikeError, match="cannot listen there"), listening("", 0, tmp_path / ("x" * 200)):
        pass
    with (
        listening("127.0.0.1", 0, None) as bound,
        pytest.raises(WorkalikeError, match="in use"),
        listening("127.0.0.1", bound.getsockname()[1], None),
    ):
        pass
