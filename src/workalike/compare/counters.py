"""Counter by counter: the original under its scaling law, compared with the replica; and the size histograms."""

from __future__ import annotations

from workalike.compare.expect import expected, expected_bins, total_variation
from workalike.compare.fidelity_schema import CounterFidelity
from workalike.compare.laws import Law, instrument_difference, rule_of
from workalike.compare.pairing import Pair, Pairing, error_pct, rounding
from workalike.predict.determined import LARGEST, Counters, is_determined
from workalike.workload.model import Direction


def histogram_distance(pairs: list[Pair], direction: Direction) -> float | None:
    """Total variation (0 to 1) over all families, each at its own level; None where no family has a histogram."""
    want, have, known = [0.0] * 10, [0.0] * 10, False
    for pair in pairs:
        bins = pair.replica.bins(direction)
        law = expected_bins(pair.scaled, pair.original, direction)
        if bins is None or law is None or pair.scaled.whole.fitted:
            continue
        known = True
        want = [a + b for a, b in zip(want, law, strict=True)]
        have = [a + b for a, b in zip(have, bins, strict=True)]
    return total_variation(want, have) if known else None


def counter_rows(pairs: list[Pair], pairing: Pairing) -> list[CounterFidelity]:
    """One row per module and counter that both sides have, separately at the families' level and below it."""
    rows = []
    for module in ("H5D", "PNETCDF_VAR", "MPI-IO", "STDIO", "POSIX", "H5F", "PNETCDF_FILE"):
        for at_level in (True, False):
            having = [p for p in pairs if module in p.original.modules]
            having = [p for p in having if (p.original.module == module) == at_level]
            replicas = [p for p in having if module in p.replica.modules]
            if having and replicas:
                rows += _rows_of_module(having, module, at_level, pairing)
    return rows


def _rows_of_module(
    pairs: list[Pair], module: str, at_level: bool, pairing: Pairing
) -> list[CounterFidelity]:
    names: dict[str, None] = {}
    for pair in pairs:
        if module in pair.replica.modules:
            names.update(dict.fromkeys(pair.original.modules[module]))
    present = {n for p in pairs for n in p.replica.modules.get(module, {})}
    return [_row(pairs, module, name, at_level, pairing) for name in names if name in present]


def _row(pairs: list[Pair], module: str, name: str, at_level: bool, pairing: Pairing) -> CounterFidelity:
    originals = [p.original.modules.get(module, {}) for p in pairs]
    replicas = [p.replica.modules.get(module, {}) for p in pairs]
    laws = [expected(p.scaled, module, name, c) for p, c in zip(pairs, originals, strict=True)]
    total = max if name in LARGEST else sum
    original, want = total(c.get(name, 0) for c in originals), total(laws)
    replica = total(c.get(name, 0) for c in replicas)
    reason = _incomparable(pairs, module, name, pairing, originals)
    in_bytes = rule_of(module, name).law in (Law.BYTES, Law.EXTENT)
    slack = rounding(pairs, pairing.factors.bytes) if in_bytes else 0.999  # counts are whole numbers
    return CounterFidelity(
        module=module,
        counter=name,
        at_level=at_level,
        original=None if (module, name) in pairing.original.unmeasured else original,
        law=rule_of(module, name).law.word,
        expected=None if reason else want,
        replica=None if (module, name) in pairing.replica.unmeasured else replica,
        error_pct=None if reason else error_pct(want, replica, slack),
        comparable=not reason,
        fitted=is_determined(module, name) and any(p.key in pairing.fitted for p in pairs),
        reason=reason,
    )


def _incomparable(
    pairs: list[Pair], module: str, name: str, pairing: Pairing, originals: list[Counters]
) -> str:
    """Why a counter cannot be compared; "" if it can."""
    rule = rule_of(module, name)
    if rule.law is Law.NONE:
        return rule.why
    for side, word in ((pairing.original, "original"), (pairing.replica, "replica")):
        if (module, name) in side.unmeasured:
            return f"not measured in the {word}"
    # A partial module lacks files (for H5D: datasets), but those that it has are complete. At the families' level the
    # replica was made from just these.
    if module in pairing.replica.partial:
        return f"module {module} of the replica is partial"
    if module in pairing.original.partial and module != pairs[0].original.module:
        return f"module {module} of the original is partial"
    fitted = any(p.scaled.whole.fitted and p.original.module == module for p in pairs)
    if fitted and rule.law is not Law.BYTES:
        return "only bytes are given; the library decides its operations"
    if name.startswith(("INDEP_", "COLL_")) and "+" not in name:
        kind = name.rpartition("_")[2]
        if any(c.get(f"SPLIT_{kind}", 0) or c.get(f"NB_{kind}", 0) for c in originals):
            return "the original also used split or non-blocking calls: see the sum"
    return instrument_difference(module, name, pairing.original.instrument, pairing.replica.instrument)
