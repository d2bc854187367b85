"""The engine's writer of TyphonIO files is found by the engine's tests."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
