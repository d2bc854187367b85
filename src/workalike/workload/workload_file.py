"""Reads and writes workload files (YAML); input is untrusted."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import read_text, write_text
from workalike.workload import long_lists, units
from workalike.workload.family import own_level
from workalike.workload.model import (
    MAX_OPERATION_BYTES,
    Direction,
    Family,
    Interface,
    Lifetime,
    Rows,
    Sharing,
    SharingMode,
    Workload,
)
from workalike.workload.operation_table import OperationTable, file_name, read_table, write_table
from workalike.workload.per_dump import MOST_VALUES, folded, size_of, with_short_lists
from workalike.workload.strict_yaml import StrictLoader
from workalike.workload.upgrade import upgrade
from workalike.workload.vocabulary import schema_words
from workalike.workload.yaml_text import block

if TYPE_CHECKING:
    pass

MAX_BYTES = 64 * 2**20
HEAD = ("ranks", "nodes", "runtime", "processes", "compute", "cpu_share", "compressibility", "privacy")
HINT = "see docs/workload-format.md"
APART = ("families", "uncovered")
LONG_FIELDS = ("schedule", "sizes", "growth", "content", "contents", "use")
MOST_LINES = 40
"""A longer text is written closely: each family as a paragraph, without the values that it has by default."""
MOST_WITH_LISTS = 60
"""A text that is longer than this even then has its long lists in a file beside it."""
UNION_TAG = re.compile(r"[\[(]|^(?:int|str|float|bool|none|dict|list|tuple|nullable)$")
SHA256 = re.compile(r"[0-9a-f]{64}")
NOT_YAML: dict[type[Exception], str] = {
    RecursionError: "nested too deeply",
    yaml.reader.ReaderError: "a control character",
    ValueError: "a number that is too long, or an impossible date",
    OverflowError: "a number that is too large",
}


def describe_location(location: tuple[int | str, ...]) -> str:
    """A pydantic location as text such as `families[0].schedule.start`."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "the document"


def _location(finding: ErrorDetails) -> tuple[int | str, ...]:
    """A location without pydantic's names for the alternatives of a union, such as `list[int]`."""
    location = tuple(p for p in finding["loc"] if isinstance(p, int) or not UNION_TAG.search(p))
    if finding["type"] == "family":
        return (*location, "families", finding["ctx"]["family"])
    return location


def first_finding(error: ValidationError, words: Collection[str] = ()) -> tuple[tuple[int | str, ...], str]:
    """(location, message) of the first finding; among a union's alternatives, of the one that got furthest.

    A name that is like one that exists comes before all others: a field that is missing is often one that was misspelt. `words`
    are names that may have been meant.
    """
    details = error.errors(include_url=False, include_input=False)
    version = next((f for f in details if f["loc"] == ("workalike",)), None)
    if version is not None:  # all else may be right in that version
        return _location(version), _message(version)
    unknown = [f for f in details if f["type"] == "extra_forbidden"]
    missing = {_location(f) for f in details if f["type"] == "missing"}
    meant = {_location(f): _meant(_location(f), missing, words) for f in unknown}
    misspelt = [f for f in unknown if meant[_location(f)] is not None]
    found = [*misspelt, *(f for f in details if f["type"] != "missing" or _location(f) not in meant.values())]
    findings = [(_location(f), _message(f)) for f in found]
    first = findings[0][0]
    same = [f for f in findings if f[0][: len(first)] == first]
    location, message = max(same, key=lambda f: len(f[0]))
    near = meant.get(location)
    more = len({f[0] for f in findings if f not in same})
    return location, (
        message + (f": did you mean `{near[-1]}`?" if near else "") + (f" (and {more} more)" if more else "")
    )


def _is_newer(finding: ErrorDetails) -> bool:
    """Whether the document states a version of the format that is newer than ours."""
    return finding["type"] == "less_than_equal" and finding["loc"] == ("workalike",)


def _meant(
    unknown: tuple[int | str, ...], missing: Collection[tuple[int | str, ...]], words: Collection[str]
) -> tuple[int | str, ...] | None:
    """The place of the field that a name may have been meant for: missing beside it, or a known word."""
    if not unknown:
        return None
    *parent, name = unknown
    beside = [str(place[-1]) for place in missing if list(place[:-1]) == parent]
    near = get_close_matches(str(name), beside, 1, 0.5) or get_close_matches(str(name), words, 1, 0.8)
    return (*parent, near[0]) if near and near[0] != name else None  # a word, but no field here


def _message(finding: ErrorDetails) -> str:
    """What is wrong; pydantic's messages about its own types are replaced."""
    kind, context = finding["type"], finding.get("ctx", {})
    if _is_newer(finding):
        return f"made by a newer version of workalike: this one reads versions 1 to {context['le']}, so update it"
    if kind == "extra_forbidden":
        return "there is no such field"
    if kind == "missing":
        return "is missing"
    if kind in ("enum", "literal_error"):
        return f"use one of {context['expected']}".replace(" or ", ", ").replace("'", "")
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        return "must have fields, `name: value`"
    return str(finding["msg"]).removeprefix("Value error, ").replace("Input should be", "must be")


def first_error(error: ValidationError) -> tuple[str, str]:
    """(place, message) of the first finding, on one line."""
    location, message = first_finding(error)
    return describe_location(location), message


def line_of(root: yaml.Node | None, location: tuple[int | str, ...]) -> int:
    """The line, from 1, of a place in the document; for a missing part, the line of what should contain it."""
    node = root
    for part in location:
        found: yaml.Node | None = None
        if isinstance(node, yaml.MappingNode):
            found = next((value for key, value in node.value if key.value == part), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            found = node.value[part]
        if found is None:
            break
        node = found
    return int(node.start_mark.line) + 1 if node is not None else 1


def load_yaml(
    text: str,
    file: str | Path,
    hint: str = HINT,
    change: Callable[[yaml.Node | None], None] = lambda _: None,
) -> tuple[yaml.Node | None, Any]:
    """The document's nodes (for line numbers) and its values; `change` modifies the nodes first.

    Raises:
        WorkalikeError: BAD_WORKLOAD, naming the line.
    """
    try:
        loader = StrictLoader(text)
        node = loader.get_single_node()
        change(node)
        return node, None if node is None else loader.construct_document(node)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else text.count("\n", 0, getattr(error, "position", 0)) + 1
        problem = getattr(error, "problem", None) or NOT_YAML.get(type(error), type(error).__name__)
        raise WorkalikeError(
            ErrorKind.BAD_WORKLOAD,
            f"not YAML: {problem}",
            file=file,
            place=f"line {line}" if mark or hasattr(error, "position") else None,
            hint=hint,
        ) from error


def parse_workload(text: str, file: str | Path = "workload", folder: Path | None = None) -> Workload:
    """Check a workload's text; its long lists are in a file in `folder`.

    Raises:
        WorkalikeError: BAD_WORKLOAD naming the line and the place, with a hint; MISSING if its lists are not there.
    """
    node, document = load_yaml(text, file, change=upgrade)
    if not isinstance(document, dict) or "workalike" not in document:
        raise WorkalikeError(
            ErrorKind.BAD_WORKLOAD,
            "not a workload: it does not begin with `workalike: 2`",
            file=file,
            hint="create one with `workalike characterize LOG -o FILE`",
        )
    short = document
    if long_lists.KEY in document:
        document = _with_lists(document, file, folder)
    try:
        return Workload.model_validate(document)
    except ValidationError as error:
        location, message = first_finding(error, schema_words())
        listed = long_lists.place_of(short, location) if short is not document else None
        if listed is not None:
            path, _ = lists_path(short, file, folder)
            raise WorkalikeError(
                ErrorKind.BAD_WORKLOAD,
                message,
                file=path,
                place=f"list {listed[0] + 1}, {describe_location(location)}",
                hint=HINT,
            ) from error
        place = f"line {line_of(node, location)}, {describe_location(location)}"
        raise WorkalikeError(ErrorKind.BAD_WORKLOAD, message, file=file, place=place, hint=HINT) from error
    except RecursionError as error:
        raise WorkalikeError(ErrorKind.BAD_WORKLOAD, "nested too deeply", file=file, hint=HINT) from error


def lists_path(document: Mapping[str, Any], file: str | Path, folder: Path | None) -> tuple[Path, str]:
    """The file with a workload's long lists, and its SHA-256.

    Raises:
        WorkalikeError: BAD_WORKLOAD if the workload does not name it as it must, or has no folder.
    """
    head = document[long_lists.KEY]
    sha256 = head.get("sha256") if isinstance(head, dict) else None
    known = isinstance(head, dict) and head.keys() == {"sha256", "number"} and type(head["number"]) is int
    if not known or not isinstance(sha256, str) or not SHA256.fullmatch(sha256):
        raise WorkalikeError(
            ErrorKind.BAD_WORKLOAD,
            "must name the file of its long lists, `{sha256: …, number: …}`",
            file=file,
            place=long_lists.KEY,
            hint=HINT,
        )
    if folder is None:
        raise WorkalikeError(
            ErrorKind.BAD_WORKLOAD,
            "its long lists are in a file beside it, and it is not a file here",
            file=file,
            place=long_lists.KEY,
            hint="name the workload's file",
        )
    return folder / long_lists.file_name(sha256), sha256


def _with_lists(document: dict[str, Any], file: str | Path, folder: Path | None) -> dict[str, Any]:
    """The document with the long lists of the file beside it."""
    path, sha256 = lists_path(document, file, folder)
    lists = long_lists.read_lists(path, sha256, lambda text, name: load_yaml(text, name)[1])
    stated = document[long_lists.KEY]["number"]
    if stated != len(lists):
        raise WorkalikeError(
            ErrorKind.BAD_WORKLOAD, f"has {len(lists)} lists, not {stated}", file=path, hint=long_lists.HINT
        )
    try:
        return long_lists.put_back(document, lists)
    except ValueError as error:
        raise WorkalikeError(ErrorKind.BAD_WORKLOAD, str(error), file=path, hint=long_lists.HINT) from error
    except RecursionError as error:
        raise WorkalikeError(ErrorKind.BAD_WORKLOAD, "nested too deeply", file=file, hint=HINT) from error


def lists_text(text: str, path: Path) -> str:
    """The text of the file with the long lists of a workload whose text is `text`; empty where it has none.

    Raises:
        WorkalikeError: as `read_workload`.
    """
    _, document = load_yaml(text, path)
    if not isinstance(document, dict) or long_lists.KEY not in document:
        return ""
    beside, _ = lists_path(document, path, folder_of(path))
    return read_text(beside, ErrorKind.BAD_WORKLOAD, long_lists.MAX_BYTES)


def read_workload(path: str | Path) -> Workload:
    """Read and check a workload file.

    Raises:
        WorkalikeError: MISSING, or BAD_WORKLOAD naming the place, with a hint.
    """
    folder = folder_of(path)
    workload = parse_workload(read_text(path, ErrorKind.BAD_WORKLOAD, MAX_BYTES), path, folder)
    operations = workload.operations
    if operations is not None:
        table = read_table(folder, operations.sha256, operations.rows)
        check_rows(workload, table, folder / file_name(operations.sha256))
        operations.attach(table)
    return workload


def check_rows(workload: Workload, table: OperationTable, path: Path) -> None:
    """Check that the rows of a table are those that the workload's families speak of.

    Raises:
        WorkalikeError: BAD_WORKLOAD, naming the table and the family.
    """
    extent = 0 if workload.operations is None else workload.operations.extent
    for family in workload.families:
        for rows in (content.table for content in family.all_contents() if content.table is not None):
            reason = _contradiction(rows, table.part(rows.first, rows.count), family, workload.ranks, extent)
            if reason is not None:
                raise WorkalikeError(
                    ErrorKind.BAD_WORKLOAD,
                    f"rows {rows.first} to {rows.first + rows.count - 1} {reason}",
                    file=path,
                    place=f"{family.role.value} {family.number}",
                    hint="characterize the log again",
                )


def _contradiction(rows: Rows, found: OperationTable, family: Family, ranks: int, extent: int) -> str | None:
    """What is wrong with the rows of a content; None if nothing is."""
    import numpy as np

    if not len(found):
        return None
    if (found.offsets < 0).any() or (found.lengths < 0).any() or (found.lengths > MAX_OPERATION_BYTES).any():
        return "have impossible offsets or lengths"
    if (found.offsets > extent).any() or found.end() > extent:
        return f"lie beyond the {units.format_size(extent)} of the file"
    if int(found.ranks.max()) >= ranks:
        return f"name rank {int(found.ranks.max())} of {ranks} ranks"
    if family.sharing.ranks is not None:
        named = units.ranges_of(np.unique(found.ranks).tolist())
        if not units.is_subset(named, family.sharing.ranks):
            return "name ranks that have no part in the family"
    for direction in Direction:
        write = direction is Direction.WRITE
        stated = (rows.operations(direction), rows.moved(direction))
        if stated != (int(np.count_nonzero(found.writes == write)), found.moved(write)):
            return f"are not the {direction.value}s that the workload states"
    return None


def folder_of(path: str | Path) -> Path:
    """The folder in which a workload's file is; a link's is that of the file that it points to."""
    try:
        return Path(path).resolve().parent
    except (OSError, RuntimeError, ValueError):  # a link to itself, or a NUL: reading it says so
        return Path(path).parent


def write_workload(workload: Workload, path: Path, *, tables: bool = True) -> list[Path]:
    """Write a workload; return the files beside it that belong to it: its operation table, and its long lists.

    With `tables` off the lists stay in the workload, however long they are, and so they do in a pipe or device.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    folder = folder_of(path)
    if not folder.is_dir():
        write_text(path, "")  # says why not
    alone = path.exists() and not path.is_file()
    beside = []
    if workload.operations is not None and workload.operations.table is not None:
        beside.append(write_table(workload.operations.table, folder))
    text, lists = workload_texts(workload) if tables and not alone else (workload_text(workload), "")
    if lists:
        beside.append(folder / long_lists.file_name(long_lists.hash_of(lists)))
        write_text(beside[-1], lists)
    write_text(path, text)
    return beside


def workload_text(workload: Workload) -> str:
    """The workload as YAML; reading it back gives an equal workload."""
    return _text(_document(workload))


def workload_texts(workload: Workload) -> tuple[str, str]:
    """The workload as YAML, and the text of the file with its long lists, empty where it needs none."""
    document = _document(workload)
    text = _text(document)
    if text.count("\n") <= MOST_WITH_LISTS:
        return text, ""
    short, lists = long_lists.taken_out(document)
    return (_text(short), lists) if lists else (text, "")


def _document(workload: Workload) -> dict[str, Any]:
    """The workload as it is written."""
    document: dict[str, Any] = workload.model_dump(mode="json", exclude_defaults=True)
    families, made = [], 0
    for family, dumped in zip(workload.families, document["families"], strict=True):
        families.append(_shown(family, dumped, MOST_VALUES - made))
        made += size_of(families[-1])
    first = {"workalike": workload.workalike} | {key: document[key] for key in HEAD if key in document}
    return first | document | {"families": families}


def _text(document: dict[str, Any]) -> str:
    text = block(document, APART)
    if text.count("\n") <= MOST_LINES:
        return text
    return block(document | {"families": _without_defaults(document["families"])}, APART, close=True)


def _without_defaults(families: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Families without main fields that have their default value; what was assumed is said before the long fields."""
    in_order = {
        role
        for role in {family["role"] for family in families}
        if [family["number"] for family in families if family["role"] == role]
        == list(range(1, 1 + sum(family["role"] == role for family in families)))
    }
    out = []
    for family in families:
        default = {
            "lifetime": Lifetime.PER_DUMP.value,
            "level": own_level(Interface(family["interface"])).value,
        }
        if family["role"] in in_order:
            default["number"] = family["number"]
        if family.get("sharing") == {"mode": SharingMode.ROOT.value, "ranks": "0"}:
            family = family | {"sharing": SharingMode.ROOT.value}
        shown = {key: value for key, value in family.items() if value != default.get(key)}
        order = [
            *(key for key in shown if key not in LONG_FIELDS),
            *(key for key in shown if key in LONG_FIELDS),
        ]
        out.append({key: shown[key] for key in order})
    return out


def _shown(family: Family, dumped: dict[str, Any], most: int) -> dict[str, Any]:
    """A family with its main fields even if they have default values, which a reader may not know.

    `most` are the values of each dump that the file has room for.
    """
    sharing = dumped.get("sharing", {})
    always = {
        "role": family.role.value,
        "number": family.number,
        "interface": family.interface.value,
        "level": family.counted_at.value,
        "sharing": sharing if set(sharing) - {"mode"} else family.sharing.mode.value,
        "lifetime": family.lifetime.value,
    }
    if family.all_contents()[0].dataset is not None:  # they follow from it, or say nothing of it
        hidden = ["level", "lifetime", *(["sharing"] if family.sharing == Sharing() else [])]
        always = {key: value for key, value in always.items() if key not in hidden}
        dumped = {key: value for key, value in dumped.items() if key not in hidden}
    shown = always | {key: value for key, value in dumped.items() if key not in always}
    schedule = {key: _plain(value, " s") for key, value in dumped["schedule"].items()}
    shown |= {"schedule": schedule}
    if "sizes" in shown:
        shown["sizes"] = _plain(shown["sizes"], " B")
    short = folded(shown)
    shown = with_short_lists(shown)
    if short is None or size_of(short) > most or _lines(short) >= _lines(shown):
        return shown
    return short


def _plain(value: Any, unit: str) -> Any:
    """Long lists of times or sizes without the unit that a plain number has."""
    if isinstance(value, dict):
        return {key: _plain(item, unit) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    return [_number(item, unit) if isinstance(item, str) and item.endswith(unit) else item for item in value]


def _number(text: str, unit: str) -> int | float:
    number = float(text.removesuffix(unit))
    return (
        int(text.removesuffix(unit))
        if number.is_integer() and "." not in text and "e" not in text
        else number
    )


def _lines(family: dict[str, Any]) -> int:
    return block({"families": [family]}, apart=("families",)).count("\n")
