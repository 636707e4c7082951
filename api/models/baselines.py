"""Baselines by columns."""

from __future__ import annotations

from pydantic import Field

from api.models.common import Document, SeriesName, SpecName


class Baseline(SpecName):
    """The baseline of one gate spec: m steps, r runs. Numbers that there are not are null."""

    epoch_id: str | None = Field(description="The epoch in force; null before the first.")
    runs: list[str] = Field(description="r run ids, newest first.")
    steps: list[int] = Field(description="m steps, ascending; -1 stands for `last` and reductions.")
    values: list[list[float | None]] = Field(description="r rows of m values; null where a run lacks the step.")
    n: list[int] = Field(description="How many values each step has.")
    mean: list[float | None]
    sd: list[float | None] = Field(description="With n - 1; null below two values.")
    lo: list[float | None] = Field(description="The corridor, from lo to hi, both inside.")
    hi: list[float | None]
    anchor_mean: list[float | None] = Field(description="null until the anchor is full.")


class Baselines(Document):
    """Every baseline of a series that was asked for."""

    series: SeriesName
    specs: list[Baseline]
