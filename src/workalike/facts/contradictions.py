"""Counters that contradict each other: each could be true, but not all of them together.

What is checked holds for every record, of a single rank or reduced over all of them, in a partial module too
(docs/reference/darshan-meaning.md#what-a-call-counts). A counter that was not measured contradicts nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workalike.darshan.bins import BIN_ENDS
from workalike.facts.columns import DIRECTIONS, Facts, RecordColumns
from workalike.facts.counters import COUNTS, SUMS, bytes_name, histogram_names, kind_of, operation_names
from workalike.facts.records import BoolArray, FloatArray, IntArray
from workalike.text import plural
from workalike.workload.words import Direction

OPENED_FIRST = ("MPI-IO", "H5D", "PNETCDF_VAR")
"""Modules whose records begin with an open. POSIX and STDIO also count on descriptors that were inherited."""

_LEAST = np.array([0, *(end + 1 for end in BIN_ENDS)], dtype=np.float64)
_MOST = np.array([*BIN_ENDS, np.inf])


@dataclass(frozen=True)
class Amount:
    """A counter, or what follows from several, of each record; negative where one of them was not measured."""

    name: str
    values: npt.NDArray[np.int64 | np.float64]

    def sentence(self, row: int) -> str:
        return f"{self.name} is {int(self.values[row]):,}"


Contradiction = tuple[BoolArray, Sequence[Amount]]
"""The records in which amounts contradict each other, bool[R]."""


def contradictions_in(facts: Facts) -> list[str]:
    """A line for each kind of contradiction in each module: the counters, their values in the first file, the files."""
    lines = []
    for module, records in facts.modules.items():
        for check in CHECKS if _moves_data(records) else ():
            found = [part for part in check(records) if part[0].any()]
            if found:
                where, amounts = found[0]
                files = len(np.unique(records.file[np.logical_or.reduce([part[0] for part in found])]))
                row = int(where.argmax())
                values = ", ".join(amount.sentence(row) for amount in amounts)
                lines.append(
                    f"module {module}: {values}: these contradict each other ({plural(files, 'file')})"
                )
    return lines


def _more_than_sequential(records: RecordColumns) -> Iterator[Contradiction]:
    """Every consecutive operation is sequential, too."""
    for kind in _kinds_in_order(records):
        consecutive, sequential = (_amount(records, f"{name}_{kind}S") for name in ("CONSEC", "SEQ"))
        yield _less(sequential, consecutive)


def _more_than_operations(records: RecordColumns) -> Iterator[Contradiction]:
    """Only operations are sequential."""
    for kind in _kinds_in_order(records):
        yield _less(_amount(records, f"{kind}S"), _amount(records, f"SEQ_{kind}S"))


def _other_sizes(records: RecordColumns) -> Iterator[Contradiction]:
    """Each operation is in one bin of sizes."""
    for direction in DIRECTIONS:
        bins, operations = _bins(records, direction), _operations(records, direction)
        if bins is not None:
            sizes = Amount(_of_bins("the sum of", records, direction), _sum(bins))
            yield (
                _measured(sizes, operations) & (sizes.values != operations.values),
                (sizes, operations),
            )


def _other_bytes(records: RecordColumns) -> Iterator[Contradiction]:
    """The bytes are between those of the smallest and of the largest operations that the bins may have."""
    for direction in DIRECTIONS:
        bins, moved = _bins(records, direction), _amount(records, bytes_name(direction))
        if bins is None:
            continue
        measured = (bins >= 0).all(axis=1)
        least = Amount(
            _of_bins("the least by", records, direction), np.where(measured, _bytes(bins, _LEAST), -1)
        )
        most = Amount(
            _of_bins("the most by", records, direction), np.where(measured, _bytes(bins, _MOST), -1)
        )
        yield _less(moved, least)
        yield _less(most, moved)


def _more_common_sizes(records: RecordColumns) -> Iterator[Contradiction]:
    """Each operation has one size; the common sizes may not be all of them."""
    if set(COUNTS) <= set(records.counter_names):
        operations = _operations(records, *DIRECTIONS)
        counts = Amount("the sum of ACCESS1_COUNT to ACCESS4_COUNT", _sum(_table(records, COUNTS)))
        yield _less(operations, counts)


def _further_than_bytes(records: RecordColumns) -> Iterator[Contradiction]:
    """Where no operation leaves a gap, the file is no longer than its bytes.

    A first operation at offset 1 counts as consecutive: the last byte starts as 0.
    """
    for direction in DIRECTIONS:
        kind = kind_of(direction)
        if kind not in _kinds_in_order(records):
            continue
        moved = _amount(records, bytes_name(direction))
        last = _amount(records, bytes_name(direction).replace("BYTES", "MAX_BYTE"))
        consecutive, sequential = (_amount(records, f"{name}_{kind}S") for name in ("CONSEC", "SEQ"))
        without_gap = _measured(consecutive, sequential) & (consecutive.values == sequential.values)
        yield without_gap & _less(moved, last)[0], (last, moved, sequential, consecutive)


def _more_switches(records: RecordColumns) -> Iterator[Contradiction]:
    """A switch is between two operations."""
    if "RW_SWITCHES" in records.counter_names:
        switches, operations = _amount(records, "RW_SWITCHES"), _operations(records, *DIRECTIONS)
        too_many = switches.values > np.maximum(operations.values - 1, 0)
        yield _measured(switches, operations) & too_many, (switches, operations)


def _bytes_of_nothing(records: RecordColumns) -> Iterator[Contradiction]:
    """Bytes are moved by operations."""
    for direction in DIRECTIONS:
        moved, operations = _amount(records, bytes_name(direction)), _operations(records, direction)
        yield (moved.values > 0) & (operations.values == 0), (moved, operations)


def _never_opened(records: RecordColumns) -> Iterator[Contradiction]:
    """What moves data was opened before."""
    if records.module in OPENED_FIRST:
        opens = _added(records, SUMS.get(records.module, {}).get("OPENS", ("OPENS",)))
        operations = _operations(records, *DIRECTIONS)
        yield (opens.values == 0) & (operations.values > 0), (opens, operations)


CHECKS: tuple[Callable[[RecordColumns], Iterator[Contradiction]], ...] = (
    _more_than_sequential,
    _more_than_operations,
    _other_sizes,
    _other_bytes,
    _more_common_sizes,
    _further_than_bytes,
    _more_switches,
    _bytes_of_nothing,
    _never_opened,
)


def _moves_data(records: RecordColumns) -> bool:
    """Whether the module counts reads and writes; H5F and PNETCDF_FILE may not."""
    needed = [name for d in DIRECTIONS for name in (*operation_names(records.module, d), bytes_name(d))]
    return set(needed) <= set(records.counter_names)


def _kinds_in_order(records: RecordColumns) -> list[str]:
    """READ and WRITE where the module counts sequential operations, else nothing."""
    return [
        kind_of(direction)
        for direction in DIRECTIONS
        if f"SEQ_{kind_of(direction)}S" in records.counter_names
    ]


def _operations(records: RecordColumns, *directions: Direction) -> Amount:
    return _added(records, [name for d in directions for name in operation_names(records.module, d)])


def _added(records: RecordColumns, names: Sequence[str]) -> Amount:
    return Amount(" + ".join(names), _sum(_table(records, names)))


def _amount(records: RecordColumns, name: str) -> Amount:
    return Amount(name, records.column(name))


def _table(records: RecordColumns, names: Sequence[str]) -> IntArray:
    """int64[R, names]."""
    return records.counters[:, [records.counter_names.index(name) for name in names]]


def _bins(records: RecordColumns, direction: Direction) -> IntArray | None:
    """int64[R, 10], the operations of each bin of sizes; None where the module has no bins."""
    names = histogram_names(records.module, direction)
    return _table(records, names) if names and names[0] in records.counter_names else None


def _of_bins(what: str, records: RecordColumns, direction: Direction) -> str:
    first, *_, last = histogram_names(records.module, direction)
    return f"{what} {first} to {last}"


def _sum(counts: IntArray) -> IntArray:
    """int64[R], -1 where a counter was not measured."""
    return np.where((counts < 0).any(axis=1), -1, counts.sum(axis=1))


def _bytes(bins: IntArray, sizes: FloatArray) -> FloatArray:
    """float64[R], the bytes of all bins' operations at these sizes: exact below 2^53, and whole numbers overflow."""
    total: FloatArray = np.multiply(bins, sizes, where=bins > 0, out=np.zeros(bins.shape)).sum(axis=1)
    return total


def _measured(*amounts: Amount) -> BoolArray:
    found: BoolArray = np.logical_and.reduce([amount.values >= 0 for amount in amounts])
    return found


def _less(amount: Amount, than: Amount) -> Contradiction:
    """Where the first amount is less than the second one, which it cannot be."""
    return _measured(amount, than) & (amount.values < than.values), (than, amount)
