"""Without the seeks that the operations need anyway, which the content states as well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from workalike.characterize.readings.changes import with_contents
from workalike.characterize.readings.reading import Case, Reading
from workalike.workload.content import count_of
from workalike.workload.model import Family


def candidates(case: Case) -> Iterator[Family]:
    family = case.family
    left = sum(row.found - row.expected for row in case.residuals if row.counter == "SEEKS")
    contents = family.all_contents()
    uses = Counter(family.use if family.use is not None else range(len(contents)))
    fewer = []
    for place, content in enumerate(contents):
        times = family.schedule.dumps if len(contents) == 1 else uses[place]
        taken = min(count_of(content.seeks), max(0, left) // times) if times else 0
        fewer.append(
            content.model_copy(update={"seeks": count_of(content.seeks) - taken}) if taken else content
        )
        left -= taken * times
    yield from with_contents(family, fewer)


READING = Reading(
    id="seeks",
    sentence="seeks: without those that operations elsewhere in the file need (the predicted counters fit better)",
    evidence="The workload has more seeks than the log.",
    rank=200,
    candidates=candidates,
    off=("SEEKS",),
)
