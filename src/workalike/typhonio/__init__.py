"""TyphonIO files (library version 1.6): read, checked and shown, on plain HDF5."""
