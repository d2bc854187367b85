"""One reader of a training job: reads its share of a data set in some epochs, shuffled anew in each.

reads_epochs.py make FOLDER FILES SAMPLES SIZE
reads_epochs.py read FOLDER READERS READER EPOCHS SAMPLES SIZE
"""

import os
import random
import sys
from pathlib import Path


def make(folder: str, files: int, samples: int, size: int) -> None:
    Path(folder).mkdir()
    for number in range(files):
        Path(folder, f"part-{number:03d}.bin").write_bytes(os.urandom(samples * size))


def read(folder: str, readers: int, reader: int, epochs: int, samples: int, size: int) -> None:
    paths = sorted(Path(folder).iterdir())
    for epoch in range(epochs):
        order = random.Random(epoch).sample(paths, len(paths))  # the same for all readers
        chance = random.Random(f"{epoch} {reader}")
        for path in order[reader::readers]:
            descriptor = os.open(path, os.O_RDONLY)
            for sample in chance.sample(range(samples), samples):
                assert len(os.pread(descriptor, size, sample * size)) == size
            os.close(descriptor)


if __name__ == "__main__":
    action, place, *numbers = sys.argv[1:]
    (make if action == "make" else read)(place, *map(int, numbers))
