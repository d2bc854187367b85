"""One process: three files of two datasets each, written by h5py, and read back; with the files that Python itself reads."""

import time
from pathlib import Path

import h5py
import numpy as np

for step in range(3):
    time.sleep(0.2)
    with h5py.File(f"series_{step:03}.h5", "w") as file:
        file.create_dataset("density", data=np.zeros((100, 200)))
        file.create_dataset("material", data=np.zeros(5000, dtype="i4"), chunks=(1000,))
for path in sorted(Path().glob("series_*.h5")):
    with h5py.File(path) as file:
        assert file["density"][:].sum() == 0
