"""Values that change from dump to dump, as lists inside one content (docs/workload-format.md, "Values of each dump").

Contents of a family are often alike but for some numbers. A file then has one content, in which such a number is a list
with the value of each dump. In the model every dump has a content of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from workalike.workload.content import CALLS, Content

Document = dict[str, Any]
Item = TypeVar("Item")

OF_CONTENT = dict.fromkeys(CALLS, 0)
"""Fields of a content that may be lists, and what an absent one means."""
OF_STREAM: Document = {"sizes": [], "base": None, "stride": 0, "repeat": 1}
"""The same of a stream; with no sizes a dump does not have the stream."""
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

    Raises:
        ValueError: lists of different lengths, or too many values.
    """
    content = family.get("content")
    if not isinstance(content, dict):
        return family
    lengths = {len(values) for values in _lists(content)}
    if not lengths:
        return family
    if len(lengths) > 1:
        few, many = min(lengths), max(lengths)
        raise ValueError(f"values of each dump: a list of {few} beside one of {many}")
    if family.get("contents") or family.get("use") is not None:
        raise ValueError("`content` with values of each dump replaces `contents` and `use`: leave them out")
    (dumps,) = lengths
    streams = content.get("streams")
    if dumps * (1 + len(streams if isinstance(streams, list) else ())) > MOST_VALUES:
        raise ValueError(f"values of each of {dumps:,} dumps: too many for a content of so many streams")
    contents = [_content_of(content, dump) for dump in range(dumps)]
    kept, use = distinct(contents, _text)
    fields: Document = {"content": kept[0]} if len(kept) == 1 else {"contents": kept}
    if 1 < len(kept) < dumps:
        fields["use"] = use
    return {key: value for key, value in family.items() if key != "content"} | fields


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
    again = unfolded(made)
    same = again.get("contents") == contents and again.get("use") == family.get("use")
    return made if same else None


def _lists(content: Document) -> Iterator[list[Any]]:
    """The lists of values of each dump."""
    yield from (content[key] for key in OF_CONTENT if isinstance(content.get(key), list))
    streams = content.get("streams")
    for stream in streams if isinstance(streams, list) else []:
        if isinstance(stream, dict):
            for key in OF_STREAM:
                value = stream.get(key)
                if isinstance(value, list) and (
                    key != "sizes" or any(isinstance(item, list) for item in value)
                ):
                    yield value


def _content_of(content: Document, dump: int) -> Document:
    """The content of one dump."""
    out = {key: _value_of(key, value, dump, OF_CONTENT) for key, value in content.items()}
    if isinstance(content.get("streams"), list):
        out["streams"] = [
            stream
            for stream in (_stream_of(stream, dump) for stream in content["streams"])
            if not isinstance(stream, dict) or stream.get("sizes") != []
        ]
    return {key: value for key, value in out.items() if key not in OF_CONTENT or value != OF_CONTENT[key]}


def _stream_of(stream: Any, dump: int) -> Any:
    if not isinstance(stream, dict):
        return stream
    out = {key: _value_of(key, value, dump, OF_STREAM) for key, value in stream.items()}
    return {key: v for key, v in out.items() if key not in OF_STREAM or key == "sizes" or v != OF_STREAM[key]}


def _value_of(key: str, value: Any, dump: int, fields: Document) -> Any:
    if key not in fields or not isinstance(value, list):
        return value
    if key == "sizes" and not any(isinstance(item, list) for item in value):
        return value
    return value[dump]


def _joined(contents: Sequence[Document]) -> Document | None:
    """One content for several, with lists where they differ; None where they differ in anything else."""
    if len({_rest(content, ("streams", *OF_CONTENT)) for content in contents}) > 1:
        return None
    streams = _joined_streams([content.get("streams", []) for content in contents])
    if streams is None:
        return None
    out: Document = {}
    for key in {key: None for content in contents for key in content}:
        if key == "streams":
            out[key] = streams
        elif key in OF_CONTENT:
            out[key] = _one_or_all([content.get(key, OF_CONTENT[key]) for content in contents])
        else:
            out[key] = contents[0][key]
    order = (*CALLS, "sync", "flush", "streams")
    return {key: out[key] for key in (*(k for k in order if k in out), *(k for k in out if k not in order))}


def _joined_streams(all_streams: Sequence[list[Document]]) -> list[Document] | None:
    """The streams of several contents as one list, those that only some have among them; None if their order differs."""
    numbered = [_numbered(streams) for streams in all_streams]
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
            for field, absent in OF_STREAM.items()
        }
        for field in ("base", "stride", "repeat"):  # of a dump without the stream: as in another one
            values[field] = [
                first.get(field, OF_STREAM[field]) if stream is None else value
                for stream, value in zip(own, values[field], strict=True)
            ]
        differing = {field: _one_or_all(every) for field, every in values.items()}
        kept = {field: differing[field] for field in OF_STREAM if differing[field] != OF_STREAM[field]}
        out.append({key: kept.get(key, value) for key, value in first.items()} | kept)
    return out


def _numbered(streams: Sequence[Document]) -> dict[tuple[str, int], Document]:
    """The streams by what may not differ from dump to dump; equal ones are numbered."""
    out: dict[tuple[str, int], Document] = {}
    for stream in streams:
        rest = _rest(stream, OF_STREAM)
        number = sum(known == rest for known, _ in out)
        out[rest, number] = stream
    return out


def _rest(part: Document, without: Any) -> str:
    return _text({key: value for key, value in part.items() if key not in without})


def _text(part: Document) -> str:
    return json.dumps(part, sort_keys=True, default=str)


def _one_or_all(values: list[Any]) -> Any:
    """The value, where all are the same."""
    return values[0] if all(value == values[0] for value in values) else values
