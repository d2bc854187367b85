"""Judges what came back from those who ran a bundle, and makes a study of it.

Whoever runs a bundle can write any record. What is checked: the plans that were performed, that each record holds what
its plan asks for and agrees with itself, and the checksums that the scripts made. A record that was edited consistently
is not found out.
"""

from __future__ import annotations

import hashlib
import json
import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workalike.bundle.archive import Files, files_in
from workalike.bundle.deviations import MOST, changed_fields, changed_files, is_as_listed, is_source
from workalike.bundle.limits import MOST_LIST_BYTES, files_of_plan, most_of_bundle, most_of_results
from workalike.bundle.pack import CHECKSUMS, RULES
from workalike.bundle.record_checks import contradictions
from workalike.bundle.rules import PlanRule, Rules, covers, rules_of
from workalike.bundle.said import described
from workalike.bundle.storage_rules import broken_rules, storage_rule
from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import make_folder, write_bytes, write_text
from workalike.leftovers import scratch_folder
from workalike.plan.core import core_plan
from workalike.plan.plan_file import read_plan
from workalike.record.run_record import assemble
from workalike.study import measured
from workalike.study.found import found_in
from workalike.study.journal import FORMAT, LINES, MANIFEST, VERSION, Finished, Row, now
from workalike.study.prepare import Prepared
from workalike.study.settings import Setting
from workalike.study.tables import require_arrow, write_tables
from workalike.study.targets import Wanted
from workalike.terminal import printable

OK, DEVIATES, MISSING, FAILED = "ok", "deviates", "missing", "failed"
LARGEST_TEXT = 4096


@dataclass(frozen=True)
class Merit:
    """The figure of merit of a workload: bandwidths in bytes per second, times in seconds; NaN where no run counts."""

    workload: str
    runs: int
    left_out: int
    bandwidth: float
    """Geometric mean of the runs."""
    slowest_run: float
    """Bandwidth of the slowest run."""
    dump_s: float
    """Median time of a dump, over all runs."""
    dump_p95_s: float
    """95th percentile."""


@dataclass
class Collected:
    """What came back. `disclosed`: what was changed or is missing, by place (`files`, or WORKLOAD/REPEAT)."""

    system: str
    finished: list[Finished] = field(default_factory=list)
    disclosed: dict[str, list[str]] = field(default_factory=dict)
    merits: list[Merit] = field(default_factory=list)
    about: str = ""
    is_changed_engine: bool = False

    @property
    def all_count(self) -> bool:
        return all(row.trial["counted"] for row in self.finished)

    def bandwidths(self, workload: str) -> tuple[list[float], int]:
        """(bandwidths of the runs that count, in bytes per second; number of those that are left out)."""
        own = [row.trial for row in self.finished if row.trial["workload"] == workload]
        rates = [v for row in own if 0 < (v := measured.counted_value(row, "bandwidth")) < math.inf]
        return rates, sum(not row["counted"] for row in own)


def collect(
    bundle: Path,
    results: Path,
    system: str,
    out: Path,
    check_names: Callable[[Sequence[str]], None] = lambda names: None,
) -> Collected:
    """Check results, and write a study of them into `out`, which must be empty.

    Args:
        check_names: gets the names of the workloads before anything is written, and may refuse them.

    Raises:
        WorkalikeError: BAD_STUDY for archives that cannot be read, or results of another bundle; USAGE for a folder that
            is not empty; MISSING without pyarrow.
    """
    require_arrow()
    asked = files_in(bundle, most_of_bundle)
    rules, sums = _rules_of(asked, bundle)
    found = files_in(results, *most_of_results(asked, rules))
    _refuse_other_bundle(sums, found, results)
    check_names([rule.name for rule in rules.plans])
    make_folder(out)
    if any(out.iterdir()):
        raise WorkalikeError(ErrorKind.USAGE, "is not empty", file=out, hint="choose another -o")
    collected = Collected(system, about=_text(found.get("system", b"")))
    if changed := changed_files(sums, _text(found.get("checksums", b""), MOST_LIST_BYTES)):
        collected.disclosed["files"] = [f"changed: {', '.join(changed[:MOST])}{_and_more(changed)}"]
        collected.is_changed_engine = any(is_source(name) for name in changed)
    with scratch_folder(out) as scratch:
        for repeat in range(1, rules.repeats + 1):
            for position, rule in enumerate(rules.plans):
                number = (repeat - 1) * len(rules.plans) + position
                row = _first_row(number, repeat, position, rule, system)
                _judge(row, asked, found, rules, rule, scratch, collected)
    collected.merits = [_merit(rule.name, collected) for rule in rules.plans]
    _write(collected, rules, hashlib.sha256(sums.encode()).hexdigest(), out)
    return collected


def _rules_of(asked: Files, bundle: Path) -> tuple[Rules, str]:
    if RULES not in asked or CHECKSUMS not in asked:
        raise WorkalikeError(
            ErrorKind.BAD_STUDY, "is not a bundle", file=bundle, hint="name the archive that was sent out"
        )
    sums = _text(asked[CHECKSUMS], MOST_LIST_BYTES)
    if not is_as_listed(sums, RULES, asked[RULES]):  # results name the checksums that they were made with
        raise WorkalikeError(
            ErrorKind.BAD_STUDY,
            "has other rules than its checksums name",
            file=bundle,
            place=RULES,
            hint="name the archive that was sent out",
        )
    rules = rules_of(_text(asked[RULES], MOST_LIST_BYTES), str(bundle))
    for rule in rules.plans:
        plan = asked.get(f"plans/{rule.name}/plan.json", b"")
        if hashlib.sha256(plan).hexdigest() != rule.sha256:
            raise WorkalikeError(
                ErrorKind.BAD_STUDY,
                "has another plan than its rules name",
                file=bundle,
                place=f"plans/{rule.name}",
                hint="name the archive that was sent out",
            )
    return rules, sums


def _refuse_other_bundle(sums: str, found: Files, results: Path) -> None:
    theirs = _text(found.get("bundle", b"")).partition(" ")[0]
    if theirs != hashlib.sha256(sums.encode()).hexdigest():
        raise WorkalikeError(
            ErrorKind.BAD_STUDY,
            "holds the results of another bundle" if theirs else "does not say which bundle was run",
            file=results,
            hint="ask for results.tar.gz as run.sh writes it",
        )


def _first_row(number: int, repeat: int, position: int, rule: PlanRule, system: str) -> Row:
    setting = f"workload={rule.name}"  # as that of other systems, so that studies can be joined
    return {
        "trial": number,
        "block": repeat - 1,
        "position": position,
        "setting": setting,
        "arm": "",
        "workload": rule.name,
        "system": system,
        "state": OK,
        "reasons": [],
        "plan": rule.sha256,
        "plan_bytes": rule.bytes,
    }


def _judge(
    row: Row,
    asked: Files,
    found: Files,
    rules: Rules,
    rule: PlanRule,
    scratch: Path,
    collected: Collected,
) -> None:
    """Complete the row of a run, and note what deviates."""
    place = f"{rule.name}/{row['block'] + 1}"
    dumps: list[Row] = []
    fixed, tuned = _plan_changes(asked, found, rules, rule, place)
    has_record = f"{place}/run.jsonl" in found
    if not has_record and f"{place}/plan.json" not in found:
        row |= {"state": MISSING, "reasons": ["there is no record"]}
    elif fixed:
        row |= {"state": DEVIATES, "reasons": fixed}
    elif collected.is_changed_engine:
        row |= {"state": DEVIATES, "reasons": ["the engine's source was changed"]}
    elif not has_record:
        row |= {"state": MISSING, "reasons": ["there is no record"]}
    else:
        try:
            files = files_of_plan(asked, rule.name) | {"plan.json": found[f"{place}/plan.json"]}
            dumps = _measure(row, found, f"{place}/run.jsonl", files, rules, rule, scratch, collected.about)
        except WorkalikeError as error:
            row |= {"state": FAILED, "reasons": [error.message]}
    row["counted"] = row["state"] == OK
    if noted := [*row["reasons"], *(f"tuned: {path}" for path in tuned)]:
        collected.disclosed[place] = noted
    own = {name: row[name] for name in ("trial", "block", "setting", "arm", "counted")}
    collected.finished.append(Finished(row, [own | dump for dump in dumps]))


def _plan_changes(
    asked: Files, found: Files, rules: Rules, rule: PlanRule, place: str
) -> tuple[list[str], list[str]]:
    """(changes that the rules do not allow, paths of allowed ones) of the plan that was performed."""
    theirs = found.get(f"{place}/plan.json")
    if theirs is None:  # the record tells bytes and operations, but not the fields of its plan
        return ["the plan that was performed is missing"], []
    try:
        other = json.loads(theirs)
    except (ValueError, RecursionError):
        return ["the plan that was performed is not JSON"], []
    ours = json.loads(asked[f"plans/{rule.name}/plan.json"])
    try:
        changed = list(changed_fields(ours, other))
    except RecursionError:
        return ["the plan that was performed is nested too deeply"], []
    fixed = [printable(path) for path in changed if not covers(rules.tunable, path)]
    tuned = [printable(path) for path in changed if covers(rules.tunable, path)]
    reasons = [f"the plan was changed: {', '.join(fixed[:MOST])}{_and_more(fixed)}"] if fixed else []
    return reasons, tuned[:MOST] + ([f"{len(tuned) - MOST} more fields"] if len(tuned) > MOST else [])


def _and_more(listed: Sequence[str]) -> str:
    return f" and {len(listed) - MOST} more" if len(listed) > MOST else ""


def _measure(
    row: Row,
    found: Files,
    place: str,
    plan_files: Mapping[str, bytes],
    rules: Rules,
    rule: PlanRule,
    scratch: Path,
    about: str,
) -> list[Row]:
    """Put the values of the record at `place` into its row, and return the rows of its dumps.

    Raises:
        WorkalikeError: the record or the plan cannot be read.
    """
    for name, content in plan_files.items():
        write_bytes(scratch / name, content)
    plan = read_plan(scratch / "plan.json")
    found.copy(place, scratch / "run.jsonl")
    record = assemble(scratch / "run.jsonl")
    prepared = Prepared(Setting(row["setting"], {}, {}), Wanted(), plan, core_plan(plan))
    storage = rule.storage or storage_rule(plan, list(prepared.counted.values()))
    reasons = [
        *measured.plan_deviations(prepared, record),
        *(f"the record contradicts itself: {text}" for text in contradictions(record, described(about))),
        *(f"RULES.json, {text}" for text in broken_rules(storage, rules.excluded_file_systems, plan, record)),
    ]
    row |= measured.values_of(record)
    row["found"] = found_in(record)
    row["record_matches_plan"] = not reasons
    if reasons:
        row |= {"state": DEVIATES, "reasons": reasons}
    return measured.dump_rows(record, prepared)


def _merit(workload: str, collected: Collected) -> Merit:
    own = [row for row in collected.finished if row.trial["workload"] == workload]
    counted = [row for row in own if row.trial["counted"]]
    rates, _ = collected.bandwidths(workload)
    times = sorted(
        dump["io_time_s"] for row in counted for dump in row.dumps if dump["io_time_s"] is not None
    )
    return Merit(
        workload=workload,
        runs=len(counted),
        left_out=len(own) - len(counted),
        bandwidth=math.exp(sum(map(math.log, rates)) / len(rates)) if rates else math.nan,
        slowest_run=min(rates, default=math.nan),
        dump_s=_percentile(times, 0.5),
        dump_p95_s=_percentile(times, 0.95),
    )


def _percentile(ordered: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of all do not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def _write(collected: Collected, rules: Rules, identity: str, out: Path) -> None:
    lines = (json.dumps({"trial": row.trial, "dumps": row.dumps}) + "\n" for row in collected.finished)
    write_text(out / LINES, "".join(lines))
    write_tables(collected.finished, out)
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "id": secrets.token_hex(6),
        "identity": identity[:16],
        "created": now(),
        "state": "collected",
        "title": f"Results of {collected.system}",
        "factors": ["workload"],
        "trials": len(collected.finished),
        "blocks": rules.repeats,
        "system": {"name": collected.system, "said": collected.about, **described(collected.about)},
        "rules": rules.model_dump(include={"tunable", "fixed", "excluded_file_systems"}),
        "disclosed": collected.disclosed,
    }
    write_text(out / MANIFEST, json.dumps(manifest, indent=1) + "\n")


def _text(content: bytes, most: int = LARGEST_TEXT) -> str:
    return printable(content[:most].decode(errors="replace"), keep="\n")
