"""Files of several ranks: the groups of N-M recur in each dump, those of processes that take the next file do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from workalike.characterize import characterize
from workalike.darshan import LogBuilder, open_log
from workalike.workload.model import SharingMode

SIZE = 2**20


@pytest.mark.parametrize(
    ("second", "dumps", "mode"),
    [
        (((0, 1), (2, 3)), 2, SharingMode.GROUPS),
        (((0, 2), (1, 3)), 4, SharingMode.SHARED),
    ],
)
def test_ranks_that_share_a_file(
    tmp_path: Path, second: tuple[tuple[int, ...], ...], dumps: int, mode: SharingMode
) -> None:
    log = LogBuilder(nprocs=4, run_time=20.0)
    for dump, groups in enumerate((((0, 1), (2, 3)), second)):
        for number, ranks in enumerate(groups):
            start = 1.0 + 5 * dump + 0.1 * number
            for rank in ranks:
                log.posix(
                    f"/run/input-{2 * dump + number:03d}.dat", rank, OPENS=1, READS=1, BYTES_READ=SIZE,
                    MAX_BYTE_READ=SIZE - 1, SIZE_READ_100K_1M=1, ACCESS1_ACCESS=SIZE, ACCESS1_COUNT=1,
                    F_OPEN_START_TIMESTAMP=start, F_READ_START_TIMESTAMP=start + 0.01, F_READ_TIME=0.5,
                    F_READ_END_TIMESTAMP=start + 1.0, F_CLOSE_END_TIMESTAMP=start + 1.1,
                )  # fmt: skip
    log.write(tmp_path / "app.darshan")
    (facts,) = characterize([open_log(tmp_path / "app.darshan")]).families
    assert (facts.family.schedule.dumps, facts.family.sharing.mode) == (dumps, mode)
