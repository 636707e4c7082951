"""What a client shows the service: the token of the environment, or a fresh identity token of the CI job."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import httpx2

from store.errors import StoreUnavailable
from store.urls import is_open_way

TokenSource = Callable[[], str | None]
"""None: there is no token to show. Raises StoreUnavailable where there should be one."""

TOKEN_VARIABLE = "DRIFTGATE_TOKEN"  # noqa: S105 - the name of a variable, not a secret
REQUEST_URL, REQUEST_TOKEN = "ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"
TIMEOUT_S = 10.0
MOST_ATTEMPTS = 3


def tokens_from(environment: Mapping[str, str], audience: str) -> TokenSource:
    """`TOKEN_VARIABLE` where it is set, else in a job of GitHub Actions that may ask for one an identity token for
    ``audience``, the service's address: it lives for minutes, so each call asks for a new one. Neither leaves a private
    network in clear text.
    """

    def find() -> str | None:
        static = environment.get(TOKEN_VARIABLE, "").strip()
        url, bearer = environment.get(REQUEST_URL), environment.get(REQUEST_TOKEN)
        if not static and not (url and bearer):
            return None
        if is_open_way(audience):
            raise StoreUnavailable(f"{audience}: a token would travel in clear text; write https://")
        return static or identity_token(str(url), str(bearer), audience)

    return find


def identity_token(url: str, bearer: str, audience: str, transport: httpx2.BaseTransport | None = None) -> str:
    """A token of GitHub Actions for ``audience``. Raises StoreUnavailable, which repeats no secret."""
    headers = {"Authorization": f"Bearer {bearer}", "Accept": "application/json"}
    try:
        with httpx2.Client(transport=transport, timeout=TIMEOUT_S, headers=headers) as client:
            return _asked(client, httpx2.URL(url).copy_merge_params({"audience": audience}))
    except (httpx2.HTTPError, httpx2.InvalidURL, KeyError, TypeError, ValueError) as error:
        raise StoreUnavailable(f"GitHub gives this job no identity token: {_shown(error)}") from None


def _asked(client: httpx2.Client, url: httpx2.URL) -> str:
    for attempt in range(1, MOST_ATTEMPTS + 1):
        answer = client.get(url)
        if answer.status_code < 500 or attempt == MOST_ATTEMPTS:
            break
    if answer.status_code != 200:
        raise ValueError(f"it answers {answer.status_code}")
    token = answer.json()["value"]
    if not isinstance(token, str) or not token:
        raise ValueError("its answer holds none")
    return token


def _shown(error: Exception) -> str:
    """Without the address, which is this job's alone."""
    return str(error) if type(error) is ValueError else type(error).__name__
