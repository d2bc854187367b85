"""Fuzzers share the mutants of logs with the tests of the log format."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "darshan"))
