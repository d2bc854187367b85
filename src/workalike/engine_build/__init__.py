"""Builds the engine from the source that is packaged with workalike, and checks what it can do here."""
