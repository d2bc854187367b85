"""Whether all known logs have the same workloads, plans and agreement with their logs as at another commit.

    python benchmarks/unchanged.py record FILE          # before a change of structure
    python benchmarks/unchanged.py check FILE           # after it
    python benchmarks/unchanged.py restamp FILE BEFORE  # check; results that were up to date at BEFORE stay so

FILE has a digest of each output of each job, so that a difference names the job and the output. `restamp` is for
commits that move code and change nothing that it does: a result keeps its figures, its commit and its date, and its
digest becomes that of the moved sources, if it was the digest of the sources at the commit BEFORE.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from catalogue import CATALOGUE, ROOT, Entry
from results import digest_of, load_result

sys.path.insert(0, str(ROOT / "tests"))

from support.known_logs import JOBS
from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.characterize.options import Model
from workalike.darshan import open_logs
from workalike.errors import WorkalikeError
from workalike.plan.plan_file import plan_text
from workalike.plan.resolve import Options, resolve
from workalike.workload.workload_file import workload_text

WAYS = {
    "default": CharacterizeOptions(),
    "counters": CharacterizeOptions(use_trace=False),
    "rules": CharacterizeOptions(refine=False),
    "mesh": CharacterizeOptions(model=Model.MESH),
    "extents": CharacterizeOptions(model=Model.EXTENTS),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["record", "check", "restamp"])
    parser.add_argument("file", type=Path)
    parser.add_argument("before", nargs="?", help="with restamp: the commit before the change")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--logs", type=Path, help="further jobs: the logs of each folder below this one")
    options = parser.parse_args()
    if (options.what == "restamp") != (options.before is not None):
        parser.error("restamp takes a commit, and nothing else does")
    jobs = JOBS + (jobs_below(options.logs) if options.logs else [])
    with ProcessPoolExecutor(options.jobs) as pool:
        found = dict(pool.map(outputs_of, jobs, chunksize=4))
    if options.what == "record":
        options.file.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        print(f"{len(found)} jobs: {options.file}")
        return 0
    different = differences(json.loads(options.file.read_text()), found)
    print("\n".join(different) or f"{len(found)} jobs, {len(WAYS)} ways each: byte for byte the same")
    if options.what == "restamp" and not different:
        restamp(options.before)
    return 1 if different else 0


def jobs_below(folder: Path) -> list[tuple[Path, ...]]:
    """The logs of each folder, which are one job."""
    folders = sorted({log.parent for log in folder.rglob("*.darshan")})
    return [tuple(sorted(of_job.glob("*.darshan"))) for of_job in folders]


def outputs_of(job: tuple[Path, ...]) -> tuple[str, dict[str, str]]:
    """(name of the job, digest of each output)."""
    out: dict[str, str] = {}
    for way, options in WAYS.items():
        try:
            done = characterize(open_logs(job), options)
            out |= {f"{way} {name}": digest(text) for name, text in texts_of(done).items()}
        except WorkalikeError as error:
            out[f"{way} error"] = digest(str(error))
    return "/".join(job[0].parts[-2:]), out


def texts_of(done: Characterization) -> dict[str, str]:
    families = [
        [facts.family.role, [d.sentence for d in facts.rules], facts.misfit, facts.alternatives]
        for facts in done.families
    ]
    return {
        "workload": workload_text(done.workload),
        "agreement": repr(families),
        "warnings": repr(done.warnings),
        "plan": plan_text(resolve(done.workload, Options())),
    }


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def differences(before: dict[str, dict[str, str]], after: dict[str, dict[str, str]]) -> list[str]:
    out = [f"{job}: not in both" for job in sorted(before.keys() ^ after.keys())]
    for job in sorted(before.keys() & after.keys()):
        names = sorted(before[job].keys() | after[job].keys())
        off = [name for name in names if before[job].get(name) != after[job].get(name)]
        out += [f"{job}: {', '.join(off)}"] if off else []
    return out


def restamp(before: str) -> None:
    """Give results that were up to date at a commit the digest of today's sources."""
    for known in CATALOGUE:
        if not known.file.exists():
            continue
        result = load_result(known.file)
        now = digest_of(known)
        fresh = result.stamp.digest not in (None, now) and result.stamp.digest == digest_at(known, before)
        if fresh:
            result.stamp.digest = now
            result.save(known.file)
            print(f"{known.name}: as before")


def digest_at(known: Entry, commit: str) -> str:
    """`digest_of` at a commit, of the sources that the catalogue had then."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "worktree", "add", "-q", "--detach", folder, commit], cwd=ROOT, check=True)
        try:
            code = f"from catalogue import entry; from results import digest_of; print(digest_of(entry({known.name!r})))"
            done = subprocess.run(
                [sys.executable, "-c", code],
                cwd=Path(folder) / "benchmarks",
                capture_output=True,
                text=True,
                check=True,
            )
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder], cwd=ROOT, check=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
