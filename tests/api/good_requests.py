"""One request of each operation that is answered with success. Loaded by ``conftest.py``.

Its series is that of ``tests/store/judging.py``.
"""

from __future__ import annotations

from typing import Any

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
"""Query, body and parts of the path, by the name of the operation. Words in capitals stand for what a store gave out."""


def good_request(name: str, ids: dict[str, str]) -> dict[str, Any]:
    """That of the operation ``name``. ``ids``: by its word in capitals, what the store gave out."""
    return _filled(GOOD[name], ids)


def _filled(given, ids):
    if isinstance(given, dict):
        return {name: _filled(value, ids) for name, value in given.items()}
    if isinstance(given, list):
        return [_filled(value, ids) for value in given]
    return ids.get(given, given) if isinstance(given, str) else given
