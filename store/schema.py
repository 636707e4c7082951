"""The tables, as the newest revision of ``migrations`` makes them. Fat columns stand last: other readers skip them."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from store.column_types import RowId, StepArray, UtcDateTime, ValueArray

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

VIEWS = ("metric_series", "metric_values")
"""For people and for tools; the store itself reads the tables."""

PUBLIC_ID = String(32)
SHA256_HEX = String(64)

series = Table(
    "series",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("project", Text, nullable=False),
    Column("test_path", Text, nullable=False),
    Column("backend", Text, nullable=False),
    Column("suite", Text, nullable=False),
    UniqueConstraint("project", "test_path", "backend", "suite"),
)

gate_specs = Table(
    "gate_specs",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("series_id", RowId, ForeignKey("series.id"), nullable=False),
    Column("key_hash", SHA256_HEX, nullable=False),
    Column("metric_key", Text, nullable=False),
    Column("steps_key", Text, nullable=False),
    Column("constraint_key", Text, nullable=False),
    UniqueConstraint("series_id", "key_hash"),
)

step_sets = Table(
    "step_sets",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("content_hash", SHA256_HEX, nullable=False, unique=True),
    Column("steps", StepArray, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("seq", RowId, primary_key=True),
    Column("run_id", PUBLIC_ID, nullable=False, unique=True),
    Column("project", Text, nullable=False),
    Column("series_id", RowId, ForeignKey("series.id"), nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("trusted", Boolean, nullable=False),
    Column("gate_trusted", Boolean, nullable=False),
    Column("has_error", Boolean, nullable=False),
    Column("marked", Boolean),
    Column("superseded_by", PUBLIC_ID),
    Column("ci_run_id", BigInteger),
    Column("ci_run_attempt", BigInteger),
    Column("test_attempt", BigInteger),
    Column("commit_sha", Text),
    Column("marked_by", Text),
    Column("untrusted_reason", Text),
    Column("idempotency_key", Text, nullable=False),
    Column("content_hash", SHA256_HEX, nullable=False),
    Column("epochs", JSON(none_as_null=True)),
    Column("environment", JSON, nullable=False),
    Column("verdict", JSON, nullable=False),
    UniqueConstraint("project", "idempotency_key"),
    Index(None, "series_id", "created_at", "seq"),
    Index(None, "project", "created_at", "seq"),
    Index(None, "project", "ci_run_id"),
    Index(None, "project", "commit_sha"),
    sqlite_autoincrement=True,
)

COUNTING = "trusted AND superseded_by IS NULL"
Index(
    "ix_runs_counting",
    runs.c.series_id,
    runs.c.created_at,
    runs.c.seq,
    runs.c.ci_run_id,
    sqlite_where=text("trusted = 1 AND superseded_by IS NULL"),
    postgresql_where=text(COUNTING),
)

packed_series = Table(
    "packed_series",
    metadata,
    Column("run_seq", RowId, ForeignKey("runs.seq"), primary_key=True, autoincrement=False),
    Column("gate_spec_id", RowId, ForeignKey("gate_specs.id"), primary_key=True, autoincrement=False),
    Column("step_set_id", RowId, ForeignKey("step_sets.id"), nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("trusted", Boolean, nullable=False),
    Column("points", BigInteger, nullable=False),
    Column("at_step", BigInteger),
    Column("values", ValueArray, nullable=False),
    Index("ix_packed_series_history", "gate_spec_id", "created_at", "run_seq", "step_set_id"),
)
"""Under the view ``metric_series``, which has the steps themselves: most rows of a series share them."""

attempts = Table(
    "attempts",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("series_id", RowId, ForeignKey("series.id"), nullable=False),
    Column("attempt_key", Text, nullable=False),
    Column("ci_run_id", BigInteger),
    Column("ci_run_attempt", BigInteger),
    Column("test_attempt", BigInteger, nullable=False),
    Column("attempt_class", Text, nullable=False),
    Column("duration_s", Double, nullable=False),
    Column("started_at", UtcDateTime, nullable=False),
    Column("exit_code", Integer),
    UniqueConstraint("series_id", "attempt_key"),
    Index(None, "series_id", "started_at"),
)

trust_events = Table(
    "trust_events",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("project", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("actor", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("run_seq", RowId, ForeignKey("runs.seq")),
    Column("selector", Text),
    Column("operation", PUBLIC_ID, nullable=False),
    Column("changed", Boolean, nullable=False),
    Column("trusted_before", Boolean),
    Column("marked_before", Boolean),
    Column("reason_before", Text),
    Column("detail", JSON(none_as_null=True)),
    Index(None, "project", "id"),
    Index(None, "run_seq"),
    Index(None, "operation"),
    sqlite_autoincrement=True,
)

mark_rules = Table(
    "mark_rules",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("project", Text, nullable=False),
    Column("selector", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("lifted_at", UtcDateTime),
    Index(
        "ix_mark_rules_in_force",
        "project",
        "selector",
        unique=True,
        sqlite_where=text("lifted_at IS NULL"),
        postgresql_where=text("lifted_at IS NULL"),
    ),
)

epochs = Table(
    "epochs",
    metadata,
    Column("position", RowId, primary_key=True),
    Column("epoch_id", PUBLIC_ID, nullable=False, unique=True),
    Column("series_id", RowId, ForeignKey("series.id"), nullable=False),
    Column("metric_key", Text),
    Column("start_created_at", UtcDateTime, nullable=False),
    Column("start_seq", RowId, nullable=False),
    Column("reason", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("started_at", UtcDateTime, nullable=False),
    Column("undone_at", UtcDateTime),
    Index(None, "series_id", "position"),
    sqlite_autoincrement=True,
)

settings = Table(
    "settings",
    metadata,
    Column("project", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("value", JSON, nullable=False),
)

tokens = Table(
    "tokens",
    metadata,
    Column("token_id", PUBLIC_ID, primary_key=True),
    Column("project", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("may_trust", Boolean, nullable=False),
    Column("secret_hash", SHA256_HEX, nullable=False, unique=True),
    Column("created_at", UtcDateTime, nullable=False),
    Column("expires_at", UtcDateTime, nullable=False),
    Column("last_used_at", UtcDateTime),
    Column("revoked_at", UtcDateTime),
    Index(None, "project"),
)

sessions = Table(
    "sessions",
    metadata,
    Column("secret_hash", SHA256_HEX, primary_key=True),
    Column("token_id", PUBLIC_ID, ForeignKey("tokens.token_id")),
    Column("project", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("expires_at", UtcDateTime, nullable=False),
    Column("ended_at", UtcDateTime),
    Index(None, "token_id"),
)
