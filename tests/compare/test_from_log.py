"""A replica's log as a side of the comparison: families follow from file names."""

from __future__ import annotations

import pytest
from compare_builders import MIB, family, file_facts, module_facts, posix_file

from workalike.characterize.events import opens_of
from workalike.characterize.result import Characterization, DumpFacts, FamilyFacts
from workalike.compare.from_log import side_of_log
from workalike.workload.model import Level, Role, Workload


def test_files_of_two_families_in_one_dump_are_separated() -> None:
    """Files that are written at one time look like one dump, but their names have the family's number."""
    files = [
        posix_file("/data/checkpoint-1.0000.0badcafe.dat", writes=8, size=MIB),
        posix_file("/data/checkpoint-2.0000.0badcafe.dat", writes=4, size=MIB),
    ]
    checkpoint = family(1, role=Role.CHECKPOINT)
    facts = FamilyFacts(checkpoint, [DumpFacts(12 * MIB, 0, 10.0, 12.0, 2.0, files)])
    log = Characterization(Workload(ranks=4, runtime=60.0, families=[checkpoint]), [facts], [])
    side = side_of_log(log, by_name=True)
    written = {key: [d.bytes_written for d in found.dumps] for key, found in side.families.items()}
    assert written == {(Role.CHECKPOINT, 1): [8 * MIB], (Role.CHECKPOINT, 2): [4 * MIB]}
    counters = {key: found.modules["POSIX"]["WRITES"] for key, found in side.families.items()}
    assert counters == {(Role.CHECKPOINT, 1): 8, (Role.CHECKPOINT, 2): 4}
    assert [len(d.dumps) for d in side_of_log(log).families.values()] == [
        1
    ]  # the original's names say nothing


@pytest.mark.parametrize(
    ("module", "counters", "opens"),
    [
        ("POSIX", {"OPENS": 12, "FILENOS": 4, "DUPS": 4}, 4),
        ("POSIX", {"OPENS": 12, "FILENOS": -1, "DUPS": -1}, 12),  # a version that does not count them
        ("POSIX", {"OPENS": 40, "FILENOS": 40}, 4),  # of C++ streams: one of each rank
        ("POSIX", {"OPENS": 3, "FILENOS": 4}, 3),
        ("STDIO", {"OPENS": 12, "FDOPENS": 4}, 8),
        ("STDIO", {"OPENS": 4, "FDOPENS": 4}, 4),  # of descriptors that nobody was seen to open
    ],
)
def test_opens_are_those_of_the_workload(module: str, counters: dict[str, int], opens: int) -> None:
    """Darshan adds fileno, dup and fdopen to them; characterize and compare leave them out alike."""
    level = Level(module.lower())
    file = file_facts(
        "/run/x", module_facts(module, {-1: {"WRITES": 8, "BYTES_WRITTEN": 8 * MIB, **counters}})
    )
    assert opens_of(file, level) == opens
    checkpoints = family(1, level=level)
    facts = FamilyFacts(checkpoints, [DumpFacts(8 * MIB, 0, 10.0, 12.0, 2.0, [file])])
    side = side_of_log(Characterization(Workload(ranks=4, runtime=60.0, families=[checkpoints]), [facts], []))
    assert side.families[Role.CHECKPOINT, 1].modules[module]["OPENS"] == opens
