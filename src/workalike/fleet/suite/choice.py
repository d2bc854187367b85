"""The choice: which logs stand for a centre, how much of it they cover, and how stable the choice is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workalike.errors import ErrorKind, WorkalikeError
from workalike.facts.records import BoolArray, FloatArray, IntArray
from workalike.fleet.suite.features import WEIGHED, Measured
from workalike.fleet.suite.medoids import distances, medoids, nearest_of

MOST_ITEMS = 1000
"""Logs among which the choice is made; of more, a sample, in which each log is as likely as it weighs."""
LIKE = 1.0
"""A log is like its representative if its measures differ by no more than one unit each, on the root mean square."""
RESAMPLES = 50
SEED = 15


@dataclass(frozen=True)
class Class:
    """One class. `representative` is a row of the measured logs; `members` int64 are the rows of all its logs.

    `shares` are those of `WEIGHED` that the class has of the centre, `likeness` the part of its weight that is like the
    representative. `copies` is how many jobs such as the representative come to what the class does. `found_again` is
    the share of resamples in which a class with mostly the same members is found.
    """

    representative: int
    members: IntArray
    shares: dict[str, float]
    likeness: float
    copies: float
    found_again: float


@dataclass(frozen=True)
class Choice:
    """`coverage` is the share of the centre that is like a representative: of each of `WEIGHED`, and of operation sizes.

    `agreement` is the mean adjusted Rand index between the classes and those of resampled jobs, `agreement_low` its
    5th percentile. `item`, `between` are the logs that were compared and their distances, for the picture.
    """

    classes: list[Class]
    coverage: dict[str, float]
    agreement: float
    agreement_low: float
    resamples: int
    of_log: IntArray
    item: IntArray


def choose(measured: Measured, count: int, *, seed: int = SEED, resamples: int = RESAMPLES) -> Choice:
    """The `count` logs that stand for all of them.

    Raises:
        WorkalikeError: NOTHING_TO_REPLICATE without a log that moved data.
    """
    if not len(measured.log_ids):
        raise WorkalikeError(ErrorKind.NOTHING_TO_REPLICATE, "no log of the period moved data")
    random = np.random.default_rng(seed)
    weights = measured.weights
    item = _items(weights, random)
    values = measured.values[item]
    between = distances(values)
    # In the sample, a log stands for as many as were left out around it.
    weight = np.bincount(nearest_of_many(measured.values, values), weights, minlength=len(item)).astype(
        np.float64
    )
    chosen = medoids(between, weight, count)
    of_log = nearest_of_many(measured.values, values[chosen])
    how_far = np.sqrt(((measured.values - values[chosen][of_log]) ** 2).mean(axis=1))
    agreement, again = _stability(between, weight, chosen, item, weights, random, resamples)
    classes = []
    for number, medoid in enumerate(chosen.tolist()):
        members = np.flatnonzero(of_log == number)
        like = members[how_far[members] <= LIKE]
        classes.append(
            Class(
                int(item[medoid]),
                members,
                dict(zip(WEIGHED, measured.shares[members].sum(axis=0).tolist(), strict=True)),
                float(weights[like].sum() / max(weights[members].sum(), 1e-300)),
                copies_of(measured, int(item[medoid]), members),
                float(again[number]),
            )
        )
    classes.sort(key=lambda c: -sum(c.shares.values()))
    coverage = dict(zip(WEIGHED, measured.shares[how_far <= LIKE].sum(axis=0).tolist(), strict=True))
    coverage |= sizes_covered(measured, classes)
    renumbered = np.zeros(len(of_log), dtype=np.int64)
    for number, each in enumerate(classes):
        renumbered[each.members] = number
    return Choice(
        classes,
        coverage,
        float(np.mean(agreement)) if len(agreement) else 1.0,
        float(np.percentile(agreement, 5)) if len(agreement) else 1.0,
        resamples,
        renumbered,
        item,
    )


def _items(weights: FloatArray, random: np.random.Generator) -> IntArray:
    if len(weights) <= MOST_ITEMS:
        return np.arange(len(weights))
    # Half of the sample by weight, half evenly: neither heavy nor frequent classes are missed.
    even = random.choice(len(weights), MOST_ITEMS // 2, replace=False)
    half = min(MOST_ITEMS // 2, int(np.count_nonzero(weights)))
    heavy = random.choice(len(weights), half, replace=False, p=weights)
    return np.unique(np.concatenate([even, heavy])).astype(np.int64)


def nearest_of_many(values: FloatArray, centres: FloatArray) -> IntArray:
    """int64[N], the nearest centre of each log, some thousands at a time."""
    step = max(1, 4_000_000 // max(1, centres.size))
    parts = [nearest_of(values[i : i + step], centres)[0] for i in range(0, len(values), step)]
    return np.concatenate(parts)


def copies_of(measured: Measured, representative: int, members: IntArray) -> float:
    """What the class comes to, in jobs like its representative: the mean over bytes, I/O time and metadata time."""
    whole, amounts = measured.amounts[members].sum(axis=0), measured.amounts[representative]
    known = amounts[:3] > 0
    return float((whole[:3][known] / amounts[:3][known]).mean()) if known.any() else float(len(members))


def sizes_covered(measured: Measured, classes: list[Class]) -> dict[str, float]:
    """Of reads and of writes, how far the suite's sizes agree with the centre's: 1 - total variation distance."""
    centre = measured.sizes.sum(axis=0)
    suite = np.sum([c.copies * measured.sizes[c.representative] for c in classes], axis=0)
    out = {}
    for place, name in enumerate(("read sizes", "write sizes")):
        all_sizes, suite_sizes = centre[place].sum(), suite[place].sum()
        if all_sizes > 0:
            apart = (
                0.5 * np.abs(centre[place] / all_sizes - suite[place] / suite_sizes).sum()
                if suite_sizes > 0
                else 1.0
            )
            out[name] = float(1 - apart)
    return out


def _stability(
    between: FloatArray,
    weight: FloatArray,
    chosen: IntArray,
    item: IntArray,
    weights: FloatArray,
    random: np.random.Generator,
    resamples: int,
) -> tuple[FloatArray, FloatArray]:
    """(agreement float64[B], found again float64[k]) of choices among jobs drawn anew, with replacement."""
    members = between[:, chosen].argmin(axis=1)
    agreement = np.ones(resamples)
    again = np.zeros(len(chosen))
    for number in range(resamples):
        drawn = random.poisson(1.0, len(weight))  # each job as often as in a sample with replacement
        if not (weight * drawn).any():
            continue
        other = medoids(between, weight * drawn, len(chosen))
        theirs = between[:, other].argmin(axis=1)
        agreement[number] = rand_index(members, theirs, weight)
        again += [_again(members == place, theirs, weight) for place in range(len(chosen))]
    return agreement, again / max(1, resamples)


def _again(members: BoolArray, theirs: IntArray, weight: FloatArray) -> bool:
    """Whether some class of the other choice has mostly the same members: half of what either has."""
    total = weight[members].sum()
    for place in range(int(theirs.max()) + 1):
        both = weight[members & (theirs == place)].sum()
        either = total + weight[theirs == place].sum() - both
        if either > 0 and both >= 0.5 * either:
            return True
    return False


def rand_index(first: IntArray, second: IntArray, weight: FloatArray) -> float:
    """The adjusted Rand index of two partitions of weighted items (L. Hubert, P. Arabie, 1985): 1 where they agree."""
    table = np.zeros((int(first.max()) + 1, int(second.max()) + 1))
    np.add.at(table, (first, second), weight / weight.sum())
    both = (table**2).sum()
    rows, columns = (table.sum(axis=1) ** 2).sum(), (table.sum(axis=0) ** 2).sum()
    expected, most = rows * columns, 0.5 * (rows + columns)
    return float((both - expected) / (most - expected)) if most > expected else 1.0
