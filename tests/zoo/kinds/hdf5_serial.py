"""HDF5 by h5py and PyTables, and NetCDF, of one process."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import python

H5PY = ("h5py", "numpy")


@kind("h5py")
def slabs(rng: random.Random) -> Program:
    """A 3D field is written slab by slab into a contiguous or chunked dataset."""
    return python(
        rng,
        """
import h5py
import numpy as np
for number in range(p.files):
    with h5py.File(f"field-{number}.h5", "w") as file:
        chunks = (1, p.n, p.n) if p.chunked == 1 else True if p.chunked == 2 else None
        data = file.create_dataset("field", (p.slabs, p.n, p.n), dtype="f8", chunks=chunks)
        for slab in range(p.slabs):
            data[slab] = np.random.default_rng(slab).random((p.n, p.n))
""",
        modules=H5PY,
        files=rng.randint(1, 3),
        slabs=rng.randint(2, 40),
        n=rng.randint(10, 180),
        chunked=rng.randint(0, 2),
    )


@kind("h5py")
def compressed_sets(rng: random.Random) -> Program:
    """Images are stored with gzip and shuffle, with sizes of their own, and some are read back."""
    return python(
        rng,
        """
import h5py
import numpy as np
with h5py.File("images.h5", "w") as file:
    for number in range(p.images):
        n = rng.randint(10, p.largest)
        image = np.random.default_rng(number).integers(0, p.grays, (n, n), dtype="u2")
        file.create_dataset(f"image{number:03d}", data=image, chunks=True, compression="gzip",
                            compression_opts=p.level, shuffle=bool(p.shuffle))
with h5py.File("images.h5", "r") as file:
    total = sum(int(file[name][...].max()) for name in list(file)[:: p.every])
""",
        modules=H5PY,
        images=rng.randint(2, 30),
        largest=rng.randint(20, 400),
        grays=rng.choice([2, 256, 60_000]),
        level=rng.randint(1, 6),
        shuffle=rng.randint(0, 1),
        every=rng.randint(1, 5),
    )


@kind("h5py")
def series_by_resize(rng: random.Random) -> Program:
    """A time series grows by resize; the file is closed and opened again for each step, or flushed."""
    return python(
        rng,
        """
import h5py
import numpy as np
with h5py.File("series.h5", "w") as file:
    file.create_dataset("x", (0, p.width), maxshape=(None, p.width), chunks=(p.chunk, p.width), dtype="f4")
    file.attrs["title"] = "a series"
file = None
for step in range(p.steps):
    if file is None:
        file = h5py.File("series.h5", "a")
    data = file["x"]
    data.resize(data.shape[0] + p.rows, axis=0)
    data[-p.rows:] = np.full((p.rows, p.width), step)
    file.attrs["steps"] = step
    if p.reopen:
        file.close()
        file = None
    else:
        file.flush()
if file is not None:
    file.close()
""",
        modules=H5PY,
        width=rng.randint(1, 2000),
        chunk=rng.randint(1, 64),
        rows=rng.randint(1, 20),
        steps=rng.randint(2, 25),
        reopen=rng.randint(0, 1),
    )


@kind("h5py")
def regions_read(rng: random.Random) -> Program:
    """Regions of an existing volume are read at places of chance, as a viewer does."""
    return python(
        rng,
        """
import h5py
with h5py.File("volume.h5", "r") as file:
    volume = file["volume"]
    for _ in range(p.regions):
        at = [rng.randrange(p.n - p.edge) for _ in range(3)]
        volume[at[0] : at[0] + p.edge, at[1] : at[1] + p.edge, at[2] : at[2] + p.edge].sum()
""",
        """
import h5py
import numpy as np
with h5py.File("volume.h5", "w") as file:
    chunks = (p.chunk,) * 3 if p.chunk else None
    file.create_dataset("volume", data=np.random.default_rng(1).random((p.n,) * 3, dtype="f4"), chunks=chunks)
""",
        modules=H5PY,
        n=rng.randint(40, 120),
        edge=rng.randint(2, 30),
        chunk=rng.choice([0, 8, 20]),
        regions=rng.randint(3, 60),
    )


@kind("h5py")
def many_attributes(rng: random.Random) -> Program:
    """A tree of groups with attributes and very small datasets, read whole afterwards."""
    return python(
        rng,
        """
import h5py
with h5py.File("tree.h5", "w", libver="latest" if p.latest else None) as file:
    for i in range(p.groups):
        group = file.create_group(f"run{i:03d}")
        for j in range(p.attributes):
            group.attrs[f"a{j}"] = rng.random() if j % 2 else "text of some length " * rng.randint(1, 5)
        group["values"] = [rng.random() for _ in range(p.values)]
with h5py.File("tree.h5", "r") as file:
    count = sum(len(group.attrs) + len(group["values"][...]) for group in file.values())
""",
        modules=H5PY,
        groups=rng.randint(2, 60),
        attributes=rng.randint(1, 15),
        values=rng.randint(1, 200),
        latest=rng.randint(0, 1),
    )


@kind("h5py")
def table_of_events(rng: random.Random) -> Program:
    """Events are appended to a table by PyTables, with flushes; a query then reads the rows that match."""
    return python(
        rng,
        """
import tables
class Event(tables.IsDescription):
    energy = tables.Float64Col()
    channel = tables.Int32Col()
    label = tables.StringCol(16)
with tables.open_file("events.h5", "w") as file:
    table = file.create_table("/", "events", Event, expectedrows=p.rows)
    row = table.row
    for i in range(p.rows):
        row["energy"], row["channel"], row["label"] = rng.random(), i % 64, f"event{i}"
        row.append()
        if i % p.every == 0:
            table.flush()
with tables.open_file("events.h5", "r") as file:
    found = sum(1 for _ in file.root.events.where("channel == 7"))
""",
        modules=("tables",),
        rows=rng.randint(100, 20_000),
        every=rng.choice([50, 500, 5000]),
    )


@kind("netcdf")
def climate_records(rng: random.Random) -> Program:
    """A NetCDF-4 file gets a record of each variable per step, with compression or not, synced at times."""
    return python(
        rng,
        """
import numpy as np
from netCDF4 import Dataset
for month in range(p.files):
    data = Dataset(f"month-{month:02d}.nc", "w", format="NETCDF4")
    data.createDimension("time", None)
    data.createDimension("lat", p.lat)
    data.createDimension("lon", p.lon)
    names = [f"v{i}" for i in range(p.variables)]
    for name in names:
        data.createVariable(name, "f4", ("time", "lat", "lon"), zlib=bool(p.zlib)).units = "K"
    for step in range(p.steps):
        for name in names:
            data[name][step] = np.random.default_rng(step).random((p.lat, p.lon), dtype="f4")
        if p.sync and step % p.sync == 0:
            data.sync()
    data.close()
""",
        modules=("netCDF4", "numpy"),
        files=rng.randint(1, 3),
        variables=rng.randint(1, 5),
        steps=rng.randint(1, 15),
        lat=rng.randint(4, 90),
        lon=rng.randint(4, 180),
        zlib=rng.randint(0, 1),
        sync=rng.choice([0, 1, 4]),
    )


@kind("netcdf")
def classic_records(rng: random.Random) -> Program:
    """A classic NetCDF file: fixed variables, then records of interleaved variables, then a region is read."""
    return python(
        rng,
        """
import numpy as np
from netCDF4 import Dataset
with Dataset("classic.nc", "w", format=p.format) as data:
    data.createDimension("time", None)
    data.createDimension("x", p.x)
    data.createVariable("grid", "f8", ("x",))[:] = np.arange(p.x)
    for name in ("u", "v", "t"):
        data.createVariable(name, "f4", ("time", "x"))
    for step in range(p.steps):
        for name in ("u", "v", "t"):
            data[name][step] = np.full(p.x, step)
with Dataset("classic.nc") as data:
    for step in range(0, p.steps, p.every):
        data["v"][step].sum()
    data["t"][:, p.x // 2].sum()
""",
        modules=("netCDF4", "numpy"),
        format=rng.choice(["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET"]),
        x=rng.randint(10, 20_000),
        steps=rng.randint(1, 30),
        every=rng.randint(1, 4),
    )


@kind("netcdf")
def scipy_netcdf(rng: random.Random) -> Program:
    """SciPy's own NetCDF writer holds everything in memory and writes it at the end, through a stream of Python."""
    return python(
        rng,
        """
import numpy as np
from scipy.io import netcdf_file
for number in range(p.files):
    with netcdf_file(f"scan-{number}.nc", "w") as file:
        file.createDimension("n", p.n)
        for i in range(p.variables):
            file.createVariable(f"v{i}", "f8", ("n",))[:] = np.arange(p.n) * i
    with netcdf_file(f"scan-{number}.nc", "r", mmap=bool(p.mmap)) as file:
        total = float(file.variables["v0"].data.sum())
""",
        modules=("scipy.io", "numpy"),
        files=rng.randint(1, 8),
        n=rng.randint(10, 50_000),
        variables=rng.randint(1, 8),
        mmap=rng.randint(0, 1),
    )
