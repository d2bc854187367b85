"""Is a workload found again? A log with the counters of its run is made and characterized."""

from __future__ import annotations

import json
from pathlib import Path

from counted_logs import RANKS, log_of

from workalike.characterize import Characterization, characterize
from workalike.compare.lines import model_against_log
from workalike.compare.pairing import pair_up
from workalike.darshan import open_log
from workalike.workload.model import Workload


def workload(content: dict[str, object], **family: object) -> Workload:
    document = {
        "role": "scratch", "interface": "posix", "sharing": "shared", "schedule": {"start": ["1 s"]},
        **({"content": content} if content else {}), **family,
    }  # fmt: skip
    return Workload.model_validate(
        {"workalike": 2, "ranks": RANKS, "runtime": "20 s", "families": [document]}
    )


def found_again(truth: Workload, tmp_path: Path) -> Characterization:
    found = characterize([open_log(log_of(truth, tmp_path / "app.darshan"))])
    rows = model_against_log(pair_up(found, None))
    off = [
        f"{row.counter}: {row.expected} in the log, {row.found} predicted" for row in rows if not row.agrees
    ]
    assert rows and not off, json.dumps(off)
    return found


def both(direction_sizes: dict[str, str], **more: object) -> dict[str, object]:
    return {"streams": [{"direction": d, "sizes": [s]} for d, s in direction_sizes.items()], **more}
