"""IOR, fio and h5bench: what is written and what is noted as lost; fio accepts its job file."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workalike.exchange.fio import write_fio
from workalike.exchange.h5bench import write_h5bench
from workalike.exchange.ior import write_ior
from workalike.exchange.macsio_out import write_macsio
from workalike.exchange.notes import Exported
from workalike.exchange.registry import EXPORTERS
from workalike.workload.model import Compute, Workload
from workalike.workload.workload_file import parse_workload, read_workload

needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="no fio")
SHIPPED = sorted((Path(__file__).parents[2] / "workloads").glob("*.yaml"))
KIB = 1024


def workload(families: str, ranks: int = 4) -> Workload:
    return parse_workload(f"workalike: 2\nranks: {ranks}\nfamilies:\n{families}")


def family(stream: str, *, interface: str = "posix", schedule: str = "{start: [0 s]}", more: str = "") -> str:
    return f"""\
- role: checkpoint
  interface: {interface}
  schedule: {schedule}
{more}  content:
    streams: [{stream}]
"""


CONTIGUOUS = "{direction: write, sizes: [2/rank x 8 KiB]}"
INTERLEAVED = "{direction: write, sizes: [2/rank x 8 KiB], pattern: interleaved}"
PRIVATE = "  sharing: per-rank\n"


def commands(exported: Exported) -> list[list[str]]:
    return [shlex.split(line) for line in exported.text.splitlines() if line.startswith("mpiexec")]


def option(words: list[str], name: str) -> str:
    return words[words.index(name) + 1]


def lost(exported: Exported) -> list[str]:
    return [note.text for note in exported.notes.all if note.essential]


def ior(families: str, ranks: int = 4) -> tuple[list[str], list[str]]:
    exported = write_ior(workload(families, ranks))
    (words,) = commands(exported)
    return words, lost(exported)


def geometry(words: list[str]) -> tuple[int, int, int]:
    return int(option(words, "-t")), int(option(words, "-b")), int(option(words, "-s"))


def test_ior_blocks_and_segments() -> None:
    words, nothing = ior(family(CONTIGUOUS))
    assert words[:6] == ["mpiexec", "-n", "4", "ior", "-a", "POSIX"]
    assert geometry(words) == (8 * KIB, 16 * KIB, 1)
    assert "-w" in words and "-r" not in words and "-F" not in words
    assert not nothing
    assert geometry(ior(family(INTERLEAVED))[0]) == (8 * KIB, 8 * KIB, 2)
    repeated = "{direction: write, sizes: [2/rank x 8 KiB], repeat: 5}"
    assert geometry(ior(family(repeated))[0]) == (8 * KIB, 16 * KIB, 5)


def test_ior_flags() -> None:
    words, _ = ior(family("{direction: read, sizes: [2/rank x 8 KiB], pattern: random}", more=PRIVATE))
    assert {"-F", "-r", "-z"} <= set(words) and "-w" not in words
    collective = family("{direction: write, sizes: [1/rank x 8 KiB], collective: true}", interface="mpiio")
    words, _ = ior(collective + "    fsyncs: 4\n")
    assert option(words, "-a") == "MPIIO" and "-c" in words and "-e" in words
    root = family("{direction: write, sizes: [3 x 8 KiB]}", more="  sharing: root\n")
    assert option(ior(root)[0], "-n") == "1"
    subset = family(CONTIGUOUS, more="  sharing: {mode: subset, ranks: 0-3:2}\n")
    assert option(ior(subset)[0], "-n") == "2"


def test_ior_bytes_follow_the_dump() -> None:
    """Stated sizes and growth have precedence over the content's bytes."""
    more = "  sizes: 128 KiB\n  growth: [2, 1]\n"
    exported = write_ior(
        workload(family(CONTIGUOUS, schedule="{count: 3, first: 1 s, every: 2.5 s}", more=more))
    )
    lines = exported.text.splitlines()[3:]
    assert [shlex.split(line)[0] for line in lines] == ["sleep", "mpiexec", "sleep", "mpiexec"]
    assert (lines[0], lines[2]) == ("sleep 1", "sleep 2.5")
    first, second = commands(exported)
    assert geometry(first) == (16 * KIB, 32 * KIB, 1)
    assert geometry(second) == (32 * KIB, 64 * KIB, 1)
    assert "-i" not in first and option(second, "-i") == "2"  # the last two are alike
    assert "-m" in second and option(second, "-d") == "2"
    assert any("2 s instead of 2.5 s" in note.text for note in exported.notes.all)


def test_ior_says_what_it_loses() -> None:
    for stream, what in (
        ("{direction: write, sizes: [1/rank x 8 KiB], pattern: strided, stride: 1 MiB}", "holes"),
        ("{direction: read, sizes: [1/rank x 8 KiB], pattern: replicated}", "not all of the file"),
        ("{direction: write, sizes: [3/rank x 8 KiB, 1/rank x 8 KiB]}", "25 % of the bytes are left out"),
    ):
        _, texts = ior(family(stream))
        assert [text for text in texts if what in text], texts
    _, texts = ior(family(CONTIGUOUS, more="  sharing: {mode: groups, files: 2}\n"))
    assert any("2 files of groups" in text for text in texts)
    exported = write_ior(workload(family("{direction: write, sizes: [1/rank x 1001 B]}")))
    assert geometry(commands(exported)[0])[0] == 1008
    assert any("rounded up to multiples of 8" in note.text for note in exported.notes.all)


def test_ior_tunables() -> None:
    """MPI-IO hints go through the environment; alignment and POSIX stripes are options."""
    tunable = "{stripe_count: 4, stripe_size: 1 MiB, cb_nodes: 2, data_sieving: false, alignment: 64 KiB}"
    stream = "{direction: write, sizes: [1/rank x 8 KiB]}"
    line = write_ior(
        workload(family(stream, interface="hdf5", more=f"  tunable: {tunable}\n"))
    ).text.splitlines()[3]
    words = line.split()
    assert words[: words.index("mpiexec")] == [
        "IOR_HINT__MPI__striping_factor=4",
        "IOR_HINT__MPI__striping_unit=1048576",
        "IOR_HINT__MPI__cb_nodes=2",
        "IOR_HINT__MPI__romio_ds_write=disable",
    ]
    assert "--hdf5.setAlignment=65536" in words
    posix = "{stripe_count: 4, stripe_size: 1 MiB}"
    words, _ = ior(family(stream, more=f"  tunable: {posix}\n"))
    assert words[-4:-2] == ["--posix.lustre.stripecount=4", "--posix.lustre.stripesize=1048576"]


def sections(text: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for line in text.splitlines():
        if line.startswith("["):
            found.append({"name": line.strip("[]")})
        elif line:
            key, _, value = line.partition("=")
            found[-1][key] = value
    return found[1:]


def test_fio_sections() -> None:
    text = family(INTERLEAVED, schedule="{count: 2, first: 1.5 s, every: 1 s}")
    first, second = sections(write_fio(workload(text)).text)
    assert first["startdelay"] == "1500000us" and second["startdelay"] == "2500000us"
    assert first["filename"] == "checkpoint-1.000000" and second["filename"] == "checkpoint-1.000001"
    assert (first["numjobs"], first["bs"], first["io_size"]) == ("4", "8192", "16384")
    assert (first["rw"], first["offset_increment"]) == ("write:24576", "8192")


@needs_fio
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_fio_takes_every_shipped_workload(path: Path, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(write_fio(read_workload(path)).text)
    done = subprocess.run(
        ["fio", "--parse-only", "job.fio"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def run_fio(text: str, folder: Path, ranks: int = 4) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """The files with their sizes, and the bytes of each section."""
    (folder / "job.fio").write_text(write_fio(workload(text, ranks)).text)
    done = subprocess.run(
        ["fio", "--output-format=json", "job.fio"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    jobs = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    return {p.name: p.stat().st_size for p in folder.iterdir() if p.name != "job.fio"}, jobs


@needs_fio
@pytest.mark.parametrize(
    ("stream", "size"),
    [
        (CONTIGUOUS, 64 * KIB),
        (INTERLEAVED, 64 * KIB),
        ("{direction: write, sizes: [1/rank x 8 KiB], repeat: 2}", 64 * KIB),
        ("{direction: write, sizes: [2/rank x 8 KiB], pattern: strided, stride: 12 KiB}", 92 * KIB),
        ("{direction: write, sizes: [2/rank x 8 KiB], pattern: same}", 8 * KIB),
        ("{direction: write, sizes: [2/rank x 8 KiB], pattern: random}", 64 * KIB),
    ],
)
def test_fio_writes_the_bytes_where_they_belong(stream: str, size: int, tmp_path: Path) -> None:
    files, jobs = run_fio(family(stream), tmp_path)
    assert files == {"checkpoint-1.000000": size}
    assert sum(job["write"]["io_bytes"] for job in jobs) == 64 * KIB
    assert sum(job["write"]["total_ios"] for job in jobs) == 8
    if size == 64 * KIB:  # each byte was written once: nothing was left out of the file
        assert (tmp_path / "checkpoint-1.000000").stat().st_blocks * 512 >= 64 * KIB


@needs_fio
def test_fio_private_appended_and_mixed_files(tmp_path: Path) -> None:
    two = "{direction: write, sizes: [1/rank x 4 KiB]}, {direction: write, sizes: [2 x 1 KiB], ranks: 0}"
    files, _ = run_fio(family(two, more=PRIVATE, schedule="{start: [0 s]}").replace(PRIVATE, ""), tmp_path)
    assert files == {"checkpoint-1.000000": 18 * KIB}
    (tmp_path / "b").mkdir()
    files, _ = run_fio(family(CONTIGUOUS, more=PRIVATE), tmp_path / "b")
    assert files == {f"checkpoint-1.000000.{i}": 16 * KIB for i in range(4)}
    (tmp_path / "c").mkdir()
    appended = family(
        CONTIGUOUS, more="  lifetime: appended\n", schedule="{count: 3, first: 0 s, every: 10 ms}"
    )
    files, _ = run_fio(appended, tmp_path / "c")
    assert files == {"checkpoint-1.000000": 3 * 64 * KIB}


def test_fio_says_what_it_loses() -> None:
    text = family("{direction: write, sizes: [1/rank x 8 KiB], collective: true}", interface="mpiio")
    assert any("no collective operations" in text for text in lost(write_fio(workload(text))))
    assert not lost(write_fio(workload(family(CONTIGUOUS))))


FIT = """\
- role: checkpoint
  interface: hdf5
  schedule: {count: 3, first: 2 s, every: 2 s}
  sizes: 256 KiB
  content: {fit: {datasets: 8}}
  tunable: {stripe_count: 4, alignment: 1 MiB}
"""


def test_h5bench_configuration() -> None:
    exported = write_h5bench(workload(FIT))
    document = json.loads(exported.text)
    assert set(document) == {"mpi", "vol", "file-system", "directory", "benchmarks"}
    assert document["mpi"] == {"command": "mpirun", "ranks": "4"}
    assert document["file-system"] == {"lustre": {"stripe-count": "4"}}
    (benchmark,) = document["benchmarks"]
    configuration = benchmark["configuration"]
    assert benchmark["benchmark"] == "write"
    assert 4 * 32 * int(configuration["DIM_1"]) == 256 * KIB  # ranks x bytes of a particle
    assert (configuration["TIMESTEPS"], configuration["EMULATED_COMPUTE_TIME_PER_TIMESTEP"]) == (
        "3",
        "2000 ms",
    )
    assert tuple(configuration[key] for key in ("COLLECTIVE_DATA", "ALIGN", "ALIGN_LEN")) == (
        "YES",
        "YES",
        "1048576",
    )
    assert all(isinstance(value, str) for value in configuration.values())
    assert lost(exported) == ["checkpoint 1: equal dumps go into one file, as timesteps"]


def test_h5bench_reads_and_losses() -> None:
    read = family("{direction: read, sizes: [1/rank x 64 KiB]}", interface="hdf5")
    (benchmark,) = json.loads(write_h5bench(workload(read)).text)["benchmarks"]
    assert benchmark["benchmark"] == "read" and benchmark["configuration"]["READ_OPTION"] == "FULL"
    assert any(
        "interface posix becomes hdf5" in text for text in lost(write_h5bench(workload(family(CONTIGUOUS))))
    )
    assert any(
        "43 datasets become 8" in t
        for t in lost(write_h5bench(workload(FIT.replace("datasets: 8", "datasets: 43"))))
    )


def test_macsio_of_a_workload_without_a_mesh() -> None:
    """The bytes of a rank become variables of a rectilinear mesh; other families are lost."""
    exported = write_macsio(workload(FIT.replace("datasets: 8", "datasets: 20")))
    words = exported.text.split()
    size = int(option(words, "--part_size"))
    zones = 8 * 9 + 4 * 2 + 8 * 9  # bytes per node of MACSio's twenty variables
    assert 4 * size / 8 * zones == pytest.approx(256 * KIB, rel=0.01)
    assert option(words, "--sleep_time") == "2"
    both = family("{direction: read, sizes: [1/rank x 1 KiB]}") + FIT.replace(
        "role: checkpoint", "role: output"
    )
    assert any("MACSio cannot read" in text for text in lost(write_macsio(workload(both))))
    assert any(
        "interface posix becomes hdf5" in text for text in lost(write_macsio(workload(family(CONTIGUOUS))))
    )


def test_macsio_says_what_its_meshes_lack() -> None:
    mesh = "{type: point, part_size: 64 KiB, materials: 2, globals: 3, ghost: 1, shared_nodes: true}"
    text = (
        FIT.replace("{fit: {datasets: 8}}", f"{{mesh: {mesh}}}")
        .replace("hdf5", "typhonio")
        .replace("  sizes: 256 KiB\n", "")
    )
    texts = " ".join(lost(write_macsio(workload(text))))
    for what in ("a point mesh", "no materials", "no variables beside", "no ghosts", "share no nodes"):
        assert what in texts
    listed = "{part_size: 64 KiB, geometry: true, variables: [{count: 3, centring: zone, type: float32}]}"
    text = FIT.replace("{fit: {datasets: 8}}", f"{{mesh: {listed}}}").replace("  sizes: 256 KiB\n", "")
    exported = write_macsio(workload(text))
    assert option(exported.text.split(), "--vars_per_part") == "3"
    assert any("its own cycle of variables" in t for t in lost(exported))
    assert any("no coordinates with HDF5" in t for t in lost(exported))


def test_many_dumps_are_quick() -> None:
    """Sizes are computed once, not again for each dump."""
    mesh = "{part_size: 64 KiB}"
    text = FIT.replace("{fit: {datasets: 8}}", f"{{mesh: {mesh}}}").replace("  sizes: 256 KiB\n", "")
    text = text.replace("count: 3", "count: 20000") + f"  growth: [{', '.join(['1.0'] * 19_999)}]\n"
    (line,) = (line for line in write_ior(workload(text)).text.splitlines() if "ior" in line)
    assert "-i 20000 " in line


def test_nothing_to_export() -> None:
    empty = "- {role: checkpoint, schedule: {start: [0 s]}, content: {opens: 1}}\n"
    for write in (write_ior, write_fio, write_h5bench, write_macsio):
        assert any("has nothing that" in text for text in lost(write(workload(empty))))


@pytest.mark.parametrize("write", [write_macsio, write_ior, write_h5bench, write_fio])
def test_computing_is_left_out_and_said(write: Callable[[Workload], Exported]) -> None:
    """It changes no bytes, so the loss is not essential."""
    plain = workload(family(CONTIGUOUS, interface="hdf5"))
    computing = plain.model_copy(update={"compute": Compute(level=2, length=3)})
    exported = write(computing)
    assert exported.text == write(plain).text
    assert exported.notes.all[1:] == write(plain).notes.all
    assert not exported.notes.all[0].essential
    assert "4 units of arithmetic on every rank" in exported.notes.all[0].text


@pytest.mark.parametrize("write", [write_ior, write_fio])
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("", False),
        (", compute_time: 0 s", False),
        (", compute_time: 1 s", True),
        (", writes: {busy: 1 s}", True),
        (", reads: {first: 1 s}", True),
    ],
)
def test_compute_time_within_a_dump_is_said(
    write: Callable[[Workload], Exported], fields: str, said: bool
) -> None:
    exported = write(workload(family(CONTIGUOUS, schedule=f"{{start: [0 s], duration: 9 s{fields}}}")))
    assert any("compute time between operations" in note.text for note in exported.notes.all) == said


OWN_SIZES = "{direction: write, sizes: [1 x 10 KiB, 2 x 20 KiB, 1 x 30 KiB], pattern: interleaved, collective: true, repeat: 8}"
SHUFFLED = "{direction: write, sizes: [100/rank x 8 KiB], pattern: shuffled}"


def test_ranks_of_a_call_with_sizes_of_their_own_have_the_mean() -> None:
    words, nothing = ior(family(OWN_SIZES, interface="mpiio"))
    assert option(words, "-n") == "4" and "-c" in words
    assert geometry(words) == (20 * KIB, 20 * KIB, 8)
    assert not nothing
    text = write_fio(workload(family(OWN_SIZES, interface="mpiio"))).text
    assert text.count("\n[checkpoint") == 1 and "numjobs=4" in text


@pytest.mark.parametrize(("more", "size"), [("", 4 * 100 * 8 * KIB), (PRIVATE, 100 * 8 * KIB)])
def test_shuffled_operations_are_at_random_over_the_file(more: str, size: int) -> None:
    exported = write_fio(workload(family(SHUFFLED, more=more)))
    lines = exported.text.splitlines()
    assert "rw=randwrite" in lines and f"size={size}" in lines
    assert [line for line in lines if line.startswith("io_size=")] == [f"io_size={100 * 8 * KIB}"]
    assert not [line for line in lines if line.startswith("offset_increment")]
    assert any("used twice" in note.text for note in exported.notes.all) == (not more)
    words, nothing = ior(family(SHUFFLED, more=more))
    assert "-z" in words and not nothing


@pytest.mark.parametrize("tool", sorted(EXPORTERS))
def test_deletions_renames_and_late_ranks_are_noted(tool: str) -> None:
    late = {"start": [1.0, 20.0], "duration": 9.0, "writes": {"skew": [{"ranks": "1", "delay": 2.0}]}}
    family = {"interface": "posix", "sharing": "per-rank", "schedule": late}
    family |= {"content": {"streams": [{"direction": "write", "sizes": ["8/rank x 4 KiB"]}]}}
    families = [
        family | {"role": "scratch", "removed": True},
        family | {"role": "checkpoint", "keep": 1},
        family | {"role": "output", "rename": True, "folders": {"files": 1, "per_rank": True}},
    ]
    workload = Workload.model_validate({"workalike": 2, "ranks": 2, "families": families})
    notes = EXPORTERS[tool](workload).notes.all
    assert [n.text.split(": ")[0] for n in notes if "its folders are left out" in n.text] == ["output 1"]
    said = {(note.text.split(": ")[0], note.essential) for note in notes if "deletes no" in note.text}
    assert said == {("scratch 1", True), ("checkpoint 1", True)}
    assert [n.text.split(": ")[0] for n in notes if "renames no" in n.text] == ["output 1"]
    assert sum("begin with the others" in note.text for note in notes) == 3


@pytest.mark.parametrize("tool", sorted(EXPORTERS))
def test_maps_into_memory_are_left_out_and_named(tool: str) -> None:
    streams = [{"direction": "write", "sizes": ["4 x 1 MiB"]}]
    family = {
        "role": "output",
        "interface": "posix",
        "schedule": {"start": [1]},
        "content": {"maps": 2, "streams": streams},
    }
    workload = Workload.model_validate({"workalike": 2, "ranks": 2, "families": [family]})
    said = [note.text for note in EXPORTERS[tool](workload).notes.all if "into memory" in note.text]
    assert said and said[0].startswith("output 1: ")
