"""Is there a service at this address, and does it take our token? For ``driftgate doctor``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from urllib.parse import urlsplit

from store.errors import StoreError
from store.health import SLOW_ANSWER, Diagnosis, kill_switch
from store.http_store import HttpMetricHistoryStore
from store.urls import service_url

_THIS_MACHINE = ("127.0.0.1", "localhost", "::1")


def diagnose_service(text: str, project: str) -> Iterator[Diagnosis]:
    """Reads only, as a job does. Never raises StoreError."""
    url = service_url(text)
    host = urlsplit(url).hostname or ""
    if url.lower().startswith("http:") and host not in _THIS_MACHINE:
        yield Diagnosis("transport", "warn", f"{url}: what is sent can be read on the way", "serve it over https")
    began = time.monotonic()
    try:
        with HttpMetricHistoryStore(url) as store:
            switch = store.get_enforcement(project)
    except StoreError as error:
        yield Diagnosis("service", "fail", str(error), "ask whoever runs it, or choose another store by --db")
        return
    took = time.monotonic() - began
    slow = took > SLOW_ANSWER.total_seconds()
    told = f"{url} answers in {took * 1000:.0f} ms and lets project {project} be read"
    yield Diagnosis("service", "warn" if slow else "ok", told, "every gate call waits for it twice" if slow else "")
    yield from kill_switch(switch)
