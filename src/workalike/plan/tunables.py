"""A family's tunables as hints of MPI-IO and settings of HDF5."""

from __future__ import annotations

from workalike.plan.plan_schema import PlanHdf5
from workalike.workload.model import FileDriver, Tunable


def hints_of(tunable: Tunable) -> dict[str, str]:
    """Hints of MPI-IO, by ROMIO's names."""
    hints: dict[str, str] = {}
    if tunable.cb_nodes is not None:
        hints["cb_nodes"] = str(tunable.cb_nodes)
    if tunable.cb_buffer_size is not None:
        hints["cb_buffer_size"] = str(tunable.cb_buffer_size)
    if tunable.collective_buffering is not None:
        hints["romio_cb_write"] = hints["romio_cb_read"] = (
            "enable" if tunable.collective_buffering else "disable"
        )
    if tunable.data_sieving is not None:
        hints["romio_ds_write"] = hints["romio_ds_read"] = "enable" if tunable.data_sieving else "disable"
    if tunable.stripe_size is not None:
        hints["striping_unit"] = str(tunable.stripe_size)
    if tunable.stripe_count is not None:
        hints["striping_factor"] = str(tunable.stripe_count)
    return hints


def hdf5_of(tunable: Tunable) -> PlanHdf5:
    """Settings of the HDF5 library."""
    hdf5 = PlanHdf5()
    if tunable.layout is not None:
        hdf5.layout = "chunked" if tunable.layout == "chunked" else "contiguous"
    if tunable.chunk_bytes is not None:
        hdf5.chunk_bytes = tunable.chunk_bytes
    if tunable.filters:
        hdf5.layout = "chunked"
    if tunable.file_space is not None:
        hdf5.file_space = tunable.file_space.value
    if tunable.libver is not None:
        hdf5.libver = tunable.libver.value
    hdf5.alignment = tunable.alignment or 0
    hdf5.threshold = tunable.threshold or 0
    hdf5.metadata_block = tunable.metadata_block
    hdf5.sieve_buffer = tunable.sieve_buffer
    hdf5.collective_metadata = tunable.collective_metadata or False
    hdf5.individual_io = tunable.individual_io or False
    hdf5.page_bytes = tunable.page_size
    hdf5.deflate = tunable.deflate or 0
    hdf5.shuffle = tunable.shuffle or False
    hdf5.subfiling = tunable.subfiling or False
    hdf5.driver = tunable.driver or FileDriver.MPI
    return hdf5
