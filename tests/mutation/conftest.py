"""The mutators lie beside their tests."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
