"""`workalike` and `python -m workalike`."""

from __future__ import annotations

import gc
import sys

OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""Python would look for unreachable cycles after every 700 new objects. Reading a log makes many objects and
hardly a cycle, so that looking takes time and frees no memory."""


def main() -> None:
    """Start the command line; Ctrl-C while it is being loaded also prints one line, not a traceback."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    try:
        from workalike import cli
    except KeyboardInterrupt:
        print("workalike: interrupted", file=sys.stderr)
        sys.exit(130)
    cli.main()


if __name__ == "__main__":
    main()
