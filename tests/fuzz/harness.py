"""Runs commands in this process. Any other exception, a signal and a hang are errors."""

from __future__ import annotations

import contextlib
import faulthandler
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
from workalike.launch.engines import engine_if_built

COUNT = int(os.environ.get("WORKALIKE_MUTANTS", "20000"))
SEED = int(os.environ.get("WORKALIKE_MUTANTS_SEED", "1"))
PARTS = 8
"""Tests that share the mutants of a kind, so that processes can share the work."""
SECONDS = 60
"""CPU time after which a mutant hangs. One that waits hangs after ten times that, since the machine may be busy."""
WAITING = 10 * SECONDS
MEMORY = 8 * 2**30
MOST_REPORTED = 10
MOST_QUOTED = 3000
"""Most characters of an error's line, which quotes only a part of its input."""


class Hang(BaseException):
    """A mutant took too long."""


@cache
def built() -> Any:
    """The command line, built once, since building it takes longer than most mutants."""
    return typer.main.get_command(app)


def command(*arguments: object) -> int:
    """Run a command; its exit code.

    Raises:
        AssertionError: the error's line is not printable or too long.
    """
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
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
    """The engine's exit code for a plan: 0, or 2 with one line on stderr."""
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
    """Limit the memory, and set up the alarms that stop a hanging mutant."""

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
    """Set the alarms for a mutant, or cancel them."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS if on else 0)
    signal.alarm(WAITING if on else 0)
    if on:  # compiled code that does not look for signals is ended with the process, and its stack is printed
        faulthandler.dump_traceback_later(2 * WAITING, exit=True, file=sys.__stderr__)
    else:
        faulthandler.cancel_dump_traceback_later()


def try_mutants(
    kind: str, scratch: Path, mutate: Callable[[random.Random], Any], part: int = 0, parts: int = 1
) -> Counter[Any]:
    """Make and try mutants; the number of times that each result occurred.

    Args:
        kind: the kind of mutants, for messages.
        scratch: the folder that commands run in, with the last mutant.
        mutate: makes a mutant from dice and tries it in the working folder; returns the result.
        part, parts: every `parts`-th mutant, from turn `part` on.

    Raises:
        AssertionError: with the first failures, and how often each occurred.
    """
    results: Counter[Any] = Counter()
    failures: dict[str, tuple[int, str]] = {}
    times_seen: Counter[str] = Counter()
    turns = range(part, COUNT, parts)
    folder_before = Path.cwd()
    os.chdir(scratch)
    try:
        with limits():
            for turn in turns:
                alarm(True)
                try:
                    results[mutate(random.Random(SEED * 1_000_003 + turn))] += 1
                except (Exception, Hang, SystemExit) as error:
                    alarm(False)
                    where = traceback.extract_tb(error.__traceback__)[-1]
                    failure = f"{type(error).__name__} in {Path(where.filename).name}:{where.lineno}"
                    times_seen[failure] += 1
                    failures.setdefault(failure, (turn, "".join(traceback.format_exception(error)[-6:])))
                    if times_seen[failure] == 1:
                        print(f"{kind} {turn}: {failure}: {str(error)[:200]}", file=sys.stderr, flush=True)
                finally:
                    alarm(False)
    finally:
        os.chdir(folder_before)
    print(f"{kind}: {len(turns)} mutants of seed {SEED}: {dict(results)}", file=sys.stderr)
    if failures:
        messages = [
            f"{kind}, seed {SEED}, turn {t}, {times_seen[seen_failure]} times:\n{text}"
            for seen_failure, (t, text) in failures.items()
        ]
        pytest.fail("\n".join(messages[:MOST_REPORTED]))
    return results
