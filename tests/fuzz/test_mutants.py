"""20,000 mutants each of logs, workloads, plans and records: every command gives a result or a one-line error.

WORKALIKE_MUTANTS is the number of mutants; a mutant can be repeated by its turn.
"""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import darshan_everything
import pytest
from darshan_mutate import spoil_file, spoil_region
from harness import COUNT, PARTS, command, engine_check, try_mutants
from known_logs import ALL_LOGS
from mutants import mutated_json, mutated_text
from needed import needs_engine

from workalike.characterize import CharacterizeOptions, characterize
from workalike.compare.fidelity import fidelity_of
from workalike.compare.pairing import pair_up
from workalike.darshan import open_log
from workalike.errors import WorkalikeError
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.plan_file import plan_text
from workalike.plan.resolve import Options, resolve
from workalike.record.run_record import Record, assemble, read_record
from workalike.report import write_report
from workalike.workload.model import Workload
from workalike.workload.workload_file import read_workload, workload_text

pytestmark = [
    pytest.mark.long,
    needs_engine,
]

SHIPPED = Path(__file__).parents[2] / "workloads"
IN_PARTS = pytest.mark.parametrize("part", range(PARTS))
SHARE = COUNT // PARTS
LARGEST = 20_000
"""Most bytes of an input: mutants of small inputs are quick."""


def sources() -> dict[str, Workload]:
    """Workloads with little text: the shipped ones, and those of known logs."""
    found = {path.stem: read_workload(path) for path in sorted(SHIPPED.glob("**/*.yaml"))}
    for log in ALL_LOGS:
        if log.stat().st_size <= 2 * LARGEST:
            try:
                found[log.stem] = characterize([open_log(log)]).workload
            except WorkalikeError:
                continue
    return {name: workload for name, workload in found.items() if len(workload_text(workload)) <= LARGEST}


def check_shares(refused: int, accepted: int) -> None:
    """A tenth of the mutants are wrong, and a hundredth are not; of a few, neither is certain."""
    assert SHARE < 1000 or (refused > SHARE // 10 and accepted > SHARE // 100)


@pytest.fixture(scope="module")
def workloads() -> dict[str, Workload]:
    return sources()


@IN_PARTS
def test_logs(tmp_path: Path, part: int) -> None:
    images = {log.name: log.read_bytes() for log in ALL_LOGS if log.stat().st_size <= 2 * LARGEST}
    images["built"] = darshan_everything.builder().image()
    small = Record(plan_ranks=4, processes=1, backend="null")
    (tmp_path / "run.json").write_text(small.model_dump_json())

    def mutate(dice: random.Random) -> int:
        spoil = dice.choice([spoil_file, spoil_region, spoil_region, spoil_region])
        Path("m.darshan").write_bytes(spoil(images[dice.choice(sorted(images))], dice).image)
        more = dice.choice(
            [
                (),
                (),
                ("--include-program-start",),
                ("--states", "3"),
                ("--privacy", "rounded"),
                ("--model", "extents"),
            ]
        )
        code = command("characterize", "m.darshan", "-o", "m.yaml", "--rules", *more)
        if code in (0, 3):
            assert command("check", "m.yaml") in (0, 2)
            try:  # the engine may lack a backend, but the workload must be valid
                read_workload("m.yaml")
            except WorkalikeError as error:
                raise AssertionError(f"check refuses it: {error.one_line()}") from error
            command("check", "m.yaml", "--audit", "m.darshan")
            command(
                "plan", "m.yaml", "--ranks", dice.choice([1, 3, 64]), "--bytes-scale", "0.3", "-o", "m.json"
            )
            command("compare", "m.darshan", "run.json", "-o", "fidelity.json")
            if dice.random() < 0.01:
                log = characterize([open_log("m.darshan")], CharacterizeOptions(include_program_start=True))
                write_report("report.html", pairing=pair_up(log, None))
        return code

    ends = try_mutants("logs", tmp_path, mutate, part, PARTS)
    check_shares(ends[2], ends[0])


@IN_PARTS
def test_workloads(workloads: dict[str, Workload], tmp_path: Path, part: int) -> None:
    texts = {name: workload_text(workload) for name, workload in workloads.items()}
    (tmp_path / "run.json").write_text(Record(plan_ranks=4, processes=1, backend="null").model_dump_json())

    def mutate(dice: random.Random) -> int:
        Path("m.yaml").write_bytes(mutated_text(texts[dice.choice(sorted(texts))], dice))
        code = command("plan", "m.yaml", "-o", "m.json")
        if code == 0:
            command("check", "m.yaml")
            assert engine_check(Path("m.json")) in (0, 2)
            scaled = (
                "--ranks",
                dice.choice([1, 5, 1000]),
                "--bytes-scale",
                dice.choice(["0.01", "1/3", "7"]),
            )
            command("plan", "m.yaml", *scaled, "--scale-by", dice.choice(["count", "size"]), "-o", "s.json")
            command("compare", "m.yaml", "run.json", "-o", "fidelity.json", "--json")
        return code

    ends = try_mutants("workloads", tmp_path, mutate, part, PARTS)
    check_shares(ends[2], ends[0])


@IN_PARTS
def test_plans(workloads: dict[str, Workload], tmp_path: Path, part: int) -> None:
    texts = {}
    for name, workload in workloads.items():
        text = plan_text(resolve(workload, Options(ranks=min(workload.ranks, 64))))
        if len(text) <= 4 * LARGEST:
            texts[name] = text
            (tmp_path / f"{name}.yaml").write_text(workload_text(workload))
    documents = {name: json.loads(text) for name, text in texts.items()}
    (tmp_path / "run.json").write_text(Record(plan_ranks=4, processes=1, backend="null").model_dump_json())

    def mutate(dice: random.Random) -> tuple[int, int]:
        name = dice.choice(sorted(documents))
        Path("m.json").write_bytes(mutated_json(documents[name], dice))
        engine = engine_check(Path("m.json"))
        return engine, command(
            "compare", f"{name}.yaml", "run.json", "--plan", "m.json", "-o", "fidelity.json"
        )

    ends = try_mutants("plans", tmp_path, mutate, part, PARTS)
    check_shares(ends[2, 2], ends[0, 0])


@IN_PARTS
def test_records(workloads: dict[str, Workload], tmp_path: Path, part: int) -> None:
    """Records as the engine writes them, run.json and run.jsonl; reports are made of some that can be compared."""
    names = sorted(workloads)[::4]
    lines: dict[str, list[Any]] = {}
    for name in names:
        (tmp_path / f"{name}.yaml").write_text(workload_text(workloads[name]))
        plan = resolve(workloads[name], Options(ranks=min(workloads[name].ranks, 8)))
        out = tmp_path / f"{name}.out"
        try:
            run_plan(plan, RunOptions(tmp_path / "data", out, backend="null", quiet=True))
        except (WorkalikeError, subprocess.SubprocessError):
            continue
        text = (out / "run.jsonl").read_text()
        if len(text) <= 10 * LARGEST:
            lines[name] = [json.loads(line) for line in text.splitlines()]
    whole = {name: json.loads((tmp_path / f"{name}.out" / "run.json").read_text()) for name in lines}
    assert len(lines) >= 3

    def mutate(dice: random.Random) -> int:
        name = dice.choice(sorted(lines))
        if dice.random() < 0.5:
            path = Path("m.json")
            path.write_bytes(mutated_json(whole[name], dice))
        else:
            path = Path("m.jsonl")
            parts = [json.dumps(line).encode() for line in lines[name]]
            at = dice.randrange(len(parts))
            parts[at] = mutated_json(lines[name][at], dice)
            if dice.random() < 0.2:
                del parts[dice.randrange(len(parts))]
            path.write_bytes(b"\n".join(parts) + (b"\n" if dice.random() < 0.8 else b""))
        code = command("compare", f"{name}.yaml", path, "-o", "fidelity.json")
        if code == 0 and dice.random() < 0.05:
            page(name, assemble(path) if path.suffix == ".jsonl" else read_record(path))
        return code

    def page(name: str, record: Record) -> None:
        workload = workloads[name]
        plan = resolve(workload, Options(ranks=min(workload.ranks, 8)))
        pairing = pair_up(workload, record, plan=plan)
        write_report("report.html", pairing=pairing, fidelity=fidelity_of(pairing))

    ends = try_mutants("records", tmp_path, mutate, part, PARTS)
    check_shares(ends[2], ends[0])


def test_the_harness_finds_exceptions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness itself can fail: an exception of another kind must be reported."""
    monkeypatch.setattr("harness.COUNT", 3)

    def mutate(dice: random.Random) -> int:
        if dice.random() >= 0:
            raise ZeroDivisionError
        return 0

    with pytest.raises(pytest.fail.Exception, match="ZeroDivisionError"):
        try_mutants("nothing", tmp_path, mutate)
