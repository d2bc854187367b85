"""Random valid workloads."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from workalike.workload import units
from workalike.workload.family import Folders, Rehearsed
from workalike.workload.model import (
    AmidWrites,
    ArrayAccess,
    Arrays,
    Assumption,
    BufferedStream,
    Centring,
    Compute,
    Content,
    Direction,
    Entry,
    Family,
    FileDriver,
    FileSpace,
    Fit,
    Interface,
    Layout,
    Level,
    LibraryBounds,
    Lifetime,
    Mesh,
    MeshType,
    Pattern,
    Processes,
    Reader,
    Reason,
    Role,
    Schedule,
    Sharing,
    SharingMode,
    Slab,
    Stream,
    Tunable,
    Turns,
    Uncovered,
    ValueType,
    Variables,
    Window,
    Workload,
)
from workalike.workload.schedule import Skew
from workalike.workload.words import STAYS_OPEN

sizes = st.one_of(
    st.integers(0, 2**30),
    st.sampled_from([0, 1, 100, 4096, 1048576, 128 * 2**20, 213_000_000, 2**30]),
)
ASSUMED = [
    *Assumption,
    "interleaved-writes or contiguous-writes",
    "one-pass and replicated-reads or several-passes and contiguous-reads",
]
"""What may stand under `assumed`: words, and readings that a log does not tell apart."""
INTERFACES = {
    "fit": (Interface.HDF5,),
    "arrays": (Interface.HDF5,),
    "mesh": (Interface.TYPHONIO, Interface.HDF5, Interface.MPIIO, Interface.POSIX),
}
times = st.floats(0, 1e6, allow_nan=False)
counts = st.integers(0, 10**6)


@st.composite
def rank_sets(draw: Any, ranks: int) -> list[tuple[int, int, int]]:
    """A set of ranks below `ranks`."""
    members = draw(st.sets(st.integers(0, ranks - 1), min_size=1, max_size=min(ranks, 12)))
    return units.ranges_of(sorted(members))


@st.composite
def entries(draw: Any, least: int = 0) -> Entry:
    return Entry(count=draw(st.integers(least, 5000)), size=draw(sizes), per_rank=draw(st.booleans()))


@st.composite
def streams(draw: Any, ranks: list[tuple[int, int, int]] | None, collective: bool, posting: bool) -> Stream:
    """A stream on all ranks of the family (`ranks`; None: all ranks), or on one of them."""
    own = None
    if draw(st.booleans()):
        first = 0 if ranks is None else ranks[0][0]
        own = [(first, first, 1)]
    pattern = draw(st.sampled_from(Pattern))
    moving = Entry(count=draw(st.integers(1, 5000)), size=draw(st.integers(1, 2**27)))
    operations = [moving, *draw(st.lists(entries(), max_size=3))]
    largest = max(entry.size for entry in operations)
    mixed = draw(st.booleans())
    pieces = 1
    if not mixed and pattern in (Pattern.CONTIGUOUS, Pattern.INTERLEAVED) and draw(st.booleans()):
        pieces = math.gcd(240, *(entry.size for entry in operations))
    together = collective and draw(st.booleans())
    return Stream(
        direction=draw(st.sampled_from(Direction)),
        sizes=operations,
        pattern=pattern,
        ranks=own,
        collective=together,
        base=draw(st.none() | sizes),
        mixed=mixed,
        stride=largest + draw(st.integers(0, 1000)) if pattern is Pattern.STRIDED else 0,
        pieces=pieces,
        nonblocking=posting and pieces == 1 and not together and draw(st.booleans()),
        repeat=draw(st.integers(1, 4)),
    )


@st.composite
def buffered_streams(draw: Any, ranks: list[tuple[int, int, int]] | None) -> BufferedStream:
    """A stream of the C library on a file of POSIX."""
    stream = draw(streams(ranks, collective=False, posting=False))
    return BufferedStream(
        **stream.model_dump(exclude={"sizes", "pieces"}),
        sizes=stream.sizes,
        by_name=draw(st.booleans()),
        seeks=draw(st.integers(0, 50)),
        flushes=draw(st.integers(0, 50)),
    )


@st.composite
def arrays(draw: Any, collective: bool) -> Arrays:
    dims = draw(st.lists(st.integers(1, 200), min_size=1, max_size=4))
    slabs = []
    for _ in range(draw(st.integers(1, 3))):
        shape = [draw(st.integers(1, n)) for n in dims]
        stride = [
            draw(st.integers(1, max(1, (n - 1) // max(1, k - 1)))) if k > 1 else 1
            for n, k in zip(dims, shape, strict=True)
        ]
        slabs.append(
            Slab(count=draw(st.integers(1, 500)), shape=shape, stride=draw(st.sampled_from([[], stride])))
        )
    extendible = draw(st.booleans())
    return Arrays(
        datasets=draw(st.integers(1, 50)),
        element=draw(st.sampled_from([1, 4, 8])),
        dims=dims,
        chunk=draw(st.none() | st.just([min(n, 64) for n in dims])),
        extendible=extendible,
        unlimited=draw(st.integers(0, len(dims) - 1)) if extendible else 0,
        access=[
            ArrayAccess(
                direction=draw(st.sampled_from(Direction)),
                slabs=slabs,
                collective=collective and draw(st.booleans()),
            )
        ],
    )


@st.composite
def meshes(draw: Any, collective: bool) -> Mesh:
    materials = draw(st.integers(0, 5))
    kind = draw(st.sampled_from(MeshType))
    runs = st.builds(
        Variables,
        count=st.integers(1, 9),
        centring=st.sampled_from([Centring.ZONE, Centring.NODE]),
        type=st.sampled_from(ValueType),
    )
    return Mesh(
        type=kind,
        dimensions=draw(st.integers(1, 3)),
        parts=draw(st.floats(0.1, 8)),
        part_size=draw(st.integers(64, 2**20)),
        variables=draw(st.integers(1, 50) | st.lists(runs, min_size=1, max_size=3)),
        shared_nodes=draw(st.booleans()),
        materials=materials,
        mixed=draw(st.floats(0, 1)) if materials and kind is not MeshType.POINT else 0.0,
        ghost=draw(st.integers(0, 2)),
        geometry=draw(st.booleans()),
        direction=draw(st.sampled_from(Direction)),
        collective=collective and draw(st.booleans()),
    )


@st.composite
def contents(
    draw: Any, sharing: Sharing, kind: str, interface: Interface, renames: int = 0, reopens: bool = False
) -> Content:
    together = sharing.turns is Turns.CONCURRENT
    calls = {name: draw(st.integers(0, 50)) for name in ("opens", "stats", "seeks", "fsyncs", "flushes")}
    calls["renames"] = draw(st.integers(0, renames))
    if interface in (Interface.POSIX, Interface.STDIO):
        calls["maps"] = draw(st.integers(0, 50))
    if kind == "fit":
        fit = Fit(datasets=draw(st.integers(1, 99)), collective=together and draw(st.booleans()))
        return Content(**calls, fit=fit)
    if kind == "arrays":
        return Content(**calls, arrays=draw(st.lists(arrays(together), min_size=1, max_size=2)))
    if kind == "mesh":
        return Content(**calls, mesh=draw(meshes(together)))
    amid = st.just(AmidWrites()) | st.builds(AmidWrites, writes=st.integers(1, 40), calls=st.integers(1, 2))
    if draw(st.booleans()):
        calls["seeks"] = draw(st.sampled_from(["each", 0]))
    own = interface is Interface.POSIX and not sharing.gather
    buffered = draw(st.lists(buffered_streams(sharing.ranks), max_size=2)) if own else []
    return Content(
        **calls,
        sync=draw(amid),
        flush=draw(amid),
        reopen=reopens and calls["opens"] > 0 and not buffered and draw(st.booleans()),
        passes=draw(st.integers(1, 3)),
        streams=draw(
            st.lists(streams(sharing.ranks, together, interface is Interface.MPIIO), min_size=1, max_size=3)
        ),
        buffered=buffered,
    )


@st.composite
def windows(draw: Any, dumps: int, ranks: int) -> Window:
    """In order within each dump; some values are one for all dumps, some are not given."""
    values = {
        name: draw(times | st.lists(times, min_size=dumps, max_size=dumps))
        for name in ("first", "last", "busy")
        if draw(st.booleans())
    }
    first, last = values.get("first", 0.0), values.get("last")
    if last is not None:
        lists = [value if isinstance(value, list) else [value] * dumps for value in (first, last)]
        pairs = [sorted(pair) for pair in zip(*lists, strict=True)]
        values |= {"first": [a for a, _ in pairs], "last": [b for _, b in pairs]}
    of_dumps = st.none() | st.integers(0, dumps - 1)
    late = draw(st.lists(st.tuples(of_dumps, st.integers(0, ranks - 1)), max_size=3, unique=True))
    skew = [Skew(ranks=[(rank, rank, 1)], delay=draw(times), dump=dump) for dump, rank in late]
    if draw(st.integers(0, 9)) == 0:
        skew = [Skew(ranks=None, delay=draw(times))]
    return Window(**values, skew=skew)


@st.composite
def schedules(draw: Any, dumps: int, ranks: int) -> Schedule:
    duration = draw(times | st.lists(times, min_size=dumps, max_size=dumps))
    form = draw(st.sampled_from(["start", "gaps", "every"]))
    listed = draw(st.lists(times, min_size=dumps, max_size=dumps))
    computing = draw(st.just(0.0) | times | st.lists(times, min_size=dumps, max_size=dumps))
    inside = {"duration": duration, "compute_time": computing, "barrier": draw(st.booleans())}
    inside["metadata"] = draw(st.none() | times | st.lists(times, min_size=dumps, max_size=dumps))
    if any(duration if isinstance(duration, list) else [duration]):
        inside |= {name: draw(st.none() | windows(dumps, ranks)) for name in ("writes", "reads")}
    if form == "start":
        return Schedule(start=sorted(listed), **inside)
    if form == "gaps":
        return Schedule(gaps=listed, first=draw(st.none() | times), **inside)
    return Schedule(count=dumps, first=draw(times), every=draw(times), **inside)


@st.composite
def sharings(draw: Any, ranks: int) -> Sharing:
    mode = draw(st.sampled_from(SharingMode))
    if mode is SharingMode.ROOT:
        root = draw(st.integers(0, ranks - 1))
        return Sharing(mode=mode, ranks=[(root, root, 1)], gather=draw(st.booleans()))
    chosen_ranks = draw(rank_sets(ranks)) if mode is SharingMode.SUBSET or draw(st.booleans()) else None
    if mode is not SharingMode.GROUPS:
        return Sharing(mode=mode, ranks=chosen_ranks)
    members = ranks if chosen_ranks is None else units.count_ranks(chosen_ranks)
    return Sharing(
        mode=mode, ranks=chosen_ranks, files=draw(st.integers(1, members)), turns=draw(st.sampled_from(Turns))
    )


def _written_first(content: Content) -> bool:
    """Whether a content that writes does not begin with reads."""
    directions = [stream.direction for stream in content.streams]
    return directions[:1] != [Direction.READ] or Direction.WRITE not in directions


@st.composite
def families(draw: Any, ranks: int, number: int, kinds: tuple[str, ...]) -> Family:
    dumps = draw(st.integers(1, 5))
    sharing = draw(sharings(ranks))
    kind = draw(st.sampled_from(kinds))
    interface = draw(st.sampled_from(INTERFACES.get(kind, tuple(Interface))))
    stated: Any = None
    growth = None
    if kind == "fit" or draw(st.booleans()):
        stated = draw(sizes | st.lists(sizes, min_size=dumps, max_size=dumps))
        if not isinstance(stated, list) and draw(st.booleans()):
            growth = draw(st.lists(st.floats(0.1, 10), min_size=dumps - 1, max_size=dumps - 1))
    lifetime = draw(st.sampled_from(Lifetime))
    if lifetime is Lifetime.OVERWRITTEN and kind != "streams":
        lifetime = Lifetime.APPENDED
    if lifetime in (Lifetime.APPENDED, Lifetime.OVERWRITTEN) and sharing.turns is Turns.BATON:
        lifetime = Lifetime.REUSED
    reader = draw(st.sampled_from(Reader))
    removed = draw(st.booleans())
    own = lifetime is Lifetime.PER_DUMP and reader is Reader.WRITER and not removed
    reopens = interface in (Interface.POSIX, Interface.STDIO) and lifetime not in STAYS_OPEN
    part = contents(sharing, kind, interface, 9 if own else 0, reopens)
    single_content = draw(st.booleans())
    use = None
    listed = []
    if not single_content:
        listed = draw(st.lists(part, min_size=1, max_size=dumps))
        if len(listed) != dumps or draw(st.booleans()):
            use = draw(st.lists(st.integers(0, len(listed) - 1), min_size=dumps, max_size=dumps))
    keep = draw(st.integers(0, 3))
    rename = lifetime is not Lifetime.REUSED and draw(st.booleans())
    single = draw(part) if single_content else None
    replaces = lifetime is Lifetime.REUSED and keep != 1 and reader is Reader.WRITER
    written_first = all(_written_first(c) for c in ([single] if single is not None else listed))
    backup = replaces and written_first and draw(st.booleans())
    driver = draw(st.none() | st.sampled_from(FileDriver))
    over_mpi = st.none() if driver is FileDriver.SERIAL else st.none() | st.booleans()
    return Family(
        role=draw(st.sampled_from(Role)),
        number=number,
        interface=interface,
        level=draw(st.none() | st.sampled_from([Level.POSIX] if interface is Interface.ADIOS2 else Level)),
        sharing=sharing,
        lifetime=lifetime,
        keep=keep,
        rename=rename,
        backup=backup,
        removed=not keep and not rename and not backup and removed,
        sparse=draw(st.booleans()),
        folders=draw(
            st.sampled_from(
                [
                    None,
                    Folders(files=3),
                    *([Folders(per_rank=True)] if sharing.mode is SharingMode.PER_RANK else []),
                ]
            )
        ),
        rehearsed=draw(st.sampled_from([None, Rehearsed(hdf5="1.10.8"), Rehearsed(pnetcdf="1.12.3")])),
        reader=reader,
        shift=draw(st.integers(1, 5)) if reader is Reader.NEIGHBOUR else 1,
        drop_caches=draw(st.booleans()),
        schedule=draw(schedules(dumps, ranks)),
        sizes=stated,
        growth=growth,
        content=single,
        contents=listed,
        use=use,
        assumed=draw(st.lists(st.sampled_from(ASSUMED), unique=True, max_size=3)),
        tunable=draw(
            st.builds(
                Tunable,
                cb_nodes=st.none() | st.integers(1, 64),
                cb_buffer_size=st.none() | sizes,
                collective_buffering=st.none() | st.booleans(),
                stripe_count=st.none() | st.integers(-1, 64),
                metadata_block=st.none() | st.integers(0, 2**22),
                collective_metadata=over_mpi,
                individual_io=over_mpi,
                file_space=st.none() | st.sampled_from(FileSpace),
                libver=st.none() | st.sampled_from(LibraryBounds),
                layout=st.none() | st.sampled_from(Layout),
                driver=st.just(driver),
            )
        ),
    )


@st.composite
def processes(draw: Any, ranks: int, runtime: float) -> list[Processes]:
    """Some ranks that live only a part of the run; 0 is a run of unknown length."""
    out = []
    for rank in sorted(draw(st.sets(st.integers(0, ranks - 1), max_size=4))):
        start, end = sorted(draw(st.lists(st.floats(0, 1), min_size=2, max_size=2)))
        length = runtime or 100.0
        ended = draw(st.booleans())
        out.append(
            Processes(ranks=[(rank, rank, 1)], start=start * length, end=end * length if ended else None)
        )
    return out


@st.composite
def workloads(draw: Any, kinds: tuple[str, ...] = ("streams", "arrays", "fit", "mesh")) -> Workload:
    """A valid workload of few families and dumps, with the kinds of content in `kinds`."""
    ranks = draw(st.integers(1, 40))
    count = draw(st.integers(1, 3))
    runtime = draw(times)
    reasons = draw(st.lists(st.sampled_from(Reason), unique=True, max_size=2))
    return Workload(
        ranks=ranks,
        nodes=draw(st.none() | st.integers(1, 8)),
        runtime=runtime,
        processes=draw(processes(ranks, runtime)),
        cpu_share=draw(st.none() | st.sampled_from([0.0, 0.25, 1.0])),
        compute=draw(st.none() | st.builds(Compute, level=st.integers(1, 3), length=st.integers(1, 5))),
        families=[draw(families(ranks, i + 1, kinds)) for i in range(count)],
        uncovered=[Uncovered(reason=reason, bytes=draw(sizes), files=draw(counts)) for reason in reasons],
    )
