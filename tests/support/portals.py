"""Clients of the portal for tests, which ask it by a name of this machine."""

from __future__ import annotations

from typing import Any

import starlette.testclient


class TestClient(starlette.testclient.TestClient):
    __test__ = False

    def __init__(self, app: Any, **more: Any) -> None:
        super().__init__(app, **{"base_url": "http://localhost", **more})
