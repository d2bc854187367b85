"""Makes a bundle: an archive with the engine's source, plans, rules and scripts; the same input gives the same bytes."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from workalike.bundle.rules import FIELDS, FREE, GROUPS, TUNABLE, PlanRule, Rules, fixed_fields
from workalike.bundle.storage_rules import EXCLUDED, storage_rule
from workalike.engine_build.sbom import NAME as SBOM
from workalike.engine_build.sbom import sbom
from workalike.engine_build.source import cmake_lists, header_files, licence, source_files
from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import write_bytes
from workalike.launch.directories import names_of
from workalike.plan.choices import only_counts
from workalike.plan.core import core_plan
from workalike.plan.plan_file import plan_text
from workalike.plan.plan_schema import Plan
from workalike.record.counted import counted_dumps
from workalike.version import VERSION

CHECKSUMS, RULES, LIST = "CHECKSUMS", "RULES.json", "plans/LIST"
SCRIPTS = ("build.sh", "run.sh")
TEXTS = ("README.txt", *SCRIPTS)


@dataclass(frozen=True)
class Packed:
    """A bundle: its files by path, its rules, and its identity (SHA-256 of CHECKSUMS)."""

    files: Mapping[str, bytes]
    rules: Rules
    id: str


def pack(
    plans: Mapping[str, Plan],
    repeats: int,
    tunable: Sequence[str] = TUNABLE,
    *,
    memory_factor: float | None = None,
    memory_factors: Mapping[str, float] = {},
    excluded: Sequence[str] = EXCLUDED,
) -> Packed:
    """The files of a bundle.

    Args:
        plans: name of a workload -> its plan.
        repeats: how often each is run.
        tunable: words of what may be changed in a plan's families (`rules.FIELDS`, `rules.GROUPS`).
        memory_factor: least working set as a multiple of the memory of all nodes; None: `storage_rule`'s default.
        memory_factors: the same of single workloads, by name.
        excluded: types of file system on which no run counts.

    Raises:
        WorkalikeError: MISSING without source or headers; USAGE for a plan of the original's own bytes, or of a backend
            that only counts.
    """
    files: dict[str, bytes] = {}
    rules = []
    for name, plan in plans.items():
        _refuse_counting(name, plan)
        text = plan_text(plan).encode()
        files[f"plans/{name}/plan.json"] = text
        files |= {f"plans/{name}/{table}": content for table, content in plan.tables.items()}
        dumps = counted_dumps(plan, core_plan(plan))
        moved = sum(dump["bytes_written"] + dump["bytes_read"] for dump in dumps)
        rules.append(
            PlanRule(
                name=name,
                sha256=hashlib.sha256(text).hexdigest(),
                ranks=plan.ranks,
                bytes=moved,
                storage=storage_rule(plan, dumps, memory_factors.get(name, memory_factor)),
            )
        )
    about = Rules.model_validate(
        {
            "workalike": VERSION,
            "repeats": repeats,
            "tunable": list(tunable),
            "fixed": fixed_fields(tunable),
            "free": list(FREE),
            "excluded_file_systems": list(excluded),
            "plans": [r.model_dump() for r in rules],
        }
    )
    files[RULES] = (about.model_dump_json(indent=1) + "\n").encode()
    files[LIST] = "".join(f"{rule.name} {rule.ranks}\n" for rule in rules).encode()
    files |= dict(source_files())
    files |= dict(header_files())
    files["LICENSES/workalike"] = licence()
    files["CMakeLists.txt"] = cmake_lists()
    files[SBOM] = sbom(files)
    names = sorted({name for plan in plans.values() for name in names_of(plan) if name})
    files |= {name: _filled(name, about, names) for name in TEXTS}
    sums = "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files)).encode()
    files[CHECKSUMS] = sums
    return Packed(files, about, hashlib.sha256(sums).hexdigest())


def write_bundle(packed: Packed, path: Path) -> None:
    """Write the archive; everything lies in a folder of the archive's name.

    Raises:
        WorkalikeError: USAGE for a name without `.tar.gz`; CANNOT_WRITE.
    """
    if not path.name.endswith(".tar.gz") or path.name == ".tar.gz":
        raise WorkalikeError(ErrorKind.USAGE, "is not a name of a bundle", file=path, hint="use NAME.tar.gz")
    folder = path.name.removesuffix(".tar.gz")
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(packed.files):
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size = len(packed.files[name])
            entry.mode = 0o755 if name in SCRIPTS else 0o644
            archive.addfile(entry, io.BytesIO(packed.files[name]))
    write_bytes(path, gzip.compress(raw.getvalue(), mtime=0))


def _filled(name: str, rules: Rules, directories: Sequence[str]) -> bytes:
    """A text of the bundle with its numbers, and the directories that its plans name."""
    text = resources.files("workalike.bundle").joinpath("templates", name).read_text()
    words = {
        "@VERSION@": rules.workalike,
        "@REPEATS@": str(rules.repeats),
        "@FOLDERS@": " ".join(["DIR", *(f"{each}=DIR" for each in directories)]),
        "@NAMES@": "".join(f" {each}" for each in directories),
        "@TUNABLE@": _listed(_explained(word) for word in rules.tunable),
        "@FIXED@": _listed(rules.fixed),
        "@STORAGE@": _listed(_storage_lines(rules)),
        "@WORKLOADS@": "\n".join(
            f"  {rule.name}: {rule.ranks} ranks, {rule.bytes / 2**20:,.1f} MiB a run" for rule in rules.plans
        ),
    }
    for word, value in words.items():
        text = text.replace(word, value)
    return text.encode()


def _explained(word: str) -> str:
    """A word of the rules with the fields of a plan that it stands for."""
    if word in GROUPS:
        return f"{word} (all of them)"
    places = FIELDS.get(word, ())
    return f"{word} ({', '.join(places)})" if places and places != (word,) else word


def _storage_lines(rules: Rules) -> Iterator[str]:
    """What the rules about storage ask for, a line for each."""
    if rules.excluded_file_systems:
        yield f"no run on a file system in memory or otherwise excluded: {', '.join(rules.excluded_file_systems)}"
    for rule in rules.plans:
        if rule.storage is None:
            continue
        if rule.storage.memory_factor:
            yield f"{rule.name}: files of at least {rule.storage.memory_factor:g} x the memory of all nodes"
        if rule.storage.writes_end_with_sync:
            yield f"{rule.name}: each dump that writes ends with a sync"
        if rule.storage.reads_uncached:
            yield f"{rule.name}: reads follow a drop of caches, or come from another node"


def _listed(words: Iterable[str]) -> str:
    return "\n".join(f"    {word}" for word in words) or "    nothing"


def _refuse_counting(name: str, plan: Plan) -> None:
    """A backend that only counts moves no data: nothing of a vendor's system would be measured."""
    counting = sorted({family.backend for family in plan.families if only_counts(family.backend)})
    if counting:
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"the backend {counting[0]} of {name} moves no data",
            hint="plan it for posix, mpiio or another backend that does",
        )
