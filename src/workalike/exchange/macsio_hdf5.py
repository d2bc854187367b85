"""Converts settings of MACSio's HDF5 plugin to tunables and back (docs/reference/macsio-model.md#hdf5-plugin)."""

from __future__ import annotations

import re
from typing import Any

from workalike.exchange.macsio_options import CommandLine, bad, integer
from workalike.exchange.notes import Notes
from workalike.workload.model import Tunable
from workalike.workload.words import Layout

SIZES = {"sieve_buf_size": "sieve_buffer", "meta_block_size": "metadata_block"}
DEFLATE = 9
"""The level of `--compression gzip` without a level."""


def tunable_of_plugin(line: CommandLine, collective: bool, notes: Notes) -> dict[str, Any]:
    """The fields of a tunable that the plugin's options set.

    Raises:
        WorkalikeError: USAGE naming the option.
    """
    tunable: dict[str, Any] = {}
    for name, field in SIZES.items():
        if name in line.plugin:
            tunable[field] = f"{integer(line.plugin[name][0], name, line.unit)} B"
    if "small_block_size" in line.plugin:
        notes.lost("--small_block_size is left out, because MACSio sets another block's size instead")
    if "compression" in line.plugin:
        algorithm, parameters = line.plugin["compression"]
        if algorithm != "gzip":
            notes.lost(f"--compression {algorithm[:20]} is left out, because only gzip is in every HDF5")
        elif not collective:
            notes.lost("--compression is left out, because HDF5 filters chunks only in collective writes")
        else:
            tunable |= {"layout": "chunked", "deflate": _level(parameters)}
    return tunable


def _level(parameters: str) -> int:
    level = DEFLATE
    for part in filter(None, parameters.split(",")):
        match = re.fullmatch(r"level=([0-9])|minsize=[0-9]{1,9}", part.strip())
        if match is None:
            raise bad(f"--compression gzip {part[:20]!r} is unknown", "use level=0 to level=9, minsize=bytes")
        if match.group(1):
            level = int(match.group(1))
    return level


def options_of_tunable(tunable: Tunable, notes: Notes) -> list[str]:
    """The plugin's options for the HDF5 settings of a tunable."""
    options = []
    for name, field in SIZES.items():
        value = getattr(tunable, field)
        if value is not None:
            options += [f"--{name}", str(value)]
    if tunable.deflate is not None and tunable.layout is Layout.CHUNKED:
        options += ["--compression", "gzip", f"level={tunable.deflate}"]
    unsupported = [
        field
        for field in (
            "alignment",
            "chunk_bytes",
            "collective_metadata",
            "individual_io",
            "file_space",
            "libver",
            "shuffle",
            "subfiling",
        )
        if getattr(tunable, field) not in (None, False)
    ]
    if unsupported:
        notes.say(f"MACSio's HDF5 plugin has no option for {', '.join(unsupported)}")
    return options
