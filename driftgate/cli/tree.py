"""How the command tree shows itself and refuses what it cannot parse."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from driftgate.cli.exits import translated_errors
from driftgate.cli.output import print_text, say
from driftgate.harness.outcome import JobExit


class Command(TyperCommand):
    """Shows arguments under their plain names: ``TEST``, ``[TEST]``, ``FILE...``."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [piece.translate({ord("{"): None, ord("}"): None}) for piece in super().collect_usage_pieces(ctx)]


class Root(TyperGroup):
    """Runs every command inside the one seam for errors; a wrong option is one line, too."""

    def main(self, *args: Any, **extra: Any) -> Any:
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except typer.TyperException as error:
            _refuse(error)
            code = JobExit.UNUSABLE
        raise SystemExit(code or JobExit.FINE)

    def invoke(self, ctx: Any) -> Any:
        with translated_errors(debug=bool(ctx.params.get("debug"))):
            return super().invoke(ctx)


def _refuse(error: typer.TyperException) -> None:
    text = error.format_message().rstrip(".")
    if "\n" in text:  # the help of a group that was called without a command
        print_text(f"{text}\n")
        return
    context: Any = getattr(error, "ctx", None)
    hint = f"; see {context.command_path} --help" if context is not None else ""
    say(f"driftgate: {text[:1].lower()}{text[1:]}{hint}")
