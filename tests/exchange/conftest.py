"""The strategies for workloads lie with the tests of the model."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "workload"))
