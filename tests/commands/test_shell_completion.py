"""What a shell offers for the words of options."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from workalike.bundle.rules import FIELDS, GROUPS
from workalike.commands.options import complete_list
from workalike.launch.batch.jobs import BATCH_SYSTEMS
from workalike.launch.launchers import LAUNCHERS
from workalike.plan.choices import BACKENDS


def offered(*words: str) -> list[str]:
    """What bash offers for the last word."""
    program = (
        "import sys; sys.argv[0] = 'workalike'; from workalike.cli import app; app(prog_name='workalike')"
    )
    asked = {
        "_WORKALIKE_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(("workalike", *words)),
        "COMP_CWORD": str(len(words)),
    }
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env={**os.environ, **asked}, capture_output=True, text=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offers"),
    [
        (("study", "STUDY.yaml", "--submit", ""), list(BATCH_SYSTEMS)),
        (("study", "run", "--submit", "s"), ["slurm"]),
        (("mix", "--launcher", ""), list(LAUNCHERS)),
        (("mix", "--backend", "p"), [name for name in BACKENDS if name.startswith("p")]),
        (("bundle", "--tunable", ""), [*GROUPS, *FIELDS]),
        (("bundle", "--tunable", "cb_nodes,al"), ["cb_nodes,alignment"]),
    ],
)
def test_words_of_options(words: tuple[str, ...], offers: list[str]) -> None:
    assert offered(*words) == offers


def test_a_list_offers_each_word_once() -> None:
    assert complete_list("a,", ("a", "b")) == ["a,b"]
    assert complete_list("", ("a", "b")) == ["a", "b"]


@pytest.mark.parametrize(
    "command", ["study run", "study check", "study merge", "study ceiling", "mix", "bundle"]
)
def test_help_has_examples(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "workalike", *command.split(), "--help"],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    shown = done.stdout.partition("Example")[2]
    assert f"workalike {command.removesuffix(' run')} " in shown
