"""Small decisions about records, with figures by hand."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from facts_by_hand import file_facts, module_facts

from workalike.facts.other_files import OTHER_FILES, OTHER_FILES_ID, is_other_files
from workalike.facts.placement import place_of
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.times import seconds_of
from workalike.workload.model import Direction, Level, Pattern


def test_the_record_of_other_files_is_known_by_its_name_or_its_number() -> None:
    file = file_facts("/data/x")
    assert not is_other_files(file)
    assert is_other_files(dataclasses.replace(file, name=OTHER_FILES))
    assert is_other_files(dataclasses.replace(file, record_id=OTHER_FILES_ID))


def test_timers_that_cannot_be_true_count_as_nothing() -> None:
    values = [3.0, math.nan, math.inf, -5.0]
    facts = module_facts("POSIX", {rank: {"F_READ_TIME": value} for rank, value in enumerate(values)})
    np.testing.assert_array_equal(seconds_of(facts, ("F_READ_TIME",)), [3.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize(("last", "pattern"), [(9, Pattern.REPLICATED), (10, Pattern.RANDOM)])
def test_a_file_reaches_to_its_last_byte(last: int, pattern: Pattern) -> None:
    """Four ranks read just more than what makes them readers of all ten bytes, and too little for eleven."""
    read = int(10 * THRESHOLDS.placed_replicated) + 1
    assert read <= 11 * THRESHOLDS.placed_replicated
    counters = {"READS": read, "BYTES_READ": read, "MAX_BYTE_READ": last}
    file = file_facts("/data/x", module_facts("POSIX", {-1: counters}))
    assert place_of([file], Level.POSIX, Direction.READ).pattern is pattern
