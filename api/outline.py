"""An OpenAPI document as the rows that a person reads: routes, what they take, what they answer, and the models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gate.wording import listed

_REFERENCE = "#/components/schemas/"


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter, or a field of a model. ``where``: query, path, header; empty for a field."""

    name: str
    kind: str
    meaning: str
    where: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """``model``: of its JSON; empty where it is something else, or nothing."""

    status: str
    meaning: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one route. ``scope``: empty where it is open to all. ``body``: the kind of what is sent."""

    name: str
    method: str
    path: str
    tag: str
    scope: str
    meaning: str
    parameters: tuple[Field, ...]
    body: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """One of the documents that are sent or answered."""

    name: str
    meaning: str
    fields: tuple[Field, ...]


def operations(document: Mapping[str, Any]) -> tuple[Operation, ...]:
    """In the order of the document's tags, and within them of its paths."""
    found = [
        _operation(path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    order = [tag["name"] for tag in document["tags"]]
    return tuple(sorted(found, key=lambda one: order.index(one.tag)))


def models(document: Mapping[str, Any]) -> tuple[Model, ...]:
    """By name."""
    schemas = document["components"]["schemas"]
    return tuple(Model(name, _text(schemas[name]), tuple(_fields(schemas[name]))) for name in sorted(schemas))


def _operation(path: str, method: str, operation: Mapping[str, Any]) -> Operation:
    return Operation(
        name=operation["operationId"],
        method=method.upper(),
        path=path,
        tag=operation["tags"][0],
        scope=operation["x-scope"] or "",
        meaning=_text(operation),
        parameters=tuple(_parameter(one) for one in operation.get("parameters", ())),
        body=_kind(_json_schema(operation.get("requestBody", {}))),
        answers=tuple(
            Answer(status, _text(answer), _kind(_json_schema(answer)))
            for status, answer in sorted(operation["responses"].items())
        ),
    )


def _parameter(parameter: Mapping[str, Any]) -> Field:
    schema = parameter["schema"]
    default = schema.get("default")
    meaning = _text(parameter) + ("" if default is None else f" Else {default}.")
    kind = _kind(schema).removesuffix(" or null")  # left out: a query has no null
    return Field(parameter["name"], kind, meaning.strip(), parameter["in"], parameter.get("required", False))


def _fields(schema: Mapping[str, Any]) -> Iterator[Field]:
    required = schema.get("required", ())
    for name, below in schema.get("properties", {}).items():
        yield Field(name, _kind(below), _text(below), required=name in required)


def _json_schema(content: Mapping[str, Any]) -> Mapping[str, Any]:
    for media_type, found in content.get("content", {}).items():
        if media_type.endswith("json"):
            schema: Mapping[str, Any] = found.get("schema", {})
            return schema
    return {}


def _text(part: Mapping[str, Any]) -> str:
    return " ".join(part.get("description", "").replace("``", "`").split())


def _kind(schema: Mapping[str, Any]) -> str:
    """A schema in a few words; empty for one that allows anything."""
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(_REFERENCE)
    if "anyOf" in schema:
        return " or ".join(_kind(one) or "anything" for one in schema["anyOf"])
    if "const" in schema or "enum" in schema:
        return listed([str(value) for value in schema.get("enum", [schema.get("const")])])
    kind = str(schema.get("type", ""))
    described = _BY_TYPE.get(kind)
    return kind + _range(schema) if described is None else described(schema)


def _array(schema: Mapping[str, Any]) -> str:
    inside = _kind(schema.get("items", {}))
    most = f"at most {schema['maxItems']:,} " if "maxItems" in schema else ""
    return f"list of {most}{inside}" if inside else "list"


def _object(schema: Mapping[str, Any]) -> str:
    values = schema.get("additionalProperties")
    inside = _kind(values) if isinstance(values, Mapping) else ""
    return f"object of {inside}" if inside else "object"


def _string(schema: Mapping[str, Any]) -> str:
    kind = "time" if schema.get("format") == "date-time" else "string"
    return kind + (f", at most {schema['maxLength']:,} characters" if "maxLength" in schema else "")


_BY_TYPE = {"array": _array, "object": _object, "string": _string}


def _range(schema: Mapping[str, Any]) -> str:
    least = schema.get("minimum")
    most = schema.get("maximum", schema.get("exclusiveMaximum"))
    if most is not None and abs(most) >= 2**31 - 1:
        most = None  # what an integer holds is no bound that anybody needs to read
        least = None if least is not None and least < -1 else least
    if least is None:
        return "" if most is None else f" up to {_number(most)}"
    return f" from {_number(least)}" + ("" if most is None else f" to {_number(most)}")


def _number(bound: float) -> str:
    """Bounds of integers may be written as floats."""
    return f"{int(bound):,}" if bound == int(bound) else f"{bound:,}"
