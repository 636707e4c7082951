"""The command tree. Commands are thin: options in, a call, a table or JSON out."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import driftgate
from driftgate.cli import baseline, database, demo, gate, init, marks, run, runs
from driftgate.cli.exits import translated_errors


class _Root(TyperGroup):
    """Runs every command inside the one seam for errors."""

    def invoke(self, ctx: Any) -> Any:
        with translated_errors(debug=bool(ctx.params.get("debug"))):
            return super().invoke(ctx)


app = typer.Typer(
    name="driftgate",
    cls=_Root,
    help="Keeps the history of a training framework's test metrics and judges every new run against it.",
    epilog="Start with: driftgate demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(value: bool) -> None:
    if value:
        print(f"driftgate {driftgate.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
) -> None:
    pass


app.command("demo")(demo.demo)
app.command("init")(init.init)
app.command("run")(run.run)
app.command("gate")(gate.gate)
app.command("baseline")(baseline.baseline)
app.add_typer(runs.app, name="runs")
app.command("mark-untrusted")(marks.mark_untrusted)
app.command("mark-trusted")(marks.mark_trusted)
app.add_typer(database.app, name="db")
