"""What a metric that stays red costs the others, told by the script."""

from __future__ import annotations

from benchmarks.trust_grain import LABELS, table


def test_each_cost_is_told_under_both_grains():
    """By run the other baselines stand still and a move goes unseen; by metric they go on and it is caught."""
    heads, _, *rows = table(histories=1).splitlines()
    assert heads == '| 1 histories, profile balanced | `trust = "run"` | `trust = "metric"` |'
    cells = {label: tuple(rest) for label, *rest in (row.strip("| ").split(" | ") for row in rows)}
    assert tuple(cells) == LABELS
    red, age, caught, delay, cold = cells.values()
    assert red == ("35.0 of 35", "35.0 of 35")
    assert age == ("35.0 nights", "1.0 nights")
    assert caught == ("0 %", "100 %")
    assert delay[0] == "-"
    assert cold[0] == "30.0 of 30" != cold[1]
