"""Column types in which the two databases differ; above them every query reads the same."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import ARRAY, JSON, BigInteger, DateTime, Dialect, Double, Integer
from sqlalchemy.types import TypeDecorator

RowId = BigInteger().with_variant(Integer, "sqlite")
"""SQLite numbers rows by itself only where the key is exactly ``INTEGER``."""

StepArray = JSON(none_as_null=True).with_variant(ARRAY(BigInteger), "postgresql")
ValueArray = JSON(none_as_null=True).with_variant(ARRAY(Double), "postgresql")
"""Doubles are exact in both: JSON is written with the shortest digits that read back as the same double."""


class UtcDateTime(TypeDecorator[datetime]):
    """Timezone-aware UTC in and out. SQLite keeps it as text of one width, so that text order is time order."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        in_utc = value.astimezone(UTC)
        return in_utc.replace(tzinfo=None) if dialect.name == "sqlite" else in_utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - the signature is SQLAlchemy's
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
