"""What `fidelity.json` says about a replica: each family, and the counters that differ most."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

LOG = Path(__file__).parents[1] / "tests" / "data" / "per-rank-4.darshan"

with tempfile.TemporaryDirectory() as folder:
    command = [
        "workalike",
        "replicate",
        str(LOG),
        "-o",
        folder,
        "--ranks",
        "4",
        "--bytes-scale",
        "1",
        "--time-scale",
        "0",
    ]
    subprocess.run([*command, "--quiet"], check=True, stdout=sys.stderr)
    fidelity = json.loads((Path(folder) / "fidelity.json").read_text())

for family in fidelity["families"]:
    dumps = f"{family['dumps_replica']} of {family['dumps_original']} dumps"
    print(f"{family['name']}: {dumps}, total bytes {family['total_bytes_error_pct']:+.3f} %")

# Counters say under which law they were compared; those without one are not part of a workload.
compared = [c for c in fidelity["counters"] if c["comparable"] and c["error_pct"] is not None]
worst = sorted(compared, key=lambda c: -abs(c["error_pct"]))[:3]
print(len(compared), "counters compared; largest errors:")
for c in worst:
    print(f"  {c['module']} {c['counter']}: {c['replica']:g} for {c['original']:g} ({c['law']})")
