"""How to start another Python exactly as this one was started, short of what it was told to run."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

_TAKES_ARGUMENT = "WX"
_ENDS_OPTIONS = "cm"
_LONG_WITH_ARGUMENT = "--check-hash-based-pycs"


def interpreter_command() -> tuple[str, ...]:
    """This interpreter with its own options: ``("/usr/bin/python3", "-I", "-Wignore")``."""
    return (sys.executable, *interpreter_options(sys.orig_argv))


def interpreter_options(orig_argv: Sequence[str]) -> tuple[str, ...]:
    """The interpreter's options out of ``sys.orig_argv``, without ``-c``, ``-m``, the script and what follows them.

    Clusters and attached arguments are taken apart as the interpreter does: ``-Ic code`` gives ``-I``.
    """
    return tuple(_options(iter(orig_argv[1:])))


def _options(arguments: Iterator[str]) -> Iterator[str]:
    for argument in arguments:
        if argument == _LONG_WITH_ARGUMENT:
            yield from (argument, next(arguments))
            continue
        if not argument.startswith("-") or argument in {"-", "--"}:
            return
        kept, following = _split_cluster(argument)
        if kept != "-":
            yield kept
        if following == "stop":
            return
        if following == "argument":
            yield next(arguments)


def _split_cluster(argument: str) -> tuple[str, str]:
    """What to keep of one argument, and what comes after it: ``"stop"``, ``"argument"`` or ``""``."""
    for place, letter in enumerate(argument[1:], start=1):
        if letter in _ENDS_OPTIONS:
            return argument[:place], "stop"
        if letter in _TAKES_ARGUMENT:
            return argument, "" if argument[place + 1 :] else "argument"
    return argument, ""
