"""Datasets of HDF5 and variables of PnetCDF, and the meshes that they look like."""
