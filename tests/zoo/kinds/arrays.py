"""Arrays in files of NumPy, stores of chunks, images, and loaders of training data."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import INPUTS, python

SAMPLES = """
import numpy as np
for number in range(p.files):
    np.save(f"sample-{number:04d}.npy", np.random.default_rng(number).random(p.size // 8 + (number % 5) * p.unequal))
"""


@kind("arrays")
def saved_arrays(rng: random.Random) -> Program:
    """Arrays are saved one by one with np.save and loaded in later passes, in an order of chance."""
    return python(
        rng,
        SAMPLES
        + """
order = list(range(p.files))
for _ in range(p.passes):
    rng.shuffle(order)
    for number in order:
        np.load(f"sample-{number:04d}.npy").sum()
""",
        modules=("numpy",),
        files=rng.randint(2, 60),
        size=rng.choice([800, 40_000, 300_000]),
        unequal=rng.choice([0, 37]),
        passes=rng.randint(0, 3),
    )


@kind("arrays")
def archives_of_arrays(rng: random.Random) -> Program:
    """Checkpoints of several arrays with np.savez, compressed or not; the last is loaded array by array."""
    return python(
        rng,
        """
import numpy as np
save = np.savez_compressed if p.compressed else np.savez
for step in range(p.steps):
    save(f"checkpoint-{step}.npz", **{f"a{i}": np.arange(p.size) * i for i in range(p.arrays)})
with np.load(f"checkpoint-{p.steps - 1}.npz") as last:
    total = sum(float(last[name].sum()) for name in last.files)
""",
        modules=("numpy",),
        steps=rng.randint(1, 6),
        arrays=rng.randint(1, 10),
        size=rng.randint(10, 40_000),
        compressed=rng.randint(0, 1),
    )


@kind("arrays")
def mapped_array(rng: random.Random) -> Program:
    """A memmap is filled by rows and flushed, and another is read; plain tofile and fromfile go beside it."""
    return python(
        rng,
        """
import numpy as np
field = np.lib.format.open_memmap("field.npy", mode="w+", dtype="f8", shape=(p.rows, p.columns))
for row in range(p.rows):
    field[row] = row
    if row % p.every == 0:
        field.flush()
del field
total = np.load("field.npy", mmap_mode="r")[:: p.every].sum()
for number in range(p.plain):
    np.arange(p.columns, dtype="f4").tofile(f"plain-{number}.bin")
    np.fromfile(f"plain-{number}.bin", dtype="f4")
""",
        modules=("numpy",),
        rows=rng.randint(5, 200),
        columns=rng.randint(10, 3000),
        every=rng.randint(1, 50),
        plain=rng.randint(0, 20),
    )


@kind("arrays")
def store_of_chunks(rng: random.Random) -> Program:
    """A Zarr array in a folder: a file per chunk, written to temporary names and renamed, then slices are read."""
    return python(
        rng,
        """
import numpy as np
import zarr
array = zarr.open("store.zarr", mode="w", shape=(p.n, p.n), chunks=(p.chunk, p.chunk), dtype="f4",
                  compressor=None if p.plain else "default")
step = p.chunk if p.aligned else p.chunk + 3
for row in range(0, p.n, step):
    array[row : row + step] = np.random.default_rng(row).random(array[row : row + step].shape, dtype="f4")
array.attrs["units"] = "m"
again = zarr.open("store.zarr", mode="r")
for _ in range(p.reads):
    at = rng.randrange(p.n)
    again[:, at].sum() if rng.random() < 0.5 else again[at].sum()
""",
        modules=("zarr", "numpy"),
        n=rng.randint(30, 300),
        chunk=rng.randint(10, 60),
        plain=rng.randint(0, 1),
        aligned=rng.randint(0, 1),
        reads=rng.randint(0, 10),
    )


@kind("arrays")
def images(rng: random.Random) -> Program:
    """Images are opened by their headers, then some are decoded, scaled, and saved as thumbnails."""
    return python(
        rng,
        """
from PIL import Image
for number in range(p.images):
    with Image.open(f"image-{number:03d}.{p.format}") as image:
        size = image.size
        if number % p.every == 0:
            image.thumbnail((32, 32))
            image.save(f"small-{number:03d}.{p.format}")
""",
        """
import numpy as np
from PIL import Image
for number in range(p.images):
    data = np.random.default_rng(number).integers(0, 255, (p.edge + number % 7, p.edge, 3), dtype="u1")
    Image.fromarray(data).save(f"image-{number:03d}.{p.format}")
""",
        modules=("PIL", "numpy"),
        images=rng.randint(3, 60),
        edge=rng.randint(16, 200),
        every=rng.randint(1, 6),
        format=rng.choice(["png", "bmp", "jpeg", "tiff"]),
    )


@kind("arrays")
def tiles(rng: random.Random) -> Program:
    """Tiles of a large raster are read row by row of each tile, at places of chance, by seek and read of Python."""
    return python(
        rng,
        """
with open("input-0000", "rb", buffering=0 if p.raw else -1) as raster:
    for _ in range(p.tiles):
        x, y = rng.randrange(p.width - p.edge), rng.randrange(p.size // p.width - p.edge)
        for row in range(p.edge):
            raster.seek((y + row) * p.width + x)
            raster.read(p.edge)
""",
        INPUTS,
        files=1,
        width=2000,
        size=2000 * rng.randint(300, 2000),
        edge=rng.randint(8, 128),
        tiles=rng.randint(1, 20),
        raw=rng.randint(0, 1),
    )


@kind("loaders")
def shuffled_epochs(rng: random.Random) -> Program:
    """Samples of one shard are read by pread in a new order each epoch; a model is saved after each."""
    return python(
        rng,
        """
shard = os.open("input-0000", os.O_RDONLY)
samples = p.size // p.sample
for epoch in range(p.epochs):
    order = list(range(samples))
    rng.shuffle(order)
    for place in order:
        os.pread(shard, p.sample, place * p.sample)
    with open(f"model-{epoch}.pt" if p.each else "model.pt", "wb") as model:
        for layer in range(p.layers):
            model.write(bytes(1000 * (layer + 1)))
os.close(shard)
""",
        INPUTS,
        files=1,
        size=rng.randint(200_000, 5_000_000),
        sample=rng.choice([1000, 12_288, 30_000]),
        epochs=rng.randint(1, 4),
        layers=rng.randint(1, 60),
        each=rng.randint(0, 1),
    )


@kind("loaders")
def loader_processes(rng: random.Random) -> Program:
    """Processes of a pool load samples of np.save, batch by batch, in a new order each epoch."""
    return python(
        rng,
        """
import multiprocessing
import numpy as np

def load(batch):
    return sum(float(np.load(f"sample-{number:04d}.npy").sum()) for number in batch)

if __name__ == "__main__":
    for epoch in range(p.epochs):
        order = list(range(p.files))
        rng.shuffle(order)
        batches = [order[i : i + p.batch] for i in range(0, p.files, p.batch)]
        with multiprocessing.get_context("fork").Pool(p.workers) as pool:
            pool.map(load, batches, chunksize=1)
            pool.close()
            pool.join()
        with open("progress.json", "w") as file:
            file.write(f'{{"epoch": {epoch}}}')
""",
        SAMPLES,
        ("numpy",),
        files=rng.randint(8, 100),
        size=rng.choice([800, 20_000, 150_000]),
        unequal=rng.choice([0, 11]),
        batch=rng.randint(1, 16),
        epochs=rng.randint(1, 3),
        workers=rng.randint(1, 3),
    )


@kind("loaders")
def shards_in_archives(rng: random.Random) -> Program:
    """Shards are tar archives, read as a stream member by member, in an order of chance, as web datasets are."""
    return python(
        rng,
        """
import tarfile
order = list(range(p.shards))
for _ in range(p.epochs):
    rng.shuffle(order)
    for number in order:
        with tarfile.open(f"shard-{number:03d}.tar", "r|" if p.stream else "r") as shard:
            for member in shard:
                content = shard.extractfile(member).read()
""",
        """
import io
import tarfile
for number in range(p.shards):
    with tarfile.open(f"shard-{number:03d}.tar", "w") as shard:
        for sample in range(p.samples):
            member = tarfile.TarInfo(f"{sample:05d}.bin")
            member.size = rng.randint(100, p.largest)
            shard.addfile(member, io.BytesIO(rng.randbytes(member.size)))
""",
        shards=rng.randint(1, 6),
        samples=rng.randint(3, 60),
        largest=rng.choice([500, 5000, 60_000]),
        epochs=rng.randint(1, 3),
        stream=rng.randint(0, 1),
    )
