"""Defects of tables, attributes and chunks: how each damages a sound file, and the finding that must follow."""

from __future__ import annotations

import h5py
import numpy as np
from spoiling import (
    MESH,
    Defect,
    attribute,
    both,
    data,
    drop,
    drop_attribute,
    empty_vargroup,
    listed,
    resized,
    utf8,
    vlen,
    words,
)
from typhonio_samples import text

REF_TABLES = {
    "STATE_REF missing": Defect("point", drop("TIO_STATE_REF"), "error", "/", "the tables list nothing"),
    "MESH_REF missing": Defect(
        "point", drop("state0/TIO_MESH_REF"), "error", "/state0/mesh", "is a mesh, but no table"
    ),
    "QUANT_REF missing": Defect(
        "point", drop(f"{MESH}/TIO_QUANT_REF"), "error", f"/{MESH}/mass", "is a quant, but no table"
    ),
    "MATERIAL_REF missing": Defect(
        "colinear",
        drop(f"{MESH}/TIO_MATERIAL_REF"),
        "error",
        f"/{MESH}/materials",
        "is a material, but no table",
    ),
    "VGROUP_REF missing": Defect(
        "point", drop("state0/TIO_VGROUP_REF"), "warning", "/state0/numbers", "is a group that no table"
    ),
    "VARIABLE_REF missing": Defect(
        "point", drop("state0/numbers/TIO_VARIABLE_REF"), "error", "INFO_UNITS", "no TIO_VARIABLE_REF"
    ),
    "nothing listed": Defect(
        "point",
        both(drop("state0/TIO_MESH_REF"), empty_vargroup),
        "error",
        "/",
        "the tables list nothing that could be read",
    ),
    "group absent": Defect(
        "point", drop("state0/mesh"), "error", "/state0/mesh", "is listed in TIO_MESH_REF, but does not exist"
    ),
    "name not in REF": Defect(
        "point",
        listed(MESH, "TIO_QUANT_REF", b"mass"),
        "error",
        f"/{MESH}/speed",
        "is a quant, but no table lists it",
    ),
    "REF vlen": Defect(
        "point",
        data("state0/TIO_MESH_REF", ["mesh"], dtype=h5py.string_dtype(), chunks=(1,), maxshape=(None,)),
        "error",
        "TIO_MESH_REF",
        "holds strings of variable length",
    ),
    "REF UTF-8": Defect(
        "point",
        data("state0/TIO_MESH_REF", ["mesh"], dtype=h5py.string_dtype("utf-8", 64)),
        "error",
        "TIO_MESH_REF",
        "UTF-8",
    ),
    "REF 2-D": Defect(
        "point",
        data("state0/TIO_MESH_REF", np.array([[b"mesh"]], "S64"), chunks=(1, 1), maxshape=(None, 1)),
        "error",
        "TIO_MESH_REF",
        "has 2 dimensions",
    ),
    "REF of numbers": Defect(
        "point", data("state0/TIO_MESH_REF", [1, 2]), "error", "TIO_MESH_REF", "holds int64"
    ),
    "REF contiguous": Defect(
        "point",
        data("state0/TIO_MESH_REF", np.array([b"mesh"], "S64")),
        "note",
        "TIO_MESH_REF",
        "is of fixed length: what the library appends",
    ),
    "REF chunked but limited": Defect(
        "point",
        data("state0/TIO_MESH_REF", np.array([b"mesh"], "S64"), chunks=(1,)),
        "note",
        "TIO_MESH_REF",
        "of fixed length",
    ),
    "empty name": Defect(
        "point", listed("state0", "TIO_MESH_REF", b"mesh", b""), "error", "TIO_MESH_REF[1]", "is empty"
    ),
    "name of 64": Defect(
        "point", listed("state0", "TIO_MESH_REF", b"m" * 64), "error", "TIO_MESH_REF[0]", "is too long"
    ),
    "name with slash": Defect(
        "point", listed("state0", "TIO_MESH_REF", b"a/b"), "error", "TIO_MESH_REF[0]", "contains a `/`"
    ),
    "name of the library": Defect(
        "point", listed("state0", "TIO_MESH_REF", b"TIO_x"), "error", "TIO_MESH_REF[0]", "begins with TIO_"
    ),
    "name twice": Defect(
        "point",
        listed("state0", "TIO_MESH_REF", b"mesh", b"mesh"),
        "error",
        "TIO_MESH_REF[1]",
        "is listed twice",
    ),
    "two materials": Defect(
        "colinear",
        both(
            lambda f: f.copy(f"{MESH}/materials", f"{MESH}/more"),
            listed(MESH, "TIO_MATERIAL_REF", b"materials", b"more"),
        ),
        "error",
        "TIO_MATERIAL_REF",
        "2 materials",
    ),
}

ATTRIBUTES = {
    **{
        f"{name} missing": Defect(
            kind, drop_attribute(group, name), "error", f", attribute {name}", "is missing"
        )
        for kind, group, names in (
            (
                "point",
                "/",
                ("TIO_version_minor", "TIO_version_release", "codename", "created", "modified", "title"),
            ),
            ("point", "state0", ("step", "time", "units")),
            (
                "point",
                MESH,
                ("meshtype", "coordtype", "amrflag", "group", "order", "graph_datatype", "coord_datatype"),
            ),
            ("point", MESH, ("ndims", "iunits", "klabel", "nnodes", "matghosts", "nmixcell", "nmixcomp")),
            ("colinear", MESH, ("ni", "nj", "nk", "nghosts")),
            ("unstructured", MESH, ("ncells", "nshapes", "nconnectivity")),
            ("point", f"{MESH}/mass", ("datatype", "centring", "mixedflag", "qmin", "qmax")),
            ("colinear", f"{MESH}/materials", ("ncomp_datatype", "ptr_datatype", "vf_datatype", "nmat")),
        )
        for name in names
    },
    "version_major missing": Defect(
        "point", drop_attribute("/", "TIO_version_major"), "error", "version_major", "is missing"
    ),
    "UTF-8 attribute": Defect(
        "point", utf8("state0", "units"), "error", "/state0, attribute units", "is a UTF-8 string"
    ),
    "vlen attribute": Defect(
        "point", vlen("state0", "units"), "error", "attribute units", "is a string of variable length"
    ),
    "number for a string": Defect(
        "point", attribute("state0", "units", 1), "error", "attribute units", "is a number"
    ),
    "string for a number": Defect(
        "point", lambda f: text(f["state0"], "step", "x"), "error", "attribute step", "is a string"
    ),
    "array attribute": Defect(
        "point",
        lambda f: f["state0"].attrs.create("step", [1, 2]),
        "error",
        "attribute step",
        "is not a single number",
    ),
    "not a number": Defect(
        "point", attribute("state0/mesh", "ndims", float("nan"), "f8"), "error", "attribute ndims", "finite"
    ),
    "long string": Defect(
        "point",
        lambda f: f["state0"].attrs.create("units", np.bytes_("u" * 70)),
        "warning",
        "attribute units",
        "70 characters",
    ),
    "meshtype 9": Defect(
        "point", attribute(MESH, "meshtype", 9), "error", "attribute meshtype", "9 is not a mesh type"
    ),
    "coord_datatype 99": Defect(
        "point", attribute(MESH, "coord_datatype", 99), "error", "coord_datatype", "99 is not a type"
    ),
    "coordtype 5": Defect(
        "point", attribute(MESH, "coordtype", 5), "error", "coordtype", "5 is not a type of coordinates"
    ),
    "ndims 4": Defect("point", attribute(MESH, "ndims", 4), "error", "attribute ndims", "4 dimensions"),
    "graph of floats": Defect(
        "unstructured", attribute(MESH, "graph_datatype", 9), "error", "graph_datatype", "double cannot"
    ),
    "matghosts without material": Defect(
        "point", attribute(MESH, "matghosts", 0), "warning", "matghosts", "no material"
    ),
    "matghosts of another": Defect(
        "colinear", attribute(MESH, "matghosts", 1), "warning", "nghosts", "the mesh says matghosts 1"
    ),
    "nmixcell too small": Defect(
        "colinear", attribute(MESH, "nmixcell", 2), "error", "nmixcell", "nmixcell is 2, the chunks hold 3"
    ),
    "nmixcomp too large": Defect(
        "colinear", attribute(MESH, "nmixcomp", 7), "warning", "nmixcomp", "nmixcomp is 7"
    ),
}

CHUNKS = {
    "CHUNKINFO missing": Defect(
        "point", drop(f"{MESH}/TIO_MESH_CHUNKINFO"), "error", "CHUNKINFO", "is missing"
    ),
    "CHUNKINFO not times 12": Defect(
        "point", resized(f"{MESH}/TIO_MESH_CHUNKINFO", -1), "error", "CHUNKINFO", "[35]"
    ),
    "CHUNKINFO 2-D": Defect(
        "point",
        data(f"{MESH}/TIO_MESH_CHUNKINFO", np.zeros((3, 12), "u8")),
        "error",
        "CHUNKINFO",
        "has extents [3, 12]",
    ),
    "CHUNKINFO one chunk short": Defect(
        "point",
        resized(f"{MESH}/TIO_MESH_CHUNKINFO", -12),
        "warning",
        "mass/TIO_DATA",
        "5 elements, the chunks need 3",
    ),
    "CHUNKINFO garbage": Defect("point", words(1, w0=2**63), "error", "CHUNKINFO", "word 0 of chunk 1 is"),
    "CHUNKINFO of floats": Defect(
        "point", data(f"{MESH}/TIO_MESH_CHUNKINFO", np.zeros(36)), "error", "CHUNKINFO", "holds float64"
    ),
    "point range": Defect(
        "point", words(2, w2=9), "error", "CHUNKINFO[24]", "chunk 2 has 2 nodes, its range says 3 to 9"
    ),
    "point nnodes": Defect("point", attribute(MESH, "nnodes", 4), "error", "attribute nnodes", "nnodes is 4"),
    "quad range outside": Defect(
        "colinear", words(1, w4=5, w0=4), "error", "CHUNKINFO[12]", "ends outside of the mesh (ni is 5)"
    ),
    "quad range backwards": Defect(
        "colinear", words(1, w3=4, w4=2), "error", "CHUNKINFO[12]", "begins after its end"
    ),
    "quad number of nodes": Defect(
        "colinear", words(0, w1=2), "error", "CHUNKINFO[0]", "does not agree with its number"
    ),
    "gap cells": Defect(
        "colinear", words(1, w3=3, w0=2), "note", "CHUNKINFO", "2 of 8 cells are in no chunk"
    ),
    "overlap": Defect(
        "colinear", words(1, w3=1, w0=4), "warning", "CHUNKINFO", "the chunks hold 10 cells, the mesh has 8"
    ),
    "ncells below the sum": Defect(
        "unstructured", attribute(MESH, "ncells", 3), "error", "attribute ncells", "its chunks hold 4"
    ),
    "nshapes below the sum": Defect(
        "unstructured", attribute(MESH, "nshapes", 1), "error", "attribute nshapes", "chunks hold 2"
    ),
    "nconnectivity below the sum": Defect(
        "unstructured",
        attribute(MESH, "nconnectivity", 15),
        "error",
        "attribute nconnectivity",
        "its chunks hold 16",
    ),
    "ncells above the sum": Defect(
        "unstructured", attribute(MESH, "ncells", 5), "warning", "attribute ncells", "ncells is 5"
    ),
    "empty chunk": Defect("unstructured", words(1, w0=0), "error", "CHUNKINFO", "chunk 1 has no nodes"),
    "more nodes than connectivity": Defect(
        "unstructured",
        attribute(MESH, "nconnectivity", 5),
        "error",
        "CHUNKINFO",
        "6 nodes, more than nconnectivity (5)",
    ),
    "RANGE of a wrong length": Defect(
        "point", data(f"{MESH}/TIO_MESH_RANGE", np.zeros(4)), "error", "MESH_RANGE", "has 4 elements"
    ),
}
