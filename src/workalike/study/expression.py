"""Conditions over factors, such as `ranks > 2 and backend == 'hdf5'`: a small part of Python's syntax.

A study may come from elsewhere, so that nothing is called and no attribute is read. Sizes compare as bytes: the levels
and the texts `1 MiB` and `1024 KiB` are equal. A factor that does not apply is None: it equals nothing else, and is
neither larger nor smaller.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, StringConstraints

from workalike.workload import units

MOST_CHARACTERS = 1000
MOST_DEPTH = 40

_NUMERIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ALLOWED = (
    *(ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.BinOp, ast.Compare),
    *(ast.Name, ast.Load, ast.Constant, ast.List, ast.Tuple, ast.In, ast.NotIn),
    *_NUMERIC,
    *_COMPARED,
)


def _parsed(text: str) -> ast.Expression:
    """The condition's tree.

    Raises:
        ValueError: it is not a condition.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(
            f"{text[:60]!r} is not a condition such as `ranks > 2 and backend == 'posix'`"
        ) from error
    _check(tree, 0)
    return tree


def _check(node: ast.AST, depth: int) -> None:
    if depth > MOST_DEPTH:
        raise ValueError("a condition is nested too deeply")
    if not isinstance(node, _ALLOWED):
        raise ValueError(
            f"a condition has comparisons, and, or, not, in and arithmetic, but no {type(node).__name__}"
        )
    for child in ast.iter_child_nodes(node):
        _check(child, depth + 1)


def _checked(text: str) -> str:
    _parsed(text)
    return text


Expression = Annotated[
    str, StringConstraints(min_length=1, max_length=MOST_CHARACTERS), AfterValidator(_checked)
]


def names_in(text: str) -> set[str]:
    """The factors that a condition names."""
    return {node.id for node in ast.walk(_parsed(text)) if isinstance(node, ast.Name)} if text else set()


def holds(text: str, levels: Mapping[str, Any]) -> bool:
    """Whether a condition holds for the levels of the factors; a factor without one is None.

    Raises:
        ValueError: it compares or computes what has no order or is not a number.
    """
    return bool(_value(_parsed(text).body, levels))


def _value(node: ast.expr, levels: Mapping[str, Any]) -> Any:
    match node:
        case ast.BoolOp():
            values = (bool(_value(part, levels)) for part in node.values)
            return all(values) if isinstance(node.op, ast.And) else any(values)
        case ast.UnaryOp():
            value = _value(node.operand, levels)
            return not value if isinstance(node.op, ast.Not) else -_number(value)
        case ast.BinOp():
            left, right = (_number(_value(part, levels)) for part in (node.left, node.right))
            try:
                return _NUMERIC[type(node.op)](left, right)
            except (ArithmeticError, OverflowError) as error:
                raise ValueError(f"a condition cannot be computed: {error}") from error
        case ast.Compare():
            return _compared(node, levels)
        case ast.Name():
            return _comparable(levels.get(node.id))
        case ast.Constant():
            return _comparable(node.value)
        case ast.List() | ast.Tuple():
            return [_value(part, levels) for part in node.elts]
    raise ValueError("no condition")


def _compared(node: ast.Compare, levels: Mapping[str, Any]) -> bool:
    left = _value(node.left, levels)
    for how, part in zip(node.ops, node.comparators, strict=True):
        right = _value(part, levels)
        if isinstance(how, ast.In | ast.NotIn):
            if not isinstance(right, list):
                raise ValueError("`in` needs a list, such as `ranks in [1, 2]`")
            result = (left in right) == isinstance(how, ast.In)
        elif isinstance(how, ast.Eq | ast.NotEq):
            result = _COMPARED[type(how)](left, right)
        elif left is None or right is None:
            result = False
        else:
            try:
                result = _COMPARED[type(how)](left, right)
            except TypeError as error:
                raise ValueError(f"{left!r} and {right!r} have no order") from error
        if not result:
            return False
        left = right
    return True


def _comparable(value: Any) -> Any:
    """A text that is a size with a unit as bytes; anything else as it is."""
    if isinstance(value, str) and value[:1].isdigit() and value[-1:] == "B":
        try:
            return units.parse_size(value)
        except ValueError:
            return value
    return value


def _number(value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is not a number")
    if isinstance(value, int) and abs(value) > 2**128:
        raise ValueError("a number is too large")
    return value
