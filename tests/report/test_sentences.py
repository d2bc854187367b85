"""What the report says of the contents of a family."""

from __future__ import annotations

from workalike.report.sentences import _arrays
from workalike.workload.model import Content


def test_datasets_that_a_dump_leaves_alone_are_not_the_largest() -> None:
    access = [{"direction": "read", "slabs": [{"count": 3, "shape": [10]}]}]
    arrays = [{"dims": [5000], "access": []}, {"dims": [30], "access": access}]
    sentence = _arrays(Content.model_validate({"arrays": arrays}))
    assert sentence == "A dump has 2 datasets, the largest of 30 elements, read in 3 hyperslabs."
