"""HDF5 in Python as laboratories use it: files that link to others, a sparse matrix, a detector with readers."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import python


@kind("h5py")
def links_to_parts(rng: random.Random) -> Program:
    """Runs of an experiment have a file each; a master file links to them, and an analysis reads through the links."""
    return python(
        rng,
        """
import h5py
import numpy as np
os.mkdir("runs")
with h5py.File("master.h5", "w") as master:
    for number in range(p.runs):
        path = f"runs/run-{number:03d}.h5"
        with h5py.File(path, "w") as run:
            run.attrs["number"] = number
            frames = run.create_dataset("entry/frames", (p.frames, p.size), dtype="u2")
            for frame in range(p.frames):
                frames[frame] = frame
            run["entry/time"] = np.arange(p.frames, dtype="f8")
        master[f"run-{number:03d}"] = h5py.ExternalLink(path, "/entry")
with h5py.File("master.h5") as master, open("summary.txt", "w") as summary:
    for name in master:
        if rng.random() < 0.7:
            picked = master[name]["frames"][rng.randrange(p.frames) :: p.every]
            print(name, picked.mean(), master[name]["time"][-1], file=summary)
""",
        modules=("h5py", "numpy"),
        runs=rng.randint(2, 25),
        frames=rng.randint(1, 30),
        size=rng.choice([50, 2000, 12_000]),
        every=rng.randint(1, 5),
    )


@kind("h5py")
def cells_by_genes(rng: random.Random) -> Program:
    """A sparse matrix of cells by genes, as AnnData keeps it: three arrays of a group, read back by batches of rows."""
    return python(
        rng,
        """
import h5py
import numpy as np
lengths = [rng.randint(0, 2 * p.genes) for _ in range(p.cells)]
pointers = np.concatenate([[0], np.cumsum(lengths)]).astype("i8")
chunks = (p.chunk,)
with h5py.File("cells.h5ad", "w") as file:
    file.attrs["encoding-type"] = "anndata"
    matrix = file.create_group("X")
    matrix.attrs["shape"] = (p.cells, 20000)
    values = np.random.default_rng(1).random(pointers[-1], dtype="f4")
    options = {"compression": "gzip", "chunks": chunks} if p.packed else {"chunks": chunks}
    matrix.create_dataset("data", data=values, maxshape=(None,), **options)
    matrix.create_dataset("indices", data=np.arange(pointers[-1], dtype="i4"), maxshape=(None,), **options)
    matrix["indptr"] = pointers
    for table, rows in (("obs", p.cells), ("var", 2000)):
        group = file.create_group(table)
        for column in range(3):
            group[f"column{column}"] = np.arange(rows)
        group["index"] = [f"{table}{row}" for row in range(rows)]
with h5py.File("cells.h5ad") as file:
    where = file["X/indptr"][:]
    starts = list(range(0, p.cells, p.batch))
    if p.shuffled:
        rng.shuffle(starts)
    for start in starts:
        first, last = where[start], where[min(start + p.batch, p.cells)]
        file["X/data"][first:last], file["X/indices"][first:last]
""",
        modules=("h5py", "numpy"),
        cells=rng.randint(20, 800),
        genes=rng.randint(10, 500),
        batch=rng.randint(5, 100),
        chunk=rng.choice([1000, 16_384]),
        packed=rng.randint(0, 1),
        shuffled=rng.randint(0, 1),
    )


@kind("h5py")
def detector_frames(rng: random.Random) -> Program:
    """A detector appends frames with single writer, multiple readers: each is flushed, and a reader follows them."""
    return python(
        rng,
        """
import h5py
import numpy as np
with h5py.File("scan.nxs", "w", libver="latest") as file:
    frames = file.create_dataset("entry/data", (0, p.height, p.width), maxshape=(None, p.height, p.width),
                                 chunks=(1, p.height, p.width), dtype="u2")
    numbers = file.create_dataset("entry/number", (0,), maxshape=(None,), chunks=(256,), dtype="i8")
    file.swmr_mode = True
    reader = h5py.File("scan.nxs", "r", libver="latest", swmr=True) if p.follow else None
    for number in range(p.frames):
        frames.resize(number + 1, axis=0)
        frames[number] = number
        numbers.resize(number + 1, axis=0)
        numbers[number] = number
        if number % p.every == 0:
            frames.flush()
            numbers.flush()
        if reader and number % p.follow == 0:
            seen = reader["entry/data"]
            seen.id.refresh()
            if seen.shape[0]:
                seen[-1].sum()
    if reader:
        reader.close()
""",
        modules=("h5py", "numpy"),
        height=rng.randint(4, 200),
        width=rng.randint(4, 200),
        frames=rng.randint(5, 120),
        every=rng.randint(1, 10),
        follow=rng.choice([0, 1, 5]),
    )
