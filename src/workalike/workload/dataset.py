"""Data sets that are read in epochs: equal files of samples, and who reads them in which order."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from workalike.workload import units
from workalike.workload.quantities import (
    MAX_FILE_BYTES,
    MAX_OPERATION_BYTES,
    MAX_OPERATIONS,
    MAX_RANKS,
    Operations,
    Seconds,
    Size,
    Strict,
    beyond_limit,
)
from workalike.workload.words import Order, Split

MAX_FILES = 999_999_999
MAX_CALLS = 10**6


class Dataset(Strict):
    """`files` files of `samples` samples each, all of which are read once in each epoch; a load is an epoch.

    `sample` is the mean size of a sample in bytes, `deviation` the standard deviation of the sizes, and `bytes` those of
    all samples, where the mean is rounded. `header` is the bytes of a file that are never read. `transfer` is the most bytes that one call reads; without it a call reads a sample.
    `order` is that of the samples in a file, `file_order` that of the files (by default the same word).

    `split`: the readers share out the files, or the samples in batches, or each reads everything. `readers` of the
    family's ranks read in an epoch, the next ones in the next epoch; by default all ranks read in all epochs.
    `workers` ranks read for one training process, which computes for `compute_time` seconds with each batch of
    `batch` samples while `prefetch` batches are read ahead. `opens`, `stats` and `seeks` are those of each file that a
    reader reads from in an epoch.
    """

    files: Annotated[int, Field(ge=1, le=MAX_FILES)]
    samples: Annotated[int, Field(ge=1, le=MAX_FILES)] = 1
    sample: Size
    deviation: Size = 0
    bytes: Size | None = None
    header: Size = 0
    transfer: Size | None = None
    order: Order = Order.SEQUENTIAL
    file_order: Order | None = None
    split: Split = Split.FILES
    batch: Annotated[int, Field(ge=1, le=MAX_OPERATIONS)] = 1
    readers: Annotated[int, Field(ge=1, le=MAX_RANKS)] | None = None
    workers: Annotated[int, Field(ge=1, le=MAX_RANKS)] = 1
    prefetch: Operations = 0
    compute_time: Seconds = 0.0
    opens: Annotated[int, Field(ge=1, le=MAX_CALLS)] = 1
    stats: Annotated[int, Field(ge=0, le=MAX_CALLS)] = 0
    seeks: Annotated[int, Field(ge=0, le=MAX_CALLS)] = 0

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.sample < 1:
            raise ValueError("a sample has at least 1 B")
        if self.transfer is not None and self.transfer < 1:
            raise ValueError("a `transfer` has at least 1 B: leave it out where a call reads a sample")
        if self.files * self.samples > MAX_OPERATIONS:
            raise beyond_limit(f"a data set may have at most {MAX_OPERATIONS} samples")
        samples = self.files * self.samples
        if self.bytes is not None and abs(self.bytes - samples * self.sample) > samples:
            raise ValueError(
                f"{self.bytes} bytes are not those of {samples} samples of {self.sample} B in the mean"
            )
        if self.total > MAX_FILE_BYTES:
            raise beyond_limit(f"a data set may have at most {units.format_size(MAX_FILE_BYTES)}")
        largest = units.format_size(MAX_OPERATION_BYTES // 2)
        if max(self.sample, self.deviation, self.header) > MAX_OPERATION_BYTES // 2:
            raise beyond_limit(f"sample, deviation and header may be at most {largest}")
        if self.file_order is self.order:
            self.file_order = None  # the same workload is the same text
        return self

    @property
    def total(self) -> int:
        """Bytes of all samples of all files."""
        return self.files * self.samples * self.sample if self.bytes is None else self.bytes

    @property
    def order_of_files(self) -> Order:
        return self.order if self.file_order is None else self.file_order

    def readers_of(self, members: int) -> int:
        """How many of a family's ranks read in an epoch."""
        return members if self.readers is None else min(self.readers, members)

    def moved(self, members: int) -> int:
        """Bytes that `members` ranks read in an epoch."""
        return self.total * (self.readers_of(members) if self.split is Split.NONE else 1)
