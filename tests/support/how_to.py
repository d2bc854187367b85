"""Applies the steps of a page of docs/how-to to a copy of the tree.

A step is a comment and the code block after it:

    <!-- new PATH -->      the block is the file
    <!-- change PATH -->   a diff without a head: its lines with ' ' and '-' are found in the file, exactly once
    <!-- run -->           shell commands, run at the root, which must succeed
    <!-- shows -->         the output of the last commands contains this text
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from known_logs import REPOSITORY

STEP = re.compile(
    r"^<!-- (new|change|run|shows)(?: (\S+))? -->\n```\w*\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL
)

OWN_SOURCES = """\
# An editable installation finds modules by a table of the original tree's files; here the copy's are meant, and its
# core where a step has built one.
import pathlib
import sys

for finder in sys.meta_path:
    if type(finder).__name__ == "ScikitBuildRedirectingFinder":
        finder.known_source_files.clear()
        if list((pathlib.Path(__file__).parents[1] / "src" / "workalike").glob("_core*.so")):
            finder.known_wheel_files.pop("workalike._core", None)
"""


@dataclass
class Applied:
    """A copy of the tree after a page's steps."""

    tree: Path
    touched: set[str] = field(default_factory=set)
    """Files that are new or changed, tests left out."""
    runs: int = 0
    output: str = ""


def copy_of_tree(to: Path) -> Path:
    """All files that git tracks or would add, without build results."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
        text=True,
    )
    for name in listed.stdout.split("\0"):
        source = REPOSITORY / name
        if name and source.is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, to / name)
    return to


def apply_page(page: Path, tree: Path) -> Applied:
    """Apply the steps; raises AssertionError with a step that failed."""
    done = Applied(tree)
    steps = STEP.findall(page.read_text(encoding="utf-8"))
    assert steps, f"{page} has no steps"
    for kind, name, text in steps:
        if kind in ("new", "change"):
            path = tree / name
            if kind == "new":
                assert not path.exists(), f"{name} is there already"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            else:
                path.write_text(changed(path.read_text(encoding="utf-8"), text, name), encoding="utf-8")
            if not name.startswith("tests/"):
                done.touched.add(name)
        elif kind == "run":
            done.output = run(text, tree)
            done.runs += 1
        else:
            assert text.strip() in done.output, f"not shown: {text}\nbut: {done.output}"
    return done


def changed(content: str, diff: str, name: str) -> str:
    """The content after a diff; the lines of the diff determine its place."""
    lines = diff.splitlines()
    before = "".join(line[1:] + "\n" for line in lines if not line.startswith("+"))
    after = "".join(line[1:] + "\n" for line in lines if not line.startswith("-"))
    assert content.count(before) == 1, f"{name} has these lines {content.count(before)} times:\n{before}"
    return content.replace(before, after)


def run(commands: str, tree: Path) -> str:
    """The output of the commands, which use the copy's Python code instead of the installed one."""
    python = tree / ".how-to"
    python.mkdir(exist_ok=True)
    if not (python / "python").exists():
        (python / "sitecustomize.py").write_text(OWN_SOURCES)
        (python / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        (python / "python").chmod(0o755)
    path = os.pathsep.join([str(python), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": f"{python}{os.pathsep}{tree / 'src'}"}
    if shutil.which("ccache"):  # most of the copy was compiled before, elsewhere
        environment |= {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CMAKE_C_COMPILER_LAUNCHER": "ccache"}
        environment |= {"CCACHE_BASEDIR": str(tree), "CCACHE_NOHASHDIR": "1"}
    done = subprocess.run(
        ["sh", "-e"],
        input=commands,
        cwd=tree,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0, f"{commands}\nexit code {done.returncode}:\n{done.stdout}"
    return done.stdout
