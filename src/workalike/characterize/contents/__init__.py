"""What a dump does: streams, arrays, meshes, data sets, syncs and settings."""
