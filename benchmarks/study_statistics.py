"""Error rates of the statistics of studies, by simulation against planted truth.

    python benchmarks/study_statistics.py

The targets are rates, so they are judged over 1,000 studies; the first 100 of them are shown beside the rate.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from results import Results

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from planted_studies import drift_at, planted_values, sigma_of

from workalike.study.search import Rung, advance, start
from workalike.study.statistics.any_look import Looks
from workalike.study.statistics.intervals import bca, bootstrap
from workalike.study.statistics.power import blocks_needed
from workalike.study.statistics.ranks import rank_correlation
from workalike.study.statistics.ratios import of_log_ratios
from workalike.study.statistics.sequential import Correction, Rule, State, review_differences
from workalike.study.statistics.table import Better

ASKED, MORE = 100, 1000
NOISE = ((0.05, 8), (0.15, 26), (0.30, 90))
OTHERS = ((0.2, 0.05, 8), (0.1, 0.07, 8), (0.2, 0.21, 26), (0.1, 0.14, 40), (0.0, 0.2, 26))
"""Effect, standard deviation of a log-ratio, most blocks."""
DRIFT = 0.3
RUNGS = (Rung("one dump at 1/16", 1 / 16, 12), Rung("five dumps", 1 / 4, 4), Rung("all", 1.0, 1))


def sequential(
    effect: float, cov: float, most: int, drift: float, studies: int, correction: Correction
) -> tuple[list[bool], float]:
    """(which studies found a difference, mean number of blocks)."""
    rule = Rule(most, correction=correction)
    rng = np.random.default_rng(round(1000 * cov + 10 * drift + 1000 * effect))
    hits, used = [], 0
    for _ in range(studies):
        logs = np.log(planted_values(np.array([1, 1 + effect]), most, cov, drift, rng))
        difference = logs[:, 1] - logs[:, 0]
        for count in rule.schedule():
            found = review_differences([("b", difference[:count])], "a", rule)
            if found.stops:
                break
        hits.append(found.standings[0].state is State.DIFFERENT)
        used += found.blocks
    return hits, used / studies


def stopping(results: Results) -> None:
    for cov, most in NOISE:
        for drift in (0.0, DRIFT):
            words = f"CoV {100 * cov:.0f} %, {'drift ±30 %' if drift else 'no drift'}, at most {most} blocks"
            null, blocks = sequential(0.0, cov, most, drift, MORE, Correction.SPENDING)
            real, fewer = sequential(0.2, cov, most, drift, MORE, Correction.SPENDING)
            results.add(
                f"A/A, {words}: false differences",
                f"{sum(null[:ASKED])} of {ASKED}; {100 * np.mean(null):.1f} % of {MORE:,}; {blocks:.0f} blocks on average",
                target="≤ 5 of 100",
                reached=bool(np.mean(null) <= 0.05),
                per_cent=100 * float(np.mean(null)),
            )
            results.add(
                f"planted 20 %, {words}: found",
                f"{sum(real[:ASKED])} of {ASKED}; {100 * np.mean(real):.1f} % of {MORE:,}; {fewer:.0f} blocks on average",
                target="≥ 95 of 100",
                reached=bool(np.mean(real) >= 0.95),
                per_cent=100 * float(np.mean(real)),
            )
            show(results, 2)


def mixture(results: Results) -> None:
    """The alternative that was not chosen."""
    for cov, most in NOISE[:2]:
        real, blocks = sequential(0.2, cov, most, DRIFT, ASKED, Correction.MIXTURE)
        results.add(
            f"the same by the mixture bound, CoV {100 * cov:.0f} %, drift: planted 20 % found",
            f"{sum(real)} of {ASKED}; {blocks:.0f} blocks on average",
            found=sum(real),
        )
        show(results, 1)


def other_answers(results: Results) -> None:
    """Answers beside the ratio that decides, at the look that ends a study: how often their intervals miss the truth."""
    from scipy import stats

    parts, missed = [], []
    for effect, sd, most in OTHERS:
        rule = Rule(most)
        looks = Looks(rule.schedule())
        rng = np.random.default_rng(most)
        misses, width = np.zeros(2), 0.0
        for _ in range(MORE):
            own = rng.normal(0, sd, most)
            other = 0.8 * own + 0.6 * rng.normal(0, sd, most)  # correlated with what decides
            for count in rule.schedule():
                if review_differences([("b", own[:count] + math.log(1 + effect))], "a", rule).stops:
                    break
            t = abs(other[:count].mean()) / (other[:count].std(ddof=1) / math.sqrt(count))
            plain, corrected = (stats.t.isf(e / 2, count - 1) for e in (0.05, looks.error(0.05)))
            misses += (t > plain, t > corrected)
            width += corrected / plain / MORE
        parts.append(
            f"{100 * effect:.0f} % in at most {most} blocks {100 * misses[0] / MORE:.1f} and "
            f"{100 * misses[1] / MORE:.1f} %, {width:.2f} times as wide"
        )
        missed.append(100 * misses[1] / MORE)
    results.add(
        "an objective beside the first, correlated by 0.8, at the look that ends a study: 95 % intervals that miss the truth, "
        "not corrected and corrected",
        "; ".join(parts),
        target="≤ 5 %",
        reached=max(missed) <= 5,
        most_per_cent=max(missed),
    )
    show(results, 1)


def design_variance(cov: float, shape: str) -> tuple[float, float]:
    """(variance of a difference within a block, the same of two trials at random moments of the study)."""
    share = np.linspace(0, 1, 20_001)
    noise = 2 * sigma_of(cov) ** 2
    return noise, noise + 2 * float(np.var(np.log(drift_at(share, DRIFT, shape))))


def pairing(results: Results) -> None:
    for cov, _ in NOISE:
        shares = []
        for shape in ("line", "wave", "steps"):
            within, across = design_variance(cov, shape)
            paired, unpaired = (blocks_needed(1.2, math.sqrt(v), 0.95) for v in (within, across))
            shares.append((shape, paired, unpaired))
        text = ", ".join(f"{shape} {paired} ÷ {unpaired}" for shape, paired, unpaired in shares)
        results.add(
            f"trials for 20 % with 95 % power, paired ÷ unpaired in random order, CoV {100 * cov:.0f} %, drift ±30 %",
            text,
            target="≤ 1/2",
            reached=shares[0][1] <= shares[0][2] / 2,
            **{f"share_{shape}": paired / unpaired for shape, paired, unpaired in shares},
        )
        show(results, 1)
        false = one_after_the_other(cov)
        results.add(
            f"A/A, one setting after the other, unpaired, CoV {100 * cov:.0f} %, drift ±30 %: false differences",
            f"{false} of {ASKED}",
            found=false,
        )
        show(results, 1)


def one_after_the_other(cov: float, trials: int = 20) -> int:
    """False differences of the usual design: all trials of a setting, then all of the other; Welch's test."""
    from scipy import stats

    rng = np.random.default_rng(3)
    sigma, false = sigma_of(cov), 0
    drift = np.log(drift_at((np.arange(2 * trials) + 0.5) / (2 * trials), DRIFT))
    for _ in range(ASKED):
        logs = drift + rng.normal(0, sigma, 2 * trials)
        false += bool(stats.ttest_ind(logs[:trials], logs[trials:], equal_var=False).pvalue < 0.05)
    return false


def coverage(results: Results) -> None:
    """How often 95 % intervals hold the truth: the reason for Student's."""
    rng = np.random.default_rng(4)
    for name, noise in (
        ("lognormal", lambda n: rng.normal(0, 0.2, n)),
        ("heavy tails (t, 3 degrees)", lambda n: 0.1 * rng.standard_t(3, n)),
        (
            "skewed (noise 0.1, and one trial in ten takes twice as long)",
            lambda n: rng.normal(0, 0.1, n) + 0.69 * (rng.random(n) < 0.1) - 0.069,
        ),
        (
            "skewed (noise 0.05, and one trial in ten takes twice as long)",
            lambda n: rng.normal(0, 0.05, n) + 0.69 * (rng.random(n) < 0.1) - 0.069,
        ),
    ):
        parts = []
        for blocks in (5, 8, 20):
            held = np.zeros(3)
            for _ in range(600):
                values = noise(blocks)
                ratio = of_log_ratios(values, "b", "a")
                ends = [bca(values, resamples=999), bootstrap(values, resamples=999)]
                held += (ratio.low <= 1 <= ratio.high, *(low <= 0 <= high for low, high in ends))
            t, by_bca, by_percentiles = (100 * count / 600 for count in held)
            parts.append(f"{blocks} blocks {t:.0f}, {by_bca:.0f} and {by_percentiles:.0f} %")
        results.add(f"coverage of 95 % intervals, t, BCa and percentile bootstrap, {name}", ", ".join(parts))
        show(results, 1)


def search(results: Results) -> None:
    regret, random_regret, cost, taus = [], [], 0.0, []
    for seed in range(ASKED):
        rng = np.random.default_rng(seed)
        true = {f"s{i}": float(v) for i, v in enumerate(np.exp(rng.uniform(0, math.log(5), 48)))}
        bias = {s: rng.normal(0, 0.1) for s in true}
        found = start(list(true), RUNGS)
        while rung := found.next_rung:
            scores = {
                s: true[s] * math.exp(bias[s] * (1 - rung.cost) + rng.normal(0, 0.05)) for s in found.settings
            }
            if not found.scores:
                taus.append(rank_correlation(scores, true).tau)
            found = advance(found, scores, Better.HIGHER)
        cost = found.cost / 48
        best = max(true.values())
        regret.append(1 - true[found.settings[0]] / best)
        tried = rng.choice(list(true), round(found.cost), replace=False)
        chosen = max(tried, key=lambda s: true[s] * math.exp(rng.normal(0, 0.05)))
        random_regret.append(1 - true[chosen] / best)
    results.add(
        "successive halving over 48 settings: regret and cost",
        f"mean {100 * np.mean(regret):.1f} %, 95th percentile {100 * np.percentile(regret, 95):.1f} %, at {100 * cost:.0f} % of the full cost; "
        f"rank correlation of the first rung {np.mean(taus):.2f}",
        target="≤ 5 % at ≤ 25 %",
        reached=bool(np.mean(regret) <= 0.05 and cost <= 0.25),
        regret=float(np.mean(regret)),
    )
    results.add(
        "random search with the same cost: regret",
        f"mean {100 * np.mean(random_regret):.1f} %, 95th percentile {100 * np.percentile(random_regret, 95):.1f} %",
        regret=float(np.mean(random_regret)),
    )
    show(results, 2)


def show(results: Results, last: int) -> None:
    for figure in results.figures[-last:]:
        verdict = "" if figure.reached is None else "  reached" if figure.reached else "  MISSED"
        print(f"{figure.measure}: {figure.figure} (target {figure.target}){verdict}", flush=True)


def main() -> None:
    results = Results()
    stopping(results)
    mixture(results)
    other_answers(results)
    pairing(results)
    coverage(results)
    search(results)
    results.write()


if __name__ == "__main__":
    main()
