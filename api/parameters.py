"""Query parameters that several routes have, read the same way everywhere."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BeforeValidator, StringConstraints
from pydantic_core import PydanticCustomError

from gate.wording import shown
from store.checks import MAX_IDENTITY_BYTES, MAX_INTEGER

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d(?::\d\d)?)(\.\d+)?(Z|z|[+-]\d\d:\d\d)", re.ASCII)


def moment(given: Any) -> datetime:
    """RFC 3339; a time without a zone would mean another moment on another machine. Raises PydanticCustomError."""
    found = _MOMENT.fullmatch(given) if isinstance(given, str) else None
    if found is None:
        raise _no_moment(given)
    day, time, fraction, zone = found.groups()
    try:
        at = datetime.fromisoformat(f"{day}T{time}{(fraction or '')[:7]}{zone.upper()}")
        return at.astimezone(UTC)
    except (ValueError, OverflowError):
        raise _no_moment(given) from None


def _no_moment(given: Any) -> PydanticCustomError:
    text = f"{shown(given)} is no time, or has no time zone; write 2026-01-31T07:00:00Z (a + in a URL is written %2B)"
    return PydanticCustomError("moment", "{text}", {"text": text})


Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]
"""No database holds a NUL."""

TestPath = Annotated[Text, Query(max_length=MAX_IDENTITY_BYTES, description="As the repository names the test file.")]
Backend = Annotated[Text, Query(max_length=MAX_IDENTITY_BYTES, description="cpu, cuda or rocm.")]
Suite = Annotated[Text, Query(max_length=MAX_IDENTITY_BYTES, description="The stage that executed the test.")]
OptionalTestPath = Annotated[Text | None, Query(max_length=MAX_IDENTITY_BYTES, description="Only this test file.")]
OptionalBackend = Annotated[Text | None, Query(max_length=MAX_IDENTITY_BYTES, description="Only this backend.")]
OptionalSuite = Annotated[Text | None, Query(max_length=MAX_IDENTITY_BYTES, description="Only this suite.")]
Metric = Annotated[Text, Query(max_length=10_000, description="The metric.")]
OptionalMetric = Annotated[Text | None, Query(max_length=10_000, description="Only this metric.")]
OptionalStep = Annotated[
    int | None,
    Query(ge=-MAX_INTEGER, le=MAX_INTEGER, description='Only this step; -1 for "last" and reductions.'),
]
OptionalCiRunId = Annotated[int | None, Query(ge=1, le=MAX_INTEGER, description="Only this CI run.")]
OptionalRunId = Annotated[Text | None, Query(max_length=100, description="Only this run.")]
Since = Annotated[
    datetime | None,
    BeforeValidator(moment),
    Query(description="Nothing older: a time with its zone, as 2026-01-31T07:00:00Z."),
]
RunId = Annotated[str, Path(description="As `runs` lists it.")]
