"""Hooks of the site (mkdocs.yml): the page of commands, and links to files of the repository that are not on the site."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
from workalike.commands.catalogue import PANELS, command_of

NOT_SEARCHED = ("results.md", "claims.md", "agreement.md", "known-verdicts.md", "mphys.md")
"""Laboratory books: their thousands of rows would come before the page that answers."""
SEARCHED_FIRST = (
    "tutorial/",
    "verdict.md",
    "slurm.md",
    "workload-",
    "bundle.md",
    "study.md",
    "confidentiality.md",
    "capture.md",
    "exchange.md",
)
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)+)([^)#]+)(?:#[^)]*)?\)")
ROOT = Path(__file__).resolve().parents[1]


def on_files(files: Any, config: Any) -> Any:
    """Add the page of commands, made from their help."""
    files.append(File.generated(config, "commands.md", content=commands_page()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """A link to a file outside docs/ is shown as its path: a site in a folder has no repository beside it."""
    if page.file.src_uri in NOT_SEARCHED:
        page.meta["search"] = {"exclude": True}
    elif page.file.src_uri.startswith(SEARCHED_FIRST):
        page.meta["search"] = {"boost": 3}
    elif page.file.src_uri.startswith("findings/"):
        page.meta["search"] = {"boost": 0.5}
    folder = ROOT / "docs" / Path(page.file.src_uri).parent

    def shown(link: re.Match[str]) -> str:
        text, up, path = link.groups()
        target = Path(os.path.normpath(folder / up / path))
        if target.is_relative_to(ROOT / "docs"):
            return link[0]
        return f"{text} (`{target.relative_to(ROOT)}`)"

    return LINK.sub(shown, markdown)


def commands_page() -> str:
    """The help of every command, by panel."""
    parts = ["# Commands", "`workalike COMMAND --help` prints the same."]
    for panel, commands in PANELS.items():
        parts.append(f"## {panel}")
        for name in commands:
            for words in [(name,), *((name, sub) for sub in getattr(command_of(name), "commands", ()))]:
                level = "#" * (2 + len(words))
                parts += [f"{level} workalike {' '.join(words)}", f"```text\n{help_of(words)}\n```"]
    return "\n\n".join(parts) + "\n"


def help_of(words: tuple[str, ...]) -> str:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "workalike"), *words, "--help"],
        env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())
