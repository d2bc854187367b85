"""Reading and writing workload files (YAML, untrusted on the way in)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from workalike.errors import ErrorKind, WorkalikeError
from workalike.workload.model import Workload

MAX_BYTES = 64 * 2**20


class _Loader(yaml.SafeLoader):
    """Safe YAML without aliases: a few lines of aliases can expand to gigabytes."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "aliases are not allowed", self.peek_event().start_mark)
        return super().compose_node(parent, index)


class _Dumper(yaml.SafeDumper):
    """Block style for what a person walks through, one line for what is one thing."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_list(dumper: _Dumper, data: list[Any]) -> Any:
    flat = all(not isinstance(x, (dict, list)) for x in data)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=flat)


def _is_short(value: Any) -> bool:
    """Whether a value fits beside others on one line."""
    if isinstance(value, list):
        return len(value) <= 4 and not any(isinstance(x, (dict, list)) for x in value)
    return not isinstance(value, dict)


def _represent_dict(dumper: _Dumper, data: dict[str, Any]) -> Any:
    short = len(data) <= 8 and all(_is_short(x) for x in data.values())
    return dumper.represent_mapping("tag:yaml.org,2002:map", data.items(), flow_style=short)


_Dumper.add_representer(list, _represent_list)
_Dumper.add_representer(dict, _represent_dict)


def describe_location(location: tuple[int | str, ...]) -> str:
    """`families[0].schedule.start` of a pydantic location."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "the document"


def first_error(error: ValidationError) -> tuple[str, str]:
    """(place, message) of the first finding, on one line."""
    finding = error.errors(include_url=False, include_input=False)[0]
    message = str(finding["msg"]).removeprefix("Value error, ")
    more = error.error_count() - 1
    return describe_location(finding["loc"]), message + (f" (and {more} more)" if more else "")


def parse_workload(text: str, file: str | Path = "workload") -> Workload:
    """Check a workload's text.

    Raises:
        WorkalikeError: BAD_WORKLOAD naming the place and the mend.
    """
    try:
        document = yaml.load(text, Loader=_Loader)  # noqa: S506  a SafeLoader without aliases
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        mark = getattr(error, "problem_mark", None)
        raise WorkalikeError(
            ErrorKind.BAD_WORKLOAD,
            f"not YAML: {getattr(error, 'problem', None) or type(error).__name__}",
            file=file,
            place=f"line {mark.line + 1}" if mark else None,
            mend="see docs/workload-format.md",
        ) from error
    if not isinstance(document, dict) or "workalike" not in document:
        raise WorkalikeError(
            ErrorKind.BAD_WORKLOAD,
            "not a workload: it does not begin with `workalike: 1`",
            file=file,
            mend="make one with `workalike characterize LOG -o FILE`",
        )
    try:
        return Workload.model_validate(document)
    except ValidationError as error:
        place, message = first_error(error)
        raise WorkalikeError(
            ErrorKind.BAD_WORKLOAD, message, file=file, place=place, mend="see docs/workload-format.md"
        ) from error
    except RecursionError as error:
        raise WorkalikeError(ErrorKind.BAD_WORKLOAD, "nested too deeply", file=file) from error


def read_workload(path: str | Path) -> Workload:
    """Read and check a workload file.

    Raises:
        WorkalikeError: MISSING, or BAD_WORKLOAD naming the place and the mend.
    """
    path = Path(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise WorkalikeError(ErrorKind.BAD_WORKLOAD, f"larger than {MAX_BYTES} bytes", file=path)
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise WorkalikeError(
            ErrorKind.MISSING, error.strerror or "cannot read", file=path, mend="check the path"
        ) from error
    except UnicodeDecodeError as error:
        raise WorkalikeError(
            ErrorKind.BAD_WORKLOAD, "not UTF-8 text", file=path, place=f"byte {error.start}"
        ) from error
    return parse_workload(text, path)


def workload_text(workload: Workload) -> str:
    """The workload as YAML; reading it back gives an equal workload."""
    document = workload.model_dump(mode="json", exclude_defaults=True)
    head = {key: document.pop(key) for key in ("ranks", "nodes", "runtime") if key in document}
    document = {"workalike": workload.workalike, **head, "families": [], **document}
    for family, shown in zip(workload.families, document["families"], strict=True):
        # Said even where they are the defaults: a reader should not have to know those.
        said = {"role": family.role.value, "number": family.number, "interface": family.interface.value}
        said |= {"level": family.counted_at.value, "lifetime": family.lifetime.value}
        if "sharing" not in shown:
            said["sharing"] = family.sharing.mode.value
        elif set(shown["sharing"]) == {"mode"}:
            shown["sharing"] = shown["sharing"]["mode"]
        rest = {key: value for key, value in shown.items() if key not in said}
        shown.clear()
        shown.update(said | rest)
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=110, allow_unicode=False)
