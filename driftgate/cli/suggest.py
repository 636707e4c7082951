"""``driftgate suggest``: bands taken from a test's own noise."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftgate.cli.backtest import ProfileOption, summary_line, with_profile
from driftgate.cli.declared import declared
from driftgate.cli.output import counted, print_json, print_text, say
from driftgate.cli.session import Session, command
from driftgate.cli.targets import BackendOption, SuiteOption, only_series

if TYPE_CHECKING:
    from gate.suggest import Suggestion, Suggestions

_MOST_RUNS = 5


@command
def suggest(
    session: Session,
    *,
    test: Annotated[Path, typer.Argument(metavar="TEST", help="Test file, as a path from here.")],
    metric: Annotated[str | None, typer.Option("--metric", metavar="KEY", help="Only for this metric.")] = None,
    profile: ProfileOption = None,
    backend: BackendOption = None,
    suite: SuiteOption = None,
) -> None:
    """Bands from the noise of stored history. At least 4.5 sd wide, as declarations to paste into the test file.

    Each says how many stored runs are red, judged by exactly these declarations.

    Example: driftgate suggest tests/e2e/test_grpo.py --metric train/ppo_kl
    """
    from gate.backtest import Proposal
    from gate.suggest import suggest as suggested

    with session.history() as (config, store):
        identity = only_series(store, config, test, backend=backend, suite=suite)
        series = store.read_past(identity)
    stated = declared(series, test, config)
    stated.check_metric(metric)
    found = suggested(series, Proposal(stated.specs, with_profile(config.gate, profile), config.trust), metric)
    if session.json:
        print_json({"schema": 1, "series": asdict(identity), **found.to_json()})
        return
    for one in found.each:
        print_text(_lines(one, found))
    used = found.backtest.proposal.policy.profile
    say(f"backtest of these declarations, profile {used}: {summary_line(found.backtest)}")


def _lines(one: Suggestion, found: Suggestions) -> str:
    """The declaration under comments, so that all of it can be pasted."""
    from gate.suggest import declaration

    name = f"# {one.spec.metric_key} {one.spec.key.steps_key}"
    if one.reason is not None:
        return f"{name}: no suggestion: {one.reason}\n"
    aside = f", {len(one.broken)} of them set aside as broken" if one.broken else ""
    red = found.backtest.red_by(one.spec.key)
    which = f": {', '.join(red[:_MOST_RUNS])}{', ...' if len(red) > _MOST_RUNS else ''}" if red else ""
    return (
        f"{name}: from {counted(one.runs, 'valid run')}{aside}; the band is at least {one.band_over_sd:.2g} sd; "
        f"red in {len(red)} of {counted(found.backtest.judged, 'run')}{which}\n{declaration(one.spec)}\n"
    )
