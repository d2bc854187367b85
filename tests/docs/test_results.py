"""docs/results.md is generated from the results' JSON; missing and stale results are found."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import catalogue
import pytest
import results
import results_page
import run
from catalogue import CATALOGUE, FOLDER, ROOT, Entry, Kind
from results import Figure, Result, Results, Stamp, entry_of_command, git, load_result

STAMP = Stamp(commit="0123456789", date="2026-01-02", machine="2 cores", load=[0.5, 1.5])


def result(name: str, *figures: Figure) -> Result:
    known = catalogue.entry(name)
    return Result(name, known.command, STAMP, list(figures))


def test_page_is_what_its_results_make() -> None:
    made = results_page.page_text()
    assert (ROOT / "docs" / "results.md").read_text(encoding="utf-8") == made, (
        "run benchmarks/results_page.py"
    )


def test_results_are_of_the_catalogue_and_name_its_commands() -> None:
    names = {known.name for known in CATALOGUE}
    assert {path.stem for path in FOLDER.glob("*.json")} <= names
    for known in CATALOGUE:
        if known.file.exists():
            assert load_result(known.file).name == known.name


def test_commands_exist() -> None:
    for known in CATALOGUE:
        words = known.command.split()
        scripts = [word for word in words if word.endswith(".py")]
        assert all((ROOT / script).is_file() for script in scripts), known.name
        if known.kind is Kind.SCRIPT:
            assert "Results()" in (ROOT / scripts[0]).read_text(encoding="utf-8"), known.name


def test_every_script_that_measures_is_known() -> None:
    helpers = {
        "catalogue",
        "results",
        "results_page",
        "claims_page",
        "beds",
        "claim_daemons",
        "claim_place",
        "transfer_programs",
        "run",
        "preloaded",
        "miss_reasons",
        "beside_drishti",
        "drishti_peer",
        "pairs",
        "agenda_left_open",
        "unchanged",
    }
    in_prose = {"mphys_fidelity", "show_pieces", "write_sizes"}  # their figures are in pages of their own
    used = {Path(word).stem for known in CATALOGUE for word in known.command.split() if word.endswith(".py")}
    scripts = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    assert scripts - helpers - in_prose <= used


IMPORTS_EACH = """
import os, sys, traceback
import matplotlib, scipy.stats, workalike.api  # most scripts need them; imported once, they are there in each child
for script in sys.argv[1:]:
    if not (child := os.fork()):
        try:
            __import__(script)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    print(script, os.waitpid(child, 0)[1], flush=True)
"""
SCRIPTS = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py"))


@pytest.fixture(scope="module")
def imported() -> tuple[dict[str, str], str]:
    """Whether the import of each script, in a process of its own, ended with 0, and what all printed."""
    command = [sys.executable, "-c", IMPORTS_EACH, *SCRIPTS]
    done = subprocess.run(command, cwd=ROOT / "benchmarks", capture_output=True, text=True)
    return dict(line.rsplit(" ", 1) for line in done.stdout.splitlines()), done.stderr


@pytest.mark.parametrize("script", SCRIPTS)
def test_script_finds_what_it_imports(script: str, imported: tuple[dict[str, str], str]) -> None:
    """Benchmarks run rarely, but the parts of the library that they import move often."""
    ends, printed = imported
    assert ends[script] == "0", printed


def test_table_shows_figure_target_command_and_origin() -> None:
    known = catalogue.entry("read-logs")
    reached = Figure("reading", "0.75 ×", "≥ 0.6 ×", True)
    missed = Figure("counters | names", "5.4 ×", "≥ 10 ×", False)
    lines = results_page.rows(known, result("read-logs", reached, missed), ["1 core", "2 cores"])
    assert lines == [
        '| <a id="read-logs"></a>reading | ≥ 0.6 × | 0.75 × | `python benchmarks/read_logs.py` '
        "| 2026-01-02, commit 0123456789, machine B, load 0.5 to 1.5 |",
        "| counters \\| names | ≥ 10 × | 5.4 × **(missed)** | same | same |",
    ]


def test_what_people_did_is_not_stamped_anew(checkout: tuple[Path, Entry]) -> None:
    _, known = checkout
    by_hand = dataclasses.replace(known, command="by hand", kind=Kind.PEOPLE)
    assert not run.perform(by_hand)
    Result(by_hand.name, by_hand.command, STAMP, [Figure("a role", "3 min")]).save(by_hand.file)
    written = by_hand.file.read_bytes()
    assert run.perform(by_hand)
    assert by_hand.file.read_bytes() == written


def test_tests_that_pass_make_the_result_that_the_catalogue_says(checkout: tuple[Path, Entry]) -> None:
    _, known = checkout
    passing = ("1,000 mutants", "no traceback")
    tests = dataclasses.replace(known, command="python -c pass", kind=Kind.TESTS, passing=passing)
    assert run.perform(tests)
    assert load_result(tests.file).figures == [Figure("1,000 mutants", "no traceback", "no traceback", True)]
    written = tests.file.read_bytes()
    assert not run.perform(dataclasses.replace(tests, command="python -c 'raise SystemExit(1)'"))
    assert tests.file.read_bytes() == written
    tests.file.unlink()
    assert not run.perform(dataclasses.replace(tests, passing=None))
    assert not tests.file.exists()


def test_the_number_of_tests_is_that_of_the_run(checkout: tuple[Path, Entry]) -> None:
    _, known = checkout
    tests = dataclasses.replace(known, command="tests", kind=Kind.TESTS)
    for summary, figure in (
        ("217 passed, 6 skipped in 4.10s", "equal; 217 tests passed, 6 skipped"),
        (
            "1 failed, 3 passed in 0.1s\n== 1800 passed, 2 warnings in 60.0s (0:01:00) ==",
            "equal; 1,800 tests passed, 0 skipped",
        ),
        ("the bundle is accepted", "equal; 1,800 tests passed, 0 skipped"),
    ):
        kept = (
            load_result(tests.file).figures if tests.file.exists() else [Figure("counters", "equal", "equal")]
        )
        Result(tests.name, tests.command, STAMP, kept).save(tests.file)
        assert run.figures_of_tests(tests, run.counted(summary))[0].figure == figure
        Result(tests.name, tests.command, STAMP, run.figures_of_tests(tests, run.counted(summary))).save(
            tests.file
        )
    assert load_result(tests.file).figures[0].values == {"passed": 1800, "skipped": 0}


def test_tests_that_are_all_skipped_are_no_result(checkout: tuple[Path, Entry]) -> None:
    _, known = checkout
    command = "python -c 'print(\"4 skipped in 0.1s\")'"
    tests = dataclasses.replace(known, command=command, kind=Kind.TESTS, passing=("4 files", "equal"))
    assert not run.perform(tests)
    assert not tests.file.exists()


def test_commits_of_results_are_in_the_repository_or_named_as_not_known() -> None:
    if git("rev-parse", "--is-shallow-repository") != "false":
        pytest.skip("the tree is not a whole git checkout")
    for path in sorted(FOLDER.glob("*.json")):
        stamp = load_result(path).stamp
        is_here = git("cat-file", "-e", f"{stamp.commit}^{{commit}}") is not None
        assert stamp.commit is None or is_here != stamp.elsewhere, path.name


def test_missing_result_is_shown_as_missing() -> None:
    source = "\n".join(f"{{{{{known.name}}}}}" for known in CATALOGUE)
    page = results_page.make_page(source, {})
    assert page.count("**not measured**") == len(CATALOGUE)


def test_page_without_a_place_for_a_result_is_refused() -> None:
    with pytest.raises(SystemExit, match="read-logs"):
        results_page.make_page("{{full-scale}}", {})


def test_command_line_is_recognised_whatever_the_folder() -> None:
    called = ["/somewhere/benchmarks/mphys_replicas.py", "--only", "bytes"]
    assert entry_of_command(called) == catalogue.entry("mphys-bytes")
    assert entry_of_command([*called, "--dir", "/x"]) is None


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Entry]:
    """A repository with one source and one result that depends on it."""
    for module in (catalogue, results, run):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(catalogue.definition, "FOLDER", tmp_path / "results")
    known = Entry("small", "python benchmarks/small.py", ("source.c", "folder"))
    monkeypatch.setattr(results, "CATALOGUE", (known,))
    (tmp_path / "source.c").write_text("int a;\n")
    commit(tmp_path)
    return tmp_path, known


def commit(folder: Path) -> None:
    user = ["-c", "user.name=x", "-c", "user.email=x@y"]
    for command in (["init", "-q"], ["add", "-A"], [*user, "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=folder, check=True)


def measure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["benchmarks/small.py"])
    written = Results()
    written.add("size", "3 B", target="≤ 4 B", reached=True, bytes=3)
    written.write()


def test_written_result_is_current_until_a_source_changes(
    checkout: tuple[Path, Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, known = checkout
    assert run.state(known) == "missing"
    measure(monkeypatch)
    kept = load_result(known.file)
    assert kept.figures == [Figure("size", "3 B", "≤ 4 B", True, {"bytes": 3})]
    assert kept.stamp.commit and not kept.stamp.changed and kept.stamp.load is not None
    assert run.state(known) == "current"
    (folder / "beside.c").write_text("int b;\n")
    assert run.state(known) == "current"
    (folder / "source.c").write_text("int c;\n")
    assert run.state(known).startswith("stale: source.c changed since")
    commit(folder)
    assert run.state(known).startswith("stale: source.c changed since")
    (folder / "source.c").write_text("int a;\n")
    assert run.state(known) == "current"


def test_new_file_in_a_source_folder_is_a_change(
    checkout: tuple[Path, Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, known = checkout
    measure(monkeypatch)
    (folder / "folder").mkdir()
    (folder / "folder" / "new.c").write_text("int d;\n")
    assert run.state(known).startswith("stale: folder/new.c changed since")


def test_without_a_digest_the_commit_decides(
    checkout: tuple[Path, Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, known = checkout
    measure(monkeypatch)
    kept = load_result(known.file)
    old = dataclasses.replace(kept, stamp=dataclasses.replace(kept.stamp, digest=None))
    assert run.staleness(known, old) == "current"
    unknown = dataclasses.replace(old, stamp=dataclasses.replace(old.stamp, commit="f" * 40))
    assert run.staleness(known, unknown) == "stale: its commit is not known"
    (folder / "source.c").write_text("int c;\n")
    assert run.staleness(known, old).startswith("stale: source.c")


def test_other_command_is_stale(checkout: tuple[Path, Entry], monkeypatch: pytest.MonkeyPatch) -> None:
    _, known = checkout
    measure(monkeypatch)
    other = dataclasses.replace(known, command="python benchmarks/small.py --more")
    assert run.staleness(other, load_result(known.file)) == "stale: the command was another"


def test_figures_of_another_command_line_are_not_kept(
    checkout: tuple[Path, Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, known = checkout
    monkeypatch.setattr("sys.argv", ["benchmarks/small.py", "--quick"])
    Results().write()
    assert not known.file.exists()
