"""A YAML loader for untrusted input, on libyaml where PyYAML has it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml

MAX_VALUES = 4_000_000
MAX_DIGITS = 1000
"""Characters of a whole number. Python refuses to read and to print those of more than 4,300 digits."""
PLAIN_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|0b[01_]+)")


class _Strict(yaml.composer.Composer, yaml.constructor.SafeConstructor, yaml.resolver.Resolver):
    """Safe YAML without aliases, of which a few lines can expand to gigabytes, and without duplicate keys.

    Each value takes about a kilobyte while it is read, so their number is bounded. `064` and `1:30` are errors, because
    YAML 1.1 reads them as 52 and 90, which few people expect. So are whole numbers of more than a thousand digits.
    """

    values = 0
    peek_event: Callable[[], Any]
    check_event: Callable[..., bool]

    def __init__(self) -> None:
        yaml.composer.Composer.__init__(self)
        yaml.constructor.SafeConstructor.__init__(self)
        yaml.resolver.Resolver.__init__(self)

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.values += 1
        if self.values > MAX_VALUES:
            mark = self.peek_event().start_mark
            raise yaml.composer.ComposerError(None, None, f"more than {MAX_VALUES:,} values", mark)
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.composer.ComposerError(None, None, "aliases are not allowed", mark)
        return super().compose_node(parent, index)

    def construct_yaml_int(self, node: Any) -> int:
        if len(node.value) > MAX_DIGITS:
            what = f"a number of {len(node.value):,} digits"
            raise yaml.constructor.ConstructorError(None, None, what, node.start_mark)
        if not PLAIN_INTEGER.fullmatch(node.value):
            what = f"`{node.value[:60]}` may be read as another number: write it without leading 0 and colons"
            raise yaml.constructor.ConstructorError(None, None, what, node.start_mark)
        return super().construct_yaml_int(node)

    def construct_yaml_timestamp(self, node: Any) -> Any:
        try:
            return super().construct_yaml_timestamp(node)
        except (ValueError, OverflowError) as error:
            what = f"`{node.value[:60]}` is an impossible date"
            raise yaml.constructor.ConstructorError(None, None, what, node.start_mark) from error

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key is not a word", key.start_mark)
            if key.value in seen:
                what = f"the key `{key.value[:60]}` occurs twice"
                raise yaml.constructor.ConstructorError(None, None, what, key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


_Strict.add_constructor("tag:yaml.org,2002:int", _Strict.construct_yaml_int)  # type: ignore[type-var]
_Strict.add_constructor("tag:yaml.org,2002:timestamp", _Strict.construct_yaml_timestamp)  # type: ignore[type-var]


class PythonLoader(_Strict, yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    """The parser is PyYAML's own."""

    def __init__(self, text: str) -> None:
        yaml.reader.Reader.__init__(self, text)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)
        _Strict.__init__(self)


StrictLoader: Any = PythonLoader
if yaml.__with_libyaml__:

    class _LibyamlLoader(_Strict, yaml.cyaml.CParser):  # type: ignore[misc, name-defined]
        """The parser is libyaml's, which takes a fifth of the time."""

        def __init__(self, text: str) -> None:
            yaml.cyaml.CParser.__init__(self, text)  # type: ignore[attr-defined]
            _Strict.__init__(self)

    StrictLoader = _LibyamlLoader
