"""The weight of each family in a verdict: the largest of its shares of bytes, calls and I/O time."""

from __future__ import annotations

from collections.abc import Mapping

from workalike.characterize.result import Characterization
from workalike.compare.grade import Weights, name_of
from workalike.compare.pairing import Pairing
from workalike.facts.amounts import Amounts
from workalike.workload.model import Direction


def weights_of(pairing: Pairing) -> Weights:
    """The weight of each family: the largest of its shares of bytes, calls and I/O time.

    Of an original that is a workload, bytes and operations are known.
    """
    if pairing.log is not None:
        return _of_log(pairing.log)
    amounts = {
        pair.original.name: Amounts(
            sum(dump.bytes_of(d) for dump in pair.original.dumps for d in Direction),
            _operations(pair.original.modules.get(pair.original.module, {})),
        )
        for pair in pairing.pairs
    }
    return _weights(amounts, sum(amounts.values(), Amounts()))


def _of_log(found: Characterization) -> Weights:
    by_id = found.amounts
    amounts = {
        name_of((facts.family.role.value, facts.family.number)): sum(
            (by_id[number] for number in {file.record_id for file in facts.files()} if number in by_id),
            Amounts(),
        )
        for facts in found.families
    }
    return _weights(amounts, sum(by_id.values(), Amounts()))


def _weights(amounts: Mapping[str, Amounts], whole: Amounts) -> Weights:
    if whole == Amounts():
        return Weights({})
    return Weights({name: max(part.shares(whole)) for name, part in amounts.items()})


def _operations(counters: Mapping[str, int]) -> int:
    return sum(
        value for name, value in counters.items() if name in ("READS", "WRITES", "OPENS", "STATS", "FSYNCS")
    )
