"""What an officer signs: every field of the file has a line, and the page stays readable."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from known_logs import JOBS, characterized_or_skip, job_name
from workload_strategies import workloads

from workalike.workload.disclosure import disclose
from workalike.workload.model import Workload
from workalike.workload.workload_file import parse_workload

EVERYTHING = """\
workalike: 2
ranks: 8
nodes: 2
runtime: 600 s
compute: {level: 2, length: 3}
families:
- role: checkpoint
  interface: hdf5
  sharing: {mode: groups, files: 2, turns: baton}
  keep: 2
  rename: true
  schedule:
    {count: 3, first: 10 s, every: 100 s, duration: [1 s, 2 s, 3 s], compute_time: 1 s, metadata: 1 ms,
     writes: {first: 0.2 s, last: 0.9 s, busy: [0.1 s, 0.2 s, 0.3 s]}, reads: {first: 0.8 s}}
  sizes: 1 GiB
  growth: [1.5, 2]
  content: {fsyncs: 8, renames: 2, fit: {datasets: 43, collective: false}}
  assumed: [deck]
  tunable: {cb_nodes: 4, layout: chunked}
- role: input
  interface: posix
  reader: neighbour
  drop_caches: true
  schedule: {start: [0 s]}
  content:
    streams:
    - {direction: read, sizes: [8/rank x 1 MiB], ranks: 0-3, pattern: strided, stride: 2 MiB, base: 4 KiB}
uncovered:
- {reason: mmap, bytes: 10 MB, files: 3}
"""
SAID_WITH_ITS_PARENT = {
    "direction",
    "collective",
    "pattern",
    "repeat",
    "mode",
    "turns",
    "gather",
    "files",
    "number",
    "datasets",
    "element",
    "slabs",
    "shape",
    "chunk",
    "extendible",
    "unlimited",
    "access",
    "reason",
    "bytes",
}
"""Fields whose meaning stands in the words of the line of what they belong to."""


def test_every_field_has_a_line() -> None:
    workload = parse_workload(EVERYTHING)
    lines = disclose(workload)
    disclosed = {word for line in lines for word in line.field.replace("(", " ").replace(",", " ").split()}
    disclosed |= {field.split("[")[0] for field in disclosed}
    for path in _leaves(workload.model_dump(mode="json", exclude_defaults=True)):
        names = set(path) - {"families", "content", "streams", "schedule", "tunable"}
        assert names & disclosed or names <= SAID_WITH_ITS_PARENT, path
    assert all(line.tells and line.value for line in lines)


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for item in value:
            yield from _leaves(item, path)
    else:
        yield path


def test_tunable_fields_are_marked() -> None:
    lines = disclose(parse_workload(EVERYTHING))
    tunable = {line.field: line.value for line in lines if line.marking == "tunable"}
    assert tunable == {"cb_nodes": "4", "layout": "chunked"}
    assert any("[tunable]" in line.text() for line in lines)


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("duration", "speed of the original storage"),
        ("busy", "0.1 s, 0.2 s, 0.3 s - how long a rank was"),
        ("metadata", "opens, closes and syncs"),
        ("sizes", "size of the problem"),
        ("growth", "how the problem grows"),
        ("runtime", "not when"),
        ("compute", "4 units of arithmetic on every rank"),
        ("sharing", "one rank after the other"),
        ("uncovered[0]", "memory-mapped"),
        ("assumed", "not measured"),
    ],
)
def test_it_says_what_a_reader_learns(field: str, words: str) -> None:
    texts = [line.text() for line in disclose(parse_workload(EVERYTHING)) if line.field == field]
    assert any(words in text.replace("its ranks one", "one rank") for text in texts), texts


def test_it_says_how_files_are_spread_over_folders() -> None:
    text = """\
workalike: 2
ranks: 4
families:
- role: output
  interface: posix
  sharing: per-rank
  folders: {files: 2, per_rank: true}
  schedule: {count: 4, first: 0 s, every: 1 s}
  content: {streams: [{direction: write, sizes: [4/rank x 64 KiB]}]}
"""
    (line,) = [line.text() for line in disclose(parse_workload(text)) if line.field == "folders"]
    assert "each rank has its own, 2 files in each" in line


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(workloads())
def test_any_workload(workload: Workload) -> None:
    for line in disclose(workload):
        assert line.text().isprintable()
        assert set(line.as_dict()) == {"place", "field", "value", "tells", "marking"}


@pytest.mark.parametrize("logs", JOBS, ids=job_name)
def test_real_ones_stay_readable(logs: tuple[Path, ...]) -> None:
    workload = characterized_or_skip(logs).workload
    lines = disclose(workload)
    assert len(lines) <= 5 + 120 * len(workload.families)
    assert max(len(line.text()) for line in lines) < 500
