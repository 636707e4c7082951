"""The OpenAPI document as one page of HTML: no script, nothing from anywhere else, so that a closed network sees it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from api.outline import Field, Model, Operation, models, operations

_STYLE = """\
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
h2, h3 { margin-top: 2.5rem; } code { font-family: ui-monospace, monospace; }
.wide { overflow-x: auto; } table { border-collapse: collapse; margin: 1rem 0; width: 100%; }
th, td { border-bottom: 1px solid #8886; padding: .3rem .8rem .3rem 0; text-align: left; vertical-align: top; }
"""
POLICY = (
    f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""For the header Content-Security-Policy: the page's own style, and nothing else."""


def page(document: Mapping[str, Any]) -> str:
    """The whole page."""
    info = document["info"]
    title = escape(f"{info['title']} {info['version']}")
    found = operations(document)
    named = models(document)
    names = frozenset(model.name for model in named)
    parts = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body><h1>{title}</h1>",
        *(f"<p>{_prose(text)}</p>" for text in info["description"].split("\n\n")),
        '<p>For programs: <a href="/openapi.json">openapi.json</a>.</p><h2>Routes</h2>',
        _table(("route", "scope", "does"), (_route_row(one) for one in found)),
        *(_operation(one, names) for one in found),
        "<h2>Documents</h2>",
        *(_model(one, names) for one in named),
        "</body></html>",
    ]
    return "".join(parts)


def _route_row(one: Operation) -> tuple[str, str, str]:
    route = f'<a href="#{escape(one.name)}"><code>{escape(f"{one.method} {one.path}")}</code></a>'
    return route, one.scope or "none", _prose(one.meaning)


def _operation(one: Operation, names: frozenset[str]) -> str:
    parts = [f'<h3 id="{escape(one.name)}"><code>{escape(f"{one.method} {one.path}")}</code></h3>']
    parts.append(f"<p>{_prose(one.meaning)}</p>")
    if one.parameters:
        parts.append(_field_table("parameter", one.parameters, names))
    if one.body:
        parts.append(f"<p>Body: {_linked(one.body, names)}.</p>")
    answers = ((one.status, _prose(one.meaning), _linked(one.model, names)) for one in one.answers)
    return "".join([*parts, _table(("answer", "meaning", "document"), answers)])


def _model(one: Model, names: frozenset[str]) -> str:
    heading = f'<h3 id="model-{escape(one.name)}"><code>{escape(one.name)}</code></h3><p>{_prose(one.meaning)}</p>'
    return heading + _field_table("field", one.fields, names)


def _field_table(what: str, fields: Sequence[Field], names: frozenset[str]) -> str:
    rows = ((_named(one), _linked(one.kind, names), _prose(one.meaning)) for one in fields)
    return _table((what, "value", "meaning"), rows)


def _named(field: Field) -> str:
    where = f" ({field.where})" if field.where not in ("", "query") else ""
    return f"<code>{escape(field.name)}</code>{where}{', required' if field.required else ''}"


def _linked(kind: str, names: frozenset[str]) -> str:
    """Names of documents lead to their tables."""
    words = (
        f'<a href="#model-{escape(word)}">{escape(word)}</a>' if word in names else escape(word)
        for word in kind.split(" ")
    )
    return " ".join(words)


def _prose(text: str) -> str:
    """What stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
