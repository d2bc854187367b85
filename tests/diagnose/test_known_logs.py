"""Real logs: what is wrong with them is known."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from support.known_findings import PAGE, page_text
from support.known_logs import JOBS, job_name, needs_shared, package
from workalike.darshan import open_log
from workalike.diagnose.diagnosis import diagnose
from workalike.diagnose.finding import Severity
from workalike.diagnose.job import read_job
from workalike.diagnose.rule import Answer
from workalike.diagnose.storage import Kind
from workalike.diagnose.text import diagnosis_text

SCHEMA = json.loads((Path(__file__).parents[2] / "schema" / "diagnosis.schema.json").read_text())


def test_the_slow_storage_target_is_named_first() -> None:
    first = diagnose([open_log(package("sample-badost"))]).findings[0]
    assert (first.rule, first.severity, first.answer) == ("slow-target", Severity.HIGH, Answer.NOT_YOUR_FAULT)
    assert first.evidence["ratio"] > 30
    assert first.gain_at_most_s == 0


def test_its_healthy_twin_has_no_finding_of_weight() -> None:
    found = diagnose([open_log(package("sample-goodost"))])
    assert {finding.severity for finding in found.findings} <= {Severity.NOTE}


@needs_shared
def test_hidden_names_beside_lustre_are_not_those_of_a_node() -> None:
    """The names of `collective-read-2048` are numbers at the root (an overlay); its job had Lustre, too."""
    (log,) = next(logs for logs in JOBS if logs[0].name.startswith("collective-read-2048"))
    job = read_job([open_log(log)])
    assert {path for path, _ in job.mounts} <= {"/", "unknown"}
    assert job.own.any() and (job.on_shared == job.own).all()
    assert not job.lies_on(Kind.LOCAL, Kind.MEMORY).any()


@pytest.mark.parametrize("logs", JOBS, ids=job_name)
def test_every_log_is_diagnosed_with_few_and_bounded_findings(logs: tuple) -> None:
    found = diagnose([open_log(log) for log in logs])
    assert sum(finding.severity is Severity.HIGH for finding in found.findings) <= 3
    for finding in found.findings:
        assert 0 <= finding.cost.rank_seconds <= found.ranks * found.run_time_s * 1.0001
        assert finding.gain_at_most_s <= found.run_time_s
    jsonschema.validate(found.model_dump(mode="json"), SCHEMA)
    assert max(map(len, diagnosis_text(found, 80).splitlines())) <= 80


@needs_shared
def test_the_page_of_known_logs_is_what_is_found() -> None:
    again = "run python -m support.known_findings in tests/, and say in WHY why a new finding is right"
    assert PAGE.read_text(encoding="utf-8") == page_text(), again


@needs_shared
def test_every_finding_of_weight_is_defended() -> None:
    bare = [line for line in page_text().splitlines() if line.endswith("|  |")]
    assert bare == []
