"""Plans of 10⁹ calls and more: streams that follow a rule are predicted exactly, and what does not is left out and said."""

from __future__ import annotations

from pathlib import Path

import pytest

from workalike.characterize import characterize
from workalike.compare.fidelity import fidelity_of
from workalike.compare.pairing import pair_up
from workalike.darshan import LogBuilder, open_log
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.predict.prediction import MOST_CALLS, predicted
from workalike.workload.model import Role
from workalike.workload.workload_file import read_workload

TIMES = {
    "F_OPEN_START_TIMESTAMP": 1.0, "F_OPEN_END_TIMESTAMP": 1.0, "F_WRITE_START_TIMESTAMP": 1.0,
    "F_WRITE_END_TIMESTAMP": 9000.0, "F_CLOSE_START_TIMESTAMP": 9000.0, "F_CLOSE_END_TIMESTAMP": 9000.0,
}  # fmt: skip
CALLS = 10**8
"""Of each of 1,000 ranks: 10¹¹ in all."""


def large_log(path: Path) -> Path:
    builder = LogBuilder(nprocs=1000, run_time=10000.0)
    for rank in range(1000):
        builder.posix(
            f"/run/out.{rank}", rank, OPENS=1, WRITES=CALLS, BYTES_WRITTEN=CALLS * 4096, SIZE_WRITE_1K_10K=CALLS,
            MAX_BYTE_WRITTEN=CALLS * 4096 - 1, CONSEC_WRITES=CALLS - 1, SEQ_WRITES=CALLS - 1,
            ACCESS1_ACCESS=4096, ACCESS1_COUNT=CALLS, FILE_ALIGNMENT=1 << 20,
            FILE_NOT_ALIGNED=CALLS - -(-CALLS // 256), **TIMES,
        )  # fmt: skip
    return builder.write(path)


@pytest.mark.mpi
def test_a_log_of_10_to_the_11_calls_is_judged_in_full(tmp_path: Path) -> None:
    found = characterize([open_log(large_log(tmp_path / "large.darshan"))])
    plan = resolve(found.workload, Options(time_scale=0, backend="null"))
    record = run_plan(plan, RunOptions(tmp_path / "data", tmp_path, quiet=True, backend="null"))
    fidelity = fidelity_of(pair_up(found, record, plan=plan))
    assert fidelity.agreement.model == 1.0 and fidelity.agreement.counters_model >= 8
    assert not [note for note in fidelity.notes if "places and order" in note]
    (model,) = predicted(plan, [1 << 20], apart=[True]).values()
    counters = model["POSIX"].counters
    assert counters["CONSEC_WRITES"] == 1000 * (CALLS - 1)
    assert counters["FILE_NOT_ALIGNED"] == 1000 * (CALLS - -(-CALLS // 256))
    assert counters["MAX_BYTE_WRITTEN"] == CALLS * 4096 - 1


WORKLOAD = """\
workalike: 2
ranks: 2
families:
- role: checkpoint
  interface: posix
  sharing: per-rank
  schedule: {{count: 1, first: 0 s, every: 1 s}}
  content: {{streams: [{{direction: write, sizes: [1000000000/rank x 512 B]}}]}}
- role: input
  interface: {interface}
  sharing: per-rank
  schedule: {{count: 1, first: 0 s, every: 1 s}}
  content: {{streams: [{{direction: read, sizes: [{calls}/rank x {size} B], {pattern}}}]}}
"""


def plan_of(folder: Path, calls: int, pattern: str, size: int = 512, interface: str = "posix") -> Plan:
    text = WORKLOAD.format(calls=calls, pattern=pattern, size=size, interface=interface)
    (folder / "app.yaml").write_text(text)
    return resolve(read_workload(folder / "app.yaml"), Options(time_scale=0))


def test_only_what_follows_no_rule_is_left_out(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, MOST_CALLS, "pattern: random")
    model = predicted(plan, [0, 0])
    assert set(model) == {(Role.CHECKPOINT, 1)}
    assert model[Role.CHECKPOINT, 1]["POSIX"].counters["WRITES"] == 2 * 10**9
    few = predicted(plan_of(tmp_path, 1000, "pattern: random"), [0, 0])
    assert few[Role.INPUT, 1]["POSIX"].counters["READS"] == 2000


def test_families_after_one_that_is_left_out_are_predicted(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, MOST_CALLS, "pattern: random")
    first, second = plan.families
    turned = plan.model_copy(
        update={
            "families": [second.model_copy(update={"id": 0}), first.model_copy(update={"id": 1})],
            "dumps": [dump.model_copy(update={"family": 1 - dump.family}) for dump in plan.dumps],
        }
    )
    assert set(predicted(turned, [0, 0])) == {(Role.CHECKPOINT, 1)}


@pytest.mark.parametrize(
    ("pattern", "strides"), [("pattern: interleaved", 1), ("pattern: strided, stride: 1 KiB", 1)]
)
def test_interleaved_and_strided_streams_follow_a_rule(tmp_path: Path, pattern: str, strides: int) -> None:
    plan = plan_of(tmp_path, 10**9, pattern)
    counters = predicted(plan, [0, 4096])[Role.INPUT, 1]["POSIX"].counters
    assert counters["READS"] == 2 * 10**9
    assert counters["SEQ_READS"] == 2 * (10**9 - 1)


def test_many_pieces_of_a_noncontiguous_log_end_in_no_error(tmp_path: Path) -> None:
    """As of a large IOR run with -c and small transfers: pieces below MPI-IO are not looked at one by one."""
    plan = plan_of(tmp_path, 1000, "pattern: interleaved, pieces: 100000", size=800_000, interface="mpiio")
    model = predicted(plan, [0, 0], most=10_000)
    assert model[Role.CHECKPOINT, 1]["POSIX"].counters["WRITES"] == 2 * 10**9
    assert (Role.INPUT, 1) in model
