"""Every result that docs/results.md shows: its name, the command that makes it, and the sources that it depends on.

A result is *stale* when one of its sources has changed since the commit it was measured at. Sources are therefore what
the figure is about, not everything that runs. `docs/results/NAME.json` holds the figures; `results.py` writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "results"


class Kind(Enum):
    SCRIPT = "script"
    """A script in this folder, which writes its figures itself."""
    TESTS = "tests"
    """A command that succeeds or fails; what success means stands in `passing`, or in the JSON file and is kept."""
    PEOPLE = "people"
    """What somebody did and wrote down; the command says what was to be done. No program does it again."""


@dataclass(frozen=True)
class Entry:
    name: str
    command: str
    """As typed in the root of the repository, inside its virtual environment."""
    sources: tuple[str, ...]
    """Files and folders, relative to the root."""
    kind: Kind = Kind.SCRIPT
    is_long: bool = False
    """More than ten minutes, root rights or a whole machine: run only by name or with --long."""
    passing: tuple[str, str] | None = None
    """Of tests: what was measured, and what it means that they pass, without numbers of tests. None: as the JSON file has it."""

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.name}.json"


CHARACTERIZE = ("src/workalike/characterize", "src/workalike/facts")
PLAN = ("src/workalike/plan", "engine/core")
COMPARE = ("src/workalike/compare",)
ENGINE = ("engine",)
CAPTURE = ("capture", "counting")


def tests(
    name: str,
    paths: str,
    *sources: str,
    prefix: str = "",
    is_long: bool = False,
    passing: tuple[str, str] | None = None,
) -> Entry:
    command = f"{prefix}python -m pytest -q {paths}"
    files = [path.split("::")[0] for path in paths.split() if "/" in path]
    return Entry(name, command, (*files, *sources), Kind.TESTS, is_long, passing)


CATALOGUE = (
    # From a log to a verified replica
    Entry(
        "full-scale",
        "python benchmarks/full_scale.py",
        ("benchmarks/full_scale.py", *CHARACTERIZE, *PLAN, *COMPARE),
    ),
    Entry(
        "findings-corpus",
        "python benchmarks/findings_corpus.py",
        (
            "benchmarks/findings_corpus.py",
            "benchmarks/beside_drishti.py",
            "benchmarks/drishti_peer.py",
            "tests/support/planted_findings.py",
            "src/workalike/diagnose",
            "src/workalike/facts",
        ),
    ),
    Entry(
        "diagnose-large",
        "python benchmarks/diagnose_large.py",
        (
            "benchmarks/diagnose_large.py",
            "tests/support/large_traces.py",
            "src/workalike/diagnose",
            "src/workalike/facts",
        ),
    ),
    Entry(
        "tried-changes",
        "python benchmarks/tried_changes.py",
        ("benchmarks/tried_changes.py", "src/workalike/diagnose", "src/workalike/facts", *ENGINE),
    ),
    Entry(
        "agreement",
        "python benchmarks/agreement.py",
        (
            "benchmarks/agreement.py",
            "benchmarks/miss_reasons.py",
            *CHARACTERIZE,
            *PLAN,
            *COMPARE,
            "src/workalike/predict",
            "counting",
        ),
    ),
    tests(
        "applications-anew",
        "-m system tests/system/test_applications.py",
        "tests/support/applications.py",
        *CAPTURE,
        *CHARACTERIZE,
        *ENGINE,
        *COMPARE,
        is_long=True,
        passing=(
            "GROMACS, CP2K and OpenFOAM captured anew, shortened: agreement of both lines, and files on disk at the end "
            "beside those that the application has left",
            "≥ 0.95; same number and sizes",
        ),
    ),
    Entry(
        "workload-lines",
        "python benchmarks/workload_lines.py",
        ("benchmarks/workload_lines.py", *CHARACTERIZE, *PLAN, "src/workalike/predict"),
    ),
    Entry(
        "candidates-truth",
        "python benchmarks/candidates_truth.py",
        (
            "benchmarks/candidates_truth.py",
            "tests/support/planted.py",
            "tests/support/counted_logs.py",
            *CHARACTERIZE,
            "src/workalike/predict",
            "engine/core",
            "counting",
        ),
    ),
    Entry(
        "planted-errors",
        "python benchmarks/planted_errors.py",
        (
            "benchmarks/planted_errors.py",
            "tests/support/planted.py",
            *COMPARE,
            "src/workalike/predict",
            "engine/core",
            "counting",
        ),
        is_long=True,
    ),
    Entry(
        "traced-segments",
        "python benchmarks/traced_segments.py",
        ("benchmarks/traced_segments.py", *CHARACTERIZE, *PLAN),
    ),
    Entry(
        "agenda-against-traces",
        "python benchmarks/agenda_against_traces.py",
        ("benchmarks/agenda_against_traces.py", *CHARACTERIZE, *PLAN),
    ),
    Entry(
        "behaviour-programs",
        "python benchmarks/behaviour_programs.py",
        (
            "benchmarks/behaviour_programs.py",
            *CHARACTERIZE,
            "src/workalike/predict",
            *COMPARE,
            "engine",
            *CAPTURE,
        ),
    ),
    Entry(
        "wall-clock",
        "python benchmarks/wall_clock.py",
        (
            "benchmarks/wall_clock.py",
            "benchmarks/pairs.py",
            "benchmarks/behaviour_programs.py",
            *CHARACTERIZE,
            *PLAN,
            *COMPARE,
            "engine",
            *CAPTURE,
        ),
    ),
    Entry(
        "application-pairs",
        "python benchmarks/application_pairs.py",
        (
            "benchmarks/application_pairs.py",
            "benchmarks/pairs.py",
            "tests/support/applications.py",
            *CHARACTERIZE,
            *PLAN,
            *COMPARE,
            "engine",
            *CAPTURE,
        ),
        is_long=True,
    ),
    Entry(
        "ior-pairs",
        "python benchmarks/ior_pairs.py",
        (
            "benchmarks/ior_pairs.py",
            "benchmarks/ior_like.c",
            "benchmarks/pairs.py",
            *CHARACTERIZE,
            *PLAN,
            *COMPARE,
            "engine",
            *CAPTURE,
        ),
        is_long=True,
    ),
    Entry(
        "million-segments",
        "python benchmarks/million_segments.py",
        ("benchmarks/million_segments.py", "tests/support/large_traces.py", *CHARACTERIZE),
    ),
    Entry(
        "agenda-cost",
        "python benchmarks/agenda_cost.py",
        ("benchmarks/agenda_cost.py", "engine/core/schedule", "engine/core/expand", "engine/run"),
    ),
    Entry(
        "meshes-and-arrays",
        "python benchmarks/meshes_and_arrays.py",
        ("benchmarks/meshes_and_arrays.py", "engine/core/mesh", "engine/core/data", "engine/backends", "engine/run"),
    ),
    Entry(
        "reconstruction",
        "python benchmarks/reconstruction.py",
        ("benchmarks/reconstruction.py", *CHARACTERIZE, *PLAN),
    ),
    Entry(
        "behaviour-lammps-replayed",
        "python benchmarks/behaviour_lammps.py",
        ("benchmarks/behaviour_lammps.py", *CHARACTERIZE, *ENGINE),
        is_long=True,
    ),
    Entry(
        "mphys-bytes",
        "python benchmarks/mphys_replicas.py --only bytes",
        ("benchmarks/mphys_replicas.py", "workloads", *PLAN, "engine/backends", *COMPARE),
    ),
    Entry(
        "mphys-starts",
        "python benchmarks/mphys_replicas.py --only starts",
        ("benchmarks/mphys_replicas.py", "workloads", "engine/schedule", "engine/run"),
    ),
    Entry(
        "read-logs", "python benchmarks/read_logs.py", ("benchmarks/read_logs.py", "src/workalike/darshan")
    ),
    Entry(
        "characterize-logs",
        "python benchmarks/characterize_logs.py",
        ("benchmarks/characterize_logs.py", *CHARACTERIZE),
    ),
    Entry(
        "core-counts",
        "python benchmarks/core_counts.py",
        ("benchmarks/core_counts.py", "engine/core", "engine/python", "workloads/mphys-e.yaml"),
    ),
    tests(
        "core-against-engine",
        "tests/engine/test_core_agrees.py",
        *ENGINE,
        passing=(
            "core in process against engine: every counter of random plans, random workloads, and every backend of "
            "this machine in each sharing, given the library overheads that the engine recorded",
            "equal",
        ),
    ),
    Entry("facts", "python benchmarks/facts_speed.py", ("benchmarks/facts_speed.py", "src/workalike/facts")),
    Entry(
        "fleet-ingest",
        "python benchmarks/fleet_ingest.py",
        ("benchmarks/fleet_ingest.py", "src/workalike/fleet", "src/workalike/facts"),
    ),
    Entry(
        "fleet-machines",
        "python benchmarks/fleet_machines.py",
        (
            "benchmarks/fleet_machines.py",
            "src/workalike/fleet",
            "src/workalike/launch/batch",
            "tools/testbed",
        ),
        is_long=True,
    ),
    tests(
        "fleet-kills",
        "-m long tests/fleet/test_ingest.py tests/fleet/test_archive.py",
        "src/workalike/fleet",
        is_long=True,
        passing=(
            "SIGKILL at 20 moments of an ingestion, and of fleet archive --remove: run again, the database is that of an "
            "undisturbed run, and each log is in the archive",
            "all",
        ),
    ),
    tests(
        "fleet-mutants",
        "-m long tests/fleet/test_mutated.py",
        "tests/support/darshan_mutate.py",
        "src/workalike/fleet",
        "src/workalike/darshan",
        is_long=True,
        passing=(
            "10,000 logs with spoilt bytes, and 10,000 of all modules with spoilt regions: ingested, or set aside with a "
            "reason; none ends its reader",
            "all",
        ),
    ),
    tests(
        "fleet-truths",
        "tests/fleet/test_fleet_report.py",
        "src/workalike/fleet",
        passing=(
            "what the generator planted (users, the slow target's week, redundant readers, growth, failures), in the report",
            "found",
        ),
    ),
    tests(
        "fleet-suite",
        "tests/fleet/test_suite.py",
        "src/workalike/fleet/suite",
        passing=("the suite of a generated fleet of 6 known classes", "finds them"),
    ),
    tests(
        "fleet-hostile",
        "tests/fleet/test_serve.py tests/fleet/test_portal_fuzz.py",
        "src/workalike/fleet/serve",
        passing=(
            "hostile names and counters, and any path or parameter of the portal, as staff and as a user: no server error, "
            "no markup of the input, no other user's name",
            "all",
        ),
    ),
    Entry(
        "fleet-portal",
        "python benchmarks/fleet_portal.py",
        ("benchmarks/fleet_portal.py", "src/workalike/fleet"),
        is_long=True,
    ),
    Entry(
        "start-up",
        "python benchmarks/start_up.py",
        ("benchmarks/start_up.py", "src/workalike/commands", "src/workalike/cli.py"),
    ),
    Entry(
        "engine-against-fio",
        "python benchmarks/engine_vs_fio.py",
        ("benchmarks/engine_vs_fio.py", "engine/run", "engine/io", "engine/backends", "engine/core/data"),
    ),
    # Capture
    Entry(
        "capture-calls",
        "python benchmarks/capture_overhead.py --only calls",
        ("benchmarks/capture_overhead.py", "benchmarks/capture_calls.c", *CAPTURE),
    ),
    Entry(
        "capture-end-to-end",
        "python benchmarks/capture_overhead.py --only end-to-end --end-to-end 150",
        ("benchmarks/capture_overhead.py", "benchmarks/capture_calls.c", *CAPTURE),
        is_long=True,
    ),
    tests("capture-counters", "tests/capture", *CAPTURE),
    tests(
        "captured-programs", "tests/system/test_capture.py", *CAPTURE, *CHARACTERIZE, *ENGINE, is_long=True
    ),
    tests("capture-witness", "tests/capture/test_witness.py", *CAPTURE, *ENGINE),
    tests("capture-killed", "tests/capture/test_mpi.py -k kill", *CAPTURE),
    Entry(
        "capture-memory",
        "python benchmarks/capture_memory.py",
        ("benchmarks/capture_memory.py", "benchmarks/capture_memory.c", *CAPTURE),
    ),
    Entry(
        "stat-and-open",
        "python benchmarks/stat_and_open.py",
        ("benchmarks/stat_and_open.py", "benchmarks/stat_and_open.c", *CAPTURE),
    ),
    Entry(
        "capture-shutdown",
        "python benchmarks/capture_shutdown.py",
        ("benchmarks/capture_shutdown.py", "benchmarks/capture_shutdown.c", *CAPTURE),
    ),
    Entry(
        "replicate-small",
        "python benchmarks/replicate_logs.py",
        ("benchmarks/replicate_logs.py", *CHARACTERIZE, *PLAN, *ENGINE),
        is_long=True,
    ),
    tests(
        "engine-captured",
        "tests/engine/test_hdf5.py tests/engine/test_mpiio.py tests/engine/test_lifetimes.py tests/engine/test_failures.py",
        *CAPTURE,
        prefix="python benchmarks/preloaded.py ",
        passing=("the engine's own tests under the preload (hdf5, mpiio, lifetimes, failures)", "pass"),
    ),
    # The scientific data models
    tests(
        "typhonio-files",
        "tests/engine/test_typhonio_format.py tests/engine/test_typhonio_backend.py tests/typhonio",
        "engine/typhonio",
        "src/workalike/typhonio",
    ),
    Entry(
        "typhonio-inspected",
        "python benchmarks/inspect_files.py",
        ("benchmarks/inspect_files.py", "src/workalike/typhonio"),
    ),
    tests("typhonio-replayed", "tests/system/test_typhonio.py", "engine/typhonio", *CHARACTERIZE),
    tests("typhonio-sieving", "tests/engine/test_typhonio_calls.py", "engine/typhonio"),
    Entry(
        "mphys-meshes",
        "python benchmarks/mphys_replicas.py --mesh --only bytes",
        ("benchmarks/mphys_replicas.py", "workloads", "engine/core/mesh", "engine/typhonio", *COMPARE),
    ),
    Entry(
        "mesh-replica",
        "python benchmarks/replicate_logs.py --mesh",
        ("benchmarks/replicate_logs.py", *CHARACTERIZE, "engine/core/mesh", "engine/typhonio"),
        is_long=True,
    ),
    Entry(
        "size-equation",
        "python benchmarks/size_equation.py",
        ("benchmarks/size_equation.py", "src/workalike/calibrate", "engine/core/mesh", "engine/typhonio"),
    ),
    Entry(
        "typhonio-patterns",
        "python benchmarks/typhonio_patterns.py --pairs 5",
        ("benchmarks/typhonio_patterns.py", "engine/typhonio"),
    ),
    tests("decks", "tests/exchange", "src/workalike/exchange"),
    Entry(
        "pnetcdf-replica",
        "python benchmarks/replicate_logs.py --pnetcdf",
        ("benchmarks/replicate_logs.py", *CHARACTERIZE, "engine/backends"),
        is_long=True,
    ),
    tests("pnetcdf-ior", "tests/system/test_pnetcdf.py", "engine/backends"),
    Entry(
        "hacc-collective",
        "python benchmarks/hacc_kernels.py",
        ("benchmarks/hacc_kernels.py", "workloads/hacc", "engine/backends", "engine/io"),
    ),
    Entry(
        "hacc-independent",
        "python benchmarks/hacc_kernels.py --independent",
        ("benchmarks/hacc_kernels.py", "workloads/hacc", "engine/backends", "engine/io"),
    ),
    tests("hacc-offsets", "tests/engine/test_hacc.py", "workloads/hacc", "engine/backends"),
    Entry(
        "minio-study",
        "python benchmarks/minio_study.py",
        ("benchmarks/minio_study.py", "src/workalike/exchange", "engine/typhonio", "engine/backends"),
        is_long=True,
    ),
    tests("compute-checksums", "tests/engine/test_compute.py", "engine/schedule"),
    # Studies
    Entry(
        "study-overhead",
        "python benchmarks/study_overhead.py",
        ("benchmarks/study_overhead.py", "src/workalike/study", "src/workalike/launch"),
    ),
    Entry(
        "study-report",
        "python benchmarks/study_report.py",
        ("benchmarks/study_report.py", "src/workalike/study"),
    ),
    tests(
        "study-kills",
        "-m long tests/study/test_driver.py tests/system/test_study_slurm.py",
        "src/workalike/study",
        "src/workalike/launch",
        is_long=True,
        passing=(
            "the driver of a study, or its Slurm job, killed at 20 random moments and resumed: no finished trial is "
            "repeated, no row lost or doubled",
            "all",
        ),
    ),
    Entry(
        "mix-of-logs",
        "python benchmarks/mix_of_logs.py",
        ("benchmarks/mix_of_logs.py", "src/workalike/study/mix", *CHARACTERIZE),
    ),
    Entry(
        "study-statistics",
        "python benchmarks/study_statistics.py",
        (
            "benchmarks/study_statistics.py",
            "tests/support/planted_studies.py",
            "src/workalike/study/statistics",
            "src/workalike/study/search.py",
        ),
    ),
    Entry(
        "study-search",
        "python benchmarks/study_search.py",
        ("benchmarks/study_search.py", "src/workalike/study/halving.py", "src/workalike/study/search.py"),
    ),
    Entry(
        "cephfs-studies",
        "python benchmarks/cephfs_studies.py",
        ("benchmarks/cephfs_studies.py", "src/workalike/study", "tools/testbed"),
        is_long=True,
    ),
    Entry(
        "cephfs-kernels",
        "python benchmarks/cephfs_kernels.py",
        ("benchmarks/cephfs_kernels.py", "studies", "workloads/hacc", "workloads/minio", "tools/testbed"),
        is_long=True,
    ),
    Entry(
        "bundle",
        "tools/check-bundle",
        ("tools/check-bundle", "src/workalike/bundle", "engine"),
        Kind.TESTS,
        is_long=True,
    ),
    # The repository
    tests(
        "random-kills",
        "-m long tests/fuzz/test_kills.py",
        "tests/support/killed_runs.py",
        "src/workalike/launch",
        "engine/run",
        "engine/io",
        is_long=True,
        passing=(
            "random kills (SIGKILL, SIGTERM, SIGINT) of command, launcher and ranks at random moments, every backend: "
            "no process is left, the next run of the plan works in the same folders, no data file is left",
            "all",
        ),
    ),
    tests(
        "fuzz",
        "-n 2 -m long tests/fuzz/test_mutants.py",
        "src/workalike",
        "engine/core",
        is_long=True,
        passing=(
            "20,000 mutants each of logs, workloads, plans and records, through the commands' own code paths",
            "no traceback, no signal, no hang",
        ),
    ),
    Entry(
        "mutation-score",
        "python benchmarks/mutation_score.py",
        (
            "benchmarks/mutation_score.py",
            "tests/mutation",
            *CHARACTERIZE,
            *COMPARE,
            "tests/facts",
            "tests/characterize",
            "tests/compare",
        ),
        is_long=True,
    ),
    Entry(
        "line-coverage",
        "python benchmarks/line_coverage.py",
        ("benchmarks/line_coverage.py", "src/workalike", "tests"),
        is_long=True,
    ),
    Entry(
        "new-contributor",
        "by hand, from docs/how-to alone, in a new clone",
        ("docs/how-to",),
        Kind.PEOPLE,
        is_long=True,
    ),
    Entry(
        "debian-13",
        "make test-trixie",
        ("tools/check-bare-debian",),
        Kind.TESTS,
        is_long=True,
        passing=(
            "Debian 13 with Open MPI 5, HDF5 1.14 and ADIOS2: the whole of `make test` in a bare system",
            "pass",
        ),
    ),
    Entry(
        "slowest-tests",
        "python benchmarks/slowest_tests.py",
        ("benchmarks/slowest_tests.py", "tests"),
        is_long=True,
    ),
)


def entry(name: str) -> Entry:
    for known in CATALOGUE:
        if known.name == name:
            return known
    raise SystemExit(f"no result {name!r}; known: {', '.join(e.name for e in CATALOGUE)}")
