"""Sentences of the pages of mixes and replicas that `mix.json` and `fidelity.json` contradict."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from page_rules import CACHED, NOT_STORAGE, NUMBER, UNFINISHED, Contradiction, agrees, is_claim
from page_text import Page
from scipy import stats


def contradictions_of_mix(page: Page, data: dict[str, Any]) -> Iterator[Contradiction]:
    """Of the page of a mix; `data` is `mix.json`."""
    yield from _mix_claims(page, data)
    yield from _mix_found(page, data)
    yield from _mix_numbers(page, data)
    yield from _mix_partial(page, data)


def contradictions_of_replica(page: Page, data: dict[str, Any]) -> Iterator[Contradiction]:
    """Of the report of a replica; `data` is `fidelity.json`."""
    yield from _report_stamp(page, data)
    yield from _report_numbers(page, data)
    yield from _report_grade(page, data)


# Mixes.


def _mix_claims(page: Page, data: dict[str, Any]) -> Iterator[Contradiction]:
    worst = data.get("worst")
    for section, sentence in page.sentences():
        if section == "lead" and is_claim(sentence) and worst:
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
        if (match := re.search(rf"Fairness is ({NUMBER})", sentence)) and not agrees(
            match[1], data["fairness"]
        ):
            yield Contradiction("another number", sentence, f"fairness {data['fairness']}")
        for number in re.findall(r"([\d,]+) rounds?,", sentence):
            if int(number.replace(",", "")) != data["rounds"]:
                yield Contradiction("another count", sentence, f"rounds {data['rounds']}")
        match = re.search(rf"(?:by a factor of|is that of .*,|took) ({NUMBER})", sentence)
        if match and data.get("worst") and not agrees(match[1], data["worst"]["slowdown"]):
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
                if not agrees(row[place], float(value)):
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
                if family and head in table.heads and not agrees(row[table.heads.index(head)], family[key]):
                    yield Contradiction("another number", " | ".join(row), f"{key} {family[key]}")
