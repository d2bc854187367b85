"""Sentences of a page that the data beside it contradict.

The data are the files that a command writes with its page: `trials.jsonl`, `manifest.json`, `MACHINE*.json` and
`figures/*.csv` of a study, `mix.json` of a mix, `fidelity.json` of a replica. What can be computed from single trials
is computed here anew, and not taken from the code that made the page. Thresholds are the constants of `page_rules`.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import page_rules_of_runs
from page_rules import (
    ABOVE,
    CACHED,
    LEFT_OUT,
    MEMORY_FACTOR,
    NAMED_BEST,
    NOT_STORAGE,
    NUMBER,
    TRENDS,
    UNFINISHED,
    UNIT,
    WHOLE_INTERVAL,
    Contradiction,
    agrees,
    anywhere,
    is_claim,
    value_of,
)
from page_text import Page, Table
from scipy import stats


@dataclass
class StudyData:
    """The files of a study's results."""

    trials: list[dict[str, Any]]
    dumps: list[list[dict[str, Any]]]
    manifest: dict[str, Any]
    machines: list[dict[str, Any]]
    tables: dict[str, list[dict[str, str]]] = field(default_factory=dict)

    @property
    def objective(self) -> str:
        said = self.manifest.get("study", {}).get("objective", "bandwidth")
        return str(said[0] if isinstance(said, list) else said)

    @property
    def is_joined(self) -> bool:
        return "sources" in self.manifest


COLUMNS = {
    "bandwidth": "bandwidth",
    "io-time": "io_time_s",
    "wall-time": "wall_s",
    "slowest-dump": "slowest_dump_s",
    "p95-dump": "p95",
}


def read_study(folder: Path) -> StudyData:
    """The files beside a study's page."""
    lines = [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()]
    tables = {}
    for path in (folder / "figures").glob("*.csv"):
        with path.open(newline="") as file:
            tables[path.stem] = list(csv.DictReader(file))
    machines = [json.loads(path.read_text()) for path in sorted(folder.glob("MACHINE*.json"))]
    manifest = json.loads((folder / "manifest.json").read_text())
    return StudyData([x["trial"] for x in lines], [x["dumps"] for x in lines], manifest, machines, tables)


def contradictions_of_study(folder: Path) -> list[Contradiction]:
    """Of `report.html` in the folder of a study, or of joined ones."""
    data, page = read_study(folder), Page((folder / "report.html").read_text())
    found = [*anywhere(page), *_partial(page, data), *_cached(page, data), *_ceilings(page, data)]
    if data.is_joined:
        found += [*_best_of_systems(page, data), *_verdicts(page)]
    else:
        found += [*_counts(page, data), *_best(page, data), *_settings(page, data), *_verdicts(page)]
        found += [*_means(page, data), *_single_points(page, data), *_best_of_workloads(page, data)]
    return found


def contradictions_of_mix(folder: Path) -> list[Contradiction]:
    """Of `mix.html` beside `mix.json`."""
    page = Page((folder / "mix.html").read_text())
    data = json.loads((folder / "mix.json").read_text())
    return [*anywhere(page), *page_rules_of_runs.contradictions_of_mix(page, data)]


def contradictions_of_report(folder: Path) -> list[Contradiction]:
    """Of `report.html` beside `fidelity.json`."""
    page = Page((folder / "report.html").read_text())
    data = json.loads((folder / "fidelity.json").read_text())
    return [*anywhere(page), *page_rules_of_runs.contradictions_of_replica(page, data)]


# Studies.


def _values(data: StudyData, column: str = "", source: str | None = None) -> dict[str, dict[int, float]]:
    """Setting -> block -> value of the trials that count; the second arm has no part."""
    column = column or COLUMNS[data.objective]
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for row, dumps in zip(data.trials, data.dumps, strict=True):
        times = [dump["io_time_s"] for dump in dumps if dump["io_time_s"] is not None]
        row = row | {"p95": float(np.percentile(times, 95)) if times else None}
        if row.get("arm") or (source is not None and row.get("source") != source):
            continue
        value = row.get(column) if row.get("counted") else None
        if isinstance(value, (int, float)) and math.isfinite(value) and value > 0:
            found[row["setting"]][row["block"]] = float(value)
    return found


def _geometric(values: Iterable[float]) -> float:
    return float(np.exp(np.mean(np.log(list(values)))))


def _is_supported(values: dict[str, dict[int, float]], name: str, *, high: bool) -> bool:
    """Whether a setting is better than the next one by Student's test on the log-ratios of blocks, at 95 %."""
    if name not in values or len(values) < 2:
        return False
    sign = 1.0 if high else -1.0
    rest = sorted((n for n in values if n != name), key=lambda n: -sign * _geometric(values[n].values()))
    both = sorted(values[name].keys() & values[rest[0]].keys())
    logs = sign * np.array([math.log(values[name][b] / values[rest[0]][b]) for b in both])
    if len(logs) < 2:
        return False
    error = float(np.std(logs, ddof=1)) / math.sqrt(len(logs))
    return float(np.mean(logs)) > float(stats.t.ppf(0.975, len(logs) - 1)) * error + 1e-12


def _clauses(text: str) -> list[str]:
    return [part for sentence in re.split(r"(?<=[.!?])\s+", text) for part in sentence.split("; ")]


def _named(clause: str, names: Iterable[str]) -> str | None:
    """The name that a clause has first, the longest of those."""
    found = [(clause.find(name), -len(name), name) for name in names if name and name in clause]
    return min(found)[2] if found else None


def _differs(rows: list[dict[str, str]], name: str, *, high: bool) -> bool:
    """Whether intervals to the reference support that a setting is the best: its own, or another's if it is the reference."""
    own = [row for row in rows if row["setting"] == name and row["ratio"]]
    if own:
        return float(own[0]["low"]) > 1 if high else float(own[0]["high"]) < 1
    return any(float(r["high"]) < 1 if high else float(r["low"]) > 1 for r in rows if r["ratio"])


def _best(page: Page, data: StudyData) -> Iterator[Contradiction]:
    """A setting that is named the best although no difference was found, or blocks are too few."""
    high = data.objective == "bandwidth"
    values, rows = _values(data), data.tables.get("ratios", [])
    before = ""
    for question, text in page.answers():
        by = OBJECTIVE_OF_QUESTION.get(question)
        if by is not None:
            own, rows_by, is_high = _values(data, COLUMNS[by]), _rows_of(data, by), by == "bandwidth"
        elif "best?" in question:
            own, rows_by, is_high = values, rows, high
        else:
            continue
        for clause in _clauses(text):
            name = _named(clause, own)
            if is_claim(clause) and (name or "best" in clause):
                name = name or _named(before, own) or ""
                if not (_is_supported(own, name, high=is_high) and _differs(rows_by, name, high=is_high)):
                    yield Contradiction("best without a difference", clause, f"{name}: no difference")
            before = clause
    for table in page.tables_in("settings"):
        chance, verdict = table.column("probability"), table.column("verdict")
        for row in table.rows if chance is not None and verdict is not None else []:
            number = re.search(r"(\d+) %", row[chance or 0])
            if number is None or float(number[1]) < NAMED_BEST:
                continue
            if not (_is_supported(values, row[0], high=high) and _differs(rows, row[0], high=high)):
                yield Contradiction("best without a difference", " | ".join(row), row[verdict or 0])


OBJECTIVE_OF_QUESTION = {
    "And the bandwidth?": "bandwidth",
    "And the I/O time?": "io-time",
    "And the run time?": "wall-time",
    "And the slowest dump?": "slowest-dump",
    "And the 95th percentile of dumps?": "p95-dump",
}


def _rows_of(data: StudyData, objective: str) -> list[dict[str, str]]:
    return [row for row in data.tables.get("objectives", []) if row["objective"] == objective]


def _best_of_workloads(page: Page, data: StudyData) -> Iterator[Contradiction]:
    high = data.objective == "bandwidth"
    known = _values(data)
    levels = {row["setting"]: str(row.get("workload")) for row in data.trials}
    for workload in dict.fromkeys(levels.values()):
        own = {
            name.removeprefix(f"workload={workload} "): values
            for name, values in known.items()
            if levels[name] == workload
        }
        if len(own) < 2:
            continue
        said = _claims_of(page, "each workload", "workloads", workload)
        for text in said:
            name = _named(text.removeprefix(workload), own) or ""
            if not _is_supported(own, name, high=high):
                yield Contradiction("best without a difference", text, f"{name}: no difference")


def _claims_of(page: Page, question: str, table: str, name: str) -> list[str]:
    """What answers and a table say of the best setting of a workload or system."""
    answered = [
        clause
        for asked, text in page.answers()
        if question in asked
        for clause in _clauses(text)
        if clause.startswith(f"{name}: ") and is_claim(clause)
    ]
    rows = [row for found in page.tables_in(table) for row in found.rows if row[0] == name]
    return answered + [" | ".join(row) for row in rows if _percent(row[2]) >= NAMED_BEST]


def _percent(text: str) -> float:
    match = re.search(r"(\d[\d,.]*) %", text)
    return float(match[1].replace(",", "")) if match else math.nan


def _best_of_systems(page: Page, data: StudyData) -> Iterator[Contradiction]:
    sources = [str(source["name"]) for source in data.manifest["sources"]]
    for source in sources:
        own = _values(data, COLUMNS[_objective_of_joined(data)], source)
        said = _claims_of(page, "best on each", "bests", source)
        for text in said:
            name = _named(text.removeprefix(source), own) or ""
            high = _objective_of_joined(data) == "bandwidth"
            if not _is_supported(own, name, high=high):
                yield Contradiction("best without a difference", text, f"{name}: no difference")


def _objective_of_joined(data: StudyData) -> str:
    """What all joined studies compare by."""
    said = [source.get("study", {}).get("objective", ["bandwidth"]) for source in data.manifest["sources"]]
    return str(said[0][0])


def _moved(dumps: list[dict[str, Any]], *, drops: bool) -> dict[str, int]:
    """Bytes by the kind of ceiling that they are compared with."""
    found: Counter[str] = Counter()
    for dump in dumps:
        found["write" if dump.get("fsyncs") else "write_cached"] += dump["bytes_written"]
        found["read" if drops else "read_cached"] += dump["bytes_read"]
    return {kind: size for kind, size in found.items() if size}


def _shares(data: StudyData) -> dict[str, float]:
    """Setting -> its share of what one process gets, the geometric mean of its trials."""
    found: dict[str, list[float]] = defaultdict(list)
    drops = data.manifest.get("study", {}).get("caches") == "drop"
    by_system = {machine["system_id"]: machine["ceilings"] for machine in data.machines}
    for row, dumps in zip(data.trials, data.dumps, strict=True):
        ceilings, moved = by_system.get(row.get("system"), {}), _moved(dumps, drops=drops)
        if row.get("arm") or not row.get("counted") or not moved or not moved.keys() <= ceilings.keys():
            continue
        seconds = sum(size / ceilings[kind]["median"] for kind, size in moved.items())
        if row.get("bandwidth"):
            found[row["setting"]].append(row["bandwidth"] * seconds / sum(moved.values()))
    return {name: _geometric(values) for name, values in found.items()}


def _ceilings(page: Page, data: StudyData) -> Iterator[Contradiction]:
    """Shares of a ceiling: above 100 % they exceed it, and each is that of the trials."""
    shares = {} if data.is_joined else _shares(data)
    for section, sentence in page.sentences():
        match = re.search(r"((?:< )?\d[\d,.]*) % of (what one process|the possible)", sentence)
        if match is None:
            continue
        if _percent(match[0]) > 100 and not ABOVE.search(sentence):
            yield Contradiction("above a ceiling", sentence, section)
        name = _named(sentence, shares)
        if name is not None and not agrees(match[1], 100 * shares[name]):
            yield Contradiction("another number", sentence, f"share {100 * shares[name]:.4g} %")
    for table in page.tables:
        place = table.column("share of", "possible")
        if place is None:
            continue
        around = " ".join(text for section, text in page.sentences() if section == table.section)
        for row in table.rows:
            if _percent(row[place]) > 100 and not ABOVE.search(around):
                yield Contradiction("above a ceiling", " | ".join(row), row[place])
            if row[0] in shares and row[place] != "-" and not agrees(row[place], shares[row[0]]):
                yield Contradiction("another number", " | ".join(row), f"share {shares[row[0]]:.4g}")


def _counts(page: Page, data: StudyData) -> Iterator[Contradiction]:
    """Numbers of trials, settings and blocks."""
    settings = {row["setting"] for row in data.trials if not row.get("arm")}
    blocks = {row["block"] for row in data.trials}
    counted = sum(bool(row.get("counted")) for row in data.trials)
    total, planned = len(data.trials), _planned(data)
    truths = {
        "trial": {total, planned, counted, total - counted},
        "setting": {len(settings)},
        "block": {len(blocks)},
    }
    summary = next(
        (b.text for b in page.blocks if b.section == "lead" and re.search(r"\d trials?\b", b.text)), ""
    )
    for number, word in re.findall(r"([\d,]+) (trial|setting|block)s?\b", summary):
        if int(number.replace(",", "")) not in truths[word]:
            yield Contradiction("another count", summary, f"{word}s: {sorted(truths[word])}")
    failed = sum(row.get("state") in ("failed", "timed-out") for row in data.trials)
    for number in re.findall(r"([\d,]+) trials? failed", summary):
        if int(number.replace(",", "")) != failed:
            yield Contradiction("another count", summary, f"failed: {failed}")
    for block in page.blocks:
        for part, whole in re.findall(r"\b([\d,]+) of (?:the )?([\d,]+) trials", block.text):
            pair = int(part.replace(",", "")), int(whole.replace(",", ""))
            if pair[0] > pair[1] or pair[1] not in (total, planned):
                yield Contradiction("another count", block.text, f"{total} of {planned}")


def _planned(data: StudyData) -> int:
    settings = len(data.manifest.get("settings", [])) + bool(data.manifest.get("a_a"))
    return settings * int(data.manifest.get("blocks", 0)) or len(data.trials)


def _partial(page: Page, data: StudyData) -> Iterator[Contradiction]:
    """Trials that do not count or have not run, without a sentence that says so."""
    lead = " ".join(text for section, text in page.sentences() if section == "lead")
    bad = [row for row in data.trials if not row.get("counted")]
    if bad and not LEFT_OUT.search(lead):
        yield Contradiction("partial, not said", lead[:120], f"{len(bad)} trials do not count")
    missing = _planned(data) - len(data.trials)
    if missing > 0 and data.manifest.get("state") != "decided" and not UNFINISHED.search(lead):
        yield Contradiction("partial, not said", lead[:120], f"{missing} trials have not run")


def _cached(page: Page, data: StudyData) -> Iterator[Contradiction]:
    """Trials whose data may have been in the page cache, without a sentence that says so."""
    sources = data.manifest.get("sources") or [{"name": None, **data.manifest}]
    for source in sources:
        drops = source.get("study", {}).get("caches") == "drop"
        memory = source.get("system", {}).get("memory_bytes") or 0
        own = [
            dumps
            for row, dumps in zip(data.trials, data.dumps, strict=True)
            if source["name"] in (None, row.get("source")) and row.get("counted")
        ]
        if not any(_may_be_cached(dumps, memory, drops=drops) for dumps in own):
            continue
        lead = [text for section, text in page.sentences() if section == "lead"]
        if not any(CACHED.search(text) and NOT_STORAGE.search(text) for text in lead):
            yield Contradiction("in memory, not said", " ".join(lead)[:120], f"memory {memory}")


def _may_be_cached(dumps: list[dict[str, Any]], memory: int, *, drops: bool) -> bool:
    moved = _moved(dumps, drops=drops)
    cached = {"write_cached", "read_cached"} & moved.keys()
    return bool(cached) and sum(moved.values()) < MEMORY_FACTOR * memory


def _settings(page: Page, data: StudyData) -> Iterator[Contradiction]:
    """The table of settings and the sentences about them, beside single trials and `ratios.csv`."""
    values = _values(data)
    ratios = {row["setting"]: row for row in data.tables.get("ratios", [])}
    trials = Counter(row["setting"] for row in data.trials)
    lost = Counter(row["setting"] for row in data.trials if not row.get("counted"))
    for table in page.tables_in("settings"):
        for row in table.rows:
            yield from _setting_row(table, row, values, ratios, trials, lost)
    for question, text in page.answers():
        if question == "Which setting is the best?":
            amount = re.search(rf"((?:[<>] )?{NUMBER} (?:{UNIT})) on average", text)
            name = _named(text, values)
            if amount and name and not agrees(amount[1], _geometric(values[name].values())):
                yield Contradiction("another number", text, f"mean {_geometric(values[name].values()):.4g}")
        if question == "What differs from the reference?":
            for clause in _clauses(text):
                match = re.search(rf": ({NUMBER}) times", clause)
                name = _named(clause.partition(", most of all ")[2], ratios)
                if match and name and not agrees(match[1], float(ratios[name]["ratio"])):
                    yield Contradiction("another number", clause, f"ratio {ratios[name]['ratio']}")


def _setting_row(
    table: Table,
    row: list[str],
    values: dict[str, dict[int, float]],
    ratios: dict[str, dict[str, str]],
    trials: Counter[str],
    lost: Counter[str],
) -> Iterator[Contradiction]:
    name, said = row[0], " | ".join(row)
    mean, ratio, count = table.column("mean"), table.column("ratio"), table.column("trials")
    if name in values and mean is not None:
        truth = _geometric(values[name].values())
        if not agrees(row[mean], truth):
            yield Contradiction("another number", said, f"mean {truth:.4g}")
    if name in ratios and ratio is not None and re.match(NUMBER, row[ratio]):
        truth = float(ratios[name]["ratio"])
        if not agrees(row[ratio], truth):
            yield Contradiction("another number", said, f"ratio {ratios[name]['ratio']}")
    if name in trials and count is not None:
        numbers = [int(n) for n in re.findall(r"\d+", row[count])]
        if numbers and numbers[0] != trials[name]:
            yield Contradiction("another count", said, f"{trials[name]} trials")
        if sum(numbers[1:]) != lost[name]:
            yield Contradiction("another count", said, f"{lost[name]} do not count")


def _verdicts(page: Page) -> Iterator[Contradiction]:
    """A verdict beside an interval that, as it is printed, says something else."""
    for table in page.tables:
        place, verdict = table.column("interval"), table.column("verdict")
        for row in table.rows if place is not None and verdict is not None else []:
            match = WHOLE_INTERVAL.match(row[place or 0])
            word = row[verdict or 0]
            if match is None:
                continue
            holds = value_of(match[1]) <= 1 <= value_of(match[2])
            if holds == (word in ("faster", "slower")):
                yield Contradiction("a verdict against its interval", " | ".join(row), match[0])


def _means(page: Page, data: StudyData) -> Iterator[Contradiction]:
    """A figure of means beside a table of other means, both only called means."""
    values = _values(data)
    for row in data.tables.get("means", []):
        name, mean = row["setting"], next(float(v) for k, v in row.items() if k.startswith("mean_"))
        if name in values and abs(mean / _geometric(values[name].values()) - 1) > 0.01:
            captions = " ".join(text for section, text in page.sentences() if section == "means")
            if "arithmetic" not in captions.lower():
                yield Contradiction(
                    "another number", captions[:120], f"{name}: {mean:.4g}, not the table's mean"
                )
                return


def _single_points(page: Page, data: StudyData) -> Iterator[Contradiction]:
    """Words of trends in a study that has a single number of each factor, and figures of a single point."""
    values = _values(data)
    usable = [row for row in data.trials if row.get("setting") in values]
    factors = [str(name) for name in data.manifest.get("factors", [])]
    most = max((len({str(row.get(name)) for row in usable}) for name in factors), default=0)
    if most < 2:
        for section, sentence in page.sentences():
            if section != "how" and TRENDS.search(sentence):
                yield Contradiction("a trend of a single point", sentence, f"levels: {most}")
    if max((len(dumps) for dumps in data.dumps), default=0) == 1 and "dumps" in page.sections:
        captions = " ".join(text for section, text in page.sentences() if section == "dumps")
        if "over the run" in captions:
            yield Contradiction("a trend of a single point", captions[:120], "a trial has one dump")
    if values and max(map(len, values.values())) == 1 and "spread" in page.sections:
        yield Contradiction(
            "a trend of a single point", "How much the trials of a setting differ", "one trial each"
        )
