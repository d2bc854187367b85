"""The web application: routes, headers, errors."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2

from workalike.errors import ErrorKind, WorkalikeError
from workalike.extras import extra
from workalike.fleet.serve import numbers, pages, queries
from workalike.fleet.serve.access import Access, Names, Viewer
from workalike.fleet.serve.charts import table_csv
from workalike.fleet.serve.numbers import Table
from workalike.fleet.serve.openapi import document
from workalike.fleet.serve.pages import Block, Page
from workalike.fleet.serve.snapshot import Snapshot
from workalike.fleet.serve.workloads import Workloads
from workalike.fleet.store import Store, damage_named

HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "private, no-store",
    "cross-origin-resource-policy": "same-origin",
}
PROBLEMS = {400: "Not understood", 404: "Not found", 409: "Not possible", 500: "Not readable"}
OPEN_PAGES = (("/", "Jobs"), ("/days", "Days"), ("/fs", "File systems"))
STAFF_PAGES = (
    ("/users", "Users"),
    ("/applications", "Applications"),
    ("/coverage", "Coverage"),
    ("/metrics", "Metrics"),
)
INTERFACE = ("/api/openapi.json", "API")
"""Links of the navigation: address and name."""
_TEMPLATES = Path(str(resources.files("workalike.fleet.serve"))) / "templates"
_SHARED = Path(str(resources.files("workalike.report"))) / "templates"


def starlette() -> Any:
    """Starlette's modules.

    Raises:
        WorkalikeError: NOT_INSTALLED where it is not.
    """
    for part in ("applications", "datastructures", "middleware", "responses", "routing"):
        extra(f"starlette.{part}", "the portal", "fleet")
    return extra("starlette", "the portal", "fleet")


LOCAL = Names()


def portal(store: Store, access: Access, *, names: Names | None = LOCAL, archives: Path | None = None) -> Any:
    """The ASGI application, which answers requests to these `names` (None: to any, as from a socket file).

    `archives` is the folder of `fleet archive`, for the workloads of logs that are no longer where they were read.
    """
    web = starlette()
    portal_of = _Portal(Snapshot(store), access, web, Workloads(archives))
    route = web.routing.Route
    routes = [
        route("/", portal_of.page(lambda v, r: pages.jobs_page(portal_of.data, v, r.query_params))),
        route(
            "/job/{key}", portal_of.page(lambda v, r: pages.job_page(portal_of.data, v, r.path_params["key"]))
        ),
        *(
            route(f"/job/{{key}}/{make.__name__}.csv", portal_of.table_of_job(make))
            for make in (numbers.sizes, numbers.timeline, numbers.runs, numbers.load)
        ),
        route("/days.csv", portal_of.table(lambda v, r: numbers.days(portal_of.data, v, r.query_params))),
        route(
            "/coverage.csv",
            portal_of.table(lambda v, r: numbers.covered(portal_of.data) if v.staff else None),
        ),
        route("/job/{key}/workload.yaml", portal_of.answer(portal_of.workload)),
        route("/jobs.csv", portal_of.answer(portal_of.jobs_csv)),
        route("/user/{name:path}", portal_of.page(portal_of.group("user"))),
        route("/application/{name:path}", portal_of.page(portal_of.group("application"))),
        route(
            "/users",
            portal_of.page(lambda v, r: pages.groups_page(portal_of.data, "user") if v.staff else None),
        ),
        route(
            "/applications",
            portal_of.page(
                lambda v, r: pages.groups_page(portal_of.data, "application") if v.staff else None
            ),
        ),
        route("/fs", portal_of.page(lambda v, r: pages.file_systems_page(portal_of.data, v))),
        route("/days", portal_of.page(lambda v, r: pages.days_page(portal_of.data, v))),
        route(
            "/day/{day}", portal_of.page(lambda v, r: pages.day_page(portal_of.data, v, r.path_params["day"]))
        ),
        route(
            "/fs/{mount:path}",
            portal_of.page(lambda v, r: pages.fs_page(portal_of.data, v, r.path_params["mount"])),
        ),
        route(
            "/finding/{rule}",
            portal_of.page(lambda v, r: pages.finding_page(portal_of.data, v, r.path_params["rule"])),
        ),
        route(
            "/coverage", portal_of.page(lambda v, r: pages.coverage_page(portal_of.data) if v.staff else None)
        ),
        route(
            "/metrics", portal_of.page(lambda v, r: pages.metrics_page(portal_of.data) if v.staff else None)
        ),
        route("/api/openapi.json", portal_of.answer(lambda v, r: portal_of.json(document()))),
        route("/api/jobs", portal_of.answer(portal_of.api_jobs)),
        route("/api/job/{key}", portal_of.answer(portal_of.api_job)),
        route("/style.css", portal_of.style),
    ]
    return web.applications.Starlette(
        routes=routes,
        middleware=[web.middleware.Middleware(_Guard, web=web, names=names)],
        exception_handlers={Exception: portal_of.failure},
    )


class _Guard:
    """Refuses requests to other names, and gives all answers the headers of `HEADERS`."""

    def __init__(self, app: Any, web: Any, names: Names | None) -> None:
        self._app = app
        self._web = web
        self._names = names

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = self._web.datastructures.MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        answer = self._app
        hosts = self._web.datastructures.Headers(scope=scope).getlist("host")
        if self._names is not None and not self._names.allow(hosts):
            answer = self._web.responses.PlainTextResponse("The portal has another name.\n", 400)
        await answer(scope, receive, guarded)


class _Portal:
    def __init__(self, data: Snapshot, access: Access, web: Any, workloads: Workloads) -> None:
        self._workloads = workloads
        self.data = data
        self._access = access
        self._web = web
        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(_TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined
        )
        self._template = environment.get_template("page.html")
        self._css = "".join(
            (folder / name).read_text(encoding="utf-8")
            for folder, name in ((_SHARED, "shared.css"), (_TEMPLATES, "style.css"))
        )

    def page(self, make: Callable[[Viewer, Any], Page | None]) -> Callable[[Any], Any]:
        """An endpoint that shows a page; None is one that does not exist, or is not the viewer's."""

        def show(viewer: Viewer, request: Any) -> Any:
            found = make(viewer, request)
            if found is None:
                return self._problem(viewer, 404, "There is no such page, or it is not yours.")
            return self._html(viewer, found, here=request.url.path)

        return self.answer(show)

    def answer(self, make: Callable[[Viewer, Any], Any]) -> Callable[[Any], Any]:
        """An endpoint that knows who is asking."""

        def endpoint(request: Any) -> Any:
            viewer = self._access.viewer(request.headers)
            if viewer is None:
                headers = {"www-authenticate": 'Basic realm="I/O of jobs"'}
                return self._web.responses.PlainTextResponse("Who are you?\n", 401, headers)
            try:
                with damage_named(self.data.store.folder):
                    return make(viewer, request)
            except WorkalikeError as error:
                if error.kind is ErrorKind.BAD_FILE:
                    return self._problem(viewer, 500, "The database is damaged: ask who looks after it.")
                return self._problem(viewer, 400, error.message)

        return endpoint

    def group(self, kind: str) -> Callable[[Viewer, Any], Page | None]:
        return lambda viewer, request: pages.group_page(self.data, viewer, kind, request.path_params["name"])

    def style(self, request: Any) -> Any:
        return self._web.responses.Response(self._css, media_type="text/css")

    def json(self, value: Any) -> Any:
        text = json.dumps(value, allow_nan=False)
        return self._web.responses.Response(text, media_type="application/json")

    def table(self, make: Callable[[Viewer, Any], Table | None]) -> Callable[[Any], Any]:
        """An endpoint that gives numbers as CSV; None are those that do not exist, or are not the viewer's."""

        def give(viewer: Viewer, request: Any) -> Any:
            found = make(viewer, request)
            if found is None:
                return self._problem(viewer, 404, "There is no such table, or it is not yours.")
            return self._csv(found.heads, found.rows)

        return self.answer(give)

    def table_of_job(self, make: Callable[[Snapshot, Viewer, str], Table | None]) -> Callable[[Any], Any]:
        return self.table(lambda viewer, request: make(self.data, viewer, request.path_params["key"]))

    def workload(self, viewer: Viewer, request: Any) -> Any:
        """The anonymous workload of a job, from its logs."""
        job = queries.one_job(self.data, viewer, request.path_params["key"])
        if job is None:
            return self._problem(viewer, 404, "There is no such job, or it is not yours.")
        try:
            text = self._workloads.text(
                self.data.store, self.data.connection(), queries.logs_of(self.data, job)
            )
        except WorkalikeError as error:
            return self._problem(viewer, 409, f"The workload cannot be made: {error.message}.")
        headers = {"content-disposition": f'attachment; filename="job-{int(job["job_key"])}.yaml"'}
        return self._web.responses.Response(text, media_type="application/yaml", headers=headers)

    def jobs_csv(self, viewer: Viewer, request: Any) -> Any:
        """A page of the list of jobs as CSV."""
        jobs, _ = queries.found_jobs(self.data, viewer, queries.search_of(request.query_params, time.time()))
        names = list(api_row(jobs[0])) if jobs else ["key"]
        return self._csv(names, [list(api_row(job).values()) for job in jobs])

    def api_jobs(self, viewer: Viewer, request: Any) -> Any:
        search = queries.search_of(request.query_params, time.time())
        jobs, more = queries.found_jobs(self.data, viewer, search)
        return self.json({"page": search.page, "more": more, "jobs": [api_row(job) for job in jobs]})

    def api_job(self, viewer: Viewer, request: Any) -> Any:
        job = queries.one_job(self.data, viewer, request.path_params["key"])
        if job is None:
            return self._web.responses.JSONResponse({"error": "no such job"}, 404)
        logs = queries.logs_of(self.data, job)
        families = queries.of_logs(self.data, "family", logs, "bytes_written + bytes_read DESC")
        findings = queries.of_logs(self.data, "finding", logs, "cost_s DESC, rule")
        shown = {
            name: [{k: v for k, v in row.items() if k != "log_id"} for row in rows]
            for name, rows in (("families", families), ("findings", findings))
        }
        return self.json(api_row(job) | shown)

    def _html(self, viewer: Viewer, page: Page, status: int = 200, here: str = "") -> Any:
        links = [*OPEN_PAGES, *(STAFF_PAGES if viewer.staff else ()), INTERFACE]
        text = self._template.render(
            title=page.title, blocks=page.blocks, viewer=viewer, links=links, here=here, **page.more
        )
        return self._web.responses.HTMLResponse(text, status)

    def _csv(self, heads: Any, rows: Any) -> Any:
        return self._web.responses.Response(table_csv(heads, rows), media_type="text/csv")

    def failure(self, request: Any, error: Exception) -> Any:
        """The answer where the program itself failed; it is made outside of the guard."""
        return self._web.responses.PlainTextResponse("The portal failed.\n", 500, HEADERS)

    def _problem(self, viewer: Viewer, status: int, text: str) -> Any:
        return self._html(viewer, Page(PROBLEMS[status], [Block(note=text)]), status)


def api_row(job: queries.Row) -> dict[str, Any]:
    """A job as the JSON interface has it. The key is text: it exceeds what JavaScript's numbers hold."""
    return {
        "key": str(job["job_key"]),
        **{
            n: job[n]
            for n in (
                "site",
                "job_id",
                "user",
                "application",
                "start",
                "finish",
                "run_time",
                "nprocs",
                "logs",
            )
        },
        **{n: job[n] for n in ("bytes_read", "bytes_written", "files", "io_s", "partial")},
        "estimated_rate": pages.rate_of(job),
        "io_percent": pages.share_of(job),
        **{
            n: job[n]
            for n in ("redundant_read", "small_shared_writes", "collective_writes", "meta_per_rank_s")
        },
    }
