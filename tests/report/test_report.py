"""The report: all sections, all text escaped, no name from the log, readable for huge runs."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from workalike.characterize import characterize
from workalike.characterize.result import Characterization
from workalike.compare.fidelity import Fidelity, compare, fidelity_of
from workalike.compare.fidelity_schema import CauseFidelity, UncoveredPart
from workalike.compare.from_plan import side_of_plan
from workalike.compare.pairing import pair_up
from workalike.darshan import LogBuilder, open_log
from workalike.facts.amounts import Amounts
from workalike.facts.noise import SetAside
from workalike.facts.records import Loss
from workalike.facts.rules import LevelRule, NoiseRule, by
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.record.run_record import Record, RecordDump, RecordError, RecordScale, Stamp, stamp_of
from workalike.report import write_report
from workalike.workload.model import (
    Content,
    Family,
    Interface,
    Reason,
    Role,
    Schedule,
    Stream,
    Workload,
)

EVIL = "<script>alert('x')</script><img src=x onerror=alert(1)>\"'&{{ 7*7 }}"
SECRETS = ("alice", "secretproject", "heliosphere", "node4711", "lustre17")


def make_log(folder: Path, name: str = "/lustre17/alice/secretproject/heliosphere_chk") -> Path:
    """A log with three growing checkpoints of four ranks at POSIX, and noise."""
    builder = LogBuilder(
        nprocs=4, run_time=100.0, exe="./heliosphere --node node4711", mounts=[("lustre", "/lustre17")]
    )
    for i in range(3):
        writes = 4 * (i + 1)
        builder.posix(
            f"{name}_{i:03}.dat",
            rank=-1,
            OPENS=4,
            WRITES=writes,
            BYTES_WRITTEN=writes << 20,
            MAX_BYTE_WRITTEN=(writes << 20) - 1,
            SIZE_WRITE_100K_1M=writes,
            ACCESS1_ACCESS=1 << 20,
            ACCESS1_COUNT=writes,
            F_OPEN_START_TIMESTAMP=10.0 + 30 * i,
            F_WRITE_START_TIMESTAMP=10.1 + 30 * i,
            F_WRITE_END_TIMESTAMP=11.0 + 30 * i,
            F_CLOSE_END_TIMESTAMP=11.1 + 30 * i,
        )
    builder.posix("/usr/lib/libsecretproject.so", rank=-1, OPENS=4, READS=4, BYTES_READ=4096)
    path = folder / "alice_heliosphere.darshan"
    builder.write(path)
    return path


def perform(plan: Plan, backend: str = "posix") -> Record:
    """The record of a perfect run of a plan, at 1 GiB/s and on time."""
    sides = side_of_plan(plan).families
    of_family = {f.id: sides[(f.role, f.number)] for f in plan.families}
    dumps = []
    for dump in plan.dumps:
        side = of_family[dump.family]
        moved = side.dumps[dump.index]
        start = dump.start_s * plan.time_scale
        length = 0.001 + moved.moved / 2**30
        dumps.append(
            RecordDump(
                family=dump.family,
                role=side.role,
                number=side.number,
                index=dump.index,
                ranks=plan.ranks,
                bytes_written=moved.bytes_written,
                bytes_read=moved.bytes_read,
                due_s=start,
                start_s=start,
                end_s=start + length,
                late_s=0.0,
                io_s=length,
                counters={"WRITES": 1, "SIZE_WRITE": [0, 0, 0, 0, 1, 0, 0, 0, 0, 0]},
            )
        )
    scale = RecordScale(**plan.scale.model_dump())
    made = Record(
        plan_ranks=plan.ranks,
        processes=plan.ranks,
        backend=backend,
        time_scale=plan.time_scale,
        scale=scale,
        environment={"engine": "0.1.0", "mpi": "Open MPI 4.1.4", "mpi_io": "ompio", "memory_bytes": 2**33},
        dumps=dumps,
        wall_s=50.0,
    )
    made.stamp = stamp_of(made)
    return made


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Characterization:
    return characterize([open_log(make_log(tmp_path_factory.mktemp("log")))])


def page_of(folder: Path, log: Characterization | None, workload: Workload, record: Record | None) -> str:
    plan = resolve(workload, Options(time_scale=record.time_scale if record else 0.0))
    fidelity = compare(log or workload, record, plan=plan) if record else None
    return written(folder, log, workload, plan, record, fidelity)


def written(
    folder: Path,
    log: Characterization | None,
    workload: Workload,
    plan: Plan | None,
    record: Record | None,
    fidelity: Fidelity | None,
    **versions: str,
) -> str:
    pairing = pair_up(log or workload, record, plan=plan)
    write_report(folder / "report.html", pairing=pairing, fidelity=fidelity, versions=versions)
    return (folder / "report.html").read_text()


class Outline(HTMLParser):
    """Tags, identifiers and text of a page. Tags that do not match are an error."""

    EMPTY = frozenset({"meta", "br", "img", "link", "hr"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


SECTIONS = ("does", "words", "beside", "times", "bandwidth", "uncovered", "how", "versions")


def test_every_section_is_there(tmp_path: Path, found: Characterization) -> None:
    plan = resolve(found.workload, Options(time_scale=0.5))
    outline = Outline(page_of(tmp_path, found, found.workload, perform(plan)))
    assert [i for i in outline.ids if i in SECTIONS] == list(SECTIONS)
    assert len(outline.ids) == len(set(outline.ids)), "an identifier is used twice"
    assert outline.tags.count("svg") >= 5
    text = " ".join(outline.text.split())
    for said in (
        "3 checkpoints, growing from 4 MiB to 12 MiB, 24 MiB in all",
        "All 4 ranks share one file, a new one for every dump",
        "When it reads and writes",
        "Bytes so far",
        "Size of each dump",
        "Sizes of operations",
        "Bandwidth against steps to the end of the run",
        "first to last I/O call",
        "not compared at a time-scale of 0.5",
        "Dumps in progress at once",
        "Counter by counter",
        "BYTES_WRITTEN",
        "not a performance result",
        "time-scale 0.5",
        "shared library or module",
        "Open MPI 4.1.4",
        "MPI-IO component",
        "0.1.0",
        "Decided by: level posix",
    ):
        assert said in text, said


@pytest.mark.parametrize("fitted", [False, True])
def test_counters_that_chose_the_workload_are_marked(
    tmp_path: Path, found: Characterization, fitted: bool
) -> None:
    marked = replace(found, families=[replace(facts, fitted=fitted) for facts in found.families])
    page = page_of(tmp_path, marked, found.workload, perform(resolve(found.workload, Options(time_scale=0))))
    assert (">fitted<" in page, "their agreement is no evidence" in page) == (fitted, fitted)


def test_the_page_is_self_contained(tmp_path: Path, found: Characterization) -> None:
    page = page_of(tmp_path, found, found.workload, perform(resolve(found.workload, Options(time_scale=1.0))))
    assert "<script" not in page
    assert "<link" not in page
    links = set(re.findall(r"https?://[^\"'\s<]+", page))
    assert all(link.startswith("http://www.w3.org/") for link in links), links  # names of the SVG format
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)


def test_the_page_is_the_same_every_time(tmp_path: Path, found: Characterization) -> None:
    made = perform(resolve(found.workload, Options(time_scale=1.0)))
    first = page_of(tmp_path, found, found.workload, made)
    assert page_of(tmp_path, found, found.workload, made) == first


def test_no_name_of_the_log_is_in_the_page(tmp_path: Path, found: Characterization) -> None:
    found.warnings.append("odd record of /lustre17/alice/secretproject")
    found.families[0].rules.append(by(LevelRule.LOWEST, level="node4711"))
    page = page_of(tmp_path, found, found.workload, perform(resolve(found.workload, Options()))).lower()
    for secret in SECRETS:
        assert secret not in page
    assert "withheld" in page


@pytest.mark.parametrize(
    ("lib_ver", "shown"),
    [
        ("3.4.4", "Darshan 3.4.4"),
        ("3.2.0-pre1", "Darshan 3.2.0-pre1"),
        ("workalike-0.1.0", "workalike capture 0.1.0"),
        ("heliosphere-of-alice", "unknown"),
        ("3.4.4-alice", "unknown"),
        ("workalike-alice", "unknown"),
        ("1234567890", "unknown"),
        ("", "unknown"),
    ],
)
def test_only_known_instruments_are_named(
    tmp_path: Path, found: Characterization, lib_ver: str, shown: str
) -> None:
    """`lib_ver` is free text of the log, long enough for a user's name."""
    job = found.logs[0].job
    before = job.metadata["lib_ver"]
    job.metadata["lib_ver"] = lib_ver
    try:
        text = Outline(page_of(tmp_path, found, found.workload, None)).text
    finally:
        job.metadata["lib_ver"] = before
    assert f"instrument of the original{shown}lib_ver of the log" in text
    assert "alice" not in text


def test_a_record_brings_no_name_of_the_log_into_the_page(tmp_path: Path, found: Characterization) -> None:
    """Free text of a record: failures, notes on them, and unknown entries of its environment."""
    made = perform(resolve(found.workload, Options()))
    made.errors = [RecordError(rank=1, operation="open", reason="no /lustre17/alice/secretproject")]
    made.environment["heliosphere"] = "alice"
    page = page_of(tmp_path, found, found.workload, made).lower()
    for secret in SECRETS:
        assert secret not in page


def test_names_with_markup_are_harmless(tmp_path: Path) -> None:
    name = "/data/<script>alert(1)</script>_chk"
    log = characterize([open_log(make_log(tmp_path, name))])
    page = page_of(tmp_path, log, log.workload, perform(resolve(log.workload, Options())))
    assert "<script" not in page
    assert "alert(" not in page


def test_every_string_is_escaped(tmp_path: Path, found: Characterization) -> None:
    """Markup is in every string that a record, a fidelity file or a caller can provide."""
    plan = resolve(found.workload, Options())
    made = perform(plan)
    made.environment = {EVIL: EVIL, "mpi": EVIL}
    made.backend = EVIL
    made.errors = [RecordError(rank=1, operation=EVIL, reason=EVIL)]
    fidelity = compare(found, made, plan=plan)
    fidelity.notes.append(EVIL)
    fidelity.stamp = Stamp(reasons=[EVIL])
    fidelity.causes.append(CauseFidelity(text=EVIL, figures=[EVIL]))
    fidelity.times.unknown["run_ratio"] = EVIL
    fidelity.families[0].unknown["waiting_original_s"] = EVIL
    fidelity.uncovered.parts.append(UncoveredPart(reason=EVIL, bytes=1, files=1, counted=True))
    for family in fidelity.families:
        family.name = EVIL
    for row in fidelity.counters:
        row.module, row.reason, row.law = EVIL, EVIL, EVIL
    fidelity.counters[0].counter = EVIL
    log = Characterization(
        found.workload,
        found.families,
        found.logs,
        losses=[Loss(Reason.NOISE, 1, 1, EVIL)],
        noise=[SetAside(NoiseRule.LIBRARY, 1, Amounts(1, 1))],
        partial_modules=[EVIL],
        skipped_modules=[EVIL],
        warnings=[EVIL],
    )
    log.families[0].rules.append(by(LevelRule.LOWEST, level=EVIL))
    page = written(tmp_path, log, found.workload, plan, made, fidelity, **{EVIL: EVIL})
    log.families[0].rules.pop()
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script&gt;" in page
    assert "{{ 7*7 }}" in page, "a string was taken as a template"
    Outline(page)


def test_a_workload_alone(tmp_path: Path, found: Characterization) -> None:
    page = page_of(tmp_path, None, found.workload, None)
    outline = Outline(page)
    assert "beside" not in outline.ids
    assert "3 checkpoints" in outline.text
    assert "there is no log" in " ".join(outline.text.split())


def test_a_workload_without_families(tmp_path: Path) -> None:
    workload = Workload(ranks=4, families=[])
    made = Record(plan_ranks=4, processes=1, backend="null")
    page = written(tmp_path, None, workload, None, made, compare(workload, made))
    assert "Nothing to replicate" in page


def test_an_interrupted_run(tmp_path: Path, found: Characterization) -> None:
    plan = resolve(found.workload, Options(time_scale=1.0))
    made = perform(plan)
    made.dumps = made.dumps[:1]
    made.incomplete = True
    made.errors = [RecordError(rank=3, operation="write", reason="No space left on device")]
    made.stamp = stamp_of(made)
    text = " ".join(Outline(page_of(tmp_path, found, found.workload, made)).text.split())
    assert "Unfinished run" in text
    assert "rank 3: write: No space left on device" in text
    assert "missing" in text


MOST_DRAWN = 2_000


def huge(families: int, dumps: int) -> Workload:
    made = [
        Family(
            role=Role.CHECKPOINT,
            number=i + 1,
            interface=Interface.POSIX,
            schedule=Schedule(count=dumps, first=1.0 + i, every=7.0),
            content=Content(streams=[Stream(direction="write", sizes=[f"{100 + i} x 64 KiB"])]),
        )
        for i in range(families)
    ]
    return Workload(ranks=64, runtime=7.0 * dumps, families=made)


@pytest.mark.parametrize(("families", "dumps"), [(200, 3), (2, 20_000)])
def test_huge_runs_stay_readable(tmp_path: Path, families: int, dumps: int) -> None:
    workload = huge(families, dumps)
    plan = resolve(workload, Options(time_scale=1.0))
    made = perform(plan)
    pairing = pair_up(workload, made, plan=plan)
    write_report(tmp_path / "report.html", pairing=pairing, fidelity=fidelity_of(pairing))
    page = (tmp_path / "report.html").read_text()
    assert len(page) < 2_000_000
    # The number of drawn elements is bounded for any number of dumps and families.
    assert page.count("<path") + page.count("<use") < MOST_DRAWN
    text = " ".join(Outline(page).text.split())
    if families > 40:
        assert "192 other families" in text  # in the figures
        assert "160 other families" in text  # in the table
        assert "160 smaller families more in the workload file" in text


def test_a_captured_replica_is_measured_by_its_log(tmp_path: Path, found: Characterization) -> None:
    """Report and figures are from one pairing: by a log of the replica where there is one, else by the record."""
    plan = resolve(found.workload, Options(time_scale=1.0))
    record = perform(plan)
    pages = []
    for witness in (None, found):
        pairing = pair_up(found, record, plan=plan, witness=witness)
        write_report(tmp_path / "page.html", pairing=pairing, fidelity=fidelity_of(pairing))
        pages.append(" ".join(Outline((tmp_path / "page.html").read_text()).text.split()))
    by_record, by_log = pages
    assert "It was measured by the record that the engine kept of its run" in by_record
    assert "run.json, dumps[].start_s and end_s" in by_record
    assert "a log of the replica's run" not in by_record
    assert "It was measured by a log of the replica's run;" in by_log
    assert "first and last access in the replica's log" in by_log
    assert "run.json, dumps[]" not in by_log


def test_the_page_says_where_times_are_from_the_record(tmp_path: Path, found: Characterization) -> None:
    plan = resolve(found.workload, Options(time_scale=1.0))
    pairing = pair_up(found, perform(plan), plan=plan, witness=found)
    for family in pairing.replica.families.values():
        family.timed_by_record = True
    write_report(tmp_path / "page.html", pairing=pairing, fidelity=fidelity_of(pairing))
    text = " ".join(Outline((tmp_path / "page.html").read_text()).text.split())
    assert "the begin and end of dumps are from the engine's record for checkpoint 1;" in text
    assert "run.json, dumps[].start_s and end_s" in text
