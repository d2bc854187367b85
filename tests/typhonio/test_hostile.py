"""Damaged and malicious files: no crash, no hang, bounded memory, and nothing outside of the file is opened."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import random
import resource
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from typhonio_samples import MAKERS, make_file, table

from workalike.errors import WorkalikeError
from workalike.typhonio import child, inspection
from workalike.typhonio.hdf5 import Budget
from workalike.typhonio.inspection import inspect_file
from workalike.typhonio.show import lines

SECONDS = 60
MESH = "state0/mesh"


def spoilt(image: bytes, dice: random.Random) -> bytes:
    """A file image with some bytes changed, cut, or moved."""
    data = bytearray(image)
    kind = dice.randrange(4)
    if kind == 0:
        return bytes(data[: dice.randrange(len(data))])
    if kind == 1:
        at, n = dice.randrange(len(data)), dice.randrange(1, 64)
        data[at : at + n] = dice.randbytes(len(data[at : at + n]))
        return bytes(data)
    if kind == 2:
        a, b, n = dice.randrange(len(data)), dice.randrange(len(data)), dice.randrange(1, 512)
        data[a : a + n] = data[b : b + n]
        return bytes(data)
    for _ in range(dice.randrange(1, 9)):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return bytes(data)


def _in_child(path: str, pipe: Connection) -> None:
    # What other tests have left is not collected here: some of it belongs to threads that a fork does not have.
    gc.freeze()
    # The limit is one of addresses, of which the process that this one is forked from may use many.
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    child.MEMORY += pages * resource.getpagesize()
    child.limit()
    try:
        pipe.send(child.answer(path))
    except BaseException as error:
        pipe.send(repr(error))
    os._exit(0)


def ask_forked(path: Path) -> dict[str, Any] | str | int:
    """The answer of a process of its own; text if it raised, an exit code if it died."""
    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_in_child, args=(str(path), there))
    process.start()
    there.close()
    try:
        if not here.poll(SECONDS):
            process.kill()
            return "hangs"
        answer: dict[str, Any] | str = here.recv()
        return answer
    except EOFError:
        return 1
    finally:
        process.join()
        here.close()


def torture(tmp_path: Path, seed: int, count: int) -> dict[str, int]:
    """The number of damaged files by outcome. Without checksums (old format) more of the damage gets through."""
    dice = random.Random(seed)
    images = []
    for kind in MAKERS:
        for libver in ("latest", "earliest"):
            path = make_file(
                tmp_path / f"{kind}-{libver}.h5", kind, (libver, "v110") if libver == "earliest" else libver
            )
            images.append(path.read_bytes())
    ends: dict[str, int] = {}
    path = tmp_path / "spoilt.h5"
    for _ in range(count):
        path.write_bytes(spoilt(dice.choice(images), dice))
        answer = ask_forked(path)
        assert not isinstance(answer, str), answer
        if isinstance(answer, dict):
            json.dumps(answer)
        end = "died" if isinstance(answer, int) else answer["kind"]
        if end == "typhonio" and isinstance(answer, dict):
            end += " with errors" if answer["counts"]["error"] else ""
        ends[end] = ends.get(end, 0) + 1
    return ends


def test_spoilt_files(tmp_path: Path) -> None:
    ends = torture(tmp_path, 1, 80)
    assert ends.get("died", 0) < 10, ends
    assert ends["unreadable"] > 8
    assert ends["typhonio with errors"] > 8
    assert ends["typhonio"] > 1


@pytest.mark.long
def test_many_spoilt_files(tmp_path: Path) -> None:
    ends = torture(tmp_path, 2, 4000)
    assert ends["typhonio with errors"] > 300


def test_files_that_are_none(tmp_path: Path) -> None:
    for name, data in {
        "empty": b"",
        "text": b"hello\n" * 100,
        "cut": make_file(tmp_path / "a", "point").read_bytes()[:900],
    }.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(WorkalikeError, match="not readable as HDF5") as caught:
            inspect_file(tmp_path / name)
        assert caught.value.exit_code == 2
    with pytest.raises(WorkalikeError, match="is a folder"):
        inspect_file(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(WorkalikeError, match="not a regular file"):
        inspect_file(tmp_path / "pipe")


def test_an_older_typhonio_is_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "old.h5", "w") as file:
        file.create_group("TyphonIO_FileInfo")
    with pytest.raises(WorkalikeError, match="version before 1"):
        inspect_file(tmp_path / "old.h5")


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("import os; os.kill(os.getpid(), 11)", "HDF5 crashed while reading it .SIGSEGV."),
        ("import time; time.sleep(60)", "reading did not end within 1 s"),
        ("raise SystemExit('no room')", "reading it failed .no room."),
        ("print('[')", "reading it failed .no message."),
    ],
)
def test_a_reader_that_dies_is_one_line(
    code: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_file(tmp_path / "a.h5", "point")
    monkeypatch.setattr(inspection, "READER", ("-c", code))
    with pytest.raises(WorkalikeError, match=what) as caught:
        inspect_file(path, seconds=1.0)
    assert "\n" not in caught.value.one_line()
    assert caught.value.exit_code == 2


def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    """External links, also after a soft link; external and virtual datasets."""
    secret = tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["mesh"] = np.arange(5.0)
    path = make_file(tmp_path / "a.h5", "point")
    with h5py.File(path, "r+") as file:
        mesh = file[MESH]
        for name in ("mass", "speed"):
            del mesh[name]
        mesh["mass"] = h5py.ExternalLink(str(secret), "/")
        mesh["out"] = h5py.ExternalLink(str(secret), "/")
        mesh["speed"] = h5py.SoftLink("/state0/mesh/out/mesh")
        for axis in "IJ":
            del mesh[f"TIO_MESH_{axis}COORD"]
        mesh.create_dataset("TIO_MESH_ICOORD", (6,), "f8", external=[("/etc/passwd", 0, 48)])
        layout = h5py.VirtualLayout((6,), "f8")
        layout[:] = h5py.VirtualSource(str(secret), "mesh", (6,))
        mesh.create_virtual_dataset("TIO_MESH_JCOORD", layout)
    found = child.answer(str(path))
    what = {f["place"]: f["what"] for f in found["findings"]}
    assert "into another file, which is not followed" in what[f"/{MESH}/mass"]
    assert "into another file, which is not followed" in what[f"/{MESH}/speed"]
    assert "in another file" in what[f"/{MESH}/TIO_MESH_ICOORD"]
    assert "in another file" in what[f"/{MESH}/TIO_MESH_JCOORD"]
    assert what[f"/{MESH}/out"].startswith("is a link into another file")


def test_links_in_circles(tmp_path: Path) -> None:
    path = make_file(tmp_path / "a.h5", "point")
    with h5py.File(path, "r+") as file:
        group = file["state0/numbers"]
        group["self"] = group
        group["up"] = file
        group["a"], group["b"] = h5py.SoftLink("b"), h5py.SoftLink("a")
        table(group, "TIO_VGROUP_REF", [b"self", b"up", b"a"])
    what = {f["place"].rsplit("/", 1)[1]: f["what"] for f in child.answer(str(path))["findings"]}
    assert what["self"] == "contains itself"
    assert "chain of links" in what["a"]


def test_deep_and_wide_nesting(tmp_path: Path) -> None:
    """Vargroups in vargroups; and a diamond of them whose paths would be 2^40."""
    path = make_file(tmp_path / "a.h5", "point")
    with h5py.File(path, "r+") as file:
        group = file["state0/numbers"]
        for _ in range(100):
            table(group, "TIO_VGROUP_REF", [b"deeper"])
            group = group.create_group("deeper")
    found = child.answer(str(path))
    assert [f["what"] for f in found["findings"]].count("too many objects, or nested too deeply") == 1
    path = make_file(tmp_path / "b.h5", "point")
    with h5py.File(path, "r+") as file:
        group = file["state0/numbers"]
        for _ in range(40):
            table(group, "TIO_VGROUP_REF", [b"l", b"r"])
            below = group.create_group("l")
            group["r"] = below
            group = below
    found = inspect_file(path)
    assert found.errors == 0
    assert sum(line.lstrip().startswith("link r: same as") for line in lines(found)) == 40


def test_extents_without_end(tmp_path: Path) -> None:
    """A few kilobytes that claim petabytes: refused by size, not tried."""
    path = make_file(tmp_path / "a.h5", "unstructured")
    huge = 2**43
    with h5py.File(path, "r+") as file:
        mesh = file[MESH]
        for name, word in (("TIO_MESH_NODEIDS", 0), ("TIO_MESH_CONNECTIVITY", 3)):
            del mesh[name]
            mesh.create_dataset(name, (huge,), "i4", chunks=(2**20,), maxshape=(None,))
            mesh["TIO_MESH_CHUNKINFO"][word] = huge - 32
            mesh[name][0:1] = 1
        del file["TIO_STATE_REF"], mesh["TIO_QUANT_REF"]
        file.create_dataset("TIO_STATE_REF", (1,), "S64", chunks=(1,), maxshape=(None,))[0] = b"state0"
        mesh.create_dataset("TIO_QUANT_REF", (huge,), "S64", chunks=(1024,), maxshape=(None,))
    budget, Budget.left = Budget.left, 10**7
    try:
        found = child.answer(str(path))
    finally:
        Budget.left = budget
    what = {f["place"].rsplit("/", 1)[1]: f["what"] for f in found["findings"] if f["level"] == "error"}
    assert "too large to be read to its end" in what["TIO_MESH_NODEIDS"]
    assert "too many for a table" in what["TIO_QUANT_REF"]


def test_names_do_not_reach_the_terminal(tmp_path: Path) -> None:
    path = make_file(tmp_path / "a.h5", "point")
    evil = "\x1b]0;gone\x07[red]\n\u202eabc\x9b"
    with h5py.File(path, "r+") as file:
        file[MESH].move("mass", evil)
        del file[MESH]["TIO_QUANT_REF"]
        table(file[MESH], "TIO_QUANT_REF", [evil.encode(), b"speed"])
        file[MESH].create_group(b"half \xff\xfe")
        file.attrs.modify("title", np.bytes_(evil.encode()))
    text = "\n".join(lines(inspect_file(path)))
    assert all(c.isprintable() or c == "\n" for c in text)
    assert "\\x1b]0;gone\\x07[red]\\n\\u202eabc\\x9b" in text
    assert "half \\udcff\\udcfe" in text
    json.dumps(inspect_file(path).as_dict(path)).encode()


EXTREMES = [
    0,
    1,
    -1,
    2,
    3,
    7,
    12,
    2**15,
    2**31 - 1,
    2**31,
    2**40,
    2**44,
    2**63 - 1,
    2**63,
    2**64 - 2,
    2**64 - 1,
]


def _extreme(dice: random.Random, dtype: Any) -> Any:
    if dtype.kind == "f":
        return dice.choice([float("nan"), float("inf"), -1e308, 0.0, 1e19])
    if dtype.kind == "S":
        return np.bytes_(dice.choice([b"", b"/", b"mesh", b"x" * 63, b"\xff\n", b"TIO_"]))
    return np.array(dice.choice(EXTREMES) % 2**64, dtype="u8").astype(dtype)[()]


def distort(file: Any, dice: random.Random) -> None:
    """Extreme values that the library reads: attributes, elements and extents, with valid checksums."""
    objects: list[Any] = [file]
    file.visititems(lambda _, found: objects.append(found))
    for _ in range(dice.randrange(1, 4)):
        found = dice.choice(objects)
        try:
            if len(found.attrs) and dice.random() < 0.7:
                name = dice.choice(list(found.attrs))
                found.attrs.modify(name, _extreme(dice, found.attrs.get_id(name).dtype))
            elif isinstance(found, h5py.Dataset) and dice.random() < 0.2 and found.maxshape == (None,):
                found.resize((dice.choice([0, 1, 2, 5, 100]),))
            elif isinstance(found, h5py.Dataset) and found.size:
                at = tuple(dice.randrange(n) for n in found.shape)
                found[at] = _extreme(dice, found.dtype)
            elif isinstance(found, h5py.Group) and len(found) and found.name != "/":
                del found[dice.choice(list(found))]
                return  # the list of objects is no longer true
        except (OSError, ValueError, KeyError, TypeError):
            continue  # h5py will not write that one


def distorted(tmp_path: Path, seed: int, count: int) -> int:
    """How many of the distorted files had findings; none may raise."""
    dice, found = random.Random(seed), 0
    images = [make_file(tmp_path / f"{kind}.h5", kind).read_bytes() for kind in MAKERS]
    path = tmp_path / "distorted.h5"
    for _ in range(count):
        path.write_bytes(dice.choice(images))
        with h5py.File(path, "r+") as file:
            distort(file, dice)
        answer = child.answer(str(path))
        json.dumps(answer)
        found += bool(answer.get("findings"))
    return found


def test_distorted_files(tmp_path: Path) -> None:
    assert distorted(tmp_path, 5, 300) > 150


@pytest.mark.long
def test_many_distorted_files(tmp_path: Path) -> None:
    assert distorted(tmp_path, 6, 20_000) > 10_000
