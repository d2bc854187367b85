"""Names of fields in the schema of a study: what an editor offers is what the code takes, and the other way round."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from workalike.study.field_names import PATTERNS, WORDS, field_names
from workalike.study.schema import study_schema
from workalike.study.targets import _GROUPS, _OPTIONS, _RUN, LAYOUT_FIELDS, wanted
from workalike.workload.tunable import Tunable


def is_valid(**fields: Any) -> bool:
    """Whether the schema takes a study with these fields."""
    study = {"study": 1, "workload": "w.yaml", "factors": {"ranks": [1]}} | fields
    return jsonschema.Draft202012Validator(study_schema()).is_valid(study)


def takes(name: str) -> bool:
    """Whether the code knows a field of this name; the value is one that hardly any field has."""
    try:
        wanted({name: "\0"})
    except ValueError as error:
        text = str(error)
        return not any(
            words in text
            for words in ("no such field", "sets only", "is not a name of a hint", "cannot be changed")
        )
    return True


def test_all_words_are_offered() -> None:
    names = field_names()
    assert set(WORDS) == {*_OPTIONS, *_RUN}
    assert {name.partition(".")[2] for name in names if name.startswith("tunable.")} == set(
        Tunable.model_fields
    )
    assert {name.partition(".")[2] for name in names if name.startswith("layout.")} == set(LAYOUT_FIELDS)
    assert {name.partition(".")[0] for name in names if "." in name} == set(_GROUPS) - {"what_if"}
    assert all(takes(name) for name in names)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "name",
    [
        "ranks",
        "tunable.cb_nodes",
        "layout.components",
        "hint.my_own.hint",
        "environment.ROMIO_HINTS",
        "environment.OMPI_MCA_fcoll_two_phase",
        "what_if.checkpoint[5:].every",
        "families[*].content.streams[*].collective",
        "families[0].tunable.cb_nodes",
        "compute.level",
    ],
)
def test_names_that_both_take(name: str) -> None:
    assert is_valid(factors={"f": {"set": name, "levels": [1]}}) and is_valid(fixed={name: 1})
    assert takes(name) or name.startswith("what_if.")


@pytest.mark.parametrize(
    "name",
    [
        "rank",
        "tunable.cb_node",
        "tunable.",
        "layout.colour",
        "hint.a b",
        "environment.LD_PRELOAD",
        "family[0].x",
        "families[0].Tunable",
        "what_if.",
    ],
)
def test_names_that_neither_takes(name: str) -> None:
    assert not is_valid(factors={"f": {"set": name, "levels": [1]}}) and not is_valid(fixed={name: 1})
    assert not takes(name)


def test_names_of_factors_are_offered() -> None:
    properties = study_schema()["properties"]["factors"]["properties"]
    assert properties.keys() == WORDS.keys() and all("description" in kind for kind in properties.values())
    assert not is_valid(factors={"ranks": {"sett": "ranks", "levels": [1]}})
    assert len(PATTERNS) == 4
