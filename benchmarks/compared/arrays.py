"""Writes datasets by HDF5; the argument names the one thing that is done otherwise."""

import sys

import h5py
import numpy as np

change = sys.argv[1] if len(sys.argv) > 1 else ""
chunks = (16, 64) if change == "chunk-size" else (32, 64)
kind = np.float32 if change == "smaller-type" else np.float64
count = 4 if change == "dataset-more" else 3
values = np.arange(128 * 256, dtype=kind).reshape(128, 256)
with h5py.File("arrays.h5", "w") as file:
    for number in range(count):
        data = file.create_dataset(f"field{number}", values.shape, kind, chunks=chunks)
        if change == "by-rows":
            for row in range(0, len(values), 32):
                data[row : row + 32] = values[row : row + 32]
        else:
            data[...] = values
        if change == "flush":
            data.flush()
if change == "read-back":
    with h5py.File("arrays.h5") as file:
        for number in range(count):
            file[f"field{number}"][...]
