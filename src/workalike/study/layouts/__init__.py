"""Layouts of files on the servers of parallel file systems: one small class each, with detect, apply and read back."""
