"""Values that change from dump to dump, as lists inside one content (docs/workload-format.md, "Values of each dump").

Contents of a family are often alike but for some numbers. A file then has one content, in which such a number is a list
with the value of each dump. In the model every dump has a content of its own.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from workalike.workload import per_dump_arrays
from workalike.workload.content import CALLS, Content
from workalike.workload.quantities import MAX_DUMPS, beyond_limit

Document = dict[str, Any]
Item = TypeVar("Item")

OF_CONTENT = dict.fromkeys(CALLS, 0)
"""Fields of a content that may be lists, and what an absent one means."""
OF_STREAM: Document = {"sizes": [], "base": None, "stride": 0, "repeat": 1}
"""The same of a stream; with no sizes a dump does not have the stream."""
STREAMS: dict[str, Document] = {"streams": OF_STREAM, "buffered": OF_STREAM | {"seeks": 0, "flushes": 0}}
"""The lists of streams of a content."""
OF_TABLE = dict.fromkeys(("reads", "writes", "bytes_read", "bytes_written"), 0)
"""The same of rows of the operation table; the rows of the dumps follow each other."""
NONE = "none"
"""Stands for no sizes among values that are repeated, as in `17 x none`."""
LEAST_REPEATED = 5
"""Equal values in a row that are written as one, `5 x 0`."""
_REPEATED = re.compile(r"([1-9][0-9]{0,6}) x (\S.*)")
MOST_VALUES = 1_000_000
"""Contents of all dumps together, times the parts of one: a short text must not take gigabytes."""


def distinct(items: Sequence[Item], key: Callable[[Item], str]) -> tuple[list[Item], list[int]]:
    """Each item once, in order of first use, and for every item the index of its equal there."""
    places: dict[str, int] = {}
    kept: list[Item] = []
    use = []
    for item in items:
        use.append(places.setdefault(key(item), len(kept)))
        if use[-1] == len(kept):
            kept.append(item)
    return kept, use


def of_dumps(contents: Sequence[Content]) -> Document:
    """The fields of a family that has these contents, one for each dump."""
    kept, use = distinct(contents, Content.model_dump_json)
    return {
        "content": kept[0] if len(kept) == 1 else None,
        "contents": kept if len(kept) > 1 else [],
        "use": use if 1 < len(kept) < len(use) else None,
    }


def unfolded(family: Document) -> Document:
    """The family of a file with a content for each dump, if its content has values of each dump; else as it is.

    Equal dumps are made once.

    Raises:
        ValueError: lists of different lengths, or too many values.
    """
    if isinstance(family.get("use"), list):
        family = family | {"use": repeated(family["use"])}
    content = family.get("content")
    if not isinstance(content, dict):
        return family
    content = _with_lists(content, repeated)
    lengths = {len(values) for values in _lists(content)}
    if not lengths:
        return family
    if len(lengths) > 1:
        few, many = min(lengths), max(lengths)
        raise ValueError(f"values of each dump: a list of {few} beside one of {many}")
    if family.get("contents") or family.get("use") is not None:
        raise ValueError("`content` with values of each dump replaces `contents` and `use`: leave them out")
    (dumps,) = lengths
    if size_of(family) > MOST_VALUES:
        raise ValueError(
            f"values of each of {dumps:,} dumps: too many for a content with this number of streams"
        )
    firsts = _first_rows(content.get("table"), dumps)
    columns = [*_lists(content), *([firsts[:dumps]] if firsts else [])]
    rows, of_dump = distinct(range(dumps), lambda dump: repr([column[dump] for column in columns]))
    kept, again = distinct([_content_of(content, dump, firsts) for dump in rows], _text)
    use = [again[row] for row in of_dump]
    fields: Document = {"content": kept[0]} if len(kept) == 1 else {"contents": kept}
    if 1 < len(kept) < dumps:
        fields["use"] = use
    return {key: value for key, value in family.items() if key != "content"} | fields


def repeated(values: list[Any]) -> list[Any]:
    """The values with each `N x VALUE` as N values.

    Raises:
        ValueError: more values than a family may have dumps.
    """
    out: list[Any] = []
    for value in values:
        found = _REPEATED.fullmatch(value) if isinstance(value, str) else None
        times, repeated_value = (1, value) if found is None else (int(found[1]), _value(found[2]))
        if len(out) + times > MAX_DUMPS:
            raise beyond_limit(f"more than {MAX_DUMPS:,} values of each dump")
        out += [repeated_value] * times
    return out


def _times(value: Any) -> int:
    found = _REPEATED.fullmatch(value) if isinstance(value, str) else None
    return 1 if found is None else int(found[1])


def shortened(values: list[Any]) -> list[Any]:
    """The values with equal ones in a row as `N x VALUE`; lists of sizes only where they are empty."""
    out: list[Any] = []
    for value, equal in itertools.groupby(values):
        times = len(list(equal))
        plain = isinstance(value, (int, str)) or value == []  # an absent value has no word
        if times < LEAST_REPEATED or not plain:
            out += [value] * times
        else:
            out.append(f"{times} x {NONE if isinstance(value, list) else value}")
    return out


def with_short_lists(family: Document) -> Document:
    """A family of a file, with equal values in a row written as one."""
    out = dict(family)
    if family.get("use"):
        out["use"] = shortened(family["use"])
    if isinstance(family.get("content"), dict):
        out["content"] = _with_lists(family["content"], shortened)
    return out


def _value(text: str) -> Any:
    """A value as YAML has it where it stands alone."""
    return [] if text == NONE else int(text) if text.isdecimal() and text.isascii() else text


def _with_lists(content: Document, change: Callable[[list[Any]], list[Any]]) -> Document:
    """A content whose lists of values of each dump are changed."""

    def changed(part: Any, fields: Document) -> Any:
        if not isinstance(part, dict):
            return part
        lists = {key: change(part[key]) for key in fields if _is_of_each_dump(key, part.get(key))}
        return part | lists if lists else part

    out: Document = changed(content, OF_CONTENT)
    for key, fields in STREAMS.items():
        if isinstance(content.get(key), list):
            out = out | {key: [changed(stream, fields) for stream in content[key]]}
    if "arrays" in content:
        out = out | {"arrays": per_dump_arrays.with_parts(content["arrays"], partial(_changed_array, change))}
    return out | {"table": changed(content["table"], OF_TABLE)} if "table" in content else out


def _changed_array(change: Callable[[list[Any]], list[Any]], part: Document, fields: Document) -> Document:
    return part | {
        key: change(part[key]) for key in fields if per_dump_arrays.is_of_each_dump(key, part.get(key))
    }


def folded(family: Document) -> Document | None:
    """The dumped family with its contents as one, with values of each dump; None where they differ in more than these."""
    contents = family.get("contents", [])
    use = family.get("use") or list(range(len(contents)))
    if len(contents) < 2:
        return None
    content = _joined([contents[number] for number in use])
    if content is None:
        return None
    made = {"content" if key == "contents" else key: value for key, value in family.items() if key != "use"}
    made["content"] = content
    made = with_short_lists(made)
    try:
        again = unfolded(made)
    except ValueError:  # more than a file may hold
        return None
    same = again.get("contents") == contents and again.get("use") == family.get("use")
    return made if same else None


def size_of(family: Document) -> int:
    """How much a family of a file makes of its values of each dump: dumps, times the parts of one.

    Nothing is made of them. A list of the wrong length counts as it is.
    """
    content = family.get("content")
    if not isinstance(content, dict):
        return _length(family["use"]) if isinstance(family.get("use"), list) else 0
    parts = 1 + sum(len(_streams(content, key)) for key in STREAMS)
    parts += per_dump_arrays.parts_in(content.get("arrays"))
    return parts * max((_length(values) for values in _lists(content)), default=0)


def _length(values: list[Any]) -> int:
    """The number of values, with each `N x VALUE` as N."""
    return sum(_times(value) for value in values)


def _lists(content: Document) -> Iterator[list[Any]]:
    """The lists of values of each dump."""
    parts = [(content, OF_CONTENT), (content.get("table"), OF_TABLE)]
    parts += [(stream, fields) for key, fields in STREAMS.items() for stream in _streams(content, key)]
    for part, fields in parts:
        if isinstance(part, dict):
            yield from (part[key] for key in fields if _is_of_each_dump(key, part.get(key)))
    yield from per_dump_arrays.lists_in(content.get("arrays"))


def _streams(content: Document, key: str) -> list[Any]:
    streams = content.get(key)
    return streams if isinstance(streams, list) else []


def _is_of_each_dump(key: str, value: Any) -> bool:
    """Whether a field's value is a list with that of each dump; sizes are a list themselves."""
    if not isinstance(value, list):
        return False
    return key != "sizes" or any(isinstance(item, list) or _of_none(item) for item in value)


def _of_none(item: Any) -> bool:
    found = _REPEATED.fullmatch(item) if isinstance(item, str) else None
    return found is not None and found[2] == NONE


def _first_rows(table: Any, dumps: int) -> list[int]:
    """The first row of each dump: the rows of the dumps follow each other."""
    if not isinstance(table, dict):
        return []
    counts = [_numbers(table.get(key, 0), dumps) for key in ("reads", "writes")]
    first = table.get("first", 0)
    steps = [reads + writes for reads, writes in zip(*counts, strict=True)]
    return list(itertools.accumulate(steps, initial=first if isinstance(first, int) else 0))


def _numbers(value: Any, dumps: int) -> list[int]:
    """The value of each dump; 0 for what is not a number, which the model refuses."""
    values = value if isinstance(value, list) else [value] * dumps
    return [number if isinstance(number, int) else 0 for number in values]


def _content_of(content: Document, dump: int, firsts: list[int]) -> Document:
    """The content of one dump."""
    out = {key: _value_of(key, value, dump, OF_CONTENT) for key, value in content.items()}
    if isinstance(content.get("table"), dict):
        out["table"] = _rows_of(content["table"], dump, firsts[dump])
    if any(True for _ in per_dump_arrays.lists_in(content.get("arrays"))):
        out["arrays"] = per_dump_arrays.of_dump(content["arrays"], dump)
    for name, fields in STREAMS.items():
        if isinstance(content.get(name), list):
            out[name] = [
                stream
                for stream in (_stream_of(stream, dump, fields) for stream in content[name])
                if not isinstance(stream, dict) or stream.get("sizes") != []
            ]
    return {key: value for key, value in out.items() if key not in OF_CONTENT or value != OF_CONTENT[key]}


def _rows_of(table: Document, dump: int, first: int) -> Document:
    """The rows of one dump."""
    if not any(_is_of_each_dump(key, table.get(key)) for key in OF_TABLE):
        return table
    out = {key: _value_of(key, value, dump, OF_TABLE) for key, value in table.items()} | {"first": first}
    absent = OF_TABLE | {"first": 0}
    return {key: value for key, value in out.items() if key not in absent or value != absent[key]}


def _stream_of(stream: Any, dump: int, fields: Document) -> Any:
    if not isinstance(stream, dict):
        return stream
    out = {key: _value_of(key, value, dump, fields) for key, value in stream.items()}
    return {key: v for key, v in out.items() if key not in fields or key == "sizes" or v != fields[key]}


def _value_of(key: str, value: Any, dump: int, fields: Document) -> Any:
    return value[dump] if key in fields and _is_of_each_dump(key, value) else value


def _joined(contents: Sequence[Document]) -> Document | None:
    """One content for several, with lists where they differ; None where they differ in anything else."""
    if len({_rest(content, (*STREAMS, "arrays", "table", *OF_CONTENT)) for content in contents}) > 1:
        return None
    arrays = per_dump_arrays.joined([content.get("arrays", []) for content in contents])
    if arrays is None:
        return None
    tables = [content["table"] for content in contents if "table" in content]
    if tables and len(tables) < len(contents):
        return None
    streams = {
        key: _joined_streams([content.get(key, []) for content in contents], fields)
        for key, fields in STREAMS.items()
    }
    if None in streams.values():
        return None
    out: Document = {}
    for key in {key: None for content in contents for key in content}:
        if key in STREAMS:
            out[key] = streams[key]
        elif key == "arrays":
            out[key] = arrays
        elif key == "table":
            out[key] = _joined_rows(tables)
        elif key in OF_CONTENT:
            out[key] = _one_or_all([content.get(key, OF_CONTENT[key]) for content in contents])
        else:
            out[key] = contents[0][key]
    order = (*CALLS, "sync", "flush", "streams", "buffered")
    return {key: out[key] for key in (*(k for k in order if k in out), *(k for k in out if k not in order))}


def _joined_rows(tables: Sequence[Document]) -> Document:
    """The rows of several contents as one; they must follow each other, which the caller checks by unfolding them."""
    joined = {key: _one_or_all([rows.get(key, 0) for rows in tables]) for key in OF_TABLE}
    kind = {key: tables[0].get(key, False) for key in ("collective", "nonblocking")}
    out = {"first": tables[0].get("first", 0)} | joined | kind
    return {key: value for key, value in out.items() if value not in (0, False)}


def _joined_streams(all_streams: Sequence[list[Document]], fields: Document) -> list[Document] | None:
    """The streams of several contents as one list, those that only some have among them; None if their order differs."""
    numbered = [_numbered(streams, fields) for streams in all_streams]
    order = max((list(streams) for streams in numbered), key=len)
    for streams in numbered:
        places = [order.index(key) for key in streams if key in order]
        if len(places) < len(streams) or places != sorted(places):
            return None
    out = []
    for key in order:
        own = [streams.get(key) for streams in numbered]
        first = next(stream for stream in own if stream is not None)
        values = {
            field: [absent if stream is None else stream.get(field, absent) for stream in own]
            for field, absent in fields.items()
        }
        for field in [
            field for field in fields if field != "sizes"
        ]:  # of a dump without the stream: as in another one
            values[field] = [
                first.get(field, fields[field]) if stream is None else value
                for stream, value in zip(own, values[field], strict=True)
            ]
        differing = {field: _one_or_all(every) for field, every in values.items()}
        kept = {field: differing[field] for field in fields if differing[field] != fields[field]}
        out.append({key: kept.get(key, value) for key, value in first.items()} | kept)
    return out


def _numbered(streams: Sequence[Document], fields: Document) -> dict[tuple[str, int], Document]:
    """The streams by what may not differ from dump to dump; equal ones are numbered."""
    out: dict[tuple[str, int], Document] = {}
    for stream in streams:
        rest = _rest(stream, fields)
        number = sum(known == rest for known, _ in out)
        out[rest, number] = stream
    return out


def _rest(part: Document, without: Any) -> str:
    return _text({key: value for key, value in part.items() if key not in without})


def _text(part: Document) -> str:
    try:
        return json.dumps(part, sort_keys=True, default=str)
    except TypeError as error:
        raise ValueError("the name of a field is not a word") from error


def _one_or_all(values: list[Any]) -> Any:
    """The value, where all are the same."""
    return values[0] if all(value == values[0] for value in values) else values
