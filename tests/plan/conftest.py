"""The strategies and sums of tests/workload serve here too."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "workload"))
