"""Run a command with the capture library preloaded, as `workalike profile` does, and discard its log.

python benchmarks/preloaded.py COMMAND...
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from workalike.capture.library import find_library


def main() -> int:
    words = [sys.executable, *sys.argv[2:]] if sys.argv[1] == "python" else sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "LD_PRELOAD": str(find_library()), "WORKALIKE_CAPTURE_DIR": folder}
        return subprocess.run(words, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
