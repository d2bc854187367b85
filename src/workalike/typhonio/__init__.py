"""Reads, checks and shows TyphonIO files (library version 1.6), through plain HDF5."""
