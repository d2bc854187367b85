"""Every kind of content with every backend is performed or refused in one line; no combination ends in a signal."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from .conftest import Engine, content, dump, family, make_plan, stream

MESH = {
    "type": "unstructured", "dimensions": 2, "parts": 4, "nodes": 100, "variables": [[1, "zone", "float64"]],
    "direction": "write",
}  # fmt: skip
ARRAY = {
    "datasets": 2, "element": 8, "dims": [64],
    "access": [{"ranks": "all", "direction": "write", "collective": False, "entries": [[8, [16], [1]]]}],
}  # fmt: skip
CONTENTS: dict[str, dict[str, Any]] = {
    "streams": content(stream([[4, 1000]])),
    "pieces": content(stream([[4, 1000]], pieces=10)),
    "arrays": content(arrays=[ARRAY]),
    "fit": content(fit={"bytes": 20000, "datasets": 2, "element": 8, "collective": True}),
    "mesh": content(mesh=MESH),
    "opens only": content(opens=3, stats=2),
    "nothing": content(),
    "read back": content(stream([[4, 1000]]), stream([[4, 1000]], direction="read")),
}


def backends(engine: Engine) -> list[str]:
    listed = subprocess.run(
        [str(engine.path), "--list-backends"], capture_output=True, text=True, check=True
    ).stdout
    return [line.split()[0] for line in listed.splitlines()]


@pytest.mark.parametrize("kind", CONTENTS)
def test_no_combination_ends_in_a_signal(engine: Engine, kind: str) -> None:
    performed = 0
    for backend in backends(engine):
        plan = make_plan(1, [family("posix")], [CONTENTS[kind]], [dump(0), dump(1)])
        log = ["--operations", str(engine.tmp / f"{backend}.txt")] if backend == "record" else []
        result = engine(plan, "--backend", backend, *log, processes=0, check=False)
        assert result.code in (0, 2), (backend, result.stderr)
        if result.code == 2:
            assert result.refusal.count("\n") == 0
            assert not result.files()
        performed += result.code == 0
    assert performed >= 3


def test_typhonio_names_what_it_needs(engine: Engine) -> None:
    result = engine(
        make_plan(1, [family("posix")], [CONTENTS["streams"]]), "--backend", "typhonio", check=False
    )
    assert result.code == 2
    assert "a TyphonIO file holds only meshes" in result.refusal
