"""One ``log()`` for several backends: the collector beside wandb, TensorBoard, MLflow. Standard library only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from driftgate.collector import Collector, warn


class Backend(Protocol):
    """Where metrics go. A backend is written, never read back; ``metrics`` is its own copy."""

    def log(self, metrics: Mapping[str, Any], step: int | None = None) -> None: ...

    def finish(self) -> None: ...


class TrackingManager:
    """Fans out ``log()`` and ``finish()`` to its backends, in their order.

    A backend that raises an ``Exception`` is one warning per kind of error; its siblings and the training go on. Only
    what a ``Collector`` raises in strict mode reaches the caller, after every backend was served.
    """

    def __init__(self, backends: Iterable[Backend] = ()) -> None:
        self._backends = tuple(backends)
        self._warned: set[tuple[int, str]] = set()

    def log(self, metrics: Mapping[str, Any], step: int | None = None) -> None:
        """Raises TypeError or ValueError for an author's mistake under DRIFTGATE_STRICT=1, nothing otherwise."""
        self._each("log", lambda backend: backend.log(_copy(metrics), step=step))

    def finish(self) -> None:
        """Finish every backend, whatever the others do."""
        self._each("finish", lambda backend: backend.finish())

    def _each(self, action: str, call: Callable[[Backend], None]) -> None:
        mistake: Exception | None = None
        for place, backend in enumerate(self._backends):
            try:
                call(backend)
            except Exception as error:  # noqa: BLE001 - a backend may raise anything, and training goes on
                if isinstance(backend, Collector):
                    mistake = mistake or error
                else:
                    self._warn_once(place, backend, action, error)
        if mistake is not None:
            raise mistake

    def _warn_once(self, place: int, backend: Backend, action: str, error: Exception) -> None:
        kind = f"{type(backend).__name__}.{action}() raised {type(error).__name__}"
        if (place, kind) not in self._warned:
            self._warned.add((place, kind))
            warn(f"{kind}: {error}; the other backends and the training go on")


def _copy(metrics: Any) -> Any:
    # A backend that adds or removes keys must not change what its siblings see.
    return dict(metrics) if isinstance(metrics, Mapping) else metrics
