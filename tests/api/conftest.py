"""A service in this process over a store of its own."""

import pytest
from starlette.testclient import TestClient

from api.app import create_app
from api.settings import ServiceSettings


@pytest.fixture
def settings(tmp_path):
    return ServiceSettings(f"sqlite:///{tmp_path}/history.db")


@pytest.fixture
def client(settings):
    """Answers as a served app does: an unexpected error is a 500, not an exception in the test."""
    with TestClient(create_app(settings), base_url="http://localhost:8321", raise_server_exceptions=False) as client:
        yield client
