"""A suite in words."""

from __future__ import annotations

from collections.abc import Iterator

from workalike.fleet.suite.choice import LIKE, Choice
from workalike.fleet.suite.features import Measured
from workalike.fleet.suite.write import Member
from workalike.text import plural

METHOD = (
    "Each log is described by what it does to storage: amounts (a unit is a factor of e), shares (a unit is 25 %), and how "
    "its families are shared and by which library. Of all logs, those are chosen to which all logs are nearest on the whole "
    "(k-medoids). A log counts by the mean of its shares of the centre's bytes, I/O time, metadata time and jobs. "
    f"A log is like its representative if the root mean square of the differences is at most {LIKE:g} unit. "
    "Sizes agree by 1 - total variation distance of the counts by size."
)


def sentences(measured: Measured, choice: Choice, members: list[Member]) -> Iterator[str]:
    """What was chosen, what it covers, and how sure it is; no name of the centre."""
    yield f"{len(members)} classes of jobs stand for {plural(len(measured.log_ids), 'log')}."
    for m in members:
        shares = ", ".join(f"{100 * share:.3g} % of {name}" for name, share in m.stands_for.shares.items())
        yield (
            f"{m.name}: {shares}; {plural(m.ranks, 'rank')}, {', '.join(m.families)}; weight {m.weight}; "
            f"{100 * m.stands_for.likeness:.3g} % of it is like the representative; found again in "
            f"{100 * m.stands_for.found_again:.3g} % of the resamples."
            + (
                " The representative's log is gone: the workload is that of the nearest log."
                if m.stood_in
                else ""
            )
        )
    covered = ", ".join(f"{100 * share:.3g} % of {name}" for name, share in choice.coverage.items())
    yield f"The suite covers {covered}."
    yield (
        f"Stability: over {choice.resamples} resamples of the jobs the classes agree with an adjusted Rand index of "
        f"{choice.agreement:.2f} on average, {choice.agreement_low:.2f} at the 5th percentile (1 is the same classes)."
    )
