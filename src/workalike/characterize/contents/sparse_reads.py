"""Families that read bytes of their files that no dump wrote: holes, or data from before the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workalike.characterize.result import FamilyFacts
from workalike.characterize.rules import SparseRule
from workalike.errors import WorkalikeError
from workalike.facts.records import FileFacts
from workalike.facts.rules import by
from workalike.facts.thresholds import THRESHOLDS
from workalike.plan.resolve import families_that_read_holes
from workalike.workload.model import Assumption, Workload


def with_holes(families: Sequence[FamilyFacts], workload: Workload) -> list[FamilyFacts]:
    """The families, of which some that read between what their dumps wrote are `sparse`; which ones is assumed.

    A log does not tell a hole from data of before the run. They are taken as holes where they are the smaller part of
    what is read, or where the run has made the file. Otherwise the file was there, and is made before the run.
    """
    try:
        found = families_that_read_holes(workload)
    except WorkalikeError:  # a workload that has no plan; whoever plans it says so
        return list(families)
    return [
        _assumed(facts) if position in found and not facts.family.sparse else facts
        for position, facts in enumerate(families)
    ]


def _assumed(facts: FamilyFacts) -> FamilyFacts:
    family, files = facts.family, facts.files()
    sparse = _mostly_written(files) or all(_made_by_the_run(file) for file in files)
    assumed = list(dict.fromkeys([*family.assumed, Assumption.HOLES]))
    return replace(
        facts,
        family=family.model_copy(update={"sparse": sparse, "assumed": assumed}),
        rules=[*facts.rules, by(SparseRule.SPARSE if sparse else SparseRule.OLDER_DATA)],
    )


def _mostly_written(files: Sequence[FileFacts]) -> bool:
    """Whether the bytes written may fill most of the files, up to the last byte that is read."""
    read = written = 0
    for file in files:
        for module in ("POSIX", "STDIO"):
            found = file.modules.get(module)
            if found is not None:
                end = int(found.column("MAX_BYTE_READ").max()) + 1
                read += end
                written += min(end, int(found.column("BYTES_WRITTEN").clip(0).sum()))
                break
    return written >= (1 - THRESHOLDS.holes_most) * read


def _made_by_the_run(file: FileFacts) -> bool:
    """Whether the log's side file counts that the file was emptied, or was deleted and made anew."""
    return file.truncations > 0 or (file.removals or 0) > 1
