"""docs/claims.md from docs/claims/claims.yaml: what the four papers claim, and what became of each claim here.

    python benchmarks/claims_page.py [--check]

A claim has an id, its place in the paper, the claim in our words, its kind, a status, a note, and evidence. Each piece
of evidence is one of

* `result`, `measure`, `figure`: a row of docs/results/NAME.json, with the figure by which the status was decided (and
  `row`, its number, where rows of one result share a measure);
* `result` alone: all rows of that result;
* `test`: FILE or FILE::FUNCTION;
* `page`: a page of docs, with the heading that holds the figure;
* `command`: what prints the figure.

--check says what is wrong: evidence that does not exist, a figure that is another by now, or pages that are not up to
date. A figure that has changed asks a person to decide the status again.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import yaml
from catalogue import ROOT
from results import Figure, Result
from results_page import cell, known_results

SOURCE = ROOT / "docs" / "claims" / "claims.yaml"
PAGE = ROOT / "docs" / "claims.md"
README = ROOT / "README.md"


class Status(Enum):
    """What became of a claim here."""

    REPRODUCED = "reproduced"
    IN_PART = "in part"
    NOT_REPRODUCED = "not reproduced"
    NOT_MEASURED = "not measured"
    NOT_TESTABLE = "not testable here"


PAPERS = {
    "W": "Workload replication with MACSio and TyphonIO (Cray User Group, 2017)",
    "M": "MINIO: mini-applications of I/O (poster, SC 2015)",
    "D": "Darshan on a Cray XE6",
    "E": "I/O of applications of the Exascale Computing Project",
}
"""The papers, by the letter of their claims."""
KINDS = ("method", "capability", "figure", "direction")
HEAD = "| claim | what the paper says | here | evidence |\n|---|---|---|---|\n"
INTRODUCTION = "This project implements what four papers describe."
BEGIN = """\
# The papers, claim by claim

<!-- This page is generated: change docs/claims/claims.yaml, then run `python benchmarks/claims_page.py`. -->

{introduction}

| status | meaning |
|---|---|
| reproduced | a command or a test here shows what the paper says |
| in part | for a part of the claim, at a smaller scale, or on data that were generated for it; the note says which |
| **not reproduced** | a figure here says otherwise; the note says why, as far as it is known |
| not measured | it could be tested on one machine, and has not been; the note says how |
| not testable here | it needs a machine or a program that one machine cannot stand for |

Figures are those of [results.md](results.md), which has their commands, dates and machines. The claims are in our
words: they are what a paper says, not what we hold to be true.
"""


@dataclass(frozen=True)
class Claim:
    """One claim of a paper."""

    id: str
    where: str
    claim: str
    kind: str
    status: Status
    note: str = ""
    evidence: list[Mapping[str, Any]] = field(default_factory=list)


def load_claims(source: Path = SOURCE) -> list[Claim]:
    """The claims, in the order of the papers."""
    found = yaml.safe_load(source.read_text(encoding="utf-8"))
    return [Claim(**{**each, "status": Status(each["status"])}) for each in found]


def problems_of(claims: Sequence[Claim], results: Mapping[str, Result]) -> Iterator[str]:
    """What is wrong with the claims, a sentence each."""
    for name, times in Counter(claim.id for claim in claims).items():
        if times > 1:
            yield f"{name} is there {times} times"
    for claim in claims:
        if claim.id[0] not in PAPERS or claim.kind not in KINDS:
            yield f"{claim.id}: neither paper nor kind is known"
        shown = claim.status in (Status.REPRODUCED, Status.IN_PART)
        if shown and not claim.evidence:
            yield f"{claim.id} is {claim.status.value} without evidence"
        if claim.status is not Status.REPRODUCED and not claim.note:
            yield f"{claim.id} is {claim.status.value} without a note"
        for evidence in claim.evidence:
            if words := problem_of(evidence, results):
                yield f"{claim.id}: {words}"


def problem_of(evidence: Mapping[str, Any], results: Mapping[str, Result]) -> str:
    """What is wrong with a piece of evidence; empty if nothing is."""
    if "result" in evidence:
        result = results.get(evidence["result"])
        if result is None:
            return f"there is no result {evidence['result']}"
        if "measure" not in evidence:
            return ""
        figure = figure_of(evidence, result)
        if figure is None:
            return f"{result.name} has no row {evidence['measure']!r}"
        if figure.figure != evidence.get("figure"):
            return (
                f"{result.name}, {evidence['measure']!r} is {figure.figure!r} by now, not {evidence.get('figure')!r}: "
                "decide the status again"
            )
        return ""
    if "test" in evidence:
        path, _, function = evidence["test"].partition("::")
        if not (ROOT / path).exists():
            return f"there is no {path}"
        if function and f"def {function}(" not in (ROOT / path).read_text(encoding="utf-8"):
            return f"{path} has no {function}"
        return ""
    if "page" in evidence:
        path = evidence["page"].partition("#")[0]  # that its heading exists is tested with all links of pages
        return "" if (ROOT / path).exists() else f"there is no {path}"
    if "command" in evidence:
        script = next((word for word in evidence["command"].split() if "/" in word), "")
        return "" if script and (ROOT / script).exists() else f"there is no {evidence['command']}"
    return f"evidence of an unknown kind: {', '.join(evidence)}"


def figure_of(evidence: Mapping[str, Any], result: Result) -> Figure | None:
    """The row of a result that a piece of evidence names."""
    rows = [figure for figure in result.figures if figure.measure == evidence["measure"]]
    if "row" in evidence:
        row = int(evidence["row"])
        return result.figures[row] if row < len(result.figures) and result.figures[row] in rows else None
    return rows[0] if len(rows) == 1 else None


def totals_of(claims: Sequence[Claim]) -> str:
    """How many claims have which status, in a sentence."""
    number = Counter(claim.status for claim in claims)
    testable = len(claims) - number[Status.NOT_TESTABLE]
    return (
        f"Of their {len(claims)} claims, {testable} can be tested on one machine: {number[Status.REPRODUCED]} are "
        f"reproduced, {number[Status.IN_PART]} in part, {number[Status.NOT_REPRODUCED]} are not reproduced, "
        f"{number[Status.NOT_MEASURED]} are not measured."
    )


def page_of(claims: Sequence[Claim], results: Mapping[str, Result]) -> str:
    """The text of docs/claims.md."""
    begin = BEGIN.format(introduction=textwrap.fill(f"{INTRODUCTION} {totals_of(claims)}", 120))
    parts = [begin]
    for letter, title in PAPERS.items():
        rows = "\n".join(row_of(claim, results) for claim in claims if claim.id[0] == letter)
        parts.append(f"\n## {title}\n\n{HEAD}{rows}\n")
    return "".join(parts)


def row_of(claim: Claim, results: Mapping[str, Result]) -> str:
    status = claim.status.value
    if claim.status is Status.NOT_REPRODUCED:
        status = f"**{status}**"
    here = f"{status}: {claim.note}" if claim.note else status
    evidence = "; ".join(words_of(each, results) for each in claim.evidence)
    cells = (f"{claim.id}, {claim.where}", claim.claim, here, evidence)
    return f"| {' | '.join(map(cell, cells))} |"


def words_of(evidence: Mapping[str, Any], results: Mapping[str, Result]) -> str:
    if "result" in evidence:
        result = results[evidence["result"]]
        link = f"[{result.name}](results.md#{result.name})"
        if "measure" not in evidence:
            return f"{link}, `{result.command}`"
        return f"{evidence['figure']} ({link}, `{result.command}`)"
    if "test" in evidence:
        return f"test `{evidence['test'].removeprefix('tests/')}`"
    if "page" in evidence:
        target = evidence["page"].removeprefix("docs/")
        if target == evidence["page"]:
            target = f"../{target}"
        return f"[{target.partition('#')[0].removeprefix('../')}]({target})"
    return f"`{evidence['command']}`"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if anything is wrong")
    given = parser.parse_args()
    claims, results = load_claims(), known_results()
    problems = list(problems_of(claims, results))
    if problems:
        print("\n".join(problems), file=sys.stderr)
        return 1
    page = page_of(claims, results)
    if given.check:
        problems = [] if PAGE.exists() and PAGE.read_text(encoding="utf-8") == page else [str(PAGE)]
        problems += [] if totals_of(claims) in joined(README.read_text(encoding="utf-8")) else [str(README)]
        for path in problems:
            print(f"{path} is not what the claims make: run benchmarks/claims_page.py", file=sys.stderr)
        return 1 if problems else 0
    PAGE.write_text(page, encoding="utf-8")
    print(totals_of(claims))
    return 0


def joined(text: str) -> str:
    """A text whose lines are one."""
    return " ".join(text.split())


if __name__ == "__main__":
    sys.exit(main())
