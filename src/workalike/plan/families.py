"""The plan's families: what all dumps of a family have in common."""

from __future__ import annotations

from workalike.plan import plan_schema as plan
from workalike.plan.choices import ranks_open_alone
from workalike.plan.dump_scale import FamilyScale
from workalike.plan.skew import skew_at
from workalike.plan.tunables import hdf5_of, hints_of
from workalike.workload import model as wl
from workalike.workload.family import Folders
from workalike.workload.words import STAYS_OPEN


def resolve_family(scale: FamilyScale) -> plan.PlanFamily:
    """The plan's family, without its dumps."""
    family = scale.family
    return plan.PlanFamily(
        id=scale.number,
        role=family.role,
        number=family.number,
        interface=family.interface,
        backend=scale.backend,
        level=family.counted_at,
        sharing=scale.sharing,
        # Which bytes of a file that stays open a dump writes follows from the bases of the dumps.
        lifetime=wl.Lifetime.APPENDED if family.lifetime in STAYS_OPEN else family.lifetime,
        keep=family.keep,
        rename=family.rename,
        backup=family.backup or None,
        sparse=family.sparse or None,
        removed=family.removed or None,
        truncate=_empties(scale),
        reader=family.reader,
        shift=_shift(scale),
        drop_caches=family.drop_caches,
        directory=family.directory,
        direct=family.direct or None,
        folders=_folders(family.folders),
        hints=hints_of(family.tunable),
        hdf5=hdf5_of(family.tunable),
        typhonio=family.tunable.typhonio or wl.TyphonioPattern.FAITHFUL,
        aggregators=family.tunable.aggregators or 0,
        buffer_alignment=family.tunable.buffer_alignment,
        skew=skew_at(family.schedule, scale.old_ranks, scale.ranks),
    )


def _folders(folders: Folders | None) -> plan.PlanFolders | None:
    return (
        None if folders is None else plan.PlanFolders(files=folders.files, per_rank=folders.per_rank or None)
    )


def _empties(scale: FamilyScale) -> bool:
    """Whether each dump empties its file first: where a single rank has the file, and the backend's calls can."""
    alone = scale.own_files or scale.members == 1
    return scale.family.truncate and alone and ranks_open_alone(scale.options.backend)


def _shift(scale: FamilyScale) -> int | None:
    """How far away the neighbour is, None for 1: fewer members stand for as many as before."""
    shift = scale.family.shift
    if shift >= scale.members:
        shift = max(1, shift * scale.members // scale.old_members)
    return shift if shift > 1 else None
