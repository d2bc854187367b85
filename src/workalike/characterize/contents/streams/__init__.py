"""Access streams: operations, sizes, ranks and placement."""
