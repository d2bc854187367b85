"""docs/claims.md is generated; evidence that is gone and figures that have changed are found."""

from __future__ import annotations

import re
from dataclasses import replace

import claims_page
import pytest
from claims_page import README, Claim, Status, load_claims, page_of, problems_of, totals_of
from results_page import known_results


def test_each_claim_has_evidence_that_exists_and_figures_that_stand() -> None:
    assert list(problems_of(load_claims(), known_results())) == []


def test_page_and_readme_are_what_the_claims_make() -> None:
    claims = load_claims()
    assert claims_page.PAGE.read_text(encoding="utf-8") == page_of(claims, known_results()), (
        "run benchmarks/claims_page.py"
    )
    assert totals_of(claims) in claims_page.joined(README.read_text(encoding="utf-8"))


CLAIM = Claim("W1", "§I", "A claim.", "figure", Status.REPRODUCED)
ROW = {
    "result": "full-scale",
    "measure": "full-scale plan against the log: bytes of a family",
}


@pytest.mark.parametrize(
    ("evidence", "problem"),
    [
        ({**ROW, "figure": "0 %"}, "W1: full-scale, .* by now, not '0 %'"),
        ({**ROW, "measure": "no such row", "figure": "0"}, "full-scale has no row 'no such row'"),
        ({**ROW, "row": 99}, "full-scale has no row"),
        ({"result": "gone"}, "no result gone"),
        ({"test": "tests/docs/test_gone.py"}, "no tests/docs/test_gone.py"),
        ({"test": "tests/docs/test_claims.py::test_gone"}, "has no test_gone"),
        ({"page": "docs/gone.md"}, "no docs/gone.md"),
        ({"command": "python benchmarks/gone.py"}, "there is no python benchmarks/gone.py"),
        ({"hearsay": "yes"}, "unknown kind: hearsay"),
    ],
)
def test_evidence_that_does_not_hold_is_named(evidence: dict[str, object], problem: str) -> None:
    (found,) = problems_of([replace(CLAIM, evidence=[evidence])], known_results())
    assert re.search(problem, found), found


def test_a_claim_says_what_it_rests_on() -> None:
    found = list(problems_of([CLAIM, replace(CLAIM, status=Status.NOT_REPRODUCED)], known_results()))
    assert found == [
        "W1 is there 2 times",
        "W1 is reproduced without evidence",
        "W1 is not reproduced without a note",
    ]
