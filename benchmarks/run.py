"""Runs the benchmarks whose results are missing or stale, makes the page, and says what is left.

    python benchmarks/run.py [NAME ...] [--list] [--all] [--long]

A result is stale when a source that it names has changed since it was measured: by a commit, in the working tree, or
because it is not there any more. Without names, long ones are left to --long.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import results_page
from catalogue import CATALOGUE, ROOT, Entry, Kind, entry
from results import Figure, Result, digest_of, git, load_result, stamp_now

COUNTED = ("passed", "skipped")
SUMMARY = re.compile(r"^=* ?((?:\d+ \w+, )*\d+ \w+) in [\d.]+s", re.MULTILINE)
"""pytest's last line: "217 passed, 6 skipped in 4.10s"."""
OLD_COUNTS = re.compile(r"; [\d,]+ tests passed, [\d,]+ skipped$")


def state(known: Entry) -> str:
    """'current', 'missing', or why it is stale."""
    if not known.file.exists():
        return "missing"
    return staleness(known, load_result(known.file))


def staleness(known: Entry, result: Result) -> str:
    if result.command != known.command:
        return "stale: the command was another"
    stamp = result.stamp
    if stamp.digest is not None:
        return (
            "current" if stamp.digest == digest_of(known) else f"stale: {changed_since(known, stamp.commit)}"
        )
    names = changed_since(known, stamp.commit)
    return f"stale: {names}" if names else "current"


def changed_since(known: Entry, commit: str | None) -> str:
    """Which sources have changed, in words; '' for none. Without the commit: that it is not known."""
    if commit is None or git("cat-file", "-e", f"{commit}^{{commit}}") is None:
        return "its commit is not known"
    changed = git("diff", "--name-only", commit, "--", *known.sources)
    new = git("ls-files", "--others", "--exclude-standard", "--", *known.sources)
    names = sorted({*(changed or "").split(), *(new or "").split()})
    if not names:
        return ""
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{names[0]}{more} changed since {commit}"


def perform(known: Entry) -> bool:
    """Run it; whether it did what it should. Scripts write their result, tests get a new stamp when they pass."""
    if known.kind is Kind.PEOPLE:
        return known.file.exists()
    load = os.getloadavg()[0]
    words = shlex.split(known.command)
    if words[0] == "python":
        words[0] = sys.executable
    before = known.file.stat().st_mtime_ns if known.file.exists() else None
    if known.kind is Kind.SCRIPT:
        # A script's exit code says whether targets were reached; that is in its figures. Its result must be new.
        subprocess.run(words, cwd=ROOT)
        return known.file.exists() and known.file.stat().st_mtime_ns != before
    code, output = shown(words)
    counts = counted(output)
    if code != 0 or (counts and not counts["passed"]):
        return False
    figures = figures_of_tests(known, counts)
    if figures:
        Result(known.name, known.command, stamp_now(known, load), figures).save(known.file)
    return bool(figures)


def shown(words: list[str]) -> tuple[int, str]:
    """The exit code of a command and what it printed, which is also shown."""
    lines = []
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            lines.append(line)
    return process.returncode, "".join(lines)


def counted(output: str) -> dict[str, float]:
    """Tests that passed and that were skipped, by pytest's last summary; empty where there is none."""
    summaries = SUMMARY.findall(output)
    if not summaries:
        return {}
    return {word: float((re.findall(rf"(\d+) {word}", summaries[-1]) or [0])[0]) for word in COUNTED}


def figures_of_tests(known: Entry, counts: dict[str, float]) -> list[Figure]:
    """What it means that they passed, and how many did; empty where neither the catalogue nor a result says it."""
    if known.passing is not None:
        measure, meaning = known.passing
        figures = [Figure(measure, meaning, target=meaning, reached=True)]
    else:
        figures = load_result(known.file).figures if known.file.exists() else []
    if figures and counts:
        meaning = OLD_COUNTS.sub("", figures[0].figure)
        figures[
            0
        ].figure = f"{meaning}; {counts['passed']:,.0f} tests passed, {counts['skipped']:,.0f} skipped"
        figures[0].values = counts
    return figures


def show(entries: list[Entry]) -> None:
    states = {known.name: state(known) for known in entries}
    width = max(map(len, states))
    for known in entries:
        note = " (by hand)" if known.kind is Kind.PEOPLE else " (long)" if known.is_long else ""
        print(f"{known.name:{width}}  {states[known.name]}{note}")
    current = sum(word == "current" for word in states.values())
    missing = sum(word == "missing" for word in states.values())
    print(
        f"{len(states)} results: {current} current, {missing} missing, {len(states) - current - missing} stale"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="only say what is current, missing or stale")
    parser.add_argument("--all", action="store_true", help="also those that are current")
    parser.add_argument(
        "--long", action="store_true", help="also those that take more than ten minutes, or root"
    )
    given = parser.parse_args()
    chosen = [entry(name) for name in given.names] or list(CATALOGUE)
    if given.list:
        show(chosen)
        return 0
    failed = []
    for known in chosen:
        wanted = given.names or (
            (given.long or not known.is_long) and (given.all or state(known) != "current")
        )
        if wanted:
            print(f"== {known.name}: {known.command}", flush=True)
            if not perform(known):
                failed.append(known.name)
    results_page.PAGE.write_text(results_page.page_text(), encoding="utf-8")
    show(chosen)
    if failed:
        print(f"failed or without a result: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    sys.exit(main())
