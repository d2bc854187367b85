"""Record ids: the vectors of docs/reference/darshan-format.md#record-ids, and ids that Darshan itself gave in real logs."""

from __future__ import annotations

import pytest
from known_logs import package

from workalike.darshan import open_log, record_id

VECTORS = {
    "heatmap:POSIX": 16592106915301738621,
    "heatmap:STDIO": 3989511027826779520,
    "heatmap:MPIIO": 3668870418325792824,
    "heatmap:DFS": 1597927878319380788,
    "heatmap:DAOS": 4131494093108637317,
    "<STDIN>": 14734109647742566553,
    "<STDOUT>": 15920181672442173319,
    "<STDERR>": 7238257241479193519,
}


@pytest.mark.parametrize(("name", "number"), VECTORS.items())
def test_known_ids(name: str, number: int) -> None:
    assert record_id(name) == number
    assert record_id(name.encode()) == number


@pytest.mark.parametrize("log", ["dxt.darshan", "sample-badost", "pq_app_readAB", "ior_hdf5"])
def test_ids_in_real_logs_are_the_hashes_of_their_names(log: str) -> None:
    names = open_log(package(log)).names
    # File names of all lengths; module-internal names (H5D) are hashed the same way.
    assert len({len(name) % 24 for name in names.values()}) > 1
    wrong = {name for number, name in names.items() if record_id(name) != number}
    assert wrong == set()


def test_every_length_of_the_last_block_gives_another_id() -> None:
    ids = {record_id("x" * length) for length in range(100)}
    assert len(ids) == 100
    assert all(0 <= number < 1 << 64 for number in ids)
