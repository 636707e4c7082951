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
SERIES = {"test_path": "tests/test_ppo.py", "backend": "cuda", "suite": "nightly-8-gpu"}
SPEC = {"metric_key": "loss", "steps_key": '"all"', "constraint_key": '{"abs_floor_down":0.1,"abs_floor_up":0.1}'}
DECLARED = {"metric_key": "loss", "steps": "all", "constraint": {"abs_floor_down": 0.1, "abs_floor_up": 0.1}}
REASON = {"reason": "a bad node"}
NIGHT = {
    "series": SERIES,
    "created_at": "2024-02-01T02:00:00+00:00",
    "series_values": [SPEC | {"steps": [0, 1, 2], "values": [1.0, 1.0, 1.0], "points": 3}],
    "provenance": {"ci_run_id": 9, "ci_run_attempt": 1, "test_attempt": 1},
}
GOOD = {
    "healthz": {},
    "readyz": {},
    "follow_link": {"query": {"key": "LOGIN_KEY"}},
    "log_in": {"body": {"token": "TOKEN"}},
    "who_am_i": {},
    "log_out": {},
    "openapi": {},
    "docs": {},
    "metrics": {},
    "list_series": {},
    "list_attempts": {},
    "list_epochs": {},
    "list_runs": {"query": {"limit": 2}},
    "list_trust_events": {},
    "baselines": {"query": SERIES},
    "history": {"query": SERIES | {"metric_key": "loss", "since": "2024-01-02T00:00:00Z"}},
    "list_specs": {"query": SERIES},
    "read_past": {"query": SERIES},
    "show_run": {"path_parameters": {"run_id": "RUN"}},
    "show_verdict": {"path_parameters": {"run_id": "RUN"}},
    "query_runs": {"body": {"suite": SERIES["suite"]}},
    "read_runs": {"body": {"run_ids": ["RUN"]}},
    "query_history": {"body": {"series": SERIES, "specs": [SPEC]}},
    "evaluate": {
        "body": {
            "series": SERIES,
            "declarations": [DECLARED],
            "metrics": {"loss": [[0, 1.0]]},
        }
    },
    "write_run": {"body": NIGHT},
    "record_attempts": {
        "body": {
            "attempts": [
                {
                    "series": SERIES,
                    "test_attempt": 1,
                    "attempt_class": "pass",
                    "duration_s": 1.5,
                    "started_at": NIGHT["created_at"],
                }
            ]
        }
    },
    "mark_untrusted": {"body": REASON | {"run_id": "RUN"}},
    "mark_trusted": {"body": REASON | {"run_id": "RUN"}},
    "start_epoch": {"body": REASON | SERIES},
    "undo_epoch": {"path_parameters": {"epoch_id": "EPOCH"}, "body": REASON},
    "get_enforcement": {},
    "put_enforcement": {"body": REASON | {"enforcement": "off"}},
}
"""Of each operation one request that is answered. Words in capitals stand for what the store gave out."""


class Served:
    """A service over three nights of one series, open to nobody without a token, and the ways to ask it."""

    def __init__(self, app, client, ids):
        self._promise(app.openapi())
        self._client = client
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
        return self.operation(name).Case(**_filled(GOOD[name], self._ids))

    def check(self, case):
        """Ask with a token of the scope that the document names; whatever comes back is what the document says."""
        scope = case.operation.definition.raw["x-scope"]
        credentials = {} if scope is None else {"Authorization": f"Bearer {self._secrets[scope]}"}
        case.headers = {**(case.headers or {}), **credentials}
        answer = case.call(session=self._client, base_url="http://localhost", allow_redirects=False)
        case.validate_response(answer, excluded_checks=NOT_HERE)
        return answer


def _filled(given, ids):
    if isinstance(given, dict):
        return {name: _filled(value, ids) for name, value in given.items()}
    if isinstance(given, list):
        return [_filled(value, ids) for value in given]
    return ids.get(given, given) if isinstance(given, str) else given


@pytest.fixture(scope="module")
def served(tmp_path_factory, judging):
    """One for all: what requests of one test leave behind does not change the form of answers in the next."""
    folder = tmp_path_factory.mktemp("schema")
    app = create_app(ServiceSettings(f"sqlite:///{folder}/history.db", open_reading=False))
    with get_client(app) as client:
        store = app.state.service.store
        run_ids = judging.nights(store, [1.0, 1.01, 0.99])
        epoch = store.start_epoch(judging.IDENTITY, metric=None, from_run=None, reason="new data", actor="me")
        key = store.sessions.create_login_key("default")
        yield Served(app, client, {"RUN": run_ids[-1], "EPOCH": epoch.epoch_id, "LOGIN_KEY": key})


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
