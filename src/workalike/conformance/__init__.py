"""Workloads with the operations that each rank must make of them, for programs that read the format themselves."""
