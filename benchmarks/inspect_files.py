"""`workalike inspect` of files that the real TyphonIO library wrote: the defects that it finds in each.

python benchmarks/inspect_files.py
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from results import Results

FILES = Path(__file__).parents[2] / "shared" / "typhonio-files"
DEFECTIVE = 2
"""Files with the known defects of MACSio's unstructured meshes (docs/reference/typhonio-calls.md#whole-reads)."""


def main() -> int:
    files = sorted(FILES.rglob("*.h5"))
    if not files:
        print(f"needs the files in {FILES}", file=sys.stderr)
        return 2
    results = Results()
    unsound = 0
    for file in files:
        command = [sys.executable, "-m", "workalike", "inspect", str(file), "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
        found = json.loads(done.stdout)["counts"]
        unsound += done.returncode != 0
        words = ", ".join(f"{count} {kind}s" for kind, count in found.items() if count) or "nothing found"
        print(f"{file.name:40} exit code {done.returncode}: {words}")
        results.add(
            f"`workalike inspect` of the library's own file `{file.name}`", words, errors=found["error"]
        )
    results.add(
        f"files of the library that are not sound, of {len(files)}",
        str(unsound),
        target=f"{DEFECTIVE}, by known defects",
        reached=unsound == DEFECTIVE,
    )
    results.write()
    return 0 if unsound == DEFECTIVE else 1


if __name__ == "__main__":
    sys.exit(main())
