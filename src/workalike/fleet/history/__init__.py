"""A run against earlier runs of the same workload (`workalike diagnose --history`)."""
