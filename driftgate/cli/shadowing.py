"""The guard against a foreign package named ``gate``, ``store``, ``api`` or ``migrations``: they are short names."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("gate", "store", "api", "migrations")


def distribution_root() -> Path:
    """The folder that holds this installation's packages: site-packages, or the checkout of an editable install."""
    return Path(__file__).resolve().parents[2]


def shadowed_package() -> tuple[str, Path | None] | None:
    """The first of our packages that Python would load from elsewhere, and from where; None when all are ours."""
    root = distribution_root()
    for name in PACKAGES:
        origin = _origin(name)
        if origin is None or root not in origin.parents or origin.parent.parent != root:
            return name, origin
    return None


def complaint(name: str, origin: Path | None) -> str:
    """One line: which package, whose it is, what to do."""
    if origin is None:
        return f"its own package '{name}' is missing from {distribution_root()}; install driftgate again"
    entry = origin.parent.parent if origin.name == "__init__.py" else origin.parent
    return (
        f"'{name}' would be loaded from {origin}, which hides driftgate's own package of that name; "
        f"take {entry} off PYTHONPATH (or start with 'driftgate' instead of 'python -m' in that folder)"
    )


def _origin(name: str) -> Path | None:
    spec = find_spec(name)
    if spec is None:
        return None
    if spec.origin is not None:
        return Path(spec.origin).resolve()
    locations = list(spec.submodule_search_locations or ())
    return Path(locations[0]).resolve() if locations else None
