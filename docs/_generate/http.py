"""The reference of the HTTP service, out of its OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from _generate import markdown
from _generate.markdown import GENERATED, code, table

from api.app import create_app
from api.outline import Answer, Field, Model, Operation, models, operations
from api.settings import ServiceSettings

_REFUSED = "400"
INTRODUCTION = """\
`driftgate serve` answers these routes; it shows the same as a page at `/docs` and for programs at `/openapi.json`.
[Run it for your team](../how-to/run-it-for-your-team.md) says how to set it up.\
"""


def page() -> str:
    """The whole page."""
    app = create_app(ServiceSettings("sqlite://"))
    app.state.service.store.close()
    document = app.openapi()
    found = operations(document)
    lines = [
        "# HTTP",
        "",
        GENERATED,
        "",
        INTRODUCTION,
        "",
        document["info"]["description"].strip(),
        "",
        "## Routes",
        "",
    ]
    lines += table(("route", "scope", "does"), map(_row, found))
    for tag in document["tags"]:
        lines += ["", f"## Routes: {tag['name']}", "", tag["description"]]
        for one in found:
            if one.tag == tag["name"]:
                lines += ["", *_section(one)]
    lines += ["", "## Refusals", "", "What the numbers above mean; each comes as a [`Problem`](#problem).", ""]
    lines += table(("status", "meaning"), sorted({(a.status, a.meaning) for one in found for a in _refusals(one)}))
    lines += ["", "## Documents", ""]
    for model in models(document):
        lines += ["", *_model(model)]
    return markdown.page(lines)


def _row(one: Operation) -> tuple[str, str, str]:
    return f"[{code(f'{one.method} {one.path}')}](#{_anchor(one)})", one.scope or "none", _first_sentence(one.meaning)


def _anchor(one: Operation) -> str:
    """As GitHub makes it from the heading."""
    return "".join(c for c in f"{one.method} {one.path}".lower() if c.isalnum() or c in "-_ ").replace(" ", "-")


def _section(one: Operation) -> Iterator[str]:
    yield f"### {one.method} {one.path}"
    yield from ("", f"Scope: {one.scope or 'none'}. {one.meaning}")
    if one.parameters:
        yield from ("", *_fields("parameter", one.parameters))
    if one.body:
        yield from ("", f"Body: {_linked(one.body)}.")
    good = [answer for answer in one.answers if answer.status < _REFUSED]
    yield from ("", *table(("answer", "meaning", "document"), ((a.status, a.meaning, _linked(a.model)) for a in good)))
    yield from ("", f"Refusals: {', '.join(answer.status for answer in _refusals(one))}.")


def _refusals(one: Operation) -> list[Answer]:
    return [answer for answer in one.answers if answer.status >= _REFUSED]


def _model(model: Model) -> Iterator[str]:
    yield f"### {model.name}"
    if model.meaning:
        yield from ("", model.meaning)
    yield from ("", *_fields("field", model.fields))


def _fields(what: str, fields: Sequence[Field]) -> list[str]:
    return table((what, "value", "meaning"), ((_named(one), _linked(one.kind), one.meaning) for one in fields))


def _named(field: Field) -> str:
    where = f" ({field.where})" if field.where not in ("", "query") else ""
    return f"{code(field.name)}{where}{', required' if field.required else ''}"


def _linked(kind: str) -> str:
    """Names of documents lead to their tables: they alone begin with a capital letter."""
    words = (f"[{code(word)}](#{word.lower()})" if word[:1].isupper() else word for word in kind.split(" "))
    return " ".join(words)


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".") + "."
