"""workalike: replicate the I/O of a real HPC application anywhere.

The line: log -> `characterize` -> workload -> `plan` -> engine -> record -> `compare`.
"""

from workalike.version import VERSION as __version__

__all__ = ["__version__"]
