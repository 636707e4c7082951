"""The first schema: series, runs and their values, trust, epochs, access.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True)
STEPS = sa.JSON().with_variant(sa.ARRAY(sa.BigInteger()), "postgresql")
VALUES = sa.JSON().with_variant(sa.ARRAY(sa.Double()), "postgresql")
PUBLIC_ID = sa.String(length=32)
SHA256_HEX = sa.String(length=64)

STEPS_BESIDE_VALUES = {
    "postgresql": "unnest(m.steps, m.values) AS v(step, value)",
    "sqlite": 'json_each(m.steps) AS s JOIN json_each(m."values") AS v ON v.key = s.key',
}
STEP = {"postgresql": "v.step", "sqlite": "s.value"}


def upgrade() -> None:
    _create_series()
    _create_gate_specs()
    _create_step_sets()
    _create_runs()
    _create_packed_series()
    _create_attempts()
    _create_trust_events()
    _create_mark_rules()
    _create_epochs()
    _create_settings()
    _create_tokens()
    _create_sessions()
    op.execute(_metric_series())
    op.execute(_metric_values())


def downgrade() -> None:
    raise NotImplementedError("driftgate upgrades databases only; restore a backup made before the upgrade")


def _create_series() -> None:
    op.create_table(
        "series",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("test_path", sa.Text(), nullable=False),
        sa.Column("backend", sa.Text(), nullable=False),
        sa.Column("suite", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_series"),
        sa.UniqueConstraint(
            "project", "test_path", "backend", "suite", name="uq_series_project_test_path_backend_suite"
        ),
    )


def _create_gate_specs() -> None:
    op.create_table(
        "gate_specs",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("series_id", ROW_ID, nullable=False),
        sa.Column("key_hash", SHA256_HEX, nullable=False),
        sa.Column("metric_key", sa.Text(), nullable=False),
        sa.Column("steps_key", sa.Text(), nullable=False),
        sa.Column("constraint_key", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name="fk_gate_specs_series_id"),
        sa.PrimaryKeyConstraint("id", name="pk_gate_specs"),
        sa.UniqueConstraint("series_id", "key_hash", name="uq_gate_specs_series_id_key_hash"),
    )


def _create_step_sets() -> None:
    op.create_table(
        "step_sets",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("content_hash", SHA256_HEX, nullable=False),
        sa.Column("steps", STEPS, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_step_sets"),
        sa.UniqueConstraint("content_hash", name="uq_step_sets_content_hash"),
    )


def _create_runs() -> None:
    op.create_table(
        "runs",
        sa.Column("seq", ROW_ID, nullable=False),
        sa.Column("run_id", PUBLIC_ID, nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("series_id", ROW_ID, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("trusted", sa.Boolean(), nullable=False),
        sa.Column("gate_trusted", sa.Boolean(), nullable=False),
        sa.Column("has_error", sa.Boolean(), nullable=False),
        sa.Column("marked", sa.Boolean()),
        sa.Column("superseded_by", PUBLIC_ID),
        sa.Column("ci_run_id", sa.BigInteger()),
        sa.Column("ci_run_attempt", sa.BigInteger()),
        sa.Column("test_attempt", sa.BigInteger()),
        sa.Column("commit_sha", sa.Text()),
        sa.Column("marked_by", sa.Text()),
        sa.Column("untrusted_reason", sa.Text()),
        sa.Column("idempotency_key", sa.Text(), nullable=False),
        sa.Column("content_hash", SHA256_HEX, nullable=False),
        sa.Column("epochs", sa.JSON()),
        sa.Column("environment", sa.JSON(), nullable=False),
        sa.Column("verdict", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name="fk_runs_series_id"),
        sa.PrimaryKeyConstraint("seq", name="pk_runs"),
        sa.UniqueConstraint("project", "idempotency_key", name="uq_runs_project_idempotency_key"),
        sa.UniqueConstraint("run_id", name="uq_runs_run_id"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_runs_counting",
        "runs",
        ["series_id", "created_at", "seq", "ci_run_id"],
        sqlite_where=sa.text("trusted = 1 AND superseded_by IS NULL"),
        postgresql_where=sa.text("trusted AND superseded_by IS NULL"),
    )
    op.create_index("ix_runs_project_ci_run_id", "runs", ["project", "ci_run_id"])
    op.create_index("ix_runs_project_commit_sha", "runs", ["project", "commit_sha"])
    op.create_index("ix_runs_project_created_at_seq", "runs", ["project", "created_at", "seq"])
    op.create_index("ix_runs_series_id_created_at_seq", "runs", ["series_id", "created_at", "seq"])


def _create_packed_series() -> None:
    op.create_table(
        "packed_series",
        sa.Column("run_seq", ROW_ID, autoincrement=False, nullable=False),
        sa.Column("gate_spec_id", ROW_ID, autoincrement=False, nullable=False),
        sa.Column("step_set_id", ROW_ID, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("trusted", sa.Boolean(), nullable=False),
        sa.Column("points", sa.BigInteger(), nullable=False),
        sa.Column("at_step", sa.BigInteger()),
        sa.Column("values", VALUES, nullable=False),
        sa.ForeignKeyConstraint(["gate_spec_id"], ["gate_specs.id"], name="fk_packed_series_gate_spec_id"),
        sa.ForeignKeyConstraint(["run_seq"], ["runs.seq"], name="fk_packed_series_run_seq"),
        sa.ForeignKeyConstraint(["step_set_id"], ["step_sets.id"], name="fk_packed_series_step_set_id"),
        sa.PrimaryKeyConstraint("run_seq", "gate_spec_id", name="pk_packed_series"),
    )
    op.create_index(
        "ix_packed_series_history", "packed_series", ["gate_spec_id", "created_at", "run_seq", "step_set_id"]
    )


def _create_attempts() -> None:
    op.create_table(
        "attempts",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("series_id", ROW_ID, nullable=False),
        sa.Column("attempt_key", sa.Text(), nullable=False),
        sa.Column("ci_run_id", sa.BigInteger()),
        sa.Column("ci_run_attempt", sa.BigInteger()),
        sa.Column("test_attempt", sa.BigInteger(), nullable=False),
        sa.Column("attempt_class", sa.Text(), nullable=False),
        sa.Column("duration_s", sa.Double(), nullable=False),
        sa.Column("started_at", TIME, nullable=False),
        sa.Column("exit_code", sa.Integer()),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name="fk_attempts_series_id"),
        sa.PrimaryKeyConstraint("id", name="pk_attempts"),
        sa.UniqueConstraint("series_id", "attempt_key", name="uq_attempts_series_id_attempt_key"),
    )
    op.create_index("ix_attempts_series_id_started_at", "attempts", ["series_id", "started_at"])


def _create_trust_events() -> None:
    op.create_table(
        "trust_events",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("run_seq", ROW_ID),
        sa.Column("selector", sa.Text()),
        sa.Column("operation", PUBLIC_ID, nullable=False),
        sa.Column("changed", sa.Boolean(), nullable=False),
        sa.Column("trusted_before", sa.Boolean()),
        sa.Column("marked_before", sa.Boolean()),
        sa.Column("reason_before", sa.Text()),
        sa.ForeignKeyConstraint(["run_seq"], ["runs.seq"], name="fk_trust_events_run_seq"),
        sa.PrimaryKeyConstraint("id", name="pk_trust_events"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_trust_events_operation", "trust_events", ["operation"])
    op.create_index("ix_trust_events_project_id", "trust_events", ["project", "id"])
    op.create_index("ix_trust_events_run_seq", "trust_events", ["run_seq"])


def _create_mark_rules() -> None:
    op.create_table(
        "mark_rules",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("selector", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("lifted_at", TIME),
        sa.PrimaryKeyConstraint("id", name="pk_mark_rules"),
    )
    op.create_index(
        "ix_mark_rules_in_force",
        "mark_rules",
        ["project", "selector"],
        unique=True,
        sqlite_where=sa.text("lifted_at IS NULL"),
        postgresql_where=sa.text("lifted_at IS NULL"),
    )


def _create_epochs() -> None:
    op.create_table(
        "epochs",
        sa.Column("position", ROW_ID, nullable=False),
        sa.Column("epoch_id", PUBLIC_ID, nullable=False),
        sa.Column("series_id", ROW_ID, nullable=False),
        sa.Column("metric_key", sa.Text()),
        sa.Column("start_created_at", TIME, nullable=False),
        sa.Column("start_seq", ROW_ID, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("started_at", TIME, nullable=False),
        sa.Column("undone_at", TIME),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name="fk_epochs_series_id"),
        sa.PrimaryKeyConstraint("position", name="pk_epochs"),
        sa.UniqueConstraint("epoch_id", name="uq_epochs_epoch_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_epochs_series_id_position", "epochs", ["series_id", "position"])


def _create_settings() -> None:
    op.create_table(
        "settings",
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("project", "name", name="pk_settings"),
    )


def _create_tokens() -> None:
    op.create_table(
        "tokens",
        sa.Column("token_id", PUBLIC_ID, nullable=False),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("may_trust", sa.Boolean(), nullable=False),
        sa.Column("secret_hash", SHA256_HEX, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.Column("last_used_at", TIME),
        sa.Column("revoked_at", TIME),
        sa.PrimaryKeyConstraint("token_id", name="pk_tokens"),
        sa.UniqueConstraint("secret_hash", name="uq_tokens_secret_hash"),
    )
    op.create_index("ix_tokens_project", "tokens", ["project"])


def _create_sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("secret_hash", SHA256_HEX, nullable=False),
        sa.Column("token_id", PUBLIC_ID),
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.Column("ended_at", TIME),
        sa.ForeignKeyConstraint(["token_id"], ["tokens.token_id"], name="fk_sessions_token_id"),
        sa.PrimaryKeyConstraint("secret_hash", name="pk_sessions"),
    )
    op.create_index("ix_sessions_token_id", "sessions", ["token_id"])


def _metric_series() -> str:
    """A view with one row per run and gate spec, its steps and values side by side as two arrays."""
    return """
        CREATE VIEW metric_series AS
        SELECT r.run_id, m.run_seq, m.gate_spec_id, g.metric_key, g.steps_key, g.constraint_key, t.steps, m."values",
               m.trusted, m.points, m.at_step, m.created_at
        FROM packed_series AS m
        JOIN runs AS r ON r.seq = m.run_seq
        JOIN gate_specs AS g ON g.id = m.gate_spec_id
        JOIN step_sets AS t ON t.id = m.step_set_id
    """


def _metric_values() -> str:
    """A view with one row per value, for people and for tools that know no arrays."""
    dialect = op.get_context().dialect.name
    return f"""
        CREATE VIEW metric_values AS
        SELECT e.project, e.test_path, e.backend, e.suite, r.run_id, r.created_at, r.ci_run_id, r.commit_sha,
               r.trusted, r.superseded_by IS NOT NULL AS superseded, m.trusted AS metric_trusted,
               m.metric_key, m.steps_key, m.constraint_key, {STEP[dialect]} AS step, v.value AS value
        FROM metric_series AS m
        JOIN runs AS r ON r.seq = m.run_seq
        JOIN series AS e ON e.id = r.series_id
        CROSS JOIN {STEPS_BESIDE_VALUES[dialect]}
    """  # noqa: S608 - the fragments are this file's constants
