"""Two runs of the zoo beside each other, by kind: `python -m tests.zoo.by_kind BEFORE.json AFTER.json`.

The files are those that `tests.zoo.run -o` writes. Of a kind with several cases each must be true. The lines are Markdown,
for docs/results/page.md.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from .case import REPLICAS

Truths = dict[str, dict[str, bool]]
"""Kind -> way (from a trace, from counters) -> whether all its replicas are true."""


def truths_of(path: Path) -> tuple[Truths, dict[str, str]]:
    """The kinds of a run, and the group of each: what its programs stand on."""
    found: Truths = defaultdict(dict)
    groups = {}
    for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
        for way, replica in case["replicas"].items():
            before = found[case["kind"]].get(way, True)
            found[case["kind"]][way] = before and is_true(replica)
        groups[case["kind"]] = case["group"]
    return dict(found), groups


def is_true(replica: dict[str, Any]) -> bool:
    return replica["measured"] > 0 and not replica["off"]


def table(before: Truths, after: Truths, groups: dict[str, str]) -> list[str]:
    """A row for each group, and the kinds that are not true after."""
    ways = list(REPLICAS)
    lines = [
        "| programs of | kinds | " + " | ".join(f"true from {way}: before → after" for way in ways) + " |",
        "|---|---|" + "---|" * len(ways),
    ]
    both = sorted(before.keys() & after.keys())
    for group in [*sorted(set(groups.values())), "all"]:
        kinds = [kind for kind in both if group in (groups[kind], "all")]
        cells = [f"{count(before, kinds, way)} → {count(after, kinds, way)}" for way in ways]
        lines.append(f"| {group} | {len(kinds)} | " + " | ".join(cells) + " |")
    for way in ways:
        wrong = [kind for kind in both if not after[kind].get(way)]
        lines += ["", f"Not true from {way}: {', '.join(wrong)}."]
    return lines


def count(truths: Truths, kinds: list[str], way: str) -> int:
    return sum(truths[kind].get(way, False) for kind in kinds)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    options = parser.parse_args()
    (before, groups), (after, later) = truths_of(options.before), truths_of(options.after)
    print("\n".join(table(before, after, groups | later)))


if __name__ == "__main__":
    main()
