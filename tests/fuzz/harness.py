"""Commands called in this process, with what must never happen made an error: another exception, a signal, a hang."""

from __future__ import annotations

import contextlib
import io
import os
import random
import resource
import signal
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import pytest
import typer

from workalike.cli import USAGE_ERROR, app
from workalike.errors import WorkalikeError
from workalike.launch.run import engine_if_built

COUNT = int(os.environ.get("WORKALIKE_MUTANTS", "20000"))
SEED = int(os.environ.get("WORKALIKE_MUTANTS_SEED", "1"))
SECONDS = 60
"""Of CPU time, after which a mutant hangs; one that waits hangs after ten times that, since the machine may be busy."""
WAITING = 10 * SECONDS
MEMORY = 8 * 2**30
MOST_REPORTED = 10
MOST_QUOTED = 3000
"""Characters of an error's line: what it quotes of its input is bounded."""


class Hang(BaseException):
    """A mutant took longer than any should."""


@cache
def built() -> Any:
    """The command line, built once: that takes longer than most mutants."""
    return typer.main.get_command(app)


def command(*arguments: object) -> int:
    """A command's exit code.

    Raises:
        AssertionError: an error without what to do, or one that fills the screen.
    """
    out, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        try:
            code = built()([str(a) for a in arguments], standalone_mode=False)
        except WorkalikeError as error:
            line = error.one_line()
            assert line.isprintable() and len(line) < MOST_QUOTED, line[:200]
            return error.exit_code
        except USAGE_ERROR:
            return 2
    return code if isinstance(code, int) else 0


def engine_check(plan: Path) -> int:
    """What the engine says of a plan: 0, or 2 with one line."""
    engine = engine_if_built()
    assert engine is not None
    done = subprocess.run(
        [str(engine), "--check", "--plan", str(plan)], capture_output=True, timeout=WAITING, check=False
    )
    assert done.returncode in (0, 2), f"the engine ended with {done.returncode}: {done.stderr[-300:]!r}"
    assert (len(done.stderr.splitlines()) == 1) == (done.returncode == 2), done.stderr[-300:]
    return done.returncode


@contextlib.contextmanager
def limits() -> Iterator[None]:
    """Bounded memory, and alarms that stop what hangs."""

    def stop(*_: object) -> NoReturn:
        raise Hang

    before = resource.getrlimit(resource.RLIMIT_AS)
    handlers = {number: signal.signal(number, stop) for number in (signal.SIGALRM, signal.SIGPROF)}
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, before[1]))
    try:
        yield
    finally:
        alarm(False)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        resource.setrlimit(resource.RLIMIT_AS, before)


def alarm(on: bool) -> None:
    """Set the alarms for a mutant, or take them back."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS if on else 0)
    signal.alarm(WAITING if on else 0)


def torture(kind: str, scratch: Path, mutate: Callable[[random.Random], Any]) -> Counter[Any]:
    """Make and try mutants; give how often which end was met.

    Args:
        kind: of mutants, for the messages.
        scratch: where a mutant that fails is kept, and where commands run.
        mutate: makes a mutant from dice and tries it, in the working folder; what it returns is its end.

    Raises:
        AssertionError: with the first failures and how often each was met.
    """
    ends: Counter[Any] = Counter()
    failures: dict[str, tuple[int, str]] = {}
    met: Counter[str] = Counter()
    there = Path.cwd()
    os.chdir(scratch)
    try:
        with limits():
            for turn in range(COUNT):
                alarm(True)
                try:
                    ends[mutate(random.Random(SEED * 1_000_003 + turn))] += 1
                except (Exception, Hang, SystemExit) as error:
                    alarm(False)
                    where = traceback.extract_tb(error.__traceback__)[-1]
                    what = f"{type(error).__name__} in {Path(where.filename).name}:{where.lineno}"
                    met[what] += 1
                    failures.setdefault(what, (turn, "".join(traceback.format_exception(error)[-6:])))
                    if met[what] == 1:
                        print(f"{kind} {turn}: {what}: {str(error)[:200]}", file=sys.stderr, flush=True)
                finally:
                    alarm(False)
    finally:
        os.chdir(there)
    print(f"{kind}: {COUNT} mutants of seed {SEED}: {dict(ends)}", file=sys.stderr)
    if failures:
        said = [
            f"{kind}, seed {SEED}, turn {t}, {met[w]} times:\n{text}" for w, (t, text) in failures.items()
        ]
        pytest.fail("\n".join(said[:MOST_REPORTED]))
    return ends
