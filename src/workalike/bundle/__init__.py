"""Workloads for a tender: an archive that is built and run without Python, and what comes back from it."""
