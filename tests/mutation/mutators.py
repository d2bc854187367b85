"""Small changes of Python source, each of which a test should notice."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult, ast.Mod: ast.Mult,
}  # fmt: skip


@dataclass(frozen=True)
class Mutation:
    """One change of a source: its line, what it is, and the changed source."""

    line: int
    what: str
    source: str


Change = tuple[str, Callable[[ast.AST], None]]


def mutations_of(source: str) -> dict[str, Callable[[], Mutation]]:
    """Every change of a source, made when it is called for, by the statement of the module that it lies in.

    The key is the statement's name or its first line, and the number of the change among those of that name.
    """
    tree = ast.parse(source)
    made: dict[str, Callable[[], Mutation]] = {}
    places: Counter[str] = Counter()
    index = 1  # node 0 is the module itself
    for statement in tree.body:
        name = getattr(statement, "name", None) or _shown(statement)
        for node in _nodes(statement):
            for number, (what, _) in enumerate(_changes(node)):
                made[f"{name} #{places[name]}"] = partial(_applied, tree, index, number, what, node)
                places[name] += 1
            index += 1
    return made


def _applied(tree: ast.Module, index: int, number: int, what: str, node: ast.AST) -> Mutation:
    changed = copy.deepcopy(tree)
    target = _nodes(changed)[index]
    _changes(target)[number][1](target)
    return Mutation(
        getattr(node, "lineno", 0), f"{what}: {_shown(node)}", ast.unparse(ast.fix_missing_locations(changed))
    )


def _shown(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0][:100]


def _nodes(tree: ast.AST) -> list[ast.AST]:
    """Nodes with an effect, without annotations, docstrings, imports and `__all__`."""
    out: list[ast.AST] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom)) or _names_only(node) or _is_docstring(node):
            return
        out.append(node)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "ctx", "op", "ops"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    visit(child)

    visit(tree)
    return out


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _names_only(node: ast.AST) -> bool:
    if not isinstance(node, ast.Assign):
        return False
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets)


def _changes(node: ast.AST) -> list[Change]:
    """The possible changes of a node."""
    if isinstance(node, ast.Compare):
        return [_comparison(i, type(op)) for i, op in enumerate(node.ops) if type(op) in COMPARISONS]
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in ARITHMETIC:
        new = ARITHMETIC[type(node.op)]
        swaps: list[Change] = [
            (f"{new.__name__} for {type(node.op).__name__}", lambda n: setattr(n, "op", new()))
        ]
        return swaps + (_removal(node) if isinstance(node, ast.AugAssign) else [])
    if isinstance(node, ast.Constant):
        return _constants(node.value)
    if isinstance(node, ast.BoolOp):
        other = ast.And if isinstance(node.op, ast.Or) else ast.Or
        return [(f"{other.__name__} for {type(node.op).__name__}", lambda n: setattr(n, "op", other()))]
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        return [("condition negated", lambda n: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test)))]  # type: ignore[attr-defined]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return _removal(node)
    return []


def _comparison(index: int, old: type[ast.cmpop]) -> Change:
    new = COMPARISONS[old]

    def change(node: ast.AST) -> None:
        assert isinstance(node, ast.Compare)
        node.ops[index] = new()

    return f"{new.__name__} for {old.__name__}", change


def _constants(value: object) -> list[Change]:
    if isinstance(value, bool):
        return [(f"{not value} for {value}", lambda n: setattr(n, "value", not value))]
    if isinstance(value, (int, float)):
        return [
            (f"{value + by} for {value}", lambda n, new=value + by: setattr(n, "value", new))
            for by in (1, -1)  # type: ignore[misc]
        ]
    return []


def _removal(node: ast.AST) -> list[Change]:
    def change(target: ast.AST) -> None:
        target.__class__ = ast.Pass
        for name in ("value", "target", "op"):
            target.__dict__.pop(name, None)

    return [("statement removed", change)]
