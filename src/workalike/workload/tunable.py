"""The settings of a family that a bidder may change: hints, striping, and settings of HDF5, ADIOS2 and TyphonIO."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from workalike.workload import units
from workalike.workload.quantities import (
    MAX_ALIGNMENT,
    MAX_BUFFER_ALIGNMENT,
    MAX_RANKS,
    MAX_STRIPES,
    Size,
    Strict,
)
from workalike.workload.words import FileDriver, FileSpace, Layout, LibraryBounds, TyphonioPattern

MAX_HDF5_BLOCK = 2**30


class Tunable(Strict):
    """The settings that a bidder may change; everything else of a family is fixed."""

    cb_nodes: int | None = Field(default=None, ge=1, le=MAX_RANKS)
    cb_buffer_size: Size | None = None
    collective_buffering: bool | None = None
    data_sieving: bool | None = None
    alignment: Size | None = None
    stripe_size: Size | None = None
    stripe_count: int | None = Field(default=None, ge=-1, le=MAX_STRIPES)
    chunk_bytes: Size | None = None
    layout: Layout | None = None
    typhonio: TyphonioPattern | None = None
    threshold: Size | None = None
    metadata_block: Size | None = None
    sieve_buffer: Size | None = None
    collective_metadata: bool | None = None
    individual_io: bool | None = None
    file_space: FileSpace | None = None
    page_size: Size | None = None
    libver: LibraryBounds | None = None
    deflate: int | None = Field(default=None, ge=0, le=9)
    shuffle: bool | None = None
    subfiling: bool | None = None
    driver: FileDriver | None = None
    aggregators: int | None = Field(default=None, ge=1, le=MAX_RANKS)
    buffer_alignment: Size | None = None

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.chunk_bytes is not None and not 1 <= self.chunk_bytes < 2**32:
            raise ValueError("chunk_bytes must lie between 1 B and 4 GiB (HDF5 stores them in 32 bits)")
        if self.alignment is not None and self.alignment > MAX_ALIGNMENT:
            raise ValueError(f"alignment may be at most {units.format_size(MAX_ALIGNMENT)}")
        if self.threshold is not None and (self.threshold > MAX_ALIGNMENT or not self.alignment):
            raise ValueError(
                f"threshold needs alignment, and may be at most {units.format_size(MAX_ALIGNMENT)}"
            )
        if any((size or 0) > MAX_HDF5_BLOCK for size in (self.metadata_block, self.sieve_buffer)):
            raise ValueError(
                f"metadata_block and sieve_buffer may be at most {units.format_size(MAX_HDF5_BLOCK)}"
            )
        if (size := self.buffer_alignment) is not None and not (
            1 <= size <= MAX_BUFFER_ALIGNMENT and size & size - 1 == 0
        ):
            raise ValueError(
                f"buffer_alignment must be a power of two, at most {units.format_size(MAX_BUFFER_ALIGNMENT)}"
            )
        if self.page_size is not None and self.file_space is not FileSpace.PAGE:
            raise ValueError("page_size needs `file_space: page`")
        if self.page_size is not None and not 512 <= self.page_size <= MAX_HDF5_BLOCK:
            raise ValueError(f"page_size must lie between 512 B and {units.format_size(MAX_HDF5_BLOCK)}")
        if self.filters and self.layout is Layout.CONTIGUOUS:
            raise ValueError("deflate and shuffle work on chunks: they need `layout: chunked`")
        if self.driver is FileDriver.SERIAL and (
            self.subfiling or self.collective_metadata or self.individual_io
        ):
            raise ValueError("subfiling, collective_metadata and individual_io need `driver: mpi`")
        return self

    @property
    def filters(self) -> bool:
        """Whether chunks pass filters on their way to the file."""
        return bool(self.deflate or self.shuffle)
