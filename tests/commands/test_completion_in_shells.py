"""Real shells complete commands, options and their values, with the script that --install-completion installs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# What each shell does when a user presses the tabulator key after $LINE, with the candidates on stdout.
PRESS_TAB = {
    "bash": """
        eval "$(_WORKALIKE_COMPLETE=source_bash workalike)"
        COMP_WORDS=($LINE); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _workalike_completion workalike
        printf '%s\\n' "${COMPREPLY[@]}"
    """,
    "zsh": """
        compdef() { }
        _arguments() { print -r -- "$@" }
        eval "$(_WORKALIKE_COMPLETE=source_zsh workalike)"
        words=(${=LINE}); CURRENT=${#words}
        _workalike_completion
    """,
    "fish": """
        _WORKALIKE_COMPLETE=source_fish workalike | source
        complete --do-complete "$LINE"
    """,
}


@pytest.mark.parametrize("shell", PRESS_TAB)
@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("workalike cha", "characterize"),
        ("workalike run --bac", "--backend"),
        ("workalike run --backend nu", "null"),
    ],
)
def test_tabulator_key(shell: str, line: str, word: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")
    folders = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [shell, "-c", PRESS_TAB[shell]],
        env={**os.environ, "PATH": folders, "LINE": line},
        capture_output=True,
        text=True,
        check=True,
    )
    assert word in done.stdout, done.stderr
