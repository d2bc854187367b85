"""Does a large write cost a file system more than many small ones? 40 MiB into a new file, by calls of several sizes.

    python benchmarks/write_sizes.py [--dir DIR] [--rounds 4]

This is why capture can record the sizes of STDIO calls (docs/capture.md). A virtual machine must allocate memory anew
that it gave back to its host in between, so there is a pause before each file.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

KIB = 1024
TOTAL = 40 * KIB * KIB
SIZES = (20 * KIB * KIB, 256 * KIB, 64 * KIB)
PAUSE_S = 4.0


def seconds_of(path: Path, data: memoryview, size: int) -> float:
    """Of all writes of a new file, without opening and closing it."""
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    begin = time.perf_counter()
    for at in range(0, TOTAL, size):
        os.write(descriptor, data[at : at + size])
    spent = time.perf_counter() - begin
    os.close(descriptor)
    path.unlink()
    return spent


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--dir", type=Path, default=None, help="file system under test [a temporary folder]")
    options.add_argument("--rounds", type=int, default=4)
    given = options.parse_args()
    data = memoryview(bytearray(os.urandom(TOTAL)))
    spent: dict[int, list[float]] = {size: [] for size in SIZES}
    with tempfile.TemporaryDirectory(dir=given.dir) as folder:
        for _ in range(given.rounds):
            for size in SIZES:
                time.sleep(PAUSE_S)
                spent[size].append(seconds_of(Path(folder) / "data", data, size))
    for size, seconds in spent.items():
        print(
            f"calls of {size // KIB:6} KiB: {min(seconds) * 1e3:4.0f} to {max(seconds) * 1e3:4.0f} ms for 40 MiB "
            f"({len(seconds)} files)"
        )


if __name__ == "__main__":
    main()
