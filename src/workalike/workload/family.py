"""A family: the files of one purpose, who uses them, when, and what a dump does; and what may not be said of it."""

from __future__ import annotations

import itertools
import operator
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from workalike.workload import units
from workalike.workload.ambiguity import Ambiguity
from workalike.workload.content import Content
from workalike.workload.mesh import Centring, Mesh, MeshType
from workalike.workload.per_dump import unfolded
from workalike.workload.quantities import (
    MAX_FILE_BYTES,
    MAX_RANKS,
    DirectoryName,
    Ranks,
    Size,
    Strict,
)
from workalike.workload.schedule import Schedule
from workalike.workload.tunable import Tunable
from workalike.workload.words import (
    DATASET_INTERFACES,
    STAYS_OPEN,
    Assumption,
    Direction,
    Interface,
    Level,
    Lifetime,
    Reader,
    Role,
    SharingMode,
    Turns,
)


class Sharing(Strict):
    """Who writes into which file; also written as one word (`sharing: per-rank`)."""

    mode: SharingMode = SharingMode.SHARED
    ranks: Ranks = None
    files: Annotated[int, Field(ge=1, le=MAX_RANKS)] = 1
    turns: Turns = Turns.CONCURRENT
    gather: bool = False

    @model_validator(mode="before")
    @classmethod
    def _word(cls, value: Any) -> Any:
        return {"mode": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.mode is SharingMode.SUBSET and self.ranks is None:
            raise ValueError("sharing subset needs its ranks, for instance `ranks: 0-55`")
        if self.mode is SharingMode.ROOT:
            self.ranks = self.ranks or [(0, 0, 1)]
            if units.count_ranks(self.ranks) != 1:
                raise ValueError("sharing root needs exactly one rank")
        if self.mode is not SharingMode.GROUPS and (self.files > 1 or self.turns is Turns.BATON):
            raise ValueError("`files` and `turns: baton` need sharing groups")
        if self.mode is not SharingMode.ROOT and self.gather:
            raise ValueError("`gather` needs sharing root")
        return self


def _reads_first(content: Content) -> bool:
    """Whether a content that writes begins with reads."""
    directions = [stream.direction for stream in content.streams]
    return directions[:1] == [Direction.READ] and Direction.WRITE in directions


Version = Annotated[str, Field(pattern=r"^[0-9]{1,4}(\.[0-9]{1,4}){2,3}$", examples=["1.10.8"])]
"""Of a library: three or four numbers, which YAML takes for no number."""


class Rehearsed(Strict):
    """The versions of the libraries by which the family was performed when it was characterized."""

    hdf5: Version | None = None
    pnetcdf: Version | None = None


class Folders(Strict):
    """The folders of a family's files; families of a workload share them.

    `files`: how many lie in each, one after the other. `per_rank`: each rank has its own folders.
    """

    files: Annotated[int, Field(ge=1, le=10**6)] | None = None
    per_rank: bool = False

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.files is None and not self.per_rank:
            raise ValueError(
                "`folders` needs `files`, `per_rank` or both: leave it out where all files lie in one"
            )
        return self


def share_as(document: dict[str, Any], sharing: dict[str, Any] | str) -> None:
    """Give the document of a family another sharing; folders of each rank go with files of each rank only."""
    document["sharing"] = sharing
    mode = sharing if isinstance(sharing, str) else sharing.get("mode", SharingMode.SHARED)
    files = (document.get("folders") or {}).get("files")
    if mode != SharingMode.PER_RANK and document.pop("folders", None) and files:
        document["folders"] = {"files": files}


class Family(Strict):
    """A file family: the files of one purpose, and every dump or load of them.

    With `reader: neighbour` a rank reads what the rank `shift` places further wrote. `truncate`: each dump empties the
    reused file of a rank before it writes. `backup`: each file but the last is renamed, as a backup of the one that takes
    its place; with `lifetime: reused` all files are made under one name. `sparse`: dumps read holes of their files, bytes
    that nobody wrote; without it, such a file is made before the run. `removed`: each file is deleted after the last dump
    that uses it. `directory`: a word for where its files lie, such as `fast`; whoever performs the workload says which
    directory that is (`--dir fast=DIR`). `direct`: files are opened with O_DIRECT, so that the page cache has no part in
    it. `folders`: its files lie in several. `rehearsed`: the libraries by which it was performed, to see whether they do
    to storage what the log has.
    """

    role: Role
    number: Annotated[int, Field(ge=1, le=10**6)] = 1
    interface: Interface = Interface.MPIIO
    level: Level | None = None  # by default the interface's own; mpiio for libraries above MPI-IO
    sharing: Sharing = Field(default_factory=Sharing)
    lifetime: Lifetime = Lifetime.PER_DUMP
    keep: Annotated[int, Field(ge=0, le=10**6)] = 0
    rename: bool = False
    backup: bool = False
    truncate: bool = False
    sparse: bool = False
    removed: bool = False
    reader: Reader = Reader.WRITER
    shift: Annotated[int, Field(ge=1, le=MAX_RANKS)] = 1
    drop_caches: bool = False
    directory: DirectoryName | None = None
    direct: bool = False
    folders: Folders | None = None
    rehearsed: Rehearsed | None = None
    schedule: Schedule
    sizes: Size | list[Size] | None = None
    growth: list[Annotated[float, Field(gt=0, allow_inf_nan=False)]] | None = None
    content: Content | None = None
    contents: list[Content] = Field(default_factory=list)
    use: list[Annotated[int, Field(ge=0)]] | None = None
    assumed: list[Assumption | Ambiguity] = Field(default_factory=list)
    tunable: Tunable = Field(default_factory=Tunable)

    @model_validator(mode="before")
    @classmethod
    def _of_each_dump(cls, value: Any) -> Any:
        return unfolded(value) if isinstance(value, dict) else value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        n = self.schedule.dumps
        if (self.content is None) == (not self.contents):
            raise ValueError("a family needs either `content` (the same for every dump) or `contents`")
        if self.use is None and self.contents and len(self.contents) != n:
            raise ValueError(
                f"{len(self.contents)} contents for {n} dumps need `use`, the content of each dump"
            )
        if self.use is not None and (len(self.use) != n or any(u >= len(self.contents) for u in self.use)):
            raise ValueError(f"`use` needs one index into `contents` for each of the {n} dumps")
        if isinstance(self.sizes, list) and len(self.sizes) != n:
            raise ValueError(f"{len(self.sizes)} sizes for {n} dumps")
        self._check_growth(n)
        for content in self.all_contents():
            if content.fit is not None and self.sizes is None:
                raise ValueError("content `fit` needs `sizes`, the bytes of a dump")
            if content.mesh is not None:
                self._check_mesh(content.mesh)
            self._check_datasets(content)
        self._check_epochs()
        self._check_lifetime()
        self._check_moves()
        self._check_ranks()
        self.level = self.counted_at
        return self

    def _check_datasets(self, content: Content) -> None:
        """Check that the interface has datasets, and the calls that the content uses."""
        if (content.fit is not None or content.arrays) and self.interface not in DATASET_INTERFACES:
            raise ValueError(
                "content `fit` and `arrays` are datasets: they need `interface: hdf5`, pnetcdf or adios2"
            )
        if any(arrays.multi for arrays in content.arrays) and self.interface is not Interface.HDF5:
            raise ValueError("`multi` is a call of HDF5: it needs `interface: hdf5`")
        if any(arrays.unlimited for arrays in content.arrays) and self.interface is not Interface.HDF5:
            raise ValueError(
                "only HDF5 extends any dimension: leave out `unlimited`, or set `interface: hdf5`"
            )
        if content.buffered and (self.interface is not Interface.POSIX or self.direct):
            raise ValueError("`buffered` streams need `interface: posix`, and no `direct`")
        if content.maps and self.interface not in (Interface.POSIX, Interface.STDIO):
            raise ValueError("`maps` need the descriptor of a file: use `interface: posix` or stdio")
        if self.interface is Interface.ADIOS2 and self.counted_at is not Level.POSIX:
            raise ValueError(
                "ADIOS2 writes its files with POSIX calls: leave out `level`, or set it to posix"
            )
        posted = any(access.nonblocking for arrays in content.arrays for access in arrays.access)
        if posted and self.interface is not Interface.PNETCDF:
            raise ValueError("`nonblocking` calls of datasets are PnetCDF's: they need `interface: pnetcdf`")
        table = content.table is not None and content.table.nonblocking
        if (table or any(stream.nonblocking for stream in content.streams)) and (
            self.interface is not Interface.MPIIO
        ):
            raise ValueError("`nonblocking` streams are calls of MPI-IO: they need `interface: mpiio`")
        if content.reopen:
            self._check_reopened()

    def _check_reopened(self) -> None:
        """Check that each rank opens the file by itself, and closes it."""
        if self.interface not in (Interface.POSIX, Interface.STDIO):
            raise ValueError(
                "`reopen` is of files that ranks open alone: it needs `interface: posix` or stdio"
            )
        if self.lifetime in STAYS_OPEN:
            raise ValueError(
                f"a file of lifetime {self.lifetime.value} stays open: leave out `reopen`, or use another `lifetime`"
            )

    def _check_epochs(self) -> None:
        """Check a family that reads a data set, whose files stay from epoch to epoch."""
        sets = [content.dataset for content in self.all_contents() if content.dataset is not None]
        if not sets:
            return
        if len(self.all_contents()) > 1:
            raise ValueError("a data set is the only content of its family: write `content`")
        if self.interface not in (Interface.POSIX, Interface.STDIO):
            raise ValueError("a data set is read with `interface: posix` or stdio")
        if self.sharing.mode in (SharingMode.PER_RANK, SharingMode.GROUPS) or self.sharing.gather:
            raise ValueError("a data set needs sharing shared, subset or root: `split` says who reads what")
        if self.sizes is not None or self.growth is not None:
            raise ValueError(
                "the bytes of a data set follow from its samples: leave out `sizes` and `growth`"
            )
        if (
            self.lifetime is Lifetime.APPENDED
            or (self.keep or self.rename or self.backup or self.removed)
            or self.reader is Reader.NEIGHBOUR
        ):
            raise ValueError(
                "the files of a data set stay: leave out `lifetime`, `keep`, `rename`, `backup`, `removed` and "
                "`reader`"
            )
        if sets[0].compute_time and any(self.schedule.compute_times()):
            raise ValueError("`compute_time` stands in the schedule or in the data set, not in both")
        self.lifetime = Lifetime.REUSED

    def _check_growth(self, dumps: int) -> None:
        if self.growth is None:
            return
        if self.sizes is None and self.content is not None and self.content.mesh is not None:
            sizes: int | list[int] | None = self.content.moved(1, self.content.mesh.direction)
        else:
            sizes = self.sizes
        if sizes is None:
            raise ValueError("growth needs `sizes`, the size of the first dump")
        if isinstance(sizes, list) or len(self.growth) != dumps - 1:
            raise ValueError(f"growth needs one factor from dump to dump ({dumps - 1}), and a single `sizes`")
        if not all(factor * sizes <= MAX_FILE_BYTES for factor in self.factors()):  # also refuses NaN
            raise ValueError(f"it grows beyond {units.format_size(MAX_FILE_BYTES)} per dump")

    def _check_mesh(self, mesh: Mesh) -> None:
        if self.interface in (Interface.PNETCDF, Interface.ADIOS2):
            raise ValueError("a mesh is written through typhonio, hdf5, mpiio, posix or stdio")
        if self.sizes is None and mesh.part_nodes() is None:
            raise ValueError("a mesh needs `part_size` or `part_dims`, or the family `sizes`")
        if self.sizes is not None and mesh.part_dims is not None:
            raise ValueError("`sizes` and `part_dims` contradict each other: leave one out")
        if mesh.globals and self.interface is not Interface.TYPHONIO:
            raise ValueError("`globals` are TyphonIO's variables: they need `interface: typhonio`")
        if self.interface is not Interface.TYPHONIO:
            return
        plain = (Centring.ZONE, Centring.NODE)
        shaped = mesh.type in (MeshType.UNSTRUCTURED, MeshType.ARBITRARY)
        if shaped and any(centring not in plain for _, centring, _ in mesh.runs()):
            raise ValueError("variables of an unstructured mesh must be centred on zones or nodes (TyphonIO)")

    def _check_lifetime(self) -> None:
        if self.shift > 1 and self.reader is not Reader.NEIGHBOUR:
            raise ValueError("`shift` is how far away the neighbour is: it needs `reader: neighbour`")
        if self.rename and self.truncate:
            raise ValueError("a file that is renamed into place is a new one: leave out `truncate`")
        if self._replaces_its_file() and any(map(_reads_first, self.all_contents())):
            where = "renamed into place" if self.rename else "renamed when the next is made"
            raise ValueError(
                f"a file that is {where} is written first: put the reads into a dump of their own"
            )
        if any(content.renames for content in self.all_contents()):
            self._check_renames()
        if self.removed and (self.rename or self.backup or self.keep):
            raise ValueError("`removed` leaves no file: leave out `keep`, `rename` and `backup`")
        if self.backup and (self.rename or self.truncate or self.lifetime in STAYS_OPEN):
            raise ValueError(
                "`backup` renames the file before: it needs `lifetime: per-dump` or `reused`, and no `rename` or "
                "`truncate`"
            )
        if self.backup and self.lifetime is Lifetime.REUSED and self.keep == 1:
            raise ValueError("`keep: 1` leaves no backup: keep 2 files or more, or leave it out")
        if self.truncate and (
            self.lifetime is not Lifetime.REUSED
            or self.interface not in (Interface.POSIX, Interface.STDIO)
            or any(
                stream.direction is Direction.READ for c in self.all_contents() for stream in c.all_streams
            )
        ):
            raise ValueError(
                "`truncate` empties a file at each dump: it needs `lifetime: reused`, `interface: posix` or stdio, and "
                "no reads"
            )
        if self.direct and (
            self.interface is not Interface.POSIX or any(c.mesh for c in self.all_contents())
        ):
            raise ValueError("`direct` opens files with O_DIRECT: it needs `interface: posix`, and no mesh")
        if self.folders and self.folders.per_rank and self.sharing.mode is not SharingMode.PER_RANK:
            raise ValueError(
                "`per_rank` folders hold the files of one rank each: they need `sharing: per-rank`"
            )
        if self.lifetime is Lifetime.OVERWRITTEN and any(
            c.arrays or c.fit or c.mesh for c in self.all_contents()
        ):
            raise ValueError("an overwritten file has streams: datasets and meshes lie after each other")
        if self.sharing.turns is not Turns.BATON:
            return
        if self.lifetime in STAYS_OPEN:
            raise ValueError("a baton closes the file after each turn: it cannot stay open")
        if any(content.collective() for content in self.all_contents()):
            raise ValueError(
                "ranks that pass a baton make no collective calls: leave out `collective`, or set it to false"
            )

    def _replaces_its_file(self) -> bool:
        """Whether each dump that writes makes a new file, which takes the name of the one before."""
        return self.lifetime is Lifetime.REUSED and (self.rename or self.backup)

    def _check_renames(self) -> None:
        """Check that the files that dumps rename are of one dump each, and that nobody looks for them later."""
        if not self._replaces_its_file() and (self.lifetime is not Lifetime.PER_DUMP or self.backup):
            raise ValueError(
                "`renames` are of files of one dump: they need `lifetime: per-dump` without `backup`, or `reused` with "
                "`rename` or `backup`"
            )
        if self.lifetime is Lifetime.REUSED and any(
            c.renames and not (c.fit or c.moved(1, Direction.WRITE)) for c in self.all_contents()
        ):
            raise ValueError("a dump that reads a `reused` file does not rename it: leave out its `renames`")
        if self.removed or self.reader is Reader.NEIGHBOUR:
            raise ValueError(
                "files that get other names stay, with those who used them: leave out `removed` and `reader`"
            )

    def _check_moves(self) -> None:
        """Check that a dump with a stated size has operations that move bytes."""
        sizes = self.dump_sizes() or []
        still = [
            not c.fit and not c.mesh and not any(c.moved(1, d) for d in Direction)
            for c in self.all_contents()
        ]
        if not any(still):
            return
        for dump, size in enumerate(sizes):
            which = 0 if self.content is not None else dump if self.use is None else self.use[dump]
            if size and still[which]:
                raise ValueError(f"dump {dump} has {units.format_size(size)}, but its content moves nothing")

    def _check_ranks(self) -> None:
        """Check that streams name only members of the family."""
        if self.sharing.ranks is None:
            return
        named = {tuple(r) for content in self.all_contents() for r in content.rank_sets() if r is not None}
        for ranks in named:
            if not units.is_subset(list(ranks), self.sharing.ranks):
                names = units.format_ranks(list(ranks))[:60], units.format_ranks(self.sharing.ranks)[:60]
                raise ValueError(
                    f"a stream has ranks {names[0]}, but only {names[1]} take part in the family"
                )

    def all_contents(self) -> list[Content]:
        """All contents of the family, each once."""
        return self.contents if self.content is None else [self.content]

    @property
    def counted_at(self) -> Level:
        """The level at which bytes and operations of this family are counted."""
        return own_level(self.interface) if self.level is None else self.level

    def content_number(self, dump: int) -> int:
        """The index of a dump's content in `contents`; 0 for `content`."""
        if self.content is not None:
            return 0
        return self.use[dump] if self.use is not None else dump

    def content_of(self, dump: int) -> Content:
        return self.content if self.content is not None else self.contents[self.content_number(dump)]

    def dump_sizes(self) -> list[int] | None:
        """The bytes of each dump if the workload states them; None: they follow from the content."""
        n = self.schedule.dumps
        if self.sizes is None or isinstance(self.sizes, list):
            return self.sizes
        if self.growth is None:
            return [self.sizes] * n
        return [round(self.sizes * factor) for factor in self.factors()]

    def factors(self) -> list[float]:
        """The size of each dump relative to the first, as a float, so that rounding does not accumulate."""
        if self.growth is None:
            return [1.0] * self.schedule.dumps
        return list(itertools.accumulate(self.growth, operator.mul, initial=1.0))

    def members(self, ranks: int) -> int:
        """The number of ranks that take part, of `ranks` ranks in all."""
        return ranks if self.sharing.ranks is None else units.count_ranks(self.sharing.ranks)


def own_level(interface: Interface) -> Level:
    """The level at which bytes and operations are counted where a family states none."""
    own = {
        Interface.POSIX: Level.POSIX,
        Interface.STDIO: Level.STDIO,
        Interface.ADIOS2: Level.POSIX,  # its files are written with POSIX calls
    }
    return own.get(interface, Level.MPIIO)
