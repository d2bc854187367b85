"""New logs of real ones: counters by PyDarshan, workloads, audits."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import darshan_oracle
import numpy as np
import pytest
import yaml
from darshan_everything import builder
from known_logs import ALL_LOGS, EVERY_LOG, OWN_LOGS, PACKAGE_LOGS

from workalike.characterize import CharacterizeOptions, characterize
from workalike.darshan import LogBuilder, open_log
from workalike.errors import ErrorKind, WorkalikeError
from workalike.fleet.anonymize.audit import audit
from workalike.fleet.anonymize.key import Key
from workalike.fleet.anonymize.logs import Anonymized, anonymize
from workalike.workload.workload_file import workload_text

KEY = Key(b"a key of sixteen or more bytes")
UNREAD = {"DFS", "DAOS", "APMPI", "BG/Q"}
CHARACTERIZED = [*OWN_LOGS, *(log for log in PACKAGE_LOGS if log.stat().st_size < 100_000)]
Answers = dict[Path, dict[str, Any] | None]


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Anonymized]:
    folder = tmp_path_factory.mktemp("published")
    return {log: anonymize([log], folder, KEY)[0] for log in EVERY_LOG}


@pytest.fixture(scope="session")
def answers(pairs: dict[Path, Anonymized], tmp_path_factory: pytest.TempPathFactory) -> Answers:
    logs = [path for log in ALL_LOGS for path in (log, pairs[log].published)]
    return darshan_oracle.ask(logs, tmp_path_factory.mktemp("oracle"))


@pytest.mark.parametrize("log", ALL_LOGS, ids=lambda log: log.name[:40])
def test_pydarshan_reads_the_same_counters(
    log: Path, pairs: dict[Path, Anonymized], answers: Answers
) -> None:
    old, new = answers[log], answers[pairs[log].published]
    if old is None:
        pytest.skip("PyDarshan dies on this log")
    assert new is not None
    assert old["modules"].keys() - UNREAD == new["modules"].keys()
    assert len(old["names"]) == len(new["names"])
    for field in ("nprocs", "log_ver"):
        assert old["job"][field] == new["job"][field]
    assert old["job"]["run_time"] == pytest.approx(new["job"]["run_time"], abs=1e-6)
    if old["mounts"]:
        cut = "the end of the command line" in pairs[log].shortened
        assert cut or len(old["exe"].split()) == len(new["exe"].split())
    for module in new["modules"]:
        if module in darshan_oracle.FIXED:
            _same_records(module, old[module], new[module])
        elif module in darshan_oracle.TRACES:
            for a, b in zip(old[module], new[module], strict=True):
                assert (a["rank"], a["write_segments"], a["read_segments"]) == (
                    b["rank"],
                    b["write_segments"],
                    b["read_segments"],
                )
        else:
            assert len(old[module]) == len(new[module])


def _same_records(module: str, old: dict[str, Any], new: dict[str, Any]) -> None:
    names = [name for name in old["counter_names"] if name != "RENAMED_FROM"]
    columns = [old["counter_names"].index(name) for name in names]
    assert old["ranks"].tolist() == new["ranks"].tolist(), module
    if len(old["ranks"]):
        assert np.array_equal(old["counters"][:, columns], new["counters"][:, columns]), module
        assert np.array_equal(old["fcounters"], new["fcounters"], equal_nan=True), module
    # The same records belong together under the new ids.
    assert len(set(zip(old["ids"].tolist(), new["ids"].tolist(), strict=True))) == len(
        set(old["ids"].tolist())
    )
    assert len(set(new["ids"].tolist())) == len(set(old["ids"].tolist()))


@pytest.mark.parametrize("log", EVERY_LOG, ids=lambda log: log.name[:40])
def test_the_audit_finds_nothing(log: Path, pairs: dict[Path, Anonymized]) -> None:
    found = audit([pairs[log]])
    assert found.clean, found.lines()
    assert sum(found.searched.values()) > 0


def _families(log: Path) -> list[str] | str:
    """A log's families in an order that does not depend on roles, without what names decide; or why there are none."""
    try:
        workload = characterize([open_log(log)], CharacterizeOptions(tables=False)).workload
    except WorkalikeError as error:
        return error.kind.title
    document = yaml.safe_load(workload_text(workload))
    for family in document["families"]:
        for field in ("role", "number"):
            family.pop(field, None)
        family["assumed"] = [word for word in family.get("assumed", []) if word != "role"]
    return sorted(yaml.safe_dump(family) for family in [*document["families"], {**document, "families": 0}])


@pytest.mark.parametrize("log", CHARACTERIZED, ids=lambda log: log.name[:40])
def test_the_workload_is_the_same_but_for_roles(log: Path, pairs: dict[Path, Anonymized]) -> None:
    assert _families(pairs[log].published) == _families(log)


def test_a_key_gives_the_same_tokens_and_another_other_ones(tmp_path: Path) -> None:
    log = builder().write(tmp_path / "x.darshan")
    first, again = (anonymize([log], tmp_path / name, KEY)[0].published for name in ("1", "2"))
    other = anonymize([log], tmp_path / "3", Key(b"another key, as long"))[0].published
    assert first.read_bytes() == again.read_bytes()
    assert first.name == again.name
    kept = {"<STDIN>", "heatmap:POSIX", "heatmap:MPIIO"}
    assert not (set(open_log(first).names.values()) & set(open_log(other).names.values())) - kept
    assert not (set(open_log(first).names) & set(open_log(log).names)) - set(
        open_log(log).heatmaps() and [16592106915301738621, 3668870418325792824]
    )


def test_times_move_together(tmp_path: Path) -> None:
    """Two jobs 1,000.5 s apart stay so, and neither keeps its time."""
    starts = (1_700_000_000.25, 1_700_001_000.75)
    found = []
    for place, start in enumerate(starts):
        log = builder()
        log.job = type(log.job)(
            **{**{f: getattr(log.job, f) for f in log.job.__slots__}, "start_time": start}
        )
        path = log.write(tmp_path / f"{place}.darshan")
        found.append(open_log(anonymize([path], tmp_path / "out", KEY)[0].published).job)
    assert found[1].start_time - found[0].start_time == pytest.approx(1000.5, abs=1e-5)
    assert abs(found[0].start_time - starts[0]) > 300 * 86_400
    assert found[0].run_time == 100.25


def test_a_damaged_log_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    good = builder().write(tmp_path / "good.darshan")
    bad = tmp_path / "bad.darshan"
    image = bytearray(good.read_bytes())
    struct.pack_into("<Q", image, 40, 1 << 40)
    bad.write_bytes(bytes(image))
    with pytest.raises(WorkalikeError) as error:
        anonymize([good, bad], tmp_path / "out", KEY)
    assert error.value.kind is ErrorKind.DAMAGED_LOG
    assert "\n" not in error.value.one_line()
    assert not (tmp_path / "out").exists()


def test_what_has_no_room_is_cut_in_order(tmp_path: Path) -> None:
    """Mounts without files go before arguments; the program and the mount of the file stay."""
    mounts = [("ext4", f"/{chr(97 + place // 26)}{chr(97 + place % 26)}/y") for place in range(100)] + [
        ("xfs", "/data")
    ]
    log = LogBuilder(exe="./app one two", mounts=mounts).posix("/data/file", rank=0, OPENS=1)
    pair = anonymize([log.write(tmp_path / "x.darshan")], tmp_path / "out", KEY)[0]
    job = open_log(pair.published).job
    assert len(job.exe.split()) == 3
    assert len(job.mounts) < 101
    assert job.mounts[-1][0] == "xfs"
    (name,) = open_log(pair.published).names.values()
    assert name.startswith(job.mounts[-1][1] + "/")
    assert pair.shortened == (f"{101 - len(job.mounts)} mounts",)
    assert audit([pair]).clean
