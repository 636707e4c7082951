"""A service in this process over a store of its own."""

import importlib.util
import sys
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from api.app import create_app
from api.settings import ServiceSettings
from store.tokens import NewToken


@pytest.fixture
def settings(tmp_path):
    return ServiceSettings(f"sqlite:///{tmp_path}/history.db")


@pytest.fixture
def client(settings):
    """Answers as a served app does: an unexpected error is a 500, not an exception in the test."""
    with TestClient(create_app(settings), base_url="http://localhost:8321", raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def store(client):
    """The store behind the client."""
    return client.app.state.service.store


@pytest.fixture
def bearer(store):
    """Makes a token and gives the header that presents it."""

    def make(scope, *, project="default", name=None, may_trust=False):
        new = NewToken(project, name or f"{scope}-job", scope, timedelta(hours=1), may_trust)
        _, secret = store.tokens.create(new)
        return {"Authorization": f"Bearer {secret}"}

    return make


@pytest.fixture
def make_client():
    """A client of a service with these settings, its store, and the header of a token that may trust."""
    with ExitStack() as opened:

        def make(settings):
            served = TestClient(create_app(settings), base_url="http://localhost:8321", raise_server_exceptions=False)
            client = opened.enter_context(served)
            store = client.app.state.service.store
            if settings.verify_identity_token is not None:
                return client, store, {"Authorization": "Bearer of-a-job"}
            _, secret = store.tokens.create(NewToken("default", "job", "write", timedelta(hours=1), may_trust=True))
            return client, store, {"Authorization": f"Bearer {secret}"}

        yield make


@pytest.fixture(scope="session")
def judging():
    """Runs judged by the gate before they are written."""
    return _of_the_store("judging")


@pytest.fixture(scope="session")
def build():
    """Small runs."""
    return _of_the_store("builders")


@pytest.fixture(scope="session")
def good_requests():
    """One request of each operation that is answered."""
    return _loaded(Path(__file__).with_name("good_requests.py"))


def _of_the_store(name):
    return _loaded(Path(__file__).parents[1] / "store" / f"{name}.py")


def _loaded(path):
    spec = importlib.util.spec_from_file_location(f"_api_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
