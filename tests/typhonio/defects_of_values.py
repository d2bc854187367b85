"""Defects of arrays, quants, materials and variables: how each damages a file, and the finding that must follow."""

from __future__ import annotations

import h5py
import numpy as np
from spoiling import MESH, Defect, attribute, both, change, data, drop, extra_quant, resized
from typhonio_samples import ALL, NULL

ARRAYS = {
    **{
        f"{name} missing ({kind})": Defect(kind, drop(f"{MESH}/TIO_MESH_{name}"), "error", name, "is missing")
        for kind, names in (
            ("colinear", ("ICOORD", "JCOORD")),
            ("non-colinear", ("KCOORD",)),
            ("point", ("ICOORD",)),
            ("unstructured", ("ICOORD", "NODEIDS", "CELLIDS", "SHAPES", "CELLS_PER_SHAPE", "CONNECTIVITY")),
        )
        for name in names
    },
    **{
        f"{name} {word} ({kind})": Defect(kind, resized(f"{MESH}/{name}", by), level, name, "elements")
        for kind, name, by, level, word in (
            ("colinear", "TIO_MESH_ICOORD", 1, "error", "too long"),
            ("colinear", "TIO_MESH_ICOORD", -1, "error", "too short"),
            ("non-colinear", "TIO_MESH_ICOORD", -1, "error", "too short"),
            ("non-colinear", "TIO_MESH_ICOORD", 1, "warning", "too long"),
            ("unstructured", "TIO_MESH_CONNECTIVITY", -1, "error", "too short"),
            ("unstructured", "TIO_MESH_NODEIDS", -1, "error", "too short"),
            ("unstructured", "TIO_MESH_SHAPES", -1, "error", "too short"),
            ("point", "mass/TIO_DATA", -1, "error", "too short"),
            ("point", "mass/TIO_DATA", 1, "warning", "too long"),
            ("colinear", "materials/TIO_VOLFRAC", -1, "error", "too short"),
            ("colinear", "materials/TIO_DATA", -1, "error", "too short"),
            ("colinear", "mixture/TIO_DATA", -1, "error", "too short"),
        )
    },
    "TIO_DATA missing": Defect(
        "point", drop(f"{MESH}/mass/TIO_DATA"), "error", "mass/TIO_DATA", "is missing"
    ),
    "TIO_DATA of strings": Defect(
        "point", data(f"{MESH}/mass/TIO_DATA", np.array([b"x"] * 5)), "error", "mass/TIO_DATA", "not numbers"
    ),
    "TIO_DATA never written": Defect(
        "point",
        both(drop(f"{MESH}/mass/TIO_DATA"), lambda f: f.create_dataset(f"{MESH}/mass/TIO_DATA", (5,), "f8")),
        "warning",
        "mass/TIO_DATA",
        "was never written",
    ),
    "node ID 0": Defect(
        "unstructured", change(f"{MESH}/TIO_MESH_NODEIDS", 0, 0), "error", "NODEIDS", "node IDs begin at 0"
    ),
    "node ID above": Defect(
        "unstructured",
        change(f"{MESH}/TIO_MESH_NODEIDS", 3, 11),
        "error",
        "NODEIDS",
        "the highest node ID is 11, nnodes is 10",
    ),
    "nnodes too large": Defect(
        "unstructured", attribute(MESH, "nnodes", 12), "warning", "NODEIDS", "nnodes is 12"
    ),
    "node ID missing": Defect(
        "unstructured",
        change(f"{MESH}/TIO_MESH_NODEIDS", 1, 1),
        "warning",
        "NODEIDS",
        "1 of 10 node IDs are missing",
    ),
    "cell ID 0": Defect(
        "unstructured", change(f"{MESH}/TIO_MESH_CELLIDS", 0, 0), "warning", "CELLIDS", "cell IDs begin at 0"
    ),
    "connectivity 0": Defect(
        "unstructured",
        change(f"{MESH}/TIO_MESH_CONNECTIVITY", 5, 0),
        "error",
        "CONNECTIVITY",
        "entries begin at 0",
    ),
    "connectivity global": Defect(
        "unstructured",
        change(f"{MESH}/TIO_MESH_CONNECTIVITY", 13, 9),
        "error",
        "CONNECTIVITY",
        "of chunk 1 is 9, the chunk has 8",
    ),
    "unknown shape": Defect(
        "unstructured", change(f"{MESH}/TIO_MESH_SHAPES", 0, -99), "error", "SHAPES", "-99 is not a shape"
    ),
    "cells of shapes": Defect(
        "unstructured",
        change(f"{MESH}/TIO_MESH_CELLS_PER_SHAPE", 2, 9801),
        "warning",
        "PER_SHAPE",
        "chunk 1 have 9,801 cells",
    ),
    "nodes of shapes": Defect(
        "unstructured",
        change(f"{MESH}/TIO_MESH_SHAPES", 0, -12),
        "warning",
        "PER_SHAPE",
        "chunk 0 have 2 cells with 6 nodes",
    ),
}

QUANTS = {
    "datatype 99": Defect(
        "point", attribute(f"{MESH}/mass", "datatype", 99), "error", "attribute datatype", "99 is not a type"
    ),
    "centring 8": Defect(
        "colinear", attribute(f"{MESH}/halo", "centring", 8), "error", "attribute centring", "no centring 8"
    ),
    "face on unstructured": Defect(
        "unstructured", attribute(f"{MESH}/own", "centring", 4), "error", "centring", "face-i"
    ),
    "cell on point": Defect(
        "point", attribute(f"{MESH}/mass", "centring", 0), "error", "centring", "no centring cell"
    ),
    "layers on unstructured": Defect(
        "unstructured", attribute(f"{MESH}/own", "nghosts", 1), "error", "nghosts", "1 ghosts"
    ),
    "more ghosts than the mesh": Defect(
        "non-colinear",
        attribute(f"{MESH}/q01", "nghosts", 2),
        "error",
        "nghosts",
        "2 layers of ghosts, the mesh has 1",
    ),
    "ghosts unset": Defect(
        "colinear", attribute(f"{MESH}/halo", "nghosts", NULL), "error", "nghosts", "unset is not a number"
    ),
    "mixed without material": Defect(
        "point",
        attribute(f"{MESH}/mass", "mixedflag", 1),
        "error",
        "mixedflag",
        "only cell-centred values are mixed",
    ),
    "mixed without mixed material": Defect(
        "colinear",
        attribute(f"{MESH}/materials", "mixedflag", 0),
        "error",
        "mixture, attribute mixedflag",
        "need a mixed material",
    ),
    "mixed with more ghosts than the material": Defect(
        "colinear",
        extra_quant("m", 8 + 6 + 20, 0, 1, mixed=True),
        "error",
        "nghosts",
        "more ghosts than the material",
    ),
    "nodes without the mesh's ghosts": Defect(
        "unstructured", extra_quant("bare", 12, 7, 0), "warning", f"/{MESH}/bare", "values at wrong nodes"
    ),
    "ghosts ALL on a quad mesh": Defect(
        "colinear", attribute(f"{MESH}/halo", "nghosts", ALL), "error", "nghosts", "all is not a number"
    ),
}

MATERIALS = {
    "names longer than nmat": Defect(
        "colinear",
        data(f"{MESH}/materials/TIO_MATERIAL_NAMES", np.array([b"a", b"b", b"c"], "S64")),
        "error",
        "MATERIAL_NAMES",
        "has extents [3], 2 elements are needed",
    ),
    "names missing": Defect(
        "colinear", drop(f"{MESH}/materials/TIO_MATERIAL_NAMES"), "error", "MATERIAL_NAMES", "is missing"
    ),
    "numbers missing": Defect(
        "colinear", drop(f"{MESH}/materials/TIO_MATERIAL_NUMS"), "error", "MATERIAL_NUMS", "is missing"
    ),
    "names UTF-8": Defect(
        "colinear",
        data(f"{MESH}/materials/TIO_MATERIAL_NAMES", ["a", "b"], dtype=h5py.string_dtype("utf-8", 64)),
        "error",
        "MATERIAL_NAMES",
        "holds UTF-8",
    ),
    **{
        f"{name} missing": Defect("colinear", drop(f"{MESH}/materials/{name}"), "error", name, "is missing")
        for name in ("TIO_DATA", "TIO_NCOMP", "TIO_PTR", "TIO_VOLFRAC")
    },
    "pointer beyond": Defect(
        "colinear",
        change(f"{MESH}/materials/TIO_DATA", 4, -2),
        "error",
        "materials/TIO_DATA",
        "-2 at 4 points at no mixed cell",
    ),
    "pointer in the mixed part": Defect(
        "colinear",
        change(f"{MESH}/materials/TIO_DATA", 9, -1),
        "error",
        "materials/TIO_DATA",
        "-1 at 9 points at no mixed cell",
    ),
    "number of no material": Defect(
        "colinear",
        change(f"{MESH}/materials/TIO_DATA", 1, 5),
        "warning",
        "materials/TIO_DATA",
        "5 is the number of no material",
    ),
    "PTR 0": Defect(
        "colinear",
        change(f"{MESH}/materials/TIO_PTR", 0, 0),
        "error",
        "TIO_PTR",
        "mixed cell 0 has components 0 to 1",
    ),
    "PTR beyond its chunk": Defect(
        "colinear",
        change(f"{MESH}/materials/TIO_PTR", 2, 5),
        "error",
        "TIO_PTR",
        "components 5 to 6 of 2 in chunk 1",
    ),
    "NCOMP 9": Defect(
        "colinear", change(f"{MESH}/materials/TIO_NCOMP", 1, 9), "error", "TIO_PTR", "components 3 to 11 of 4"
    ),
    "fractions": Defect(
        "colinear",
        change(f"{MESH}/materials/TIO_VOLFRAC", 5, 0.5),
        "note",
        "TIO_VOLFRAC",
        "fractions of 1 mixed cells do not add",
    ),
    "material of floats": Defect(
        "colinear",
        attribute(f"{MESH}/materials", "datatype", 9),
        "error",
        "attribute datatype",
        "double is not an integer type",
    ),
    "fractions of ints": Defect(
        "colinear",
        attribute(f"{MESH}/materials", "vf_datatype", 2),
        "error",
        "vf_datatype",
        "int is not a type of fractions",
    ),
    "nmat absurd": Defect(
        "colinear", attribute(f"{MESH}/materials", "nmat", 2**60), "error", "attribute nmat", "materials"
    ),
}

NUMBERS = "state0/numbers"
VARIABLES = {
    **{
        f"{name} missing": Defect(
            "point", drop(f"{NUMBERS}/TIO_VARIABLE_INFO_{name}"), "error", name, "is missing"
        )
        for name in ("UNITS", "TYPES", "INDEX")
    },
    "TYPES short": Defect(
        "point",
        data(f"{NUMBERS}/TIO_VARIABLE_INFO_TYPES", np.array([9, 2], "i4")),
        "error",
        "TYPES",
        "2 elements for 5",
    ),
    "CACHE missing": Defect(
        "point", drop(f"{NUMBERS}/TIO_VARIABLE_CACHE_0D_INT"), "error", f"/{NUMBERS}/n", "which is missing"
    ),
    "CACHE not extended": Defect(
        "point",
        change(f"{NUMBERS}/TIO_VARIABLE_INFO_INDEX", 4, 3),
        "error",
        f"/{NUMBERS}/dt2",
        "slot 3 of TIO_VARIABLE_CACHE_0D_DOUBLE",
    ),
    "slot 0": Defect(
        "point", change(f"{NUMBERS}/TIO_VARIABLE_INFO_INDEX", 0, 0), "error", f"/{NUMBERS}/dt", "slot 0"
    ),
    "slot twice": Defect(
        "point",
        change(f"{NUMBERS}/TIO_VARIABLE_INFO_INDEX", 4, 1),
        "error",
        f"/{NUMBERS}/dt2",
        "shares slot 1",
    ),
    "slot beside a dataset": Defect(
        "point",
        change(f"{NUMBERS}/TIO_VARIABLE_INFO_INDEX", 2, 1),
        "error",
        f"/{NUMBERS}/profile",
        "has a dataset of its own",
    ),
    "own dataset missing": Defect(
        "point", drop(f"{NUMBERS}/profile"), "error", f"/{NUMBERS}/profile", "its dataset is missing"
    ),
    "own dataset of other rank": Defect(
        "point",
        change(f"{NUMBERS}/TIO_VARIABLE_INFO_TYPES", 2, 3009),
        "error",
        f"/{NUMBERS}/profile",
        "2 dimensions, its type says 3",
    ),
    "type unknown": Defect(
        "point",
        change(f"{NUMBERS}/TIO_VARIABLE_INFO_TYPES", 0, 42),
        "error",
        f"/{NUMBERS}/dt",
        "its type is 42",
    ),
    "type negative": Defect(
        "point",
        change(f"{NUMBERS}/TIO_VARIABLE_INFO_TYPES", 0, -1),
        "error",
        f"/{NUMBERS}/dt",
        "its type is -1",
    ),
    "0-D TIME": Defect(
        "point",
        change(f"{NUMBERS}/TIO_VARIABLE_INFO_TYPES", 0, 17),
        "error",
        f"/{NUMBERS}/dt",
        "the library crashes",
    ),
    "string as number": Defect(
        "point",
        change(f"{NUMBERS}/TIO_VARIABLE_INFO_TYPES", 3, 1009),
        "error",
        f"/{NUMBERS}/words",
        "not numbers",
    ),
    "number as string": Defect(
        "point",
        change(f"{NUMBERS}/TIO_VARIABLE_INFO_TYPES", 2, 2018),
        "error",
        f"/{NUMBERS}/profile",
        "not strings of fixed",
    ),
    "unlisted dataset": Defect(
        "point",
        data(f"{NUMBERS}/more", [1]),
        "warning",
        f"/{NUMBERS}/more",
        "is a dataset that no table lists",
    ),
}
