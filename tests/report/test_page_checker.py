"""The checker of pages finds each kind of contradiction, and none in a page that says what its data do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import page_checker
import pytest

GIB = 2.0**30
HEADS = ("setting", "mean<br>bandwidth", "share of<br>the possible", "ratio", "95 % interval", "verdict")
HEADS += ("probability<br>to be best", "trials")
WORDS = {
    "summary": "8 trials of 2 settings in 4 blocks.",
    "best": "fast, with 2 GiB/s on average. The probability that it is the best of 2 settings is more than 99 %.",
    "differs": "Compared with slow, 1 setting is faster, most of all fast: 2.00 times its bandwidth (1.90 to 2.10).",
    "share": "fast reaches 50 % of what one process gets by large sequential operations.",
    "fast": "fast|2 GiB/s|50 %|2.00|1.90 to 2.10|faster|&gt; 99 %|4",
    "slow": "slow|1 GiB/s|25 %|1|-|reference|&lt; 1 %|4",
}


def study(folder: Path, words: dict[str, str] | None = None, **fields: Any) -> list[str]:
    """The rules that a page of a small study breaks. `fast` has twice the bandwidth of `slow` in each block."""
    said = WORDS | (words or {})
    memory, rates, counted = fields.get("memory", 1), fields.get("rates", [1.9, 2.0, 2.0, 2.1]), True
    lines = []
    for block, rate in enumerate(rates):
        for name, value in (("fast", rate * GIB), ("slow", GIB)):
            row = {
                "block": block,
                "setting": name,
                "arm": "",
                "counted": counted,
                "state": "ok",
                "system": "s",
            }
            row |= {"bandwidth": value, "io_time_s": GIB / value, "ranks": name}
            dumps = [{"bytes_written": int(GIB), "bytes_read": 0, "fsyncs": fields.get("fsyncs", 1)}]
            lines.append({"trial": row, "dumps": [dump | {"io_time_s": 1.0} for dump in dumps * 2]})
    lines[: fields.get("bad", 0)] = [
        {"trial": line["trial"] | {"counted": False, "state": "not-taken"}, "dumps": line["dumps"]}
        for line in lines[: fields.get("bad", 0)]
    ]
    (folder / "figures").mkdir(parents=True)
    (folder / "trials.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    manifest = {
        "settings": [{}, {}],
        "blocks": fields.get("blocks", 4),
        "factors": fields.get("factors", ["ranks"]),
    }
    (folder / "manifest.json").write_text(json.dumps(manifest | {"system": {"memory_bytes": memory}}))
    ceilings = {kind: {"median": 4 * GIB} for kind in ("write", "write_cached")}
    (folder / "MACHINE.json").write_text(json.dumps({"system_id": "s", "ceilings": ceilings}))
    low = fields.get("low", 1.9)
    (folder / "figures" / "ratios.csv").write_text(f"setting,ratio,low,high\nfast,2.0,{low},2.1\n")
    (folder / "report.html").write_text(html(said))
    return [found.rule for found in page_checker.contradictions_of_study(folder)]


def html(said: dict[str, str]) -> str:
    heads = "".join(f"<th>{head}</th>" for head in HEADS)
    rows = "".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in said[name].split("|")) + "</tr>"
        for name in ("fast", "slow")
    )
    return (
        f"<style>p {{ width: nan }}</style><p>{said['summary']}</p><dl><dt>Which setting is the best?</dt>"
        f"<dd>{said['best']}</dd><dt>What differs from the reference?</dt><dd>{said['differs']}</dd>"
        f"<dt>How much of the possible is that?</dt><dd>{said['share']}</dd></dl>"
        f"<section id='settings'><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        f"<p>{said.get('below', '')}</p></section>"
    )


def test_a_true_page_has_no_contradiction(tmp_path: Path) -> None:
    assert study(tmp_path / "plain") == []
    hedged = {
        "best": "Not decided: perhaps fast (probability 96 %).",
        "fast": WORDS["fast"].replace("&gt; 99", "70"),
    }
    hedged["differs"] = "Compared with slow: no difference was found."
    hedged["fast"] = hedged["fast"].replace("1.90 to 2.10|faster", "0.90 to 4.10|no difference found")
    assert study(tmp_path / "hedged", hedged, low=0.9) == []


@pytest.mark.parametrize(
    ("rule", "words", "fields"),
    [
        ("best without a difference", {}, {"low": 0.9}),
        ("best without a difference", {}, {"rates": [0.5, 4.0, 1.0, 8.0]}),
        ("above a ceiling", {"share": "fast reaches 668 % of what one process gets."}, {}),
        ("above a ceiling", {"fast": WORDS["fast"].replace("50 %", "668 %")}, {}),
        ("another number", {"share": "fast reaches 60 % of what one process gets."}, {}),
        ("another number", {"best": WORDS["best"].replace("2 GiB", "3 GiB")}, {}),
        ("another number", {"fast": WORDS["fast"].replace("2 GiB", "2 MiB")}, {}),
        ("another number", {"fast": WORDS["fast"].replace("2.00", "2.20")}, {}),
        ("another number", {"differs": WORDS["differs"].replace("2.00 times", "2.20 times")}, {}),
        ("an interval that tells nothing", {"differs": "Compared: 0.77 (0.00 to 146011.74)."}, {}),
        ("an interval that tells nothing", {"differs": "Compared: 0.77 (0.01 to 2.1)."}, {}),
        ("an interval that tells nothing", {"differs": "Compared: 0.77 (0.50 to ∞)."}, {}),
        ("an interval that tells nothing", {"fast": WORDS["fast"].replace("1.90", "0.01")}, {}),
        ("bytes without a unit", {"differs": "It wrote 12,884,901,888 bytes."}, {}),
        ("bytes without a unit", {"differs": "It wrote 1288490188 bytes."}, {}),
        ("no number", {"differs": "The ratio is nan."}, {}),
        ("no number", {"slow": WORDS["slow"].replace("25 %", "None")}, {}),
        ("no number", {"differs": "It is Infinity."}, {}),
        ("no number", {"differs": "It takes inf seconds."}, {}),
        ("in memory, not said", {}, {"memory": 2**40, "fsyncs": 0}),
        ("another count", {"summary": "9 trials of 2 settings in 4 blocks."}, {}),
        ("another count", {"summary": "8 trials of 2 settings in 4 blocks; 1 trial failed."}, {}),
        ("another count", {"summary": "8 trials of 2 settings in 4 blocks; 9 of 8 trials count."}, {}),
        ("another count", {"slow": WORDS["slow"].removesuffix("4") + "3"}, {}),
        ("another count", {"slow": WORDS["slow"] + ", 1 failed"}, {}),
        ("partial, not said", {}, {"blocks": 5}),
        ("partial, not said", {}, {"bad": 1}),
        ("a trend of a single point", {"differs": "The slope is 3 s for each rank."}, {"factors": []}),
        ("a verdict against its interval", {"fast": WORDS["fast"].replace("1.90", "1.00")}, {}),
    ],
)
def test_each_contradiction_is_found(
    tmp_path: Path, rule: str, words: dict[str, str], fields: dict[str, Any]
) -> None:
    assert rule in study(tmp_path / "s", words, **fields)


def mix(folder: Path, lead: str, row: str, **fields: Any) -> list[str]:
    worst = {"slowdown": 1.5, "slowdown_low": 1.2, "slowdown_high": 1.9, "is_found": True}
    copy = {"ranks": 4, "slowdown": 1.5, "io_alone_s": 2.0, "io_together_s": 3.0}
    copy |= {"bytes_written": 2**30, "bytes_read": 0}
    data = {
        "worst": worst | fields.pop("worst", {}),
        "fairness": 0.9,
        "rounds": 3,
        "as_alone": True,
        "copies": [copy],
    }
    folder.mkdir()
    (folder / "mix.json").write_text(json.dumps(data | fields))
    heads = "".join(f"<th>{head}</th>" for head in ("run", "slowdown", "in I/O alone", "written"))
    cells = "".join(f"<td>{cell}</td>" for cell in row.split("|"))
    page = f"<p>{lead}</p><section id='runs'><table><thead><tr>{heads}</tr></thead><tbody><tr>{cells}</tr></tbody></table>"
    (folder / "mix.html").write_text(page + "</section>")
    return [found.rule for found in page_checker.contradictions_of_mix(folder)]


@pytest.mark.parametrize(
    ("rule", "lead", "row", "fields"),
    [
        ("", "a 1 is slowed down most, by a factor of 1.50 (1.20 to 1.90).", "a 1|1.50|2 s|1 GiB", {}),
        ("best without a difference", "a 1 is slowed down most.", "a", {"worst": {"slowdown_low": None}}),
        ("best without a difference", "a 1 is slowed down most.", "a", {"worst": {"slowdown_low": 0.9}}),
        ("another number", "a 1 is slowed down most, by a factor of 2.50.", "a", {}),
        ("another number", "Fairness is 0.7.", "a", {}),
        ("another number", "x", "a 1|1.50|3 s|1 GiB", {}),
        ("another count", "4 rounds, each alone and side by side.", "a", {}),
        (
            "another number",
            "Every run moved the same bytes by the same calls as alone.",
            "a",
            {"as_alone": False},
        ),
        ("partial, not said", "3 rounds, each alone.", "a", {"rounds_asked": 5}),
        ("in memory, not said", "3 rounds, each alone.", "a", {"in_memory": ["working set"]}),
        ("an interval that tells nothing", "x", "a 1|1.50 (0.00 to 146011.74)|2 s|1 GiB", {}),
    ],
)
def test_contradictions_of_mixes(
    tmp_path: Path, rule: str, lead: str, row: str, fields: dict[str, Any]
) -> None:
    row += "|-" * (3 - row.count("|"))
    assert mix(tmp_path / "m", lead, row, **fields) == ([rule] if rule else [])


def replica(folder: Path, lead: str, **fields: Any) -> list[str]:
    agreement = {"model": None, "replica": 0.5, "counters_model": 0, "counters_replica": 8}
    family = {
        "name": "checkpoint 1",
        "bytes_original": 2**30,
        "bytes_expected": 2**30,
        "bytes_replica": 2**30,
    }
    family |= {"bytes_error_max_pct": 0.0, "total_bytes_error_pct": 0.0}
    data = {"complete": True, "stamp": None, "agreement": agreement, "families": [family]}
    folder.mkdir()
    (folder / "fidelity.json").write_text(json.dumps(data | {"verdict": {"grade": "close"}} | fields))
    heads = "".join(f"<th>{head}</th>" for head in ("family", "level", "original"))
    (folder / "report.html").write_text(
        f"<p>{lead}</p><section id='beside'><table><thead><tr>{heads}</tr></thead><tbody><tr><td>checkpoint 1</td>"
        f"<td>posix</td><td>{fields.get('shown', '1 GiB')}</td></tr></tbody></table></section>"
    )
    return [found.rule for found in page_checker.contradictions_of_report(folder)]


@pytest.mark.parametrize(
    ("rule", "lead", "fields"),
    [
        ("", "A close replica. 4 of 8 determined counters of the plan agree.", {}),
        ("in memory, not said", "A close replica.", {"stamp": {"text": "no result", "reasons": []}}),
        ("in memory, not said", "no result.", {"stamp": {"text": "no result", "reasons": ["memory"]}}),
        ("partial, not said", "A close replica.", {"complete": False}),
        ("best without a difference", "An exact replica.", {}),
        ("another count", "5 of 8 determined counters agree.", {}),
        ("another number", "A close replica.", {"shown": "2 GiB"}),
    ],
)
def test_contradictions_of_replicas(tmp_path: Path, rule: str, lead: str, fields: dict[str, Any]) -> None:
    assert replica(tmp_path / "r", lead, **fields) == ([rule] if rule else [])
