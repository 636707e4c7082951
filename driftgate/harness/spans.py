"""Spans of time for people. Standard library only."""

from __future__ import annotations


def span(seconds: float) -> str:
    """``7 s``, ``5 min``, ``1 h 34 min``: rounded, never to nothing."""
    if round(seconds) < 60:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    return " ".join([*([f"{hours} h"] if hours else []), *([f"{rest} min"] if rest or not hours else [])])
