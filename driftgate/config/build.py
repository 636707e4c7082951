"""Merged entries become the frozen values of the model. Each default stands in the model."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driftgate.config.checks import complaints_about
from driftgate.config.keys import REQUIRED
from driftgate.config.model import (
    Cadence,
    ChangeRules,
    Config,
    Enforcement,
    FailureRule,
    ProvenanceConfig,
    RequestRules,
    Retry,
    ScopeRequest,
    StoreConfig,
    Suite,
    Timeouts,
    WriteRule,
)
from driftgate.config.schema import Entry, KeyPath, dotted
from driftgate.config.service import OidcIssuer, OidcRule, ServiceConfig
from gate.errors import ConfigError
from gate.policy import GatePolicy
from gate.spec import MetricDefault

DEFAULT_STORE = "sqlite:///.driftgate/history.db"
_MEMORY = ":memory:"


def build_config(base: Path, repository: Path, entries: Mapping[KeyPath, Entry]) -> Config:
    """Raises ConfigError where a row lacks a required key or keys contradict each other."""
    tables = _Tables(entries)
    _require(tables)
    config = _assembled(base, repository, tables)
    complaints = complaints_about(config)
    if complaints:
        raise ConfigError("\n".join(complaints))
    return config


class _Tables:
    """The merged entries, read table by table."""

    def __init__(self, entries: Mapping[KeyPath, Entry]) -> None:
        self.entries = entries

    def section(self, *above: str) -> dict[str, Any]:
        """The values of one table, those that some source gives."""
        depth = len(above)
        return {
            path[depth]: entry.value
            for path, entry in self.entries.items()
            if len(path) == depth + 1 and path[:depth] == above
        }

    def rows(self, *above: str) -> dict[str, dict[str, Any]]:
        return {name: self.section(*above, name) for name in self.section(*above)}


def _require(tables: _Tables) -> None:
    missing = [
        f"{tables.entries[(*above, name)].source}: {dotted((*above, name))}: needs {field}"
        for above, fields in REQUIRED.items()
        for name, row in tables.rows(*above).items()
        for field in fields
        if field not in row
    ]
    if missing:
        raise ConfigError("\n".join(missing))


def _assembled(base: Path, repository: Path, tables: _Tables) -> Config:
    top = tables.section()
    gate = tables.section("gate")
    store = {"url": DEFAULT_STORE, **tables.section("store")}
    return Config(
        base=base,
        repository=repository,
        project=top.get("project", "default"),
        preset=top["preset"],
        capture_metrics=tables.section("capture").get("metrics", ()),
        trust=gate.pop("trust", "run"),
        gate=GatePolicy(**gate),
        defaults={_nfc(name): MetricDefault(**row) for name, row in tables.rows("gate", "defaults").items()},
        roots=tables.section("discovery").get("roots", ()),
        label_registry=tables.section("discovery").get("label_registry"),
        labels=tables.section("labels"),
        generations=top.get("generations", ()),
        suites={name: Suite(name, **row) for name, row in tables.rows("suites").items()},
        cadences={name: Cadence(name, **row) for name, row in tables.rows("cadences").items()},
        requests=_requests(tables),
        changes=ChangeRules(**tables.section("changes")),
        write=WriteRule(**tables.section("write")),
        retry=_retry(tables),
        timeouts=Timeouts(**tables.section("timeouts")),
        enforcement=Enforcement(**tables.section("enforcement")),
        store=StoreConfig(**{**store, "url": resolved_url(store["url"], base)}),
        provenance=ProvenanceConfig(**tables.section("provenance")),
        service=_service(tables),
        sources={dotted(path): entry.source for path, entry in tables.entries.items()},
        **({"command": top["command"]} if "command" in top else {}),
    )


def _requests(tables: _Tables) -> RequestRules:
    own = tables.section("requests")
    scopes = {label: ScopeRequest(label, **row) for label, row in tables.rows("requests", "scopes").items()}
    return RequestRules(**{**own, "scopes": scopes, "generations": tables.section("requests", "generations")})


def _retry(tables: _Tables) -> Retry:
    rules = {name: FailureRule(name, **row) for name, row in tables.rows("retry", "rules").items()}
    return Retry(**{**tables.section("retry"), "rules": rules})


def _service(tables: _Tables) -> ServiceConfig:
    issuers = {name: _issuer(tables, name, row) for name, row in tables.rows("service", "oidc").items()}
    return ServiceConfig(**tables.section("service"), oidc=issuers)


def _issuer(tables: _Tables, name: str, row: Mapping[str, Any]) -> OidcIssuer:
    above = ("service", "oidc", name, "rules")
    rules = {
        rule: OidcRule(rule, **own, claims=tables.section(*above, rule, "claims"))
        for rule, own in tables.rows(*above).items()
    }
    return OidcIssuer(name, **row, rules=rules)


def _nfc(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def resolved_url(url: str, base: Path) -> str:
    """``url`` with the relative path of an SQLite file made absolute against ``base``; any other unchanged."""
    scheme, _, rest = url.partition(":///")
    path, mark, query = rest.partition("?")
    is_file = scheme.partition("+")[0] == "sqlite" and path not in ("", _MEMORY) and not path.startswith("file:")
    return f"{scheme}:///{base / path}{mark}{query}" if is_file else url
