"""Logs of real applications: those that come with a Python package, and those that may lie beside the checkout."""

from __future__ import annotations

from pathlib import Path

from known_logs import SHARED_LOGS, SHARED_WORKFLOWS, package_folder

FROM_PACKAGE = (
    "examples/example_logs/example.darshan",
    "examples/example_logs/shane_macsio_id29959_5-22-32552-7035573431850780836_1590156158.darshan",
    "examples/example_logs/ior_hdf5_example.darshan",
    "examples/example_logs/dxt.darshan",
    "examples/example_logs/noposix.darshan",
    "tests/input/noposixopens.darshan",
    "tests/input/sample-badost.darshan",
    "tests/input/sample-goodost.darshan",
    "tests/input/sample-dxt-simple.darshan",
    "examples/darshan-graph/pq_app_readAB_writeC_id71326_7-31-5658-2037904274838284930_55623.darshan",
)
"""Of the package `darshan`; left out are further runs of the same programs."""


def package_log(name: str) -> Path | None:
    """A log of the package, where it is installed with its logs."""
    folder = package_folder()
    path = folder / name if folder else None
    return path if path and path.is_file() else None


def package_logs() -> list[Path]:
    return [path for name in FROM_PACKAGE if (path := package_log(name)) is not None]


def shared_logs() -> list[Path]:
    """Each log, and each folder with the logs of one workflow."""
    return sorted(SHARED_LOGS + SHARED_WORKFLOWS)
