"""Bundles and what comes back, with results made by this machine's engine; tests/system builds a bundle for real."""

from __future__ import annotations

import hashlib
import io
import json
import random
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from workalike.bundle.archive import files_in
from workalike.bundle.collect import Collected, collect
from workalike.bundle.deviations import changed_fields
from workalike.bundle.pack import Packed, pack, write_bundle
from workalike.bundle.rules import FIELDS, TUNABLE, covers, fixed_fields, name_of, rules_of, words_of
from workalike.bundle.said import described
from workalike.errors import ErrorKind, WorkalikeError
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.plan_file import read_plan
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.plan.tunables import hdf5_of, hints_of
from workalike.study.journal import read_finished, read_manifest
from workalike.study.merge import merge
from workalike.study.report.systems import systems_of
from workalike.workload.tunable import Tunable
from workalike.workload.workload_file import read_workload

WORKLOAD = """\
workalike: 2
ranks: 2
families:
- role: checkpoint
  interface: mpiio
  sharing: shared
  schedule: {count: 3, first: 0 s, every: 10 s}
  content:
    streams: [{direction: write, sizes: [4/rank x 64 KiB]}]
"""
REPEATS = 2
SAID = b"""\
Linux 6.1.0-9-amd64 x86_64
     64 Vendor CPU 9000 @ 2.1GHz
MemTotal:       16777216 kB
host: node7
mds@/scratch   lustre 1073741824 1000 1073740824       1% /scratch
launcher: mpiexec -n
"""
Files = dict[str, bytes]

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bundle")


@pytest.fixture(scope="module")
def plan(folder: Path) -> Plan:
    (folder / "app.yaml").write_text(WORKLOAD)
    return resolve(read_workload(folder / "app.yaml"), Options())


@pytest.fixture(scope="module")
def packed(plan: Plan) -> Packed:
    return pack({"app": plan}, REPEATS, memory_factor=0)


@pytest.fixture(scope="module")
def bundle(packed: Packed, folder: Path) -> Path:
    write_bundle(packed, folder / "tender.tar.gz")
    return folder / "tender.tar.gz"


@pytest.fixture(scope="module")
def honest(packed: Packed, plan: Plan, folder: Path) -> Files:
    """What run.sh sends back."""
    files: Files = {"bundle": f"{packed.id}  CHECKSUMS\n".encode(), "system": b"Linux here\n"}
    files["checksums"] = packed.files["CHECKSUMS"]
    for repeat in (1, 2):
        files[f"app/{repeat}/run.jsonl"] = performed(plan, folder / f"run-{repeat}")
        files[f"app/{repeat}/plan.json"] = packed.files["plans/app/plan.json"]
    return files


def performed(plan: Plan, folder: Path) -> bytes:
    """The engine's record of a plan."""
    run_plan(plan, RunOptions(folder / "data", folder, quiet=True))
    return (folder / "run.jsonl").read_bytes()


def packed_results(files: Files, path: Path) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"results/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


@pytest.fixture
def collected(bundle: Path, tmp_path: Path) -> Callable[[Files], Collected]:
    return lambda files: collect(
        bundle, packed_results(files, tmp_path / "r.tar.gz"), "vendor", tmp_path / "out"
    )


def test_a_bundle_has_what_its_scripts_need_and_nothing_of_this_machine(packed: Packed, bundle: Path) -> None:
    files = files_in(bundle)
    assert files == packed.files
    for name in (
        "build.sh",
        "run.sh",
        "RULES.json",
        "LICENSES/fmt",
        "engine/main.cpp",
        "headers/fmt/format.h",
    ):
        assert name in files
    sums = dict(line.split("  ")[::-1] for line in files["CHECKSUMS"].decode().splitlines())
    assert sums == {n: hashlib.sha256(c).hexdigest() for n, c in files.items() if n != "CHECKSUMS"}
    own = [name for name in files if not name.startswith(("headers/", "LICENSES/"))]
    assert not [name for name in own if re.search(rb"/home/|/root/|\.venv", files[name])]
    assert not [name for name in files if re.search(r"python|tests/|\.py", name)]


def test_the_same_workloads_give_the_same_bytes(
    packed: Packed, plan: Plan, bundle: Path, tmp_path: Path
) -> None:
    write_bundle(pack({"app": plan}, REPEATS, memory_factor=0), tmp_path / "tender.tar.gz")
    assert (tmp_path / "tender.tar.gz").read_bytes() == bundle.read_bytes()


def test_scripts_are_valid(packed: Packed, tmp_path: Path) -> None:
    for name in ("build.sh", "run.sh"):
        (tmp_path / name).write_bytes(packed.files[name])
        subprocess.run(["sh", "-n", tmp_path / name], check=True)
        assert b"@" not in packed.files[name].replace(b'"$@"', b"")


def test_honest_results_count_and_become_a_study(
    collected: Callable[[Files], Collected], honest: Files, tmp_path: Path
) -> None:
    found = collected(honest)
    assert found.all_count and not found.disclosed
    (merit,) = found.merits
    assert merit.runs == REPEATS and 0 < merit.slowest_run <= merit.bandwidth * 1.0001
    assert 0 < merit.dump_s <= merit.dump_p95_s
    rows = pq.read_table(tmp_path / "out" / "trials.parquet").to_pylist()
    assert [row["bytes_written"] for row in rows] == [3 * 2 * 4 * 65536] * REPEATS
    assert all(row["record_matches_plan"] and row["system"] == "vendor" for row in rows)
    assert pq.read_table(tmp_path / "out" / "dumps.parquet").num_rows == 3 * REPEATS


def test_studies_of_two_vendors_can_be_joined(bundle: Path, honest: Files, tmp_path: Path) -> None:
    results = packed_results(honest | {"system": SAID}, tmp_path / "r.tar.gz")
    for name in ("a", "b"):
        collect(bundle, results, name, tmp_path / name)
    assert merge([tmp_path / "a", tmp_path / "b"], tmp_path / "both") == 2 * REPEATS
    joined = systems_of(read_manifest(tmp_path / "both"), read_finished(tmp_path / "both"))
    (comparison,) = joined.comparisons
    assert (comparison.source, comparison.reference) == ("b", "a")
    assert comparison.ratio.ratio == pytest.approx(1) and comparison.ratio.is_known
    first = joined.systems[0]
    assert (first.host, first.cpu, first.cores) == ("node7", "Vendor CPU 9000 @ 2.1GHz", "64")
    assert (first.memory, first.file_systems, first.kernel) == ("16 GiB", "1 TiB lustre", "6.1.0-9-amd64")
    assert first.mpi != "-"


def test_what_a_bidder_says_of_the_system_is_only_read(tmp_path: Path) -> None:
    assert described("") == {}
    assert described("x\n" * 1000 + "MemTotal: many kB\n1e9 <b>cpu\n") == {}
    assert described("Linux 6.1 x86_64\n" + "9" * 5000 + " cpu\n") == {"kernel": "6.1"}


def changed_plan(files: Files, change: Callable[[dict[str, Any]], None]) -> Files:
    document = json.loads(files["app/1/plan.json"])
    change(document)
    return files | {"app/1/plan.json": json.dumps(document).encode()}


def test_a_changed_plan_is_refused_and_disclosed(
    collected: Callable[[Files], Collected], honest: Files
) -> None:
    def smaller(document: dict[str, Any]) -> None:
        document["contents"][0]["streams"][0]["entries"][0][1] = 1024

    found = collected(changed_plan(honest, smaller))
    assert [row.trial["state"] for row in found.finished] == ["deviates", "ok"]
    assert "contents[0].streams[0].entries[0][1]" in found.disclosed["app/1"][0]
    assert found.merits[0].runs == 1


def test_a_plan_that_was_changed_and_put_back_shows_in_the_record(
    collected: Callable[[Files], Collected], honest: Files, packed: Packed, tmp_path: Path
) -> None:
    document = json.loads(packed.files["plans/app/plan.json"])
    document["contents"][0]["streams"][0]["entries"][0][1] = 1024
    (tmp_path / "plan.json").write_text(json.dumps(document))
    other = performed(read_plan(tmp_path / "plan.json"), tmp_path / "other")
    found = collected(honest | {"app/2/run.jsonl": other})
    assert [row.trial["state"] for row in found.finished] == ["ok", "deviates"]
    assert "bytes of payload planned" in found.disclosed["app/2"][0]


def test_tuned_hints_are_disclosed_and_count(collected: Callable[[Files], Collected], honest: Files) -> None:
    def tuned(document: dict[str, Any]) -> None:
        document["families"][0]["hints"] = {"cb_nodes": "1"}

    found = collected(changed_plan(honest, tuned))
    assert found.all_count and found.disclosed == {"app/1": ["tuned: families[0].hints.cb_nodes"]}


def test_nothing_is_tunable_where_the_rules_say_so(plan: Plan, honest: Files, tmp_path: Path) -> None:
    packed = pack({"app": plan}, REPEATS, (), memory_factor=0)
    write_bundle(packed, tmp_path / "fixed.tar.gz")

    def tuned(document: dict[str, Any]) -> None:
        document["families"][0]["hints"] = {"cb_nodes": "1"}

    files = changed_plan(honest, tuned) | {"bundle": f"{packed.id}  CHECKSUMS\n".encode()}
    files["checksums"] = packed.files["CHECKSUMS"]
    found = collect(
        tmp_path / "fixed.tar.gz", packed_results(files, tmp_path / "r.tar.gz"), "v", tmp_path / "o"
    )
    assert [row.trial["state"] for row in found.finished] == ["deviates", "ok"]


@pytest.mark.parametrize(("name", "counts"), [("engine/main.cpp", False), ("run.sh", True)])
def test_changed_files_are_disclosed_and_a_changed_engine_does_not_count(
    collected: Callable[[Files], Collected], honest: Files, name: str, counts: bool
) -> None:
    lines = honest["checksums"].decode().splitlines()
    at = next(i for i, line in enumerate(lines) if line.endswith(f"  {name}"))
    lines[at] = f"{'0' * 64}  {name}"
    found = collected(honest | {"checksums": "\n".join(lines).encode()})
    assert found.disclosed["files"] == [f"changed: {name}"]
    assert [row.trial["counted"] for row in found.finished] == [counts] * REPEATS


def test_runs_that_are_missing_or_damaged(collected: Callable[[Files], Collected], honest: Files) -> None:
    files = {name: content for name, content in honest.items() if name != "app/1/run.jsonl"}
    found = collected(files | {"app/2/run.jsonl": b"\x00{]"})
    assert [row.trial["state"] for row in found.finished] == ["missing", "failed"]
    assert found.merits[0].runs == 0 and found.merits[0].bandwidth != found.merits[0].bandwidth


def test_a_run_whose_plan_did_not_come_back_does_not_count(
    collected: Callable[[Files], Collected], honest: Files
) -> None:
    found = collected({name: content for name, content in honest.items() if name != "app/1/plan.json"})
    assert [row.trial["state"] for row in found.finished] == ["deviates", "ok"]
    assert found.disclosed == {"app/1": ["the plan that was performed is missing"]}


def test_results_of_another_bundle(collected: Callable[[Files], Collected], honest: Files) -> None:
    with pytest.raises(WorkalikeError, match="another bundle"):
        collected(honest | {"bundle": b"0" * 64})
    with pytest.raises(WorkalikeError, match="does not say"):
        collected({})


def test_archives_that_are_none(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "r.tar.gz").write_bytes(b"not an archive")
    with pytest.raises(WorkalikeError, match=r"no archive, not \.tar\.gz"):
        collect(bundle, tmp_path / "r.tar.gz", "v", tmp_path / "o")
    assert not (tmp_path / "o").exists()


def test_files_that_are_too_large_for_results(bundle: Path, honest: Files, tmp_path: Path) -> None:
    """Only the files of the rules are read, and each has a limit that follows from what was sent out."""
    for name in ("bundle", "system", "checksums", "app/1/plan.json", "app/2/run.jsonl"):
        with pytest.raises(WorkalikeError, match=f"{name}: is larger than"):
            path = packed_results(honest | {name: random.Random(1).randbytes(5 << 20)}, tmp_path / "r.tar.gz")
            collect(bundle, path, "v", tmp_path / "o")
    files = honest | {"app/1/messages": bytes(9 << 20), "app/3/run.jsonl": bytes(9 << 20)}
    found = collect(bundle, packed_results(files, tmp_path / "r.tar.gz"), "v", tmp_path / "o")
    assert found.all_count


def test_a_bundle_of_another_version_is_named(packed: Packed, tmp_path: Path) -> None:
    text = (
        packed.files["RULES.json"]
        .replace(b'"version":3', b'"version":9')
        .replace(b'"version": 3', b'"version": 9')
    )
    assert text != packed.files["RULES.json"]
    with pytest.raises(WorkalikeError, match=r"RULES\.json, version: .*this workalike reads 1 to 3"):
        rules_of(text.decode(), "t.tar.gz")


def test_members_that_lead_elsewhere_are_not_seen(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "r.tar.gz", "w:gz") as archive:
        for name in ("/etc/passwd", "results/../../x", "../x", "top", "results/a\nb", "results/good"):
            entry = tarfile.TarInfo(name)
            entry.size = 1
            archive.addfile(entry, io.BytesIO(b"x"))
        link = tarfile.TarInfo("results/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    assert files_in(tmp_path / "r.tar.gz") == {"good": b"x"}


def test_a_stranger_s_text_does_not_reach_the_terminal(
    collected: Callable[[Files], Collected], honest: Files
) -> None:
    def hostile(document: dict[str, Any]) -> None:
        document["families"][0]["hints"] = {"\x1b[31m": "1"}
        document["\x1b[2J"] = 1

    found = collected(changed_plan(honest, hostile) | {"system": b"\x1b]0;x\x07\xff"})
    assert all("\x1b" not in text for noted in found.disclosed.values() for text in noted)
    assert "\x1b" not in found.about


def test_differences_of_documents() -> None:
    asked = {"a": [1, {"b": 2}], "c": True, "d": None}
    assert list(changed_fields(asked, {"a": [1, {"b": 3}], "c": 1, "e": {"f": 1}})) == ["a[1].b", "c", "e.f"]
    assert list(changed_fields(asked, asked)) == []


@pytest.mark.parametrize(
    ("tunable", "path", "may_change"),
    [
        (["hints"], "families[3].hints.x", True),
        (["hints"], "families[3].hints", True),
        (["hints"], "families[3].hintsx", False),
        (["hints"], "contents[0].hints", False),
        ([], "families[3].hints", False),
        (["cb_nodes"], "families[0].hints.cb_nodes", True),
        (["cb_nodes"], "families[0].hints.cb_buffer_size", False),
        (["cb_nodes"], "families[0].hints", False),
        (["cb_nodes"], "families[0].hints.cb_nodes.x", False),
        (["stripe_count"], "families[0].hints.striping_factor", True),
        (["collective_buffering"], "families[0].hints.romio_cb_read", True),
        (["page_size"], "families[0].hdf5.page_bytes", True),
        (["alignment"], "families[0].hdf5.threshold", False),
        (["aggregators"], "families[12].aggregators", True),
        (["hints.my_own"], "families[0].hints.my_own", True),
        (["hints.my_own"], "families[0].hints.my_other", False),
    ],
)
def test_rules_are_of_single_fields(tunable: list[str], path: str, may_change: bool) -> None:
    assert covers(tunable, path) is may_change


def test_every_tunable_field_of_a_workload_has_a_rule() -> None:
    """And the fields of a plan that it names are those that the plan gets from it."""
    assert set(FIELDS) == set(Tunable.model_fields)
    values: dict[str, Any] = {
        **dict.fromkeys(("cb_nodes", "stripe_count", "aggregators", "deflate"), 3),
        **dict.fromkeys(("collective_buffering", "data_sieving", "shuffle", "subfiling"), True),
        **dict.fromkeys(("individual_io", "collective_metadata"), True),
        **{
            "layout": "chunked",
            "file_space": "page",
            "libver": "v110",
            "typhonio": "lean",
            "driver": "serial",
        },
    }
    for name, places in FIELDS.items():
        if name in ("aggregators", "typhonio", "buffer_alignment"):  # fields of the family itself
            continue
        given = {name: values.get(name, "64 KiB")} | ({"file_space": "page"} if name == "page_size" else {})
        given |= {"alignment": 4096} if name == "threshold" else {}
        tunable = Tunable(**given)
        changed = {f"hints.{hint}" for hint in hints_of(tunable)}
        changed |= {f"hdf5.{field}" for field in hdf5_of(tunable).model_dump(exclude_defaults=True)}
        assert set(places) <= changed, name


def test_what_is_not_tunable_is_stated_as_fixed(plan: Plan) -> None:
    packed = pack({"app": plan}, REPEATS, words_of("stripe_count, cb_nodes,cb_nodes"))
    rules = json.loads(packed.files["RULES.json"])
    assert rules["tunable"] == ["cb_nodes", "stripe_count"]
    assert set(rules["fixed"]) == set(FIELDS) - {"cb_nodes", "stripe_count"}
    readme = packed.files["README.txt"].decode()
    tuned, _, fixed = readme.partition("Fixed settings")
    assert "cb_nodes (hints.cb_nodes)" in tuned and "alignment" in fixed and "alignment" not in tuned
    assert set(fixed_fields(TUNABLE)) == {"aggregators", "typhonio", "buffer_alignment"}
    assert set(fixed_fields(())) == set(FIELDS)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cb_node", "no field 'cb_node'"),
        ("ranks", "--ranks 64"),
        ("cb_nodes, ranks_per_node", "every bidder may choose it"),
        ("hints.", "no field"),
        ("hints.a b", "no field"),
    ],
)
def test_fields_that_cannot_be_tunable(text: str, words: str) -> None:
    with pytest.raises(WorkalikeError, match=re.escape(words)) as error:
        words_of(text)
    assert error.value.exit_code == 2 and "\n" not in error.value.one_line()


def test_rules_of_the_version_before_are_read() -> None:
    rules: dict[str, Any] = {"format": "workalike-bundle", "version": 1, "workalike": "0.1", "repeats": 1}
    rules |= {
        "tunable": ["hints", "hdf5"],
        "plans": [{"name": "a", "sha256": "0" * 64, "ranks": 1, "bytes": 1}],
    }
    assert rules_of(json.dumps(rules), "f").tunable == ["hints", "hdf5"]
    rules["tunable"] = ["contents"]
    with pytest.raises(WorkalikeError, match="not a field that can be tunable"):
        rules_of(json.dumps(rules), "f")


def test_a_field_that_is_fixed_leaves_the_run_out(plan: Plan, honest: Files, tmp_path: Path) -> None:
    """Of two hints, one may be tuned. The first run tunes it, the second one changes the other."""
    packed = pack({"app": plan}, REPEATS, ("cb_nodes",), memory_factor=0)
    write_bundle(packed, tmp_path / "t.tar.gz")
    files = dict(honest)
    for repeat, hint in ((1, "cb_nodes"), (2, "cb_buffer_size")):
        document = json.loads(honest["app/1/plan.json"])
        document["families"][0]["hints"] = {hint: "1"}
        files[f"app/{repeat}/plan.json"] = json.dumps(document).encode()
    files |= {"bundle": f"{packed.id}  CHECKSUMS\n".encode(), "checksums": packed.files["CHECKSUMS"]}
    found = collect(tmp_path / "t.tar.gz", packed_results(files, tmp_path / "r.tar.gz"), "v", tmp_path / "o")
    assert [row.trial["state"] for row in found.finished] == ["ok", "deviates"]
    assert found.disclosed == {
        "app/1": ["tuned: families[0].hints.cb_nodes"],
        "app/2": ["the plan was changed: families[0].hints.cb_buffer_size"],
    }
    assert read_manifest(tmp_path / "o")["rules"]["tunable"] == ["cb_nodes"]


def test_rules_that_were_changed_in_the_bundle_are_refused(
    packed: Packed, honest: Files, tmp_path: Path
) -> None:
    """Wider rules would let a changed plan count, and name no deviation."""
    files = dict(packed.files)
    files["RULES.json"] = json.dumps(json.loads(files["RULES.json"]) | {"repeats": 1}).encode()
    other = packed_results(files, tmp_path / "tender.tar.gz")
    with pytest.raises(WorkalikeError, match="other rules than its checksums name"):
        collect(other, packed_results(honest, tmp_path / "r.tar.gz"), "vendor", tmp_path / "out")


def test_all_that_was_tuned_is_disclosed(collected: Callable[[Files], Collected], honest: Files) -> None:
    def tuned(document: dict[str, Any]) -> None:
        document["families"][0]["hints"] = {f"h{number}": "1" for number in range(25)}

    noted = collected(changed_plan(honest, tuned)).disclosed["app/1"]
    assert len(noted) == 21 and noted[-1] == "tuned: 5 more fields"


def test_the_commands(tmp_path: Path) -> None:
    (tmp_path / "my app.yaml").write_text(WORKLOAD)

    def workalike(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "workalike", "bundle", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path)

    assert workalike("my app.yaml", "-o", "t.tar.gz", "--ranks", 1, "--repeats", 3).returncode == 0
    assert '"repeats": 3' in files_in(tmp_path / "t.tar.gz")["RULES.json"].decode()
    assert files_in(tmp_path / "t.tar.gz")["plans/LIST"] == b"my-app 1\n"
    wrong = workalike("my app.yaml", "my app.yaml", "-o", "t.tar.gz")
    assert wrong.returncode == 2 and "two workloads have this name" in wrong.stderr
    assert workalike("my app.yaml", "-o", "t.zip").returncode == 2
    tuned = workalike("my app.yaml", "-o", "tuned.tar.gz", "--tunable", "alignment,cb_nodes")
    assert tuned.returncode == 0 and "tunable: alignment, cb_nodes" in tuned.stdout
    both = workalike("my app.yaml", "-o", "tuned.tar.gz", "--tunable", "cb_nodes", "--fixed")
    assert both.returncode == 2 and "exclude each other" in both.stderr
    assert "--bytes-scale" in workalike("my app.yaml", "-o", "t.tar.gz", "--bytes-scale", "x").stderr
    assert "not in the range" in workalike("my app.yaml", "-o", "t.tar.gz", "--time-scale", "inf").stderr
    assert "only together" in workalike("my app.yaml", "-o", "t.tar.gz", "--nodes", 2).stderr
    weak = ("--ranks", 4, "--scaling", "weak", "--what-if", "checkpoint.count=3")
    assert workalike("my app.yaml", "-o", "weak.tar.gz", *weak).returncode == 0
    assert files_in(tmp_path / "weak.tar.gz")["plans/LIST"] == b"my-app 4\n"
    assert workalike("t.tar.gz", "--collect", "none.tar.gz", "-o", "o").returncode == 2
    assert name_of("ä.ö") == "workload"


def test_a_backend_that_moves_no_data_is_refused(tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text(WORKLOAD)
    counted = resolve(read_workload(tmp_path / "app.yaml"), Options(backend="null"))
    with pytest.raises(WorkalikeError, match="null of app moves no data") as refused:
        pack({"app": counted}, REPEATS)
    assert refused.value.kind is ErrorKind.USAGE


def test_the_software_in_a_bundle_is_listed(packed: Packed) -> None:
    listed = json.loads(packed.files["SBOM.json"])
    assert listed["bomFormat"] == "CycloneDX"
    folders = {name.split("/")[1] for name in packed.files if name.startswith("headers/")}
    found = {part["properties"][0]["value"].removeprefix("headers/"): part for part in listed["components"]}
    assert found.keys() == folders
    for folder, part in found.items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", part["version"]), folder
        assert f"LICENSES/{folder}" in packed.files
