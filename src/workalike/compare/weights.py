"""The weight of each family in a verdict: the largest of its shares of bytes, calls and I/O time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workalike.characterize.result import Characterization
from workalike.compare.pairing import Pairing
from workalike.facts.amounts import CALLS, Amounts
from workalike.predict.agreement import Group
from workalike.predict.prediction import Key
from workalike.workload.model import Direction, Role

LEAST_WEIGHT = 0.001
"""A family of less weight cannot lower a grade below `close`."""
ALL_FILES: Group = ()
"""The group of rows that add the files of all families."""
IN_NO_FAMILY: Group = ((Role.OTHER, 0),)
"""The group of files that are in no family of the workload."""

BETWEEN_FAMILIES = " + "
"""Between the names of families that are compared together."""


@dataclass(frozen=True)
class Weights:
    """The weight of each family, by its name: the largest of its shares of bytes, calls and I/O time, 0..1."""

    by_family: Mapping[str, float]

    def weight(self, group: Group) -> float:
        """The weight of families together; all files together weigh 1, and so does a family that is not known."""
        if not group:
            return 1.0
        return min(1.0, sum(self.by_family.get(name_of(key), 1.0) for key in group))


ALL_ALIKE = Weights({})


def name_of(key: Key) -> str:
    """The name of a family: its role and number."""
    return f"{key[0].value} {key[1]}"


def words_of(group: Group) -> str:
    """How a group of families is named."""
    if group == IN_NO_FAMILY:
        return "files in no family"
    return BETWEEN_FAMILIES.join(map(name_of, group)) or "all files"


def weights_of(pairing: Pairing) -> Weights:
    """The weight of each family: the largest of its shares of bytes, calls and I/O time.

    Of an original that is a workload, bytes and operations are known.
    """
    if pairing.log is not None:
        return _of_log(pairing.log)
    amounts = {
        pair.original.name: Amounts(
            sum(dump.bytes_of(d) for dump in pair.original.dumps for d in Direction),
            _operations(pair.original.module, pair.original.modules.get(pair.original.module, {})),
        )
        for pair in pairing.pairs
    }
    return _weights(amounts, sum(amounts.values(), Amounts()))


def _of_log(found: Characterization) -> Weights:
    by_id = found.amounts
    amounts = {
        name_of((facts.family.role, facts.family.number)): sum(
            (by_id[number] for number in {file.record_id for file in facts.files()} if number in by_id),
            Amounts(),
        )
        for facts in found.families
    }
    known = {file.record_id for facts in found.families for file in facts.files()}
    (left,) = IN_NO_FAMILY
    amounts[name_of(left)] = sum((part for number, part in by_id.items() if number not in known), Amounts())
    return _weights(amounts, sum(by_id.values(), Amounts()))


def _weights(amounts: Mapping[str, Amounts], whole: Amounts) -> Weights:
    if whole == Amounts():
        return Weights({})
    return Weights({name: max(part.shares(whole)) for name, part in amounts.items()})


def _operations(module: str, counters: Mapping[str, int]) -> int:
    """Calls of a module by its counters, some of which are sums (`INDEP_READS+COLL_READS`)."""
    calls = {"OPENS", *CALLS.get(module, ("READS", "WRITES"))}
    return sum(value for name, value in counters.items() if not calls.isdisjoint(name.split("+")))
