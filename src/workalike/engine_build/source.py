"""What an engine is built from: its source, and the headers of three libraries with their licences."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import workalike
from workalike.errors import ErrorKind, WorkalikeError
from workalike.version import VERSION

PARTS = ("engine", "counting")
LEFT_OUT = ("engine/tests", "engine/python")
ENDINGS = (".c", ".cpp", ".h", ".hpp", ".cmake", "CMakeLists.txt")
HEADERS = {"fmt": "libfmt-dev", "nlohmann": "nlohmann-json3-dev", "CLI": "libcli11-dev"}
"""Folder of headers -> Debian's package of it, which holds the licence."""
HEADER_ENDINGS = (".h", ".hpp")
LICENCE_FOLDERS = (
    "share/doc/{package}/copyright",
    "share/licenses/{folder}/LICENSE",
    "share/{folder}/copyright",
)


def source_files() -> Iterator[tuple[str, bytes]]:
    """(path, content) of the engine and what it includes.

    Raises:
        WorkalikeError: MISSING if this installation has no source of the engine.
    """
    root = _source_root()
    for part in PARTS:
        for path in sorted((root / part).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.is_file() and name.endswith(ENDINGS) and not name.startswith(LEFT_OUT):
                yield name, path.read_bytes()


def header_files() -> Iterator[tuple[str, bytes]]:
    """(path, content) of headers (`headers/…`) and licences (`LICENSES/…`): those of the wheel, else of this machine.

    Raises:
        WorkalikeError: MISSING for headers or a licence that this machine does not have.
    """
    packed = _source_root()
    if (packed / "headers").is_dir():
        for part in ("headers", "LICENSES"):
            for path in sorted((packed / part).rglob("*")):
                if path.is_file():
                    yield path.relative_to(packed).as_posix(), path.read_bytes()
        return
    for folder, package in HEADERS.items():
        include = _include_with(folder, package)
        for path in sorted((include / folder).rglob("*")):
            if path.is_file() and path.name.endswith(HEADER_ENDINGS):
                yield f"headers/{path.relative_to(include).as_posix()}", path.read_bytes()
        yield f"LICENSES/{folder}", _licence(include.parent, folder, package)


def cmake_lists() -> bytes:
    """The CMakeLists.txt that builds the engine from these files alone."""
    text = resources.files("workalike.engine_build").joinpath("templates", "CMakeLists.txt").read_text()
    return text.replace("@VERSION@", VERSION).encode()


def licence() -> bytes:
    """Our own licence."""
    root = _source_root()
    for path in (root / "LICENSE", root.parent / "LICENSE"):
        if path.is_file():
            return path.read_bytes()
    raise _missing("the licence of workalike is not part of this installation", "install workalike anew")


def _source_root() -> Path:
    package = Path(workalike.__file__).parent
    for root in (package.parents[1], package / "engine_source"):
        if all((root / part).is_dir() for part in PARTS):
            return root
    raise _missing(
        "the engine's source is not part of this installation",
        "install workalike from its source distribution",
    )


def _include_with(folder: str, package: str) -> Path:
    places = [Path(path) for path in os.environ.get("CPATH", "").split(":") if path]
    if prefix := os.environ.get("CONDA_PREFIX"):
        places.append(Path(prefix, "include"))
    for include in (*places, Path("/usr/local/include"), Path("/usr/include")):
        if (include / folder).is_dir():
            return include
    raise _missing(
        f"no headers of {folder}", f"install them (Debian: {package}), or name their folder in CPATH"
    )


def _licence(prefix: Path, folder: str, package: str) -> bytes:
    for pattern in LICENCE_FOLDERS:
        path = prefix / pattern.format(package=package, folder=folder)
        if path.is_file():
            return path.read_bytes()
    raise _missing(
        f"no licence of {folder} below {prefix}/share",
        f"install its package with documents (Debian: {package})",
    )


def _missing(message: str, hint: str) -> WorkalikeError:
    return WorkalikeError(ErrorKind.MISSING, message, hint=hint)
