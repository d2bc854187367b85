"""`workalike` and `python -m workalike`."""

from __future__ import annotations

import sys


def main() -> None:
    """Start the command line; Ctrl-C while it is being loaded also prints one line, not a traceback."""
    try:
        from workalike import cli
    except KeyboardInterrupt:
        print("workalike: interrupted", file=sys.stderr)
        sys.exit(130)
    cli.main()


if __name__ == "__main__":
    main()
