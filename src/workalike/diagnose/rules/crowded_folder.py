"""Too many files in one folder."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from workalike.diagnose.change import MERGED
from workalike.diagnose.costs import META, explained
from workalike.diagnose.job import Job
from workalike.diagnose.rule import CannotTell, Found, Parameters, Rule, Seen, Sure
from workalike.text import count_text


class Limits(Parameters):
    files: int = Field(10000, ge=1, description="Files of one folder.")


def find(job: Job, limits: Limits) -> Found:
    """Files by folder; a log counts the ones that the job used."""
    from workalike.facts.naming import is_obfuscated

    names = job.facts.names
    if all(is_obfuscated(name) for name in names):
        return CannotTell("the names of the log are hidden")
    folders: dict[str, list[int]] = {}
    for row in np.flatnonzero(job.on_shared).tolist():
        folders.setdefault(names[row].rpartition("/")[0], []).append(row)
    rows = max(folders.values(), key=len, default=[])
    if len(rows) < limits.files:
        return []
    here = np.zeros(len(job), dtype=bool)
    here[rows] = True
    cost = explained(job, here, (META,), "metadata time of the files of this folder", files=len(rows))
    return [
        Seen(
            f"{count_text(len(rows))} files in one folder",
            cost,
            job.families_of(here),
            {"files": len(rows)},
            Sure.CERTAIN,
        )
    ]


RULE = Rule(
    id="crowded-folder",
    find=find,
    parameters=Limits,
    title="too many files in one folder",
    seen_as="The job uses very many files of one folder.",
    costs="Metadata time of these files.",
    advice="Spread the files over folders, one for each group of ranks.",
    snippet="""char name[PATH_MAX];
snprintf(name, sizeof name, "%03d/rank.%d", rank / 256, rank);""",
    language="c",
    other_snippets={
        "fortran": "write (name, '(i3.3, \"/rank.\", i0)') rank / 256, rank",
        "python": 'path = folder / f"{rank // 256:03d}" / f"rank.{rank}"',
    },
    shared_storage=True,
    any_of=("POSIX", "STDIO"),
    changes=(MERGED,),
)
