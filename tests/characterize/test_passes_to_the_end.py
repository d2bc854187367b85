"""Files of unequal lengths that are read to their ends several times."""

from __future__ import annotations

from pathlib import Path

from workalike.characterize import characterize
from workalike.characterize.readings.placement import passes
from workalike.compare.lines import model_against_log
from workalike.compare.pairing import pair_up
from workalike.darshan import open_log
from workalike.darshan.write import LogBuilder
from workalike.workload.model import Content, Direction

BUFFER, PASSES = 32768, 2


def log_of(lengths: list[int], folder: Path) -> Path:
    """Each file is opened and read twice: whole buffers, what is left, and a read that gets nothing."""
    log = LogBuilder(nprocs=1, run_time=10.0)
    for number, length in enumerate(lengths):
        whole, left = divmod(length, BUFFER)
        reads = whole + 2
        log.posix(
            f"/run/input-{number:04d}", 0, OPENS=PASSES, READS=PASSES * reads, BYTES_READ=PASSES * length,
            MAX_BYTE_READ=length - 1, CONSEC_READS=PASSES * (reads - 1), SEQ_READS=PASSES * (reads - 1),
            SIZE_READ_0_100=PASSES, SIZE_READ_10K_100K=PASSES * (whole + 1), ACCESS1_ACCESS=BUFFER,
            ACCESS1_COUNT=PASSES * whole, ACCESS2_ACCESS=left, ACCESS2_COUNT=PASSES, MODE=0o644,
            FILE_ALIGNMENT=1, F_READ_TIME=0.01,
            F_OPEN_START_TIMESTAMP=1.0 + number / 10, F_READ_START_TIMESTAMP=1.01 + number / 10,
            F_READ_END_TIMESTAMP=1.05 + number / 10, F_CLOSE_END_TIMESTAMP=1.06 + number / 10,
        )  # fmt: skip
    return log.write(folder / "x.darshan")


def test_each_pass_ends_with_what_is_left_of_the_file(tmp_path: Path) -> None:
    lengths = [BUFFER * (number % 2) + 11_000 + 617 * number for number in range(24)]
    found = characterize([open_log(log_of(lengths, tmp_path))])
    rows = model_against_log(pair_up(found, None))
    assert [row for row in rows if not row.agrees] == []
    (facts,) = found.families
    contents = [facts.family.content_of(dump) for dump in range(facts.family.schedule.dumps)]
    assert all(content.passes == PASSES for content in contents)
    assert sum(content.moved(1, Direction.READ) for content in contents) == PASSES * sum(lengths)


def test_a_pass_begins_with_whole_buffers() -> None:
    content = Content.model_validate(
        {"streams": [{"direction": "read", "sizes": ["2 x 0 B", "2 x 17506 B", "2 x 32 KiB"]}]}
    )
    found = passes._to_the_end(content, PASSES)
    assert found is not None and found.passes == PASSES
    assert [(entry.count, entry.size) for entry in found.streams[0].sizes] == [
        (1, BUFFER),
        (1, 17506),
        (1, 0),
    ]
