"""Property tests run the same examples every time, so that a failure is caused by a change.

`make test-long` sets WORKALIKE_EXPLORE, with which they look for new ones. A slow machine is not a failure.
"""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import tempfile

from hypothesis import settings

EXPLORE = "WORKALIKE_EXPLORE" in os.environ

# Programs that are started without mpiexec share Open MPI's session folder, and the first that ends removes it. So each
# process that runs tests has a folder of its own, workers of a parallel run too.
folder = tempfile.mkdtemp(prefix="openmpi-")
for name in ("OMPI_MCA_orte_tmpdir_base", "PRTE_MCA_prte_tmpdir_base", "OMPI_MCA_prte_tmpdir_base"):
    if name not in os.environ or "PYTEST_XDIST_WORKER" in os.environ:
        os.environ[name] = folder
atexit.register(shutil.rmtree, folder, ignore_errors=True)

# At each start Open MPI looks for fast networks (0.2 s), each of its processes reads the configuration of all PCI devices
# (slow on virtual machines: half of a start's CPU time), and a program without mpiexec starts a daemon (0.1 s). All ranks
# of a test are on one machine, and a program without mpiexec starts no other.
os.environ.setdefault("OMPI_MCA_pml", "ob1")
os.environ.setdefault("HWLOC_COMPONENTS", "-pci,-linuxio")
os.environ.setdefault("OMPI_MCA_ess_singleton_isolated", "1")

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("exploring", deadline=None, max_examples=500)
settings.load_profile("exploring" if EXPLORE else "steady")


def pytest_collection_finish() -> None:
    """Leave thousands of collected tests out of each garbage collection."""
    gc.collect()
    gc.freeze()


def pytest_make_parametrize_id(config: object, val: object) -> str | None:
    """Name bytes by their number: workers of a parallel run must give a test one name, and gzip writes the time."""
    return f"{len(val)}-bytes" if isinstance(val, bytes) else None
