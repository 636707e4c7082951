"""The service does what its OpenAPI document says: requests are made out of the document, answers held against it."""

from copy import copy
from datetime import timedelta

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.core.failures import FailureGroup
from schemathesis.python.asgi import get_client
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance, unsupported_method

from api.app import create_app
from api.callers import SCOPES
from api.settings import ServiceSettings
from store.tokens import NewToken

EXAMPLES = 20
NOT_HERE = [
    ignored_auth,  # `test_matrix`: every route, every kind of caller
    unsupported_method,  # `test_openapi` counts the routes, `test_app` has a 405
    positive_data_acceptance,  # what a schema cannot say: one selector of three, a cursor of this query, 1.0 is no step
]


class Served:
    """A service over three nights of one series, open to nobody without a token, and the ways to ask it."""

    def __init__(self, app, client, ids, good):
        self._promise(app.openapi())
        self._client = client
        self._good = good
        self._tokens = app.state.service.store.tokens
        self._secrets = {scope: self._token(scope) for scope in SCOPES}
        self._ids = ids | {"TOKEN": self._secrets["read"]}

    def _token(self, scope):
        return self._tokens.create(NewToken("default", scope, scope, timedelta(hours=1), may_trust=scope == "write"))[1]

    def _promise(self, document):
        self.schema = schemathesis.openapi.from_dict(document)

    def promising(self, document):
        """The same service, held against another document."""
        other = copy(self)
        other._promise(document)
        return other

    def operation(self, name):
        return self.schema.find_operation_by_id(name)

    def good_case(self, name):
        return self.operation(name).Case(**self._good(name, self._ids))

    def check(self, case):
        """Ask with a token of the scope that the document names; whatever comes back is what the document says."""
        scope = case.operation.definition.raw["x-scope"]
        credentials = {} if scope is None else {"Authorization": f"Bearer {self._secrets[scope]}"}
        case.headers = {**(case.headers or {}), **credentials}
        answer = case.call(session=self._client, base_url="http://localhost", allow_redirects=False)
        case.validate_response(answer, excluded_checks=NOT_HERE)
        return answer


@pytest.fixture(scope="module")
def served(tmp_path_factory, judging, good_requests):
    """One for all: what requests of one test leave behind does not change the form of answers in the next."""
    folder = tmp_path_factory.mktemp("schema")
    app = create_app(ServiceSettings(f"sqlite:///{folder}/history.db", open_reading=False))
    with get_client(app) as client:
        store = app.state.service.store
        run_ids = judging.nights(store, [1.0, 1.01, 0.99])
        epoch = store.start_epoch(judging.IDENTITY, metric=None, from_run=None, reason="new data", actor="me")
        key = store.sessions.create_login_key("default")
        ids = {"RUN": run_ids[-1], "EPOCH": epoch.epoch_id, "LOGIN_KEY": key}
        yield Served(app, client, ids, good_requests.good_request)


def create_document():
    app = create_app(ServiceSettings("sqlite://"))
    app.state.service.store.close()
    return app.openapi()


def names(takes_something=None):
    for methods in create_document()["paths"].values():
        for operation in methods.values():
            takes = "requestBody" in operation or bool(operation.get("parameters"))
            if takes_something in (None, takes):
                yield operation["operationId"]


MODERATE = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # to shrink what fails would take longer than a person needs to read it
    suppress_health_check=list(HealthCheck),  # schemathesis filters much
)


@pytest.mark.parametrize("name", list(names()))
def test_a_good_request_is_answered_as_described(served, name):
    """With success, in the form that the document promises. A route that is added here needs its request above."""
    answer = served.check(served.good_case(name))
    assert answer.status_code < 400, answer.text


@pytest.mark.parametrize("name", list(names()))
def test_whatever_the_schema_allows_is_answered_as_described(served, name):
    """Never with a 5xx, a status or a form that the document does not name."""

    @MODERATE
    @given(case=served.operation(name).as_strategy(generation_mode=GenerationMode.POSITIVE))
    def all_hold(case):
        served.check(case)

    all_hold()


@pytest.mark.parametrize("name", list(names(takes_something=True)))
def test_whatever_the_schema_forbids_is_refused_as_described(served, name):
    """With a 4xx that the document names; nothing slips through."""

    @MODERATE
    @given(case=served.operation(name).as_strategy(generation_mode=GenerationMode.NEGATIVE))
    def all_hold(case):
        served.check(case)

    all_hold()


def test_an_answer_that_is_not_as_described_is_seen(served):
    """Negative control: the document promises a key that no answer has."""
    document = create_document()
    document["components"]["schemas"]["SeriesList"]["required"].append("never")
    other = served.promising(document)
    with pytest.raises(FailureGroup):
        other.check(other.good_case("list_series"))
