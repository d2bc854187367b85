"""Asks drishti-io which of its rules see a problem in logs. Runs in a virtual environment of its own.

    VENV/bin/python benchmarks/drishti_peer.py LOG...

prints a JSON object for each log: its codes of level HIGH or WARN, or that it failed.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys


def main() -> None:
    logs = sys.argv[1:]
    sys.argv = ["drishti", logs[0]]  # it reads its arguments when it is imported
    from drishti.handlers import handle_darshan
    from drishti.includes import config, module

    seen: list[str] = []
    original = config.message

    def message(code, target, level, *rest, **named):  # type: ignore[no-untyped-def]
        if level in (config.HIGH, config.WARN):
            seen.append(code)
        return original(code, target, level, *rest, **named)

    module.message = handle_darshan.message = message
    for log in logs:
        seen.clear()
        config.args.log_path = log
        failed = ""
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                handle_darshan.handler()
            except (Exception, SystemExit) as error:  # whatever it cannot do with a log is its answer
                failed = f"{type(error).__name__}: {error}"[:200]
        print(json.dumps({"log": log, "codes": sorted(set(seen)), "failed": failed}), flush=True)


if __name__ == "__main__":
    main()
