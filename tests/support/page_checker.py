"""Sentences of a page that the data beside it contradict.

The data are the files that a command writes with its page: `trials.jsonl`, `manifest.json`, `MACHINE*.json` and
`figures/*.csv` of a study, `mix.json` of a mix, `fidelity.json` of a replica. What can be computed from single trials
is computed here anew, and not taken from the code that made the page. Thresholds are the constants below.
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
from page_text import Page, Table
from scipy import stats

WIDEST = 100.0
"""Ends of an interval that differ by a larger factor tell nothing."""
MOST_DIGITS = 9
"""Of a number of bytes; more take a unit."""
NAMED_BEST = 80.0
"""The probability (%) from which on a setting counts as named the best."""
MEMORY_FACTOR = 1.5
"""Data below this many times the memory may be in the page cache."""
ROUNDING = 0.75
"""Of the last digit; half of it is rounding, and the rest is that of the figures on both sides."""

UNITS = {
    **{unit: 1024.0**n for n, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB"))},
    **{"%": 0.01, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "": 1.0},
}
UNIT = r"(?:(?:[KMGTP]i)?B(?:/s)?|µs|ms|min|s|h|%)(?![A-Za-z])"
NUMBER = r"[−-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
QUANTITY = rf"(?:a factor of )?(?:{NUMBER}|∞|no bound)(?: ?{UNIT})?"
INTERVAL = re.compile(rf"(?:\(|interval:? )({QUANTITY}) to ({QUANTITY})\)?")
WHOLE_INTERVAL = re.compile(rf"^({QUANTITY}) to ({QUANTITY})$")
NO_NUMBER = re.compile(r"(?<![\w.])(-?nan|NaN|-?inf|Infinity|None)(?![\w-])")
LONG_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?![\w])")
CLAIM = re.compile(r"\b(is the best|it is best|probably|is slowed down most)\b", re.IGNORECASE)
PROBABILITY = re.compile(r"probability[^.;]*?(\d+) %")
HEDGE = re.compile(
    r"not decided|cannot tell|perhaps|no difference|not known|was measured|too few|nothing can be said|"
    r"no slowdown",
    re.IGNORECASE,
)
ABOVE = re.compile(r"exceed|more than (the ceiling|one process|100 %)|above (the|what|100 %)", re.IGNORECASE)
CACHED = re.compile(r"(memory|page cache)", re.IGNORECASE)
NOT_STORAGE = re.compile(
    r"not (a|of the|the) (performance|storage|result)|may (have|be)|not the storage", re.IGNORECASE
)
TRENDS = re.compile(
    r"\b(slopes?|trends?|scales?|scaling|stops? paying|times grow|growth was|efficiency)\b", re.IGNORECASE
)
UNFINISHED = re.compile(
    r"\b(of (the )?[\d,]+ (planned|trials|rounds)|not run|interrupted|ended early|did not end)\b"
)
LEFT_OUT = re.compile(r"\b(left out|failed|does not count|do not count)\b")


@dataclass(frozen=True)
class Contradiction:
    """A sentence, cell or label of a page, and what the data say."""

    rule: str
    said: str
    data: str


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
    return [
        *anywhere(page),
        *_mix_claims(page, data),
        *_mix_found(page, data),
        *_mix_numbers(page, data),
        *_mix_partial(page, data),
    ]


def contradictions_of_report(folder: Path) -> list[Contradiction]:
    """Of `report.html` beside `fidelity.json`."""
    page = Page((folder / "report.html").read_text())
    data = json.loads((folder / "fidelity.json").read_text())
    return [
        *anywhere(page),
        *_report_stamp(page, data),
        *_report_numbers(page, data),
        *_report_grade(page, data),
    ]


# What no page may have, whatever the data are.


def anywhere(page: Page) -> Iterator[Contradiction]:
    """Texts that no data support: values that are none, bytes without a unit, intervals that tell nothing."""
    for block in page.blocks:
        for match in NO_NUMBER.finditer(block.text):
            yield Contradiction("no number", block.text, match[0])
        for match in LONG_NUMBER.finditer(block.text):
            if len(match[0].replace(",", "")) > MOST_DIGITS:
                yield Contradiction("bytes without a unit", block.text, match[0])
        for low, high in _intervals(block.text):
            if _tells_nothing(low, high):
                yield Contradiction("an interval that tells nothing", block.text, f"{low:g} to {high:g}")
    for table in page.tables:
        place = table.column("interval")
        for row in table.rows if place is not None and "ratio" in " ".join(table.heads) else []:
            match = WHOLE_INTERVAL.match(row[place]) if place is not None and place < len(row) else None
            if match and _tells_nothing(_value(match[1]), _value(match[2])):
                yield Contradiction("an interval that tells nothing", " | ".join(row), match[0])


def _intervals(text: str) -> Iterator[tuple[float, float]]:
    for match in INTERVAL.finditer(text):
        low, high = match[1], match[2]
        if not re.search(UNIT + "$", low) and (unit := re.search(UNIT + "$", high)):
            low += " " + unit[0]
        yield _value(low), _value(high)


def _tells_nothing(low: float, high: float) -> bool:
    """Ends apart by more than a factor of 100, at 0, or without a bound. Differences have ends below 0."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return True
    return low >= 0 and (low == 0 or high / low > WIDEST) and low != high


def _value(text: str) -> float:
    """A printed quantity in bytes, seconds or as it is."""
    text = text.removeprefix("a factor of ").replace("−", "-").replace(",", "")
    if text.startswith(("∞", "no bound")):
        return math.inf
    match = re.match(rf"({NUMBER}) ?({UNIT})?", text)
    assert match is not None, text
    return float(match[1]) * UNITS[(match[2] or "").removesuffix("/s")]


def _agrees(text: str, value: float) -> bool:
    """Whether a printed quantity is a value, rounded."""
    match = re.search(rf"({NUMBER}) ?({UNIT})?", text)
    if match is None:
        return False
    digits = match[1].replace(",", "").replace("−", "-")
    mantissa, _, exponent = digits.partition("e")
    last = 10.0 ** (-len(mantissa.partition(".")[2]) + int(exponent or 0))
    unit = UNITS[(match[2] or "").removesuffix("/s")]
    if "." not in mantissa and len(mantissa.lstrip("-")) < 3 and unit not in (1.0, 0.01):
        last = max(
            0.1, 10.0 ** (len(mantissa.lstrip("-")) - 3)
        )  # three digits, zeros at the end are not printed
    if "<" in text[: match.start()]:
        return value <= float(digits) * unit
    if ">" in text[: match.start()] or "more than" in text[: match.start()]:
        return value >= float(digits) * unit
    return abs(float(digits) * unit - value) <= ROUNDING * last * unit + 1e-9 * abs(value)


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


def _is_claim(clause: str) -> bool:
    if HEDGE.search(clause):
        return False
    chance = PROBABILITY.search(clause)
    return bool(CLAIM.search(clause)) or (chance is not None and float(chance[1]) >= NAMED_BEST)


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
            if _is_claim(clause) and (name or "best" in clause):
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
        said = [
            clause
            for question, text in page.answers()
            if "each workload" in question
            for clause in _clauses(text)
            if clause.startswith(f"{workload}: ") and _is_claim(clause)
        ]
        for table in page.tables_in("workloads"):
            said += [" | ".join(r) for r in table.rows if r[0] == workload and _percent(r[2]) >= NAMED_BEST]
        for text in said:
            name = _named(text.removeprefix(workload), own) or ""
            if not _is_supported(own, name, high=high):
                yield Contradiction("best without a difference", text, f"{name}: no difference")


def _percent(text: str) -> float:
    match = re.search(r"(\d[\d,.]*) %", text)
    return float(match[1].replace(",", "")) if match else math.nan


def _best_of_systems(page: Page, data: StudyData) -> Iterator[Contradiction]:
    sources = [str(source["name"]) for source in data.manifest["sources"]]
    for source in sources:
        own = _values(data, COLUMNS[_objective_of_joined(data)], source)
        said = [
            clause
            for question, text in page.answers()
            if "best on each" in question
            for clause in _clauses(text)
            if clause.startswith(f"{source}: ") and _is_claim(clause)
        ]
        for table in page.tables_in("bests"):
            said += [" | ".join(r) for r in table.rows if r[0] == source and _percent(r[2]) >= NAMED_BEST]
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
        if name is not None and not _agrees(match[1], 100 * shares[name]):
            yield Contradiction("another number", sentence, f"share {100 * shares[name]:.4g} %")
    for table in page.tables:
        place = table.column("share of", "possible")
        if place is None:
            continue
        around = " ".join(text for section, text in page.sentences() if section == table.section)
        for row in table.rows:
            if _percent(row[place]) > 100 and not ABOVE.search(around):
                yield Contradiction("above a ceiling", " | ".join(row), row[place])
            if row[0] in shares and row[place] != "-" and not _agrees(row[place], shares[row[0]]):
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
            if amount and name and not _agrees(amount[1], _geometric(values[name].values())):
                yield Contradiction("another number", text, f"mean {_geometric(values[name].values()):.4g}")
        if question == "What differs from the reference?":
            for clause in _clauses(text):
                match = re.search(rf": ({NUMBER}) times", clause)
                name = _named(clause.partition(", most of all ")[2], ratios)
                if match and name and not _agrees(match[1], float(ratios[name]["ratio"])):
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
        if not _agrees(row[mean], truth):
            yield Contradiction("another number", said, f"mean {truth:.4g}")
    if name in ratios and ratio is not None and re.match(NUMBER, row[ratio]):
        truth = float(ratios[name]["ratio"])
        if not _agrees(row[ratio], truth):
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
            holds = _value(match[1]) <= 1 <= _value(match[2])
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


# Mixes.


def _mix_claims(page: Page, data: dict[str, Any]) -> Iterator[Contradiction]:
    worst = data.get("worst")
    for section, sentence in page.sentences():
        if section == "lead" and _is_claim(sentence) and worst:
            low = worst["slowdown_low"]
            if low is None or low <= 1:
                yield Contradiction("best without a difference", sentence, f"interval from {low}")
        if "same bytes by the same calls" in sentence and not data["as_alone"]:
            yield Contradiction("another number", sentence, "as_alone is false")


def _mix_found(page: Page, data: dict[str, Any]) -> Iterator[Contradiction]:
    """No slowdown on the page, although the interval of a copy is above 1, with the error shared among copies."""
    known = [
        [r["slowdown"] for r in copy["rounds"] if r["slowdown"]]
        for copy in data["copies"]
        if "rounds" in copy
    ]
    known = [values for values in known if len(values) > 1]
    for values in known:
        logs = np.log(values)
        reach = (
            float(stats.t.ppf(1 - 0.025 / len(known), len(logs) - 1))
            * np.std(logs, ddof=1)
            / math.sqrt(len(logs))
        )
        if np.mean(logs) - reach > 1e-9:
            for _section, sentence in page.sentences():
                if "No slowdown was found" in sentence:
                    yield Contradiction("another number", sentence, f"{np.exp(np.mean(logs)):.3g} is above 1")


def _mix_numbers(page: Page, data: dict[str, Any]) -> Iterator[Contradiction]:
    for _section, sentence in page.sentences():
        if (match := re.search(rf"Fairness is ({NUMBER})", sentence)) and not _agrees(
            match[1], data["fairness"]
        ):
            yield Contradiction("another number", sentence, f"fairness {data['fairness']}")
        for number in re.findall(r"([\d,]+) rounds?,", sentence):
            if int(number.replace(",", "")) != data["rounds"]:
                yield Contradiction("another count", sentence, f"rounds {data['rounds']}")
        match = re.search(rf"(?:by a factor of|is that of .*,|took) ({NUMBER})", sentence)
        if match and data.get("worst") and not _agrees(match[1], data["worst"]["slowdown"]):
            yield Contradiction("another number", sentence, f"slowdown {data['worst']['slowdown']}")
    columns = {"in i/o alone": "io_alone_s", "in i/o side by side": "io_together_s", "slowdown": "slowdown"}
    columns |= {"written": "bytes_written", "read": "bytes_read", "ranks": "ranks"}
    for table in page.tables_in("runs"):
        for row, copy in zip(table.rows, data["copies"], strict=False):
            for head, key in columns.items():
                place = table.heads.index(head) if head in table.heads else None
                value = copy[key]
                if place is None or value is None or not re.search(r"\d", row[place]):
                    continue
                if not _agrees(row[place], float(value)):
                    yield Contradiction("another number", " | ".join(row), f"{key} {value}")


def _mix_partial(page: Page, data: dict[str, Any]) -> Iterator[Contradiction]:
    lead = " ".join(text for section, text in page.sentences() if section == "lead")
    asked = data.get("rounds_asked", data["rounds"])
    if asked > data["rounds"] and not UNFINISHED.search(lead):
        yield Contradiction("partial, not said", lead[:120], f"{data['rounds']} of {asked} rounds")
    if data.get("in_memory") and not (CACHED.search(lead) and NOT_STORAGE.search(lead)):
        yield Contradiction("in memory, not said", lead[:120], str(data["in_memory"])[:80])


# Replicas.


def _report_stamp(page: Page, data: dict[str, Any]) -> Iterator[Contradiction]:
    stamp = data.get("stamp")
    plain = page.text.replace("×", "x").replace("−", "-")
    if stamp and stamp["text"] not in plain:
        yield Contradiction("in memory, not said", "", str(stamp["reasons"]))
    for reason in stamp["reasons"] if stamp else []:
        if reason.replace("×", "x") not in plain:
            yield Contradiction("in memory, not said", "", reason)
    lead = " ".join(text for section, text in page.sentences() if section == "lead")
    if not data["complete"] and not UNFINISHED.search(lead):
        yield Contradiction("partial, not said", lead[:120], "the run is not complete")


def _report_grade(page: Page, data: dict[str, Any]) -> Iterator[Contradiction]:
    """Praise that the errors contradict."""
    worst = max(
        (max(f["bytes_error_max_pct"], f["total_bytes_error_pct"]) for f in data["families"]), default=0.0
    )
    for section, sentence in page.sentences():
        if section == "lead" and "An exact replica" in sentence and data["verdict"]["grade"] != "exact":
            yield Contradiction("best without a difference", sentence, data["verdict"]["grade"])
        if section == "lead" and re.search(r"bytes exact", sentence) and worst > 0:
            yield Contradiction("another number", sentence, f"error {worst}")


def _report_numbers(page: Page, data: dict[str, Any]) -> Iterator[Contradiction]:
    agreement = data["agreement"]
    for _section, sentence in page.sentences():
        for part, whole in re.findall(r"([\d,]+) of ([\d,]+) determined counters?", sentence):
            pair = int(part.replace(",", "")), int(whole.replace(",", ""))
            known = {
                (round((agreement[side] or 0) * agreement[f"counters_{side}"]), agreement[f"counters_{side}"])
                for side in ("model", "replica")
            }
            if pair not in known:
                yield Contradiction("another count", sentence, str(known))
    rows = {family["name"]: family for family in data["families"]}
    columns = {"original": "bytes_original", "expected": "bytes_expected", "replica": "bytes_replica"}
    for table in page.tables_in("beside"):
        if table.heads[:2] != ["family", "level"]:
            continue
        for row in table.rows:
            family = rows.get(row[0])
            for head, key in columns.items():
                if family and head in table.heads and not _agrees(row[table.heads.index(head)], family[key]):
                    yield Contradiction("another number", " | ".join(row), f"{key} {family[key]}")
