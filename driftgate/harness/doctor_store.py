"""The store as ``driftgate doctor`` sees it: it may be slow, gone or silent, and its URL may hold a password."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from driftgate.config.model import Config
from store.health import Diagnosis, diagnose, looks_pooled
from store.service_health import diagnose_service
from store.urls import is_service_url, parse_url

HIDDEN = "***"


def examine_store(config: Config, timeout_s: int) -> Iterator[Diagnosis]:
    """Reached or not within ``timeout_s``, for each endpoint; nothing is changed. Raises ConfigError (a wrong URL)."""
    if is_service_url(config.store.url):
        yield Diagnosis("store", "ok", f"[store] url from {config.sources.get('store.url', 'default')}")
        yield from answered_within(timeout_s, partial(diagnose_service, config.store.url, config.project))
        return
    url = parse_url(config.store.url)
    direct = parse_url(config.store.migration_url) if config.store.migration_url else None
    ask = partial(
        diagnose, project=config.project, journal=config.store.journal, connect_timeout_s=max(1, timeout_s - 1)
    )
    yield Diagnosis("store", "ok", f"[store] url from {config.sources.get('store.url', 'default')}")
    yield from _hidden(answered_within(timeout_s, partial(ask, url)), config)
    if direct is not None:
        for found in _hidden(answered_within(timeout_s, partial(ask, direct)), config):
            if found.subject in ("database", "schema"):
                yield replace(found, subject=f"migration {found.subject}")
    elif looks_pooled(url):
        advice = "set DRIFTGATE_MIGRATION_URL to the direct endpoint: `driftgate db upgrade` needs it"
        yield Diagnosis("pooler", "warn", f"{url.host} looks like a transaction pooler", advice)


def answered_within(timeout_s: float, question: Callable[[], Iterable[Diagnosis]]) -> Iterator[Diagnosis]:
    """The answers that come in time, then what is missing. A name server or a file system may never answer, and
    nothing can interrupt the wait for it: the thread that waits is left behind.
    """
    answers: list[Diagnosis] = []
    failures: list[Exception] = []

    def collect() -> None:
        try:
            answers.extend(question())
        except Exception as error:  # noqa: BLE001 - a doctor tells what is wrong, whatever it is
            failures.append(error)

    thread = threading.Thread(target=collect, daemon=True)
    thread.start()
    thread.join(timeout_s)
    late = thread.is_alive()
    yield from list(answers)
    if late:
        text = f"no {'further ' if answers else ''}answer within {timeout_s:g} s"
        yield Diagnosis("database", "fail", text, "check host, port, firewall and VPN; --timeout waits longer")
    for error in failures:
        yield Diagnosis("database", "fail", f"{type(error).__name__}: {' '.join(str(error).split())}")


def _hidden(found: Iterable[Diagnosis], config: Config) -> Iterator[Diagnosis]:
    """Drivers quote what they do not understand: no text may hold a password all the same."""
    secrets = {secret for url in (config.store.url, config.store.migration_url) for secret in _secrets(url)}
    for one in found:
        text = one.text
        for secret in sorted(secrets, key=len, reverse=True):
            text = text.replace(secret, HIDDEN)
        yield replace(one, text=text)


def _secrets(url: str | None) -> Iterator[str]:
    if url is not None:
        parsed = parse_url(url)
        given = [parsed.password, *(value for name, value in parsed.query.items() if "pass" in name.lower())]
        yield from (secret for secret in given if isinstance(secret, str) and secret)
