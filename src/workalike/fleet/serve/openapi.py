"""The description of the JSON interface, OpenAPI 3.1."""

from __future__ import annotations

from typing import Any

from workalike import __version__
from workalike.fleet.serve.queries import ORDERS

_NUMBERS = (
    "start", "finish", "run_time", "bytes_read", "bytes_written", "io_s", "redundant_read", "small_shared_writes",
    "collective_writes", "meta_per_rank_s",
)  # fmt: skip


def document() -> dict[str, Any]:
    """The whole document."""
    properties: dict[str, Any] = {name: {"type": "string"} for name in ("key", "site", "user", "application")}
    properties |= {name: {"type": "integer"} for name in ("job_id", "nprocs", "logs", "files")}
    properties |= {name: {"type": "number"} for name in _NUMBERS}
    properties |= {name: {"type": ["number", "null"]} for name in ("estimated_rate", "io_percent")}
    properties["partial"] = {"type": "boolean"}
    job = {"type": "object", "properties": properties, "required": sorted(properties)}
    listed = {
        "type": "object",
        "properties": {
            "page": {"type": "integer"},
            "more": {"type": "boolean"},
            "jobs": {"type": "array", "items": {"$ref": "#/components/schemas/Job"}},
        },
    }
    parameters = [
        {"name": name, "in": "query", "schema": {"type": "string"}}
        for name in ("user", "application", "job_id", "since", "until", "percent")
    ]
    parameters += [
        {"name": "order", "in": "query", "schema": {"enum": list(ORDERS)}},
        {"name": "page", "in": "query", "schema": {"type": "integer", "minimum": 0}},
    ]
    key = {"name": "key", "in": "path", "required": True, "schema": {"type": "string"}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "I/O of jobs", "version": __version__},
        "paths": {
            "/api/jobs": {"get": {"parameters": parameters, "responses": _answer("Jobs", listed)}},
            "/job/{key}/workload.yaml": {
                "get": {
                    "parameters": [key],
                    "responses": {
                        "200": {
                            "description": "The workload, without names",
                            "content": {"application/yaml": {}},
                        },
                        "404": {"description": "No such job"},
                        "409": {"description": "The logs cannot be had any more, or have no data"},
                    },
                }
            },
            "/api/job/{key}": {
                "get": {
                    "parameters": [key],
                    "responses": _answer(
                        "A job, its families and findings", {"$ref": "#/components/schemas/Job"}
                    ),
                }
            },
        },
        "components": {"schemas": {"Job": job}},
    }


def _answer(title: str, schema: dict[str, Any]) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}}
    problems = {"400": "A parameter is wrong", "401": "Unknown user", "404": "No such job"}
    return {"200": {"description": title, "content": content}} | {
        k: {"description": v} for k, v in problems.items()
    }
