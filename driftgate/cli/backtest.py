"""``driftgate backtest``: stored history under a proposed rule."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from driftgate.cli.declared import Declared, declared
from driftgate.cli.history import title_of
from driftgate.cli.output import counted, moment, print_json, print_table, print_text, say
from driftgate.cli.session import Session, command
from driftgate.cli.targets import BackendOption, SuiteOption, only_series
from gate.errors import ConfigError
from gate.policy import GatePolicy, Profile
from gate.wording import listed, nearest, shown

if TYPE_CHECKING:
    from gate.backtest import Backtest, Delay, RunOutcome
    from gate.identity import SeriesIdentity
    from gate.spec import Constraint, GateSpec


ProfileOption = Annotated[
    str | None, typer.Option("--profile", metavar="NAME", help="strict or balanced, instead of the configured one.")
]


@command
def backtest(
    session: Session,
    *,
    test: Annotated[Path, typer.Argument(metavar="TEST", help="Test file, as a path from here.")],
    constraint: Annotated[
        str | None,
        typer.Option("--constraint", metavar="JSON", help="The proposed constraint as a declaration holds it."),
    ] = None,
    metric: Annotated[
        str | None, typer.Option("--metric", metavar="KEY", help="The proposal is for this metric; else for all.")
    ] = None,
    checks: Annotated[
        str | None, typer.Option("--checks", metavar="NAMES", help="Drift checks out of anchor,shift,spread, or none.")
    ] = None,
    profile: ProfileOption = None,
    from_run: Annotated[
        str | None, typer.Option("--from-run", metavar="ID", help="Where a change began: tell how soon it turns red.")
    ] = None,
    backend: BackendOption = None,
    suite: SuiteOption = None,
) -> None:
    """Replay stored history under a proposed rule. Each run is judged as if the rule had held all along.

    What is not proposed stays as the test file declares it. Nothing is written.

    Example: driftgate backtest tests/e2e/test_grpo.py --metric train/ppo_kl --constraint "$(cat band.json)"
    """
    from gate.backtest import Proposal
    from gate.backtest import backtest as replay

    with session.history() as (config, store):
        identity = only_series(store, config, test, backend=backend, suite=suite)
        series = store.read_past(identity)
    stated = declared(series, test, config)
    stated.check_metric(metric)
    specs = _proposed(stated, metric, constraint, checks)
    found = replay(series, Proposal(specs, with_profile(config.gate, profile), config.trust))
    delay = None if from_run is None else found.delay_from(from_run)
    if session.json:
        delay_json = None if delay is None else delay.to_json()
        print_json({"schema": 1, "series": asdict(identity), **found.to_json(), "delay": delay_json})
    else:
        _print(identity, stated, found, delay)


def with_profile(policy: GatePolicy, profile: str | None) -> GatePolicy:
    """Raises ConfigError for a name that is none."""
    known: tuple[Profile, ...] = get_args(Profile)
    chosen = next((name for name in known if name == profile), policy.profile)
    if profile not in (None, chosen):
        raise ConfigError(f"--profile: found {shown(profile)}{nearest(profile, known)}; valid: {listed(known)}")
    return replace(policy, profile=chosen)


def _proposed(stated: Declared, metric: str | None, constraint: str | None, checks: str | None) -> tuple[GateSpec, ...]:
    changes: dict[str, Any] = {}
    if checks is not None:
        changes["checks"] = _checks(checks)
    proposal = None if constraint is None else _constraint(constraint)
    specs: dict[Any, GateSpec] = {}
    for spec in stated.specs:
        changed = spec
        if metric in (None, spec.metric_key):
            key = spec.key if proposal is None else replace(spec.key, constraint_key=proposal[0])
            rule = spec.constraint if proposal is None else proposal[1]
            changed = replace(spec, key=key, constraint=rule, **changes)
        specs.setdefault(changed.key, changed)
    return tuple(specs.values())


def _constraint(text: str) -> tuple[str, Constraint]:
    """The key and the value. Raises ConfigError with every mistake on one line."""
    from gate.canonical import canonical_json
    from gate.fields import parse_constraint

    try:
        literal = ast.literal_eval(text)  # JSON of such a dict is a literal, too
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        hint = '{"rel_up": 0.5, "rel_down": 0.5}'
        raise ConfigError(f"--constraint: {shown(text)} is no literal; write e.g. {hint}") from None
    mistakes: list[str] = []
    constraint = parse_constraint(literal, mistakes.append)
    if mistakes:
        raise ConfigError(f"--constraint: {'; '.join(mistakes)}")
    return canonical_json(literal), constraint


def _checks(text: str) -> tuple[str, ...]:
    from gate.fields import parse_checks

    names = [] if text in ("", "none") else [name.strip() for name in text.split(",")]
    mistakes: list[str] = []
    checks = parse_checks(names, mistakes.append)
    if mistakes:
        raise ConfigError(f"--checks: {'; '.join(mistakes)}")
    return checks


def _print(identity: SeriesIdentity, stated: Declared, found: Backtest, delay: Delay | None) -> None:
    print_text(f"{title_of(identity)}\n")
    print_text(f"by the declarations of {stated.source}, as proposed; profile {found.proposal.policy.profile}\n\n")
    print_table(("metric", "steps", "constraint", "drift checks", "red runs"), _spec_rows(found))
    print_text(f"\n{summary_line(found)}\n")
    if delay is not None:
        print_text(f"{_delay_line(delay)}\n")
    shown_runs = [run for run in found.runs if run.red or run.trusted != run.stored_trusted]
    if shown_runs:
        print_text("\n")
        print_table(("run", "created", "proposed", "as stored", "why"), map(_run_row, shown_runs))
    if found.judged < len(found.runs):
        without = counted(len(found.runs) - found.judged, "run")
        say(f"driftgate: {without} hold no value of these metrics and steps")


def _spec_rows(found: Backtest) -> Iterator[tuple[str, ...]]:
    for spec in found.proposal.specs:
        red = f"{len(found.red_by(spec.key))} of {found.judged}"
        yield (spec.metric_key, spec.key.steps_key, spec.key.constraint_key, ", ".join(spec.checks) or "none", red)


def summary_line(found: Backtest) -> str:
    """What would have become of the runs, and what did."""
    counting = sum(run.trusted for run in found.runs)
    stored = sum(run.stored_trusted for run in found.runs)
    return f"{len(found.red)} of {counted(found.judged, 'run')} red; {counting} would count now, as stored {stored} do"


def _delay_line(delay: Delay) -> str:
    if delay.runs is None:
        return f"from run {delay.from_run_id} on: no run is red"
    return f"from run {delay.from_run_id} on: red at the {_ordinal(delay.runs)} run, {delay.first_red_run_id}"


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _run_row(run: RunOutcome) -> tuple[str, ...]:
    proposed = "red" if run.red else "trusted" if run.trusted else "not trusted"
    stored = "superseded" if run.superseded else "trusted" if run.stored_trusted else "not trusted"
    return (run.run_id, moment(run.created_at), proposed, stored, run.reasons[0] if run.reasons else "")
