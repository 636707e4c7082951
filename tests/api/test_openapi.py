"""What OpenAPI says of every route, and the page that shows it."""

import re

import pytest
from fastapi.routing import iter_route_contexts

from api.app import create_app
from api.callers import scope_of
from api.documents_page import page as page_of
from api.openapi import LIMITS, TAGS
from api.outline import models, operations
from api.settings import ServiceSettings


def make_app():
    app = create_app(ServiceSettings("sqlite://"))
    app.state.service.store.close()
    return app


APP = make_app()
DOCUMENT = APP.openapi()
ROUTES = sorted(
    (context.path, method.lower(), scope_of(context.original_route))
    for context in iter_route_contexts(APP.routes)
    for method in context.methods
)
EACH_ROUTE = pytest.mark.parametrize(("path", "method", "scope"), ROUTES)


@EACH_ROUTE
def test_every_route_is_described(path, method, scope):
    """With its scope, a tag that is explained, and what it does in a sentence."""
    operation = DOCUMENT["paths"][path][method]
    assert operation["x-scope"] == scope
    assert set(operation["tags"]) <= set(TAGS)
    assert re.fullmatch(r"[A-Z`].+[.:].*", operation["description"], re.DOTALL)


@EACH_ROUTE
def test_every_refusal_is_declared(path, method, scope):
    """The statuses that this route may answer instead, each a problem document."""
    operation = DOCUMENT["paths"][path][method]
    wanted = {"413", "422"} | ({"401", "403", "404", "503"} if scope else set())
    wanted |= {"415"} if "requestBody" in operation else set()
    wanted |= {"409"} if scope in ("write", "operate") else set()
    given = {status: answer for status, answer in operation["responses"].items() if status >= "400"}
    assert wanted <= set(given)
    for answer in given.values():
        (media_type,) = answer["content"]
        assert (media_type, answer["content"][media_type]["schema"]["$ref"]) == (
            "application/problem+json",
            "#/components/schemas/Problem",
        )


@EACH_ROUTE
def test_every_answer_has_a_schema(path, method, scope):
    """JSON that goes out is described: no answer of any form at all."""
    answers = DOCUMENT["paths"][path][method]["responses"]
    for answer in answers.values():
        for media_type, content in answer.get("content", {}).items():
            assert content.get("schema") or media_type != "application/json"


def test_every_operation_has_a_name_of_its_own():
    """Names of functions, as generated clients use them."""
    names = [one.name for one in operations(DOCUMENT)]
    assert len(set(names)) == len(names) == len(ROUTES)
    assert all(re.fullmatch(r"[a-z_]+", name) for name in names)


def test_every_limit_is_stated():
    """In one place, in words, and beside what it limits."""
    assert DOCUMENT["info"]["x-limits"] == LIMITS
    assert LIMITS["body_bytes"] == 8 * 2**20
    assert (LIMITS["values_per_run"], LIMITS["coordinates_per_answer"], LIMITS["page"]) == (100_000, 10_000, 1000)
    for words in ("8 MiB", "100,000 values", "10,000 coordinates", "1,000 rows"):
        assert words in " ".join(DOCUMENT["info"]["description"].split())
    schemas = DOCUMENT["components"]["schemas"]
    assert schemas["ValuesBody"]["properties"]["values"]["maxItems"] == 100_000
    for model, field in (("RunBody", "series_values"), ("HistoryQuery", "specs"), ("Evaluation", "declarations")):
        assert schemas[model]["properties"][field]["maxItems"] == LIMITS["specs_per_request"]


def test_every_body_and_every_page_states_its_limit():
    """Whichever route it is."""
    for methods in DOCUMENT["paths"].values():
        for operation in methods.values():
            if "requestBody" in operation:
                assert operation["requestBody"]["x-max-bytes"] == 8 * 2**20
            for parameter in operation.get("parameters", ()):
                bounds = parameter["schema"].get("anyOf", [parameter["schema"]])[0]
                assert parameter["name"] != "limit" or (bounds["minimum"], bounds["maximum"]) == (1, 1000)
                assert parameter["in"] != "query" or parameter["description"]


class TestPage:
    @pytest.fixture
    def page(self, client):
        return client.get("/docs")

    def test_it_shows_every_route_and_every_document(self, page):
        """With its parameters."""
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        for one in operations(DOCUMENT):
            assert f'<h3 id="{one.name}"><code>{one.method} {one.path}</code></h3>' in page.text
            assert all(f"<code>{parameter.name}</code>" in page.text for parameter in one.parameters)
        for model in models(DOCUMENT):
            assert f'id="model-{model.name}"' in page.text

    def test_it_needs_nothing_from_anywhere(self, page):
        """No script, no other host: it works in a closed network and under a strict policy."""
        assert not re.findall(r"<script|<link|<img|\bon\w+=|\bstyle=|https?://", page.text)
        policy = page.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert "unsafe" not in policy

    def test_every_link_of_it_leads_somewhere(self, page):
        """To a heading of the page, or to a route."""
        for target in re.findall(r'href="([^"]+)"', page.text):
            assert f'id="{target[1:]}"' in page.text or target in DOCUMENT["paths"]

    def test_what_comes_from_code_is_escaped(self):
        """A docstring is no HTML."""
        app = make_app()

        @app.get("/odd", tags=["service"], description="<script>alert(1)</script>.")
        def odd() -> None: ...

        assert "<script>" not in page_of(app.openapi())


def test_no_answer_names_another_host(client):
    """Not for a script, not for a style, not for a schema."""
    for path, method, _ in ROUTES:
        if method == "get":
            found = re.findall(rb"https?://[^\s\"'<>)]+", client.get(path).content)
            assert found == [], path
