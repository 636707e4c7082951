"""Alembic revisions of the store, one chain for SQLite and Postgres."""
