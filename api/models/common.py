"""What several answers share."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Answer(BaseModel):
    """Base of all answers: every key that is written is named."""

    model_config = ConfigDict(extra="forbid")


class Document(Answer):
    """``schema`` counts up when a key changes its meaning; keys may be added without that."""

    schema_: int = Field(alias="schema", description="1")


class Paged(Document):
    """One page of a listing."""

    next_cursor: str | None = Field(description="Give it as `cursor` for the following page; null on the last one.")


class SeriesName(Answer):
    """Runs of one series share a baseline. ``suite`` is the stage that executed the test."""

    project: str
    test_path: str
    backend: str
    suite: str


class SpecName(Answer):
    """A gate spec: metric, steps and constraint of its declaration, the latter two as canonical JSON."""

    metric_key: str
    steps_key: str
    constraint_key: str


class Warned(Answer):
    """Something to look at that fails no run."""

    kind: str = Field(description="starved, band_too_tight, band_blind, red_by_chance, ...")
    text: str
    metric_key: str | None


class TrustEvent(Answer):
    """One line of the append-only trust log. ``run_id`` null: a standing rule or an epoch, no single run."""

    at: datetime
    actor: str
    action: str
    reason: str
    run_id: str | None
    selector: str | None
    trusted_before: bool | None
    trusted_after: bool | None
    verdict: dict[str, Any] | None = Field(description="Of a run judged again under an epoch: its new verdict.")
