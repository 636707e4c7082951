"""One test file of an untrusted checkout, read as data by a trusted installation. Standard library only.

Of the checkout only the asked file and the labels are read: suites, cadences and every other rule are the trusted
configuration's, so that a pull request cannot choose where it runs.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from driftgate.config.label_registry import checked_labels, labels_in
from driftgate.config.model import Config
from driftgate.config.schema import dotted
from driftgate.harness.regular_files import NotRegular, read_below
from driftgate.harness.test_files import TestFile, declared_in, root_of
from gate.errors import ConfigError, Problem, SourceError
from gate.source import LARGEST_FILE_BYTES
from gate.wording import shown

_OWN_NAME, _SHARED_NAME = "driftgate.toml", "pyproject.toml"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """``config`` is the trusted one with the checkout's labels, ``test`` the asked file with its own mistakes alone."""

    config: Config
    test: TestFile


def read_snapshot(file: Path, folder: Path, config: Config) -> Snapshot:
    """``file`` is relative to ``folder``, the root of the untrusted checkout, or lies below it.

    Raises: ConfigError (a path that leaves the checkout, a checkout that is none), SourceError (labels that cannot be
    read as data).
    """
    name = _name_below(file, folder)
    trusted = replace(config, labels=_labels(folder, config))
    path, test_path = folder / name, name.as_posix()
    try:
        content = _content(folder, name)
    except FileNotFoundError:
        problem = Problem(test_path, 0, "", "", f"is not in the checkout {folder}; check the path")
        return Snapshot(trusted, TestFile(path, test_path, (), (), (problem,)))
    except SourceError as error:
        return Snapshot(trusted, TestFile(path, test_path, (), (), error.problems))
    return Snapshot(trusted, declared_in(content, path, test_path, root_of(test_path, config), trusted))


def _name_below(file: Path, folder: Path) -> PurePosixPath:
    if folder.is_symlink() or not folder.is_dir():
        raise ConfigError(f"--snapshot: {folder} is no folder, or a link to one; name the checkout's own folder")
    name = file
    if file.is_absolute():
        base = Path(os.path.abspath(folder))  # noqa: PTH100 - resolves "..", but no link
        if not file.is_relative_to(base):
            raise ConfigError(f"--file: {shown(str(file))} is not below --snapshot {base}; name a file of the checkout")
        name = file.relative_to(base)
    if ".." in name.parts or not name.parts:
        raise ConfigError(
            f"--file: {shown(str(file))} is no path of a file; write it from the checkout's root, without .."
        )
    return PurePosixPath(name)


def _content(folder: Path, name: PurePosixPath) -> bytes:
    """Raises: SourceError with the reason, FileNotFoundError."""
    try:
        return read_below(folder, name, LARGEST_FILE_BYTES)
    except NotRegular as error:
        reason = f"is {error}; of an untrusted checkout only regular files are read"
    except FileNotFoundError:
        raise
    except OSError as error:
        reason = f"cannot be read ({error.strerror}); check the path"
    except ValueError as error:
        reason = f"cannot be read ({error}); check the path"
    raise SourceError((Problem(name.as_posix(), 0, "", "", reason),))


def _labels(folder: Path, config: Config) -> Mapping[str, str]:
    """The preset's labels, and those that the checkout's own registry and configuration file hold."""
    kept = {
        label: meaning
        for label, meaning in config.labels.items()
        if config.sources.get(dotted(("labels", label)), "").startswith("preset ")
    }
    registry = config.label_registry
    if registry is not None:
        name = PurePosixPath(registry.path)
        try:
            kept |= labels_in(registry, _content(folder, name))
        except FileNotFoundError:
            text = f"is not in the checkout {folder}; it holds the labels ([discovery] label_registry)"
            raise SourceError((Problem(registry.path, 0, "", "", text),)) from None
    return kept | _configured_labels(folder, config)


def _configured_labels(folder: Path, config: Config) -> dict[str, str]:
    """The table [labels] of the checkout's driftgate.toml, else of its pyproject.toml, else nothing."""
    base = config.base.relative_to(config.repository) if config.base.is_relative_to(config.repository) else Path()
    for file, above in ((_OWN_NAME, ()), (_SHARED_NAME, ("tool", "driftgate"))):
        name = PurePosixPath(base, file)
        try:
            content = _content(folder, name)
        except FileNotFoundError:
            continue
        table = _table(_document(name.as_posix(), content), above)
        if table is not None:
            labels = table.get("labels", {})
            if not isinstance(labels, dict):
                raise _refused(name.as_posix(), f"found {shown(labels)}, expected a table")
            return checked_labels(labels, name.as_posix(), 0, "labels")
    return {}


def _table(document: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any] | None:
    table: Any = document
    for key in path:
        table = table.get(key) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else None


def _document(name: str, content: bytes) -> dict[str, Any]:
    if len(content) > LARGEST_FILE_BYTES:
        raise _refused(name, "the file is above 1 MiB")
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise _refused(name, "the file is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise _refused(name, f"the file is not valid TOML: {error}") from None
    except RecursionError:
        raise _refused(name, "the file is nested too deeply to be read") from None


def _refused(name: str, text: str) -> SourceError:
    return SourceError((Problem(name, 0, "", "labels", text),))
