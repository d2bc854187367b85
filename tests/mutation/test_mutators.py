"""The mutators: each changes what it names and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from judge import HOOK
from mutators import mutations_of

SOURCE = '''
"""A docstring, 1 < 2."""
__all__ = ["f"]
def f(x: int | None = 3) -> int | None:
    """Another."""
    print(x)
    if x < 10 and x != 4:
        x += 2
    return x * 5
'''
EXPECTED = {
    "Mult": "return x // 5",
    "Lt": "if x <= 10 and x != 4:",
    "NotEq": "if x < 10 and x == 4:",
    "And": "if x < 10 or x != 4:",
    "negated": "if not (x < 10 and x != 4):",
    "11": "if x < 11 and x != 4:",
    "AugAssign": "x -= 2",
    "default": "def f(x: int | None=4) -> int | None:",
}


@pytest.mark.parametrize("case", EXPECTED)
def test_each_mutator(case: str) -> None:
    made = [make().source for make in mutations_of(SOURCE).values()]
    assert sum(EXPECTED[case] in source for source in made) == 1


def test_code_without_effect_stays() -> None:
    made = [make() for make in mutations_of(SOURCE).values()]
    assert all('"""A docstring, 1 < 2."""' in m.source and "__all__ = ['f']" in m.source for m in made)
    assert len({m.source for m in made}) == len(made)
    removed = [m for m in made if m.what.startswith("statement removed")]
    assert sorted(m.what for m in removed) == ["statement removed: print(x)", "statement removed: x += 2"]
    for mutation in made:
        compile(mutation.source, "mutant", "exec")


def test_the_hook_puts_the_mutant_in_place(tmp_path: Path) -> None:
    mutant = tmp_path / "errors.py"
    mutant.write_text("WHO = 'the mutant'")
    code = "import workalike.errors; print(workalike.errors.WHO)"
    environment = {**os.environ, "PYTHONPATH": str(HOOK), "WORKALIKE_MUTANT": f"workalike.errors={mutant}"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "the mutant"
