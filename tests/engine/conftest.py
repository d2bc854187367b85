"""Plans made by hand, and the built engine that performs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",  # Open MPI 4
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # Open MPI 5
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    # One host, few cores: start without looking for networks.
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,vader",
}
SINGLETON_ENVIRONMENT = {"OMPI_MCA_ess_singleton_isolated": "1"}


def without_id(text: str) -> str:
    """Text without the plan's id in the names of data files."""
    return re.sub(r"\.[0-9a-f]{8}(?=\.(?:dat|h5|nc|bp))", "", text)


def find_engine() -> Path | None:
    places = [
        os.environ.get("WORKALIKE_ENGINE"),
        REPOSITORY / ".venv/bin/workalike-engine",
        REPOSITORY / "build/dev/workalike-engine",
    ]
    return next((Path(p) for p in places if p and Path(p).exists()), None)


@pytest.fixture(scope="session")
def engine_path() -> Path:
    path = find_engine()
    if path is None:
        pytest.skip("the engine is not built (make build, or set WORKALIKE_ENGINE)")
    return path


@dataclass
class Result:
    """The results of a run of the engine."""

    code: int
    stderr: str
    data: Path
    record_path: Path
    lines: list[dict[str, Any]] = field(default_factory=list)

    @property
    def head(self) -> dict[str, Any]:
        return self.lines[0]

    @property
    def dumps(self) -> list[dict[str, Any]]:
        found = [line for line in self.lines if line["type"] == "dump"]
        return sorted(found, key=lambda d: (d["family"], d["index"]))

    @property
    def end(self) -> dict[str, Any]:
        assert self.lines[-1]["type"] == "end", self.lines[-1]
        return self.lines[-1]

    @property
    def refusal(self) -> str:
        """The engine's one line; a launcher adds its own."""
        (line,) = [line for line in self.stderr.splitlines() if line.startswith("workalike-engine: ")]
        return line

    @property
    def errors(self) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["type"] == "error"]

    def files(self) -> dict[str, int]:
        """Names without the plan's id, and sizes."""
        return {without_id(p.name): p.stat().st_size for p in sorted(self.data.iterdir()) if p.is_file()}

    def path(self, name: str) -> Path:
        """A data file by its name without the plan's id."""
        (found,) = [p for p in self.data.iterdir() if without_id(p.name) == name]
        return found

    def total(self, counter: str) -> int:
        return sum(d["counters"][counter] for d in self.dumps)


class Engine:
    """Runs the engine; `processes` 0 starts it without a launcher."""

    def __init__(self, path: Path, tmp: Path) -> None:
        self.path = path
        self.tmp = tmp
        self.runs = 0

    def command(self, processes: int) -> list[str]:
        return [str(self.path)] if processes == 0 else ["mpiexec", "-n", str(processes), str(self.path)]

    def environment(self, processes: int = 0) -> dict[str, str]:
        return {**os.environ, **MPI_ENVIRONMENT, **({} if processes else SINGLETON_ENVIRONMENT)}

    def write(self, plan: dict[str, Any] | str, name: str = "plan.json") -> Path:
        path = self.tmp / name
        path.write_text(plan if isinstance(plan, str) else json.dumps(plan))
        return path

    def __call__(
        self,
        plan: dict[str, Any] | str,
        *args: str,
        processes: int | None = None,
        data: Path | None = None,
        prefix: list[str] | None = None,
        timeout: float = 120,
        check: bool = True,
    ) -> Result:
        self.runs += 1
        path = self.write(plan)
        if processes is None:
            processes = plan["ranks"] if isinstance(plan, dict) and plan["ranks"] > 1 else 0
        folder = data or self.tmp / f"data{self.runs}"
        folder.mkdir(exist_ok=True)
        record = self.tmp / f"run{self.runs}.jsonl"
        command = [
            *(prefix or []), *self.command(processes),
            "--plan", str(path), "--dir", str(folder), "--record", str(record), *args,
        ]  # fmt: skip
        done = subprocess.run(
            command,
            env=self.environment(processes),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        lines = []
        if record.exists():
            lines = [json.loads(line) for line in record.read_text().splitlines()]
        code = done.returncode
        if lines and lines[-1]["type"] == "end" and "exiting improperly" in done.stderr:
            code = 0  # Open MPI 4 says so of ranks that have ended well, at times under a heavy load
        result = Result(code, done.stderr, folder, record, lines)
        if check:
            assert code == 0, done.stderr
        return result


@pytest.fixture
def engine(engine_path: Path, tmp_path: Path) -> Engine:
    return Engine(engine_path, tmp_path)


@pytest.fixture(params=[1, 4], ids=["serial", "mpi4"])
def ranks(request: pytest.FixtureRequest) -> int:
    """The same test body, serially and under mpiexec -n 4."""
    if request.param > 1 and shutil.which("mpiexec") is None:
        pytest.skip("no mpiexec")
    return int(request.param)


def sharing(mode: str = "shared", ranks: Any = "all", **more: Any) -> dict[str, Any]:
    return {"mode": mode, "files": 1, "turns": "concurrent", "ranks": ranks, "gather": False, **more}


def family(backend: str = "posix", **more: Any) -> dict[str, Any]:
    level = {"hdf5": "h5d", "null": "posix", "record": "posix"}.get(backend, backend)
    interface = {"null": "posix", "record": "posix"}.get(backend, backend)
    return {
        "id": 0, "role": "checkpoint", "number": 1, "interface": interface, "backend": backend, "level": level,
        "sharing": sharing(), "lifetime": "per-dump", "keep": 0, "rename": False, "reader": "writer",
        "drop_caches": False, "hints": {}, **more,
    }  # fmt: skip


def stream(
    entries: list[list[int]], direction: str = "write", pattern: str = "contiguous", **more: Any
) -> dict[str, Any]:
    return {
        "ranks": "all", "direction": direction, "pattern": pattern, "collective": False, "base": 0,
        "entries": entries, "mixed": False, "stride": 0, "pieces": 1, **more,
    }  # fmt: skip


def content(*streams: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "opens": 0, "stats": 0, "seeks": 0, "fsyncs": 0, "flushes": 0,
        "streams": list(streams), "arrays": [], "fit": None, **more,
    }  # fmt: skip


def dump(index: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "family": 0, "index": index, "file": index, "content": 0, "base": 0,
        "start_s": 0.0, "end_s": 0.0, "prepare": False, **more,
    }  # fmt: skip


def make_plan(
    ranks: int,
    families: list[dict[str, Any]],
    contents: list[dict[str, Any]],
    dumps: list[dict[str, Any]] | None = None,
    **more: Any,
) -> dict[str, Any]:
    return {
        "format": "workalike-plan", "version": 2, "ranks": ranks, "seed": 1, "clock": "gap", "time_scale": 0.0,
        "gap_fill": "sleep", "payload": {"compressibility": 0.0}, "scale": {"ranks": 1.0, "bytes": 1.0, "time": 0.0},
        "families": families, "contents": contents, "dumps": [dump()] if dumps is None else dumps, **more,
    }  # fmt: skip
