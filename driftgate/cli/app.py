"""The command tree. Commands are thin: options in, a call, a table or JSON out."""

from __future__ import annotations

from typing import Annotated

import typer

import driftgate
from driftgate.cli import (
    backtest,
    baseline,
    ci_report,
    config_show,
    coverage,
    database,
    demo,
    doctor,
    durations,
    enforcement,
    epochs,
    flakes,
    gate,
    history,
    init,
    marks,
    plan,
    rerun_policy,
    run,
    runs,
    serve,
    suggest,
    token,
)
from driftgate.cli.output import print_text
from driftgate.cli.tree import Command, Root

app = typer.Typer(
    name="driftgate",
    cls=Root,
    help="Keeps the history of a training framework's test metrics and judges every new run against it.",
    epilog="Start with: driftgate demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(value: bool) -> None:
    if value:
        print_text(f"driftgate {driftgate.__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
) -> None:
    pass


app.command("demo", cls=Command)(demo.demo)
app.command("init", cls=Command)(init.init)
app.command("plan", cls=Command)(plan.plan)
app.command("run", cls=Command)(run.run)
app.command("gate", cls=Command)(gate.gate)
app.command("baseline", cls=Command)(baseline.baseline)
app.command("history", cls=Command)(history.history)
app.command("backtest", cls=Command)(backtest.backtest)
app.command("suggest", cls=Command)(suggest.suggest)
app.add_typer(runs.app, name="runs")
app.command("coverage", cls=Command)(coverage.coverage)
app.command("doctor", cls=Command)(doctor.doctor)
app.command("flakes", cls=Command)(flakes.flakes)
app.command("durations", cls=Command)(durations.durations)
app.command("mark-untrusted", cls=Command)(marks.mark_untrusted)
app.command("mark-trusted", cls=Command)(marks.mark_trusted)
app.add_typer(epochs.app, name="epoch")
app.add_typer(enforcement.app, name="enforcement")
app.command("ci-report", cls=Command)(ci_report.ci_report)
app.command("rerun-policy", cls=Command)(rerun_policy.rerun_policy)
app.add_typer(config_show.app, name="config")
app.command("serve", cls=Command)(serve.serve)
app.add_typer(database.app, name="db")
app.add_typer(token.app, name="token")
