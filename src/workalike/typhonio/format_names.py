"""The vocabulary of a TyphonIO file: codes, names of tables, sets of attributes (docs/reference/typhonio-format.md)."""

from __future__ import annotations

from enum import IntEnum

PREFIX = "TIO_"
MAX_NAME = 63
NO_GHOSTS = 0
NULL_GHOSTS = 2**64 - 1
ALL_GHOSTS = 2**64 - 2
CHUNK_WORDS = 12

DATATYPES = {
    -1: "null",
    0: "short",
    1: "ushort",
    2: "int",
    3: "uint",
    4: "long",
    5: "ulong",
    6: "llong",
    7: "ullong",
    8: "float",
    9: "double",
    10: "ldouble",
    11: "logical",
    12: "char",
    13: "uchar",
    14: "enum",
    15: "size",
    16: "step",
    17: "time",
    18: "string",
}
INTEGERS = (*range(8), 15, 16)
FLOATS = (8, 9, 10, 17)
CACHED = range(14)  # types of which scalars are in a cache
NUMBERS = (*CACHED, 15, 16, 17)
STRING = 18
MAX_RANK = 7

MESH_TYPES = {1: "colinear", 2: "non-colinear", 3: "unstructured", 4: "point"}
COORDINATES = {0: "cartesian", 1: "spherical", 2: "cylindrical", 3: "axisymmetric"}
CENTRINGS = {
    0: "cell",
    1: "edge-i",
    2: "edge-j",
    3: "edge-k",
    4: "face-i",
    5: "face-j",
    6: "face-k",
    7: "node",
}
SHAPE_NODES = {-10: 1, -11: 2, -12: 3, -13: 4, -14: 4, -15: 6, -16: 8, -17: 5}
"""Number of nodes of a cell by the code of its shape; a positive code n is an n-gon."""


class MeshType(IntEnum):
    COLINEAR = 1
    NON_COLINEAR = 2
    UNSTRUCTURED = 3
    POINT = 4


class Centring(IntEnum):
    CELL = 0
    NODE = 7


FEWER = {
    0: (1, 1, 1),
    1: (1, 0, 0),
    2: (0, 1, 0),
    3: (0, 0, 1),
    4: (0, 1, 1),
    5: (1, 0, 1),
    6: (1, 1, 0),
    7: (0, 0, 0),
}
"""How many values of a centring are fewer than the nodes, along i, j and k."""

FILE_VERSION = ("TIO_version_major", "TIO_version_minor", "TIO_version_release")
FILE_TEXTS = ("codename", "version", "created", "modified", "title")
STATE_NUMBERS = ("step", "time")
MESH_NUMBERS = ("meshtype", "coordtype", "amrflag", "order", "graph_datatype", "coord_datatype", "ndims")
MESH_TEXTS = ("group", "iunits", "junits", "kunits", "ilabel", "jlabel", "klabel")
MESH_SIZES = {
    MeshType.COLINEAR: ("ni", "nj", "nk", "nghosts"),
    MeshType.NON_COLINEAR: ("ni", "nj", "nk", "nghosts"),
    MeshType.UNSTRUCTURED: ("nnodes", "ncells", "nshapes", "nconnectivity"),
    MeshType.POINT: ("nnodes",),
}
MESH_LAST = ("matghosts", "nmixcell", "nmixcomp")
QUANT_NUMBERS = ("datatype", "centring", "nghosts", "mixedflag", "qmin", "qmax")
MATERIAL_NUMBERS = (
    "datatype",
    "ncomp_datatype",
    "ptr_datatype",
    "vf_datatype",
    "nmat",
    "nghosts",
    "mixedflag",
)

STATE_REF = "TIO_STATE_REF"
MESH_REF = "TIO_MESH_REF"
MATERIAL_REF = "TIO_MATERIAL_REF"
QUANT_REF = "TIO_QUANT_REF"
VGROUP_REF = "TIO_VGROUP_REF"
VARIABLE_REF = "TIO_VARIABLE_REF"
VARIABLE_INFO = ("TIO_VARIABLE_INFO_UNITS", "TIO_VARIABLE_INFO_TYPES", "TIO_VARIABLE_INFO_INDEX")
CACHE_PREFIX = "TIO_VARIABLE_CACHE_0D_"
CHUNKINFO = "TIO_MESH_CHUNKINFO"
RANGE = "TIO_MESH_RANGE"
AXES = ("TIO_MESH_ICOORD", "TIO_MESH_JCOORD", "TIO_MESH_KCOORD")
DATA = "TIO_DATA"
OLD_FORMAT = "TyphonIO_FileInfo"

MARKS = {"step": "state", "meshtype": "mesh", "centring": "quant", "nmat": "material"}
"""The attribute that shows which TyphonIO object a group is."""


def datatype(code: int) -> str:
    return DATATYPES.get(code, f"unknown type {code}")


def ghosts(count: int) -> str:
    """A number of ghost layers for people."""
    return {NULL_GHOSTS: "unset", ALL_GHOSTS: "all"}.get(count, str(count))
