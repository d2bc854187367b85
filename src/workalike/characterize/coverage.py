"""What a workload has of its log: the shares of the application's bytes, calls and I/O time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from workalike.characterize.result import FamilyFacts
from workalike.facts.amounts import Amounts
from workalike.facts.records import Loss
from workalike.workload.model import Coverage
from workalike.workload.words import LOST

DIGITS = 3


def coverage_of(
    families: Sequence[FamilyFacts], amounts: Mapping[int, Amounts], losses: Iterable[Loss]
) -> Coverage:
    """The shares, in per cent of what remains without program start.

    Args:
        families: of the workload.
        amounts: of all files of the application, by record id.
        losses: what of the families' files could not be expressed, in bytes.
    """
    covered = {file.record_id for facts in families for file in facts.names()}
    whole = sum(amounts.values(), Amounts())
    ours = sum((part for number, part in amounts.items() if number in covered), Amounts())
    lost = sum(loss.bytes for loss in losses if loss.reason in LOST)
    kept = Amounts(max(0, ours.bytes - lost), ours.calls, ours.seconds)
    bytes_, calls, seconds = (
        round(100.0 * share, DIGITS) if all_ else 100.0
        for share, all_ in zip(kept.shares(whole), (whole.bytes, whole.calls, whole.seconds), strict=True)
    )
    return Coverage(bytes=bytes_, calls=calls, seconds=seconds)
