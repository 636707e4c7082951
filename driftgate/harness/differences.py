"""What is not as it was at the last trusted run: the first question about a failing verdict."""

from __future__ import annotations

from collections.abc import Iterator

from gate.provenance import Provenance

_SHOWN_CHARACTERS = 40
_COMMIT_CHARACTERS = 12


def differences(now: Provenance, then: Provenance) -> str | None:
    """``changed: image (a -> b); the same: code, host``; facts that either side lacks are left out, None if all are."""
    changed: list[str] = []
    same: list[str] = []
    for name, before, after in _facts(now, then):
        if before == after:
            same.append(name)
        else:
            changed.append(f"{name} ({_shown(before)} -> {_shown(after)})")
    if not changed and not same:
        return None
    return f"changed: {', '.join(changed) or 'nothing that is known'}; the same: {', '.join(same) or 'nothing'}"


def _facts(now: Provenance, then: Provenance) -> Iterator[tuple[str, str, str]]:
    pairs = {
        "code": (_commit(then), _commit(now)),
        "image": (then.image_digest, now.image_digest),
        "GPU": (then.gpu_model, now.gpu_model),
        "GPU driver": (then.gpu_driver, now.gpu_driver),
        "host": (then.host, now.host),
        "cadence": (then.cadence, now.cadence),
        "ref": (then.ref, now.ref),
    }
    for package in sorted({*then.packages, *now.packages}):
        pairs[package] = (then.packages.get(package), now.packages.get(package))
    for name, (before, after) in pairs.items():
        if before is not None and after is not None:
            yield name, before, after


def _commit(provenance: Provenance) -> str | None:
    commit = provenance.commit_sha
    return commit and commit[:_COMMIT_CHARACTERS]


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "..."
