"""The list of software in a bundle (SBOM), as CycloneDX 1.5 in JSON. The same files give the same list."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workalike.version import VERSION

NAME = "SBOM.json"


@dataclass(frozen=True)
class PackedLibrary:
    """A library of which headers are packed: its folder, and where its version stands in its headers."""

    folder: str
    name: str
    licence: str
    home: str
    version: tuple[str, ...]
    """Patterns of the parts of its version."""


LIBRARIES = (
    PackedLibrary("fmt", "fmt", "MIT", "fmtlib/fmt", (r"#define FMT_VERSION (\d+)",)),
    PackedLibrary(
        "nlohmann",
        "nlohmann-json",
        "MIT",
        "nlohmann/json",
        tuple(rf"#define NLOHMANN_JSON_VERSION_{part} (\d+)" for part in ("MAJOR", "MINOR", "PATCH")),
    ),
    PackedLibrary("CLI", "CLI11", "BSD-3-Clause", "CLIUtils/CLI11", (r'#define CLI11_VERSION "([\d.]+)"',)),
)


def sbom(files: Mapping[str, bytes]) -> bytes:
    """The list for the files of a bundle: this program, and each library of which it has headers."""
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": _component("application", "workalike-engine", VERSION, "BSD-3-Clause")},
        "components": [_of(library, files) for library in LIBRARIES],
    }
    return (json.dumps(document, indent=1) + "\n").encode()


def _of(library: PackedLibrary, files: Mapping[str, bytes]) -> dict[str, Any]:
    headers = {
        name: content for name, content in files.items() if name.startswith(f"headers/{library.folder}/")
    }
    version = _version(library, headers)
    digest = hashlib.sha256()
    for name in sorted(headers):
        digest.update(f"{hashlib.sha256(headers[name]).hexdigest()}  {name}\n".encode())
    return {
        **_component("library", library.name, version, library.licence),
        "purl": f"pkg:github/{library.home}@{version}",
        "properties": [
            {"name": "workalike:folder", "value": f"headers/{library.folder}"},
            {"name": "workalike:files", "value": str(len(headers))},
            {"name": "workalike:sha256-of-checksums", "value": digest.hexdigest()},
        ],
    }


def _component(kind: str, name: str, version: str, licence: str) -> dict[str, Any]:
    return {"type": kind, "name": name, "version": version, "licenses": [{"license": {"id": licence}}]}


def _version(library: PackedLibrary, headers: Mapping[str, bytes]) -> str:
    """The version that the headers state; `unknown` where they do not."""
    text = "\n".join(headers[name].decode(errors="replace") for name in sorted(headers))
    found = [re.search(pattern, text) for pattern in library.version]
    parts = [match[1] for match in found if match]
    if len(parts) != len(library.version):
        return "unknown"
    if library.folder == "fmt":  # one number: 90100 is 9.1.0
        number = int(parts[0])
        parts = [str(number // 10000), str(number // 100 % 100), str(number % 100)]
    return ".".join(parts)
