"""How statements name a series and a list, with the same words in every query."""

from __future__ import annotations

from typing import Any

import orjson
from sqlalchemy import ColumnElement, Connection, Text, any_, bindparam, func, select
from sqlalchemy.dialects.postgresql import ARRAY

from gate.identity import SeriesIdentity
from store.schema import series

_PARTS = ("project", "test_path", "backend", "suite")


def this_series() -> ColumnElement[int]:
    """The id of the series that the parameters of `address` name."""
    named = [series.c[part] == bindparam(f"at_{part}", type_=Text) for part in _PARTS]
    return select(series.c.id).where(*named).scalar_subquery()


def address(identity: SeriesIdentity) -> dict[str, Any]:
    """Parameters of `this_series`. The prefix keeps them apart from columns of the same name."""
    return {f"at_{part}": getattr(identity, part) for part in _PARTS}


def among(dialect: str, column: ColumnElement[str], name: str) -> ColumnElement[bool]:
    """Whether the column is in the list bound to ``name``: one parameter, however long the list."""
    if dialect == "postgresql":
        return column == any_(bindparam(name, type_=ARRAY(Text)))
    return column.in_(select(func.json_each(bindparam(name, type_=Text)).table_valued("value").c.value))


def bound_list(connection: Connection, values: list[str]) -> Any:
    """A list as `among` wants it bound."""
    return values if connection.dialect.name == "postgresql" else orjson.dumps(values).decode()
