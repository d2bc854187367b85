"""workalike: replicate the I/O of a real HPC application anywhere.

The line: log -> `characterize` -> workload -> `plan` -> engine -> record -> `compare`.
"""

__version__ = "0.1.0"
