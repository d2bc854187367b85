"""Any path and parameter of the portal: no error of the server, no markup of the input, no name of another user."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from fleets import START, builder, plain_log, stored
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from portals import TestClient

from workalike.fleet.serve.access import Access
from workalike.fleet.serve.app import portal
from workalike.fleet.site import Site, read_site
from workalike.fleet.store import Store

PARAMETERS = ("user", "application", "job_id", "since", "until", "percent", "order", "page", "x")
TAG = "zqtag"
FRAGMENTS = (
    f"<{TAG} onload=x>", f'"><{TAG}>', f"</td></title><{TAG}/>", f"'\"><svg><{TAG}>", "{{7*7}}", "{% raw %}",
    "' OR 1=1 --", "'; DROP TABLE job; --", '"', "\\", "%00", "\x00", "../../etc/passwd", "\r\nx-y: z",
    "0", "-1", "1_0", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1e400", "nan", "inf", "٣",
    "2026-01-01", "2026-01-02", "0001-01-01", "9999-12-31", "9999-12-31T23:59:59-23:59", "2026-13-45", "7d", "999999w",
    "newest", "most read", "app", "/scratch", "small-writes", "9999", "a" * 3000, "<" * 300, "\ud800",
)  # fmt: skip
TEXT = st.one_of(
    st.sampled_from(FRAGMENTS),
    st.text(max_size=40),
    st.lists(st.sampled_from(FRAGMENTS), max_size=4).map("".join),
    st.integers(-(2**70), 2**70).map(str),
    st.datetimes().map(str),
)
QUERY = st.dictionaries(st.sampled_from(PARAMETERS), TEXT, max_size=4)


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Site]:
    folder = tmp_path_factory.mktemp("centre")
    for job in range(9):
        plain_log(folder / "logs", job, uid=job % 3, day=job % 4)
    hostile = builder(-(2**63), uid=1, exe=f"<{TAG}> x", day=-40000)
    hostile.posix(f"/scratch/<{TAG}>", BYTES_READ=2**63 - 1, READS=2**62, F_READ_TIME=1e300, OPENS=-1)
    hostile.write(folder / "logs" / "hostile.darshan")
    (folder / "users.csv").write_text(f"0,adaqq\n1,bobqq <{TAG}>\n2,eveqq\n")
    (folder / "site.yaml").write_text("users: users.csv\nstaff: [boss]\n")
    site = read_site(folder / "site.yaml")
    store, _ = stored(folder / "db", folder / "logs", site, site_file=folder / "site.yaml")
    (folder / "load.csv").write_text(
        f"mount,minute,bytes_read,bytes_written,operations,fullness\n/scratch,{START + 60},1,2,3,\n"
    )
    (folder / "jobs.csv").write_text(
        f"job_id,user,start,end,nodes\n1,bobqq <{TAG}>,{START},{START + 60},2\n2,eveqq,{START},{START},1\n"
    )
    from workalike.fleet.tables_in import read_accounting, read_server_load

    read_server_load(store, folder / "load.csv", site)
    read_accounting(store, folder / "jobs.csv", site)
    return store, site


@pytest.fixture(scope="module")
def site(centre: tuple[Store, Site]) -> TestClient:
    return TestClient(portal(centre[0], Access(centre[1], header="x-user")), raise_server_exceptions=False)


@pytest.fixture(scope="module")
def routes(site: TestClient) -> list[str]:
    return [route.path for route in site.app.routes]  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def keys(site: TestClient) -> list[tuple[str, str]]:
    """(key, user) of each job."""
    jobs = site.get("/api/jobs", headers={"x-user": "boss"}).json()["jobs"]
    return [(job["key"], job["user"]) for job in jobs]


def tags_of(text: str) -> set[str]:
    found: set[str] = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.add(tag)
            found.update(name for name, _ in attrs if name.startswith("on"))

    Reader().feed(text)
    return found


def check(site: TestClient, url: str, viewer: str, asked: str) -> None:
    answer = site.get(url, headers={"x-user": viewer})
    assert answer.status_code < 500, url
    if answer.headers.get("content-type", "").startswith("text/html"):
        assert tags_of(answer.text).isdisjoint({TAG, "svg onload", "onload", "script"}), url
    if viewer != "boss":
        for name in ("bobqq", "eveqq"):
            assert name not in answer.text or name in asked, url


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), value=TEXT, query=QUERY, viewer=st.sampled_from(["boss", "adaqq"]))
def test_any_path_and_parameter(
    site: TestClient, routes: list[str], data: st.DataObject, value: str, query: dict[str, str], viewer: str
) -> None:
    route = data.draw(st.sampled_from(routes))
    start, brace, rest = route.partition("{")
    path = start + (quote(value, safe="", errors="replace") + rest.partition("}")[2] if brace else "")
    check(site, f"{path}?{urlencode(query, errors='replace')}", viewer, value + "".join(query.values()))


def test_every_page_of_every_job(site: TestClient, routes: list[str], keys: list[tuple[str, str]]) -> None:
    assert {user for _, user in keys} == {"adaqq", f"bobqq <{TAG}>", "eveqq"}
    for route in routes:
        if "{key}" not in route or route.endswith("workload.yaml"):
            continue
        for key, user in keys:
            url = route.replace("{key}", key)
            assert site.get(url, headers={"x-user": "boss"}).status_code == 200, url
            own_status = site.get(url, headers={"x-user": "adaqq"}).status_code
            assert own_status == (200 if user == "adaqq" else 404), url
            check(site, url, "adaqq", "")
            check(site, url, "boss", "")


def test_every_page_without_a_name(site: TestClient, routes: list[str]) -> None:
    for route in routes:
        if "{" not in route:
            check(site, route, "boss", "")
            check(site, route, "adaqq", "")


def test_names_of_the_database_as_paths(site: TestClient, routes: list[str], tmp_path: Path) -> None:
    for name in ("adaqq", f"bobqq <{TAG}>", "app", f"<{TAG}>", "/scratch", "unknown", "2026-01-01"):
        for route in routes:
            if "{" in route and "{key}" not in route:
                url = route.partition("{")[0] + quote(name, safe="")
                check(site, url, "boss", name)
                check(site, url, "adaqq", name)
