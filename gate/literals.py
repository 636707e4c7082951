"""Literal values out of a syntax tree. Standard library only."""

from __future__ import annotations

import ast
from typing import Any


class NotLiteralError(Exception):
    """``node`` is not a literal; the message says what to write instead."""

    def __init__(self, node: ast.expr, text: str = "is not a literal; write the value itself") -> None:
        super().__init__(text)
        self.node = node


def literal(node: ast.expr) -> Any:
    """The value of a constant, a signed number, or a list, tuple or dict of literals.

    Raises NotLiteralError for anything else, and for a dict that gives a key twice.
    """
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=ast.Constant(value=int() | float() as number)):
            if isinstance(number, bool):
                raise NotLiteralError(node)
            return -number if isinstance(sign, ast.USub) else number
        case ast.List(elts=elements):
            return [literal(element) for element in elements]
        case ast.Tuple(elts=elements):
            return tuple(literal(element) for element in elements)
        case ast.Dict():
            return _dict_literal(node)
        case _:
            raise NotLiteralError(node)


def _dict_literal(node: ast.Dict) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        if not isinstance(key_node, ast.Constant):
            raise NotLiteralError(key_node or value_node, "is not a literal key; write each key as a string")
        if key_node.value in result:
            raise NotLiteralError(key_node, "is given twice in one dict; keep one")
        result[key_node.value] = literal(value_node)
    return result
