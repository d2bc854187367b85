"""How a workload refers to its operation table."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, PrivateAttr

from workalike.workload.operation_table import MAX_ROWS, OperationTable
from workalike.workload.quantities import MAX_FILE_BYTES, Size, Strict


class TableReference(Strict):
    """The operation table of a workload: a file beside it, of which SHA-256 and number of rows are stated.

    `extent` is one past the largest byte of a file; no row lies beyond it.
    """

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    rows: Annotated[int, Field(ge=1, le=MAX_ROWS)]
    extent: Annotated[Size, Field(le=MAX_FILE_BYTES)] = 0
    _table: OperationTable | None = PrivateAttr(default=None)

    @classmethod
    def to_table(cls, table: OperationTable) -> Self:
        """What a workload with this table states."""
        made = cls(sha256=table.sha256, rows=len(table), extent=table.end())
        made._table = table
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableReference) and self._stated() == other._stated()

    def __hash__(self) -> int:
        return hash(self._stated())

    def _stated(self) -> tuple[str, int, int]:
        return self.sha256, self.rows, self.extent

    @property
    def table(self) -> OperationTable | None:
        """The rows; None for a workload of which only the text is known."""
        return self._table

    def attach(self, table: OperationTable) -> None:
        """Set the rows."""
        self._table = table
