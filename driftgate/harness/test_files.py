"""A test file as CI sees it: its path, registrations and gate specs, read without running it."""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from driftgate.config.model import Config, Root
from driftgate.harness.registrations import MARKER_BACKENDS, Registration, declared_registrations
from driftgate.harness.regular_files import NotRegular, read_named
from gate.declarations import declared_specs
from gate.errors import Problem, SourceError
from gate.source import LARGEST_FILE_BYTES, parse_source, source_text
from gate.spec import GateSpec

_UNREGISTERED = (
    "no registration; write register_cpu_ci(...), register_cuda_ci(...) or register_rocm_ci(...) at its top level, "
    "else it would silently never run"
)
_MARKERS = {backend: marker for marker, backend in MARKER_BACKENDS.items()}


@dataclass(frozen=True, slots=True)
class TestFile:
    """``test_path`` names the file in its series. What ``problems`` complains about is left out of the rest.

    A file that declares no registration has its root's default one, or none.
    """

    __test__ = False  # by its name, pytest would take it for a test

    path: Path
    test_path: str
    registrations: tuple[Registration, ...]
    specs: tuple[GateSpec, ...]
    problems: tuple[Problem, ...]


def read_test_file(path: Path, root: Path, config: Config) -> TestFile:
    """Everything declared in the file at ``path``, with all of its mistakes; never raises for what the file is.

    ``root`` is the repository root, or the working folder where there is none.
    """
    name = series_path(path, root)
    return read_discovered(path, name, root_of(name, config), config)


def read_discovered(path: Path, name: str, folder: Root | None, config: Config) -> TestFile:
    """As ``read_test_file``, of a file whose name and root are known."""
    try:
        content = _content(path, name)
    except SourceError as error:
        return TestFile(path, name, (), (), error.problems)
    return declared_in(content, path, name, folder, config)


def declared_in(content: bytes, path: Path, name: str, folder: Root | None, config: Config) -> TestFile:
    """As ``read_test_file``, of a file that holds ``content``."""
    try:
        _check_name(name)
        source = parse_source(name, source_text(name, content))
    except SourceError as error:
        return TestFile(path, name, (), (), error.problems)
    registrations, mistakes = declared_registrations(source, config)
    specs, more_mistakes = declared_specs(source, config.defaults)
    problems = sorted((*mistakes, *more_mistakes), key=lambda problem: problem.line)
    if folder is not None and not registrations and not mistakes:
        registrations = _default_registration(folder)
    forbidden = [found for found in registrations if folder is not None and found.backend in folder.forbid]
    problems += [_forbidden(name, found) for found in forbidden]
    allowed = tuple(found for found in registrations if found not in forbidden)
    return TestFile(path, name, allowed, specs, tuple(problems))


def unregistered(test: TestFile) -> tuple[Problem, ...]:
    """The one problem of a file that was read and does not even try to register itself; none for any other file."""
    if test.registrations or any(problem.call in ("", *MARKER_BACKENDS) for problem in test.problems):
        return ()
    return (Problem(test.test_path, 0, "", "", _UNREGISTERED),)


def series_path(path: Path, root: Path) -> str:
    """``path`` relative to ``root`` with ``/`` whatever the working folder; a file outside of ``root`` is absolute."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolves "..", but no link: a link has a name of its own
    for file, folder in ((absolute, root.absolute()), (absolute.parent.resolve() / absolute.name, root.resolve())):
        if file.is_relative_to(folder):
            return file.relative_to(folder).as_posix()
    return absolute.as_posix()


def _content(path: Path, name: str) -> bytes:
    """Raises SourceError with the one problem that keeps the file from being read."""
    try:
        return read_named(path, LARGEST_FILE_BYTES)
    except NotRegular as error:
        raise _unreadable(name, f"is {error}; name a Python file") from None
    except OSError as error:
        raise _unreadable(name, f"cannot be read ({error.strerror}); check the path") from None
    except ValueError as error:
        raise _unreadable(name, f"cannot be read ({error}); check the path") from None


def _check_name(name: str) -> None:
    """A file's path names its series in tables, links and workflow commands. Raises SourceError."""
    if not name.isprintable() and any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
        raise _unreadable(name, "its path holds control characters or is not UTF-8; rename it")


def _unreadable(name: str, text: str) -> SourceError:
    return SourceError((Problem(name, 0, "", "", text),))


def root_of(name: str, config: Config) -> Root | None:
    """The configured root that holds the file, the innermost of several."""
    holding = [root for root in config.roots if Path(name).is_relative_to(root.path)]
    return max(holding, key=lambda root: len(Path(root.path).parts), default=None)


def _forbidden(name: str, found: Registration) -> Problem:
    text = f"{found.backend} tests are forbidden in this folder ([discovery] roots); move the file"
    return Problem(name, found.line, _MARKERS[found.backend], "", text)


def _default_registration(root: Root) -> tuple[Registration, ...]:
    if root.default_backend is None or root.default_suite is None or root.default_est_time_s is None:
        return ()
    return (Registration(root.default_backend, root.default_suite, root.default_est_time_s, implicit=True),)
