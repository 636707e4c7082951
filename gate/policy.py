"""How strictly to judge: the numbers of ``[gate]`` in the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Profile = Literal["strict", "balanced"]


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """``strict`` fails a run on any coordinate outside its corridor; ``balanced`` asks for a quorum.

    ``history`` and ``anchor_runs`` count runs; ``min_points_ratio`` is the share of the usual number of points under
    which a run counts as ended early. ``shift_runs`` is how many newest runs, the judged one included, a shift is the
    median of; ``shift_fraction`` is the share of a band that a shift may reach however small the noise is.
    """

    profile: Profile = "strict"
    history: int = 20
    anchor_runs: int = 20
    min_points_ratio: float = 0.8
    shift_runs: int = 10
    shift_fraction: float = 0.05

    @property
    def corridor_needs(self) -> int:
        """How many baseline values make the corridor active."""
        return 1 if self.profile == "strict" else 3

    @property
    def newest_needed(self) -> int:
        """How many of the newest counting values of a coordinate the checks look at."""
        return max(self.history, self.shift_runs - 1)
