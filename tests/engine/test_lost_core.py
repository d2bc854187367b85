"""A rank waits until its next call is due, also where it loses its core between two readings of the clock."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import Engine, content, dump, family, make_plan, stream

LOST_S = 0.02
CLOCK = """
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* 20 ms pass before each EVERY-th reading. */
int clock_gettime(clockid_t clock, struct timespec* now) {
    static atomic_long readings;
    const int code = (int)syscall(SYS_clock_gettime, clock, now);
    if (code == 0 && clock == CLOCK_MONOTONIC) {
        const long nanoseconds = now->tv_nsec + 20000000 * (atomic_fetch_add(&readings, 1) / EVERY);
        now->tv_sec += nanoseconds / 1000000000;
        now->tv_nsec = nanoseconds % 1000000000;
    }
    return code;
}
"""


# A dump reads the clock several times. Over these cases, time passes before each of its readings.
@pytest.mark.parametrize("every", [5, 6, 8, 9])
def test_no_dump_comes_early(engine: Engine, tmp_path: Path, every: int) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no cc")
    (tmp_path / "clock.c").write_text(CLOCK)
    library = tmp_path / "clock.so"
    command = ["cc", "-shared", "-fPIC", f"-DEVERY={every}", "-o", str(library), str(tmp_path / "clock.c")]
    subprocess.run(command, check=True)
    due = [0.1 * (i + 1) for i in range(20)]
    plan = make_plan(
        1, [family("posix")], [content(stream([[1, 1000]]))], [dump(i, start_s=at) for i, at in enumerate(due)],
        clock="gap", time_scale=1.0, gap_fill="sleep",
    )  # fmt: skip
    # A sanitizer's library would rather be loaded first.
    sanitizer = f"ASAN_OPTIONS={os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0"
    result = engine(plan, prefix=["env", f"LD_PRELOAD={library}", sanitizer])
    late = [d["start_s"] - at for d, at in zip(result.dumps, due, strict=True)]
    assert min(late) > -LOST_S / 10, late
    assert max(late) > LOST_S / 10, "the library was not preloaded"
