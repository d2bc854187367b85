"""Training of models: checkpoints in shards and by servers, folders of images, records read from several files."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import python


@kind("learning")
def shards_of_a_model(rng: random.Random) -> Program:
    """A distributed checkpoint of PyTorch: each rank writes its shard, rank 0 the metadata, which makes it complete.

    A shard has its tensors one after the other, each a small archive, and is synced; metadata go to a temporary name.
    Old checkpoints are deleted by rank 0. A restart reads the metadata, and of its shard the tensors by their places.
    """
    return python(
        rng,
        """
import pickle
import shutil
from mpi4py import MPI
world = MPI.COMM_WORLD
sizes = [rng.choice([64, p.hidden * 4, p.hidden * p.hidden]) * 4 for _ in range(p.tensors)]

def record(size):
    head = b"PK" + bytes(62)
    return head + bytes(-len(head) % 64) + bytes(size) + b"PK" + bytes(120)

for step in range(p.checkpoints):
    folder = f"step-{step:06d}"
    if world.rank == 0:
        os.makedirs(folder, exist_ok=True)
    world.Barrier()
    places = []
    with open(f"{folder}/__{world.rank}_0.distcp", "wb") as shard:
        for size in sizes:
            first = shard.tell()
            shard.write(record(size))
            places.append((first, shard.tell() - first))
        if p.sync:
            shard.flush()
            os.fsync(shard.fileno())
    everywhere = world.gather(places, root=0)
    if world.rank == 0:
        with open(f"{folder}/.metadata.tmp", "wb") as metadata:
            pickle.dump(everywhere, metadata)
            if p.sync:
                metadata.flush()
                os.fsync(metadata.fileno())
        os.rename(f"{folder}/.metadata.tmp", f"{folder}/.metadata")
        with open("latest", "w") as latest:
            latest.write(folder)
        if step >= p.kept:
            shutil.rmtree(f"step-{step - p.kept:06d}")
    world.Barrier()
    time.sleep(0.01)
if p.resume:
    with open("latest") as latest:
        folder = latest.read()
    with open(f"{folder}/.metadata", "rb") as metadata:
        everywhere = pickle.load(metadata)
    source = (world.rank + p.moved) % world.size
    with open(f"{folder}/__{source}_0.distcp", "rb") as shard:
        for first, size in everywhere[source]:
            shard.seek(first)
            shard.read(size)
""",
        modules=("mpi4py",),
        ranks=rng.randint(1, 4),
        hidden=rng.choice([16, 128, 300]),
        tensors=rng.randint(2, 16),
        checkpoints=rng.randint(1, 5),
        kept=rng.randint(1, 3),
        sync=rng.randint(0, 1),
        resume=rng.randint(0, 1),
        moved=rng.randint(0, 1),
    )


@kind("learning")
def saver_of_servers(rng: random.Random) -> Program:
    """TensorFlow with parameter servers: each saves its variables under a temporary prefix, the chief renames and merges.

    Data of a server are one file, beside it an index. The merged index is written once all data are in place; the file
    `checkpoint` names the last few, older ones are deleted. The chief appends events, flushed now and then.
    """
    return python(
        rng,
        """
from mpi4py import MPI
world = MPI.COMM_WORLD
events = open("events.out.tfevents.host", "ab") if world.rank == 0 else None
kept = []
for step in range(0, p.saves * p.every, p.every):
    if events:
        for _ in range(p.every):
            events.write(bytes(12) + rng.randbytes(rng.randint(30, 300)) + bytes(4))
        events.flush()
    prefix = f"model.ckpt-{step}"
    parts = f"{prefix}_temp"
    if world.rank == 0:
        os.makedirs(parts, exist_ok=True)
    world.Barrier()
    part = f"{parts}/part-{world.rank:05d}-of-{world.size:05d}"
    with open(f"{part}.data", "wb", buffering=p.buffer) as data:
        for number in range(p.variables):
            data.write(bytes(p.size if number % 3 else p.size // 10))
    with open(f"{part}.index", "wb") as index:
        index.write(bytes(60 * p.variables + 48))
    world.Barrier()
    if world.rank == 0:
        for server in range(world.size):
            name = f"{parts}/part-{server:05d}-of-{world.size:05d}"
            with open(f"{name}.index", "rb") as index:
                index.seek(-48, os.SEEK_END)
                index.read()
                index.seek(0)
                index.read()
            os.rename(f"{name}.data", f"{prefix}.data-{server:05d}-of-{world.size:05d}")
        with open(f"{prefix}.index", "wb") as index:
            index.write(bytes(60 * p.variables * world.size + 48))
        for server in range(world.size):
            os.remove(f"{parts}/part-{server:05d}-of-{world.size:05d}.index")
        os.rmdir(parts)
        if not step and p.meta:
            with open(f"{prefix}.meta", "wb") as meta:
                meta.write(bytes(p.meta))
        kept.append(prefix)
        with open("checkpoint.tmp", "w") as state:
            state.writelines(f'all_model_checkpoint_paths: "{name}"\\n' for name in kept)
        os.rename("checkpoint.tmp", "checkpoint")
        if len(kept) > p.most:
            old = kept.pop(0)
            for server in range(world.size):
                os.remove(f"{old}.data-{server:05d}-of-{world.size:05d}")
            os.remove(f"{old}.index")
    world.Barrier()
""",
        modules=("mpi4py",),
        ranks=rng.randint(1, 4),
        saves=rng.randint(1, 8),
        every=rng.randint(1, 30),
        variables=rng.randint(1, 20),
        size=rng.choice([200, 20_000, 100_000]),
        buffer=rng.choice([8192, 1_048_576]),
        meta=rng.choice([0, 100_000]),
        most=rng.randint(1, 5),
    )


@kind("learning")
def folders_of_images(rng: random.Random) -> Program:
    """An image folder: classes are folders, listed once; workers decode the images of batches in a new order each epoch.

    Some images are validated at the end of each epoch in their own order; the best model is copied, the last replaced.
    """
    return python(
        rng,
        """
import io
import shutil
from PIL import Image
samples = []
for label in sorted(entry.name for entry in os.scandir("train") if entry.is_dir()):
    for root, _, names in sorted(os.walk(f"train/{label}", followlinks=True)):
        samples += [os.path.join(root, name) for name in sorted(names) if name.lower().endswith((".png", ".jpg"))]
held_out = samples[:: p.held_out]
train = [sample for sample in samples if sample not in set(held_out)]

def load(path):
    with open(path, "rb") as file:
        return Image.open(file).convert("RGB").resize((8, 8))

def in_workers(order):
    batches = [order[i : i + p.batch] for i in range(0, len(order), p.batch)]
    children = []
    for worker in range(p.workers):
        child = os.fork()
        if not child:
            for batch in batches[worker :: p.workers]:
                for path in batch:
                    load(path)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)

for epoch in range(p.epochs):
    rng.shuffle(train)
    in_workers(train)
    in_workers(held_out)
    with open("last.pth.tar", "wb") as model:
        model.write(bytes(p.model))
    if not epoch or rng.random() < 0.4:
        shutil.copyfile("last.pth.tar", "best.pth.tar")
""",
        """
from PIL import Image
for label in range(p.labels):
    os.makedirs(f"train/class{label:03d}")
    for number in range(rng.randint(1, p.images)):
        side = rng.randint(8, p.side)
        pixels = rng.randbytes(side * side * 3)
        Image.frombytes("RGB", (side, side), pixels).save(f"train/class{label:03d}/{number:05d}.{p.format}")
""",
        ("PIL",),
        labels=rng.randint(1, 10),
        images=rng.randint(2, 25),
        side=rng.choice([16, 64, 160]),
        format=rng.choice(["png", "jpg"]),
        held_out=rng.randint(3, 10),
        batch=rng.randint(1, 16),
        workers=rng.randint(1, 3),
        epochs=rng.randint(1, 3),
        model=rng.choice([5000, 3_000_000]),
    )


@kind("learning")
def records_interleaved(rng: random.Random) -> Program:
    """TFRecord files: several are open at once and give records in turn, each read ahead in its own buffer.

    A record is its length, a checksum, data and another checksum. Files come in a new order each epoch, and a cache
    may keep all records in a file of its own in the first, which the later epochs read instead.
    """
    return python(
        rng,
        """
import struct

def records(path):
    with open(path, "rb", buffering=p.buffer) as file:
        while head := file.read(12):
            yield file.read(struct.unpack("<Q", head[:8])[0])
            file.read(4)

for epoch in range(p.epochs):
    order = [f"train-{number:05d}-of-{p.files:05d}" for number in range(p.files)]
    rng.shuffle(order)
    if p.cache and epoch:
        with open("cache.data", "rb", buffering=1 << 18) as file:
            while file.read(1 << 16):
                pass
        continue
    cache = open("cache.lockfile", "w") if p.cache else None
    kept = open("cache.data.tmp", "wb") if p.cache else None
    waiting, open_now = list(order), []
    while waiting or open_now:
        while waiting and len(open_now) < p.cycle:
            open_now.append(records(waiting.pop(0)))
        for stream in list(open_now):
            for _ in range(p.block):
                data = next(stream, None)
                if data is None:
                    open_now.remove(stream)
                    break
                if kept:
                    kept.write(data)
    if cache:
        kept.close()
        cache.close()
        os.rename("cache.data.tmp", "cache.data")
        os.remove("cache.lockfile")
""",
        """
import struct
for number in range(p.files):
    with open(f"train-{number:05d}-of-{p.files:05d}", "wb") as file:
        for _ in range(rng.randint(1, p.records)):
            size = rng.randint(p.largest // 4, p.largest)
            file.write(struct.pack("<QI", size, 0) + rng.randbytes(size) + bytes(4))
""",
        files=rng.randint(1, 16),
        records=rng.randint(2, 80),
        largest=rng.choice([200, 6000, 30_000]),
        buffer=rng.choice([4096, 65_536, 262_144]),
        cycle=rng.randint(1, 8),
        block=rng.randint(1, 8),
        epochs=rng.randint(1, 3),
        cache=rng.choice([0, 0, 1]),
    )
