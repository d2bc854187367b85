"""docs/results.md from docs/results/*.json: no figure of it is written by hand.

    python benchmarks/results_page.py [--check]

`docs/results/page.md` holds what people write: headings, notes, and lines `{{NAME NAME ...}}`, each of which becomes a
table of these results. --check says whether the page is up to date.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from catalogue import CATALOGUE, FOLDER, ROOT, Entry, entry
from results import Result, Stamp, load_result

SOURCE = FOLDER / "page.md"
PAGE = ROOT / "docs" / "results.md"
TABLE = re.compile(r"^\{\{([^}]*)\}\}$", flags=re.MULTILINE)
HEAD = "| measure | target | figure | command | measured |\n|---|---|---|---|---|\n"
MACHINES = "{machines}"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def make_page(source: str, results: dict[str, Result]) -> str:
    """The page's text. `results` has those that exist, by name; all others are shown as missing."""
    machines = list(dict.fromkeys(r.stamp.machine for r in results.values()))
    shown: set[str] = set()

    def table(match: re.Match[str]) -> str:
        names = match.group(1).split()
        shown.update(names)
        return HEAD + "\n".join(
            row for name in names for row in rows(entry(name), results.get(name), machines)
        )

    text = TABLE.sub(table, source)
    if left_out := [known.name for known in CATALOGUE if known.name not in shown]:
        raise SystemExit(f"{SOURCE.relative_to(ROOT)} has no place for {', '.join(left_out)}")
    listed = "\n".join(f"* {letter}: {words}" for letter, words in zip(LETTERS, machines, strict=False))
    return text.replace(MACHINES, listed)


def rows(known: Entry, result: Result | None, machines: list[str]) -> list[str]:
    if result is None:
        return [f"| {cell(known.name)} | | **not measured** | `{known.command}` | – |"]
    command, stamp = f"`{result.command}`", measured(result, machines)
    lines = []
    place = f'<a id="{known.name}"></a>'
    for figure in result.figures:
        text = cell(figure.figure) + (" **(missed)**" if figure.reached is False else "")
        lines.append(
            f"| {place}{cell(figure.measure)} | {cell(figure.target)} | {text} | {command} | {stamp} |"
        )
        command, stamp, place = "same", "same", ""
    return lines


def measured(result: Result, machines: list[str]) -> str:
    stamp = result.stamp
    words = ["converted" if stamp.origin == "converted" else "", stamp.date or "date not known"]
    words.append(commit_words(stamp))
    words.append(f"machine {LETTERS[machines.index(stamp.machine)]}")
    words.append("load {:.1f} to {:.1f}".format(*stamp.load) if stamp.load else "load not recorded")
    return ", ".join(word for word in words if word)


def commit_words(stamp: Stamp) -> str:
    if stamp.commit is None:
        return "commit not known"
    changes = " and changes" if stamp.changed else ""
    return f"commit {stamp.commit}{changes}{' (not known here)' if stamp.elsewhere else ''}"


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def known_results(folder: Path = FOLDER) -> dict[str, Result]:
    """Results of the catalogue that exist, in its order."""
    return {
        known.name: load_result(folder / f"{known.name}.json")
        for known in CATALOGUE
        if (folder / f"{known.name}.json").exists()
    }


def page_text() -> str:
    return make_page(SOURCE.read_text(encoding="utf-8"), known_results())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the page is another")
    given = parser.parse_args()
    text = page_text()
    if given.check:
        if PAGE.read_text(encoding="utf-8") != text:
            print(
                "docs/results.md is not what its results make: run benchmarks/results_page.py",
                file=sys.stderr,
            )
            return 1
        return 0
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
