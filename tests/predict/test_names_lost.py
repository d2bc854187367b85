"""How often the files of a plan are renamed, as a log of its run counts it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workalike.characterize.traces.exact import TableBuilder
from workalike.plan.options import Options
from workalike.plan.resolve import resolve
from workalike.predict.prediction import predicted
from workalike.workload.model import Family, Workload
from workalike.workload.operation_table import OperationTable

STREAMS = [{"streams": [{"direction": "write", "sizes": ["3 x 100 B"]}]}] * 3


def table_of(dumps: int) -> tuple[TableBuilder, list[dict[str, Any]]]:
    """Dumps of three writes each, as rows of a table."""
    table = TableBuilder()
    writes = np.ones(3, dtype=bool)
    rows = OperationTable(np.zeros(3, dtype=np.int64), writes, np.arange(3) * 100, np.full(3, 100), ~writes)
    return table, [
        {"table": {"first": table.add(rows), "writes": 3, "bytes_written": 300}} for _ in range(dumps)
    ]


@pytest.mark.parametrize("in_table", [False, True])
@pytest.mark.parametrize(
    ("fields", "further", "renames"),
    [
        ({"rename": True}, 0, 3),
        ({"rename": True, "lifetime": "reused"}, 0, 3),
        ({"rename": True, "lifetime": "reused"}, 1, 6),
        ({"backup": True}, 0, 2),
        ({"backup": True, "lifetime": "reused"}, 0, 2),
        ({"backup": True, "lifetime": "reused"}, 1, 5),
    ],
)
def test_renames_of_files_that_dumps_write(
    fields: dict[str, Any], further: int, renames: int, in_table: bool
) -> None:
    table, rows = table_of(3)
    contents = [content | {"renames": further} for content in (rows if in_table else STREAMS)]
    family = Family.model_validate(
        {"role": "log", "interface": "posix", "sharing": "root", "contents": contents}
        | {"schedule": {"count": 3, "every": 1.0}}
        | fields
    )
    workload = Workload(ranks=1, operations=table.operations() if in_table else None, families=[family])
    (found,) = predicted(resolve(workload, Options()), [4096], 10**6, [False]).values()
    assert found["POSIX"].counters["RENAME_SOURCES"] == renames
