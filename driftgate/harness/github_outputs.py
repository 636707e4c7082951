"""A plan as outputs of a GitHub step, for ``fromJSON`` and ``if:``. Standard library only."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driftgate.harness.plan import Plan
from driftgate.harness.plan_json import matrix_entries
from gate.errors import ConfigError
from gate.wording import printable

VARIABLE = "GITHUB_OUTPUT"
MOST_MATRIX_JOBS = 256
"""GitHub refuses a matrix of more."""


def github_outputs(plan: Plan) -> dict[str, str]:
    """Name to value: booleans as ``true`` and ``false``, the rest JSON but for ``cadence``.

    ``matrix`` holds every job; ``matrix_first`` those that start at once and ``matrix_after`` those that wait for
    others, since jobs of one matrix cannot wait for each other. GitHub refuses an empty matrix: see ``has_tests…``.

    Raises ConfigError where there are more jobs than GitHub takes.
    """
    jobs = matrix_entries(plan)
    if len(jobs) > MOST_MATRIX_JOBS:
        limit = f"GitHub takes at most {MOST_MATRIX_JOBS}; lower [suites] shards, or plan each --suite on its own"
        raise ConfigError(f"--github-output: the matrix would have {len(jobs)} jobs, {limit}")
    first, after = [job for job in jobs if not job["needs"]], [job for job in jobs if job["needs"]]
    return {
        "cadence": plan.rules.policy.cadence.name,
        "labels": _json(list(plan.rules.policy.labels)),
        "bypass_fastfail": _json(plan.bypass_fast_fail),
        "writes_baseline": _json(plan.rules.policy.writes),
        "skipped_suites": _json(list(plan.skipped_suites)),
        **{f"needs_image_{backend}": _json(needed) for backend, needed in plan.needs_image.items()},
        "has_tests": _json(bool(jobs)),
        "has_tests_first": _json(bool(first)),
        "has_tests_after": _json(bool(after)),
        "matrix": _json({"include": jobs}),
        "matrix_first": _json({"include": first}),
        "matrix_after": _json({"include": after}),
    }


def append_outputs(outputs: Mapping[str, str], environment: Mapping[str, str]) -> None:
    """Append to the file that ``GITHUB_OUTPUT`` names. Raises ConfigError where it cannot be written."""
    name = environment.get(VARIABLE)
    if not name:
        raise ConfigError(f"--github-output: {VARIABLE} is not set; on GitHub it is, elsewhere set it to a file")
    content = "".join(_entry(key, value) for key, value in outputs.items())
    try:
        with Path(name).open("a", encoding="utf-8") as file:
            file.write(content)
    except OSError as error:
        raise ConfigError(f"--github-output: {printable(name)} cannot be written ({error.strerror})") from None


def _entry(name: str, value: str) -> str:
    """Between two marks that nobody can guess: no value can end early and set another output."""
    mark = f"driftgate-{secrets.token_hex(16)}"
    return f"{name}<<{mark}\n{value}\n{mark}\n"


def _json(value: Any) -> str:
    """On one line, in ASCII."""
    return json.dumps(value, separators=(",", ":"))
