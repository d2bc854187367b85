"""`workalike` and `python -m workalike`."""

from __future__ import annotations

import sys


def main() -> None:
    """Start the command line; Ctrl-C while it is still being loaded is one line too."""
    try:
        from workalike import cli
    except KeyboardInterrupt:
        print("workalike: interrupted", file=sys.stderr)
        sys.exit(130)
    cli.main()


if __name__ == "__main__":
    main()
