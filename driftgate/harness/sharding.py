"""One suite's tests spread over several jobs: longest first, each to the least loaded. Standard library only."""

from __future__ import annotations

import heapq
import re
from collections.abc import Mapping
from dataclasses import dataclass

from driftgate.config.keys import MOST_SHARDS
from gate.errors import ConfigError
from gate.wording import shown

LEAST_COST_S = 1.0
"""What a test counts at least, so that tests without a cost spread, too."""
_SHARD = re.compile(r"([0-9]{1,4})/([0-9]{1,4})")


@dataclass(frozen=True, slots=True)
class Shard:
    """One of ``count`` jobs; ``index`` counts from 0."""

    index: int
    count: int


def parse_shard(text: str) -> Shard:
    """``"0/2"`` is the first of two. Raises ConfigError for anything that names no shard."""
    found = _SHARD.fullmatch(text)
    shard = Shard(int(found[1]), int(found[2])) if found else None
    if shard is None or not 0 <= shard.index < shard.count <= MOST_SHARDS:
        hint = "; shards count from 0" if shard is not None and shard.index == shard.count else ""
        valid = f"i/n such as 0/2 (the first of two), i from 0 to n-1, n at most {MOST_SHARDS}"
        raise ConfigError(f"--shard: found {shown(text)}, expected {valid}{hint}")
    return shard


def shard_of_each(costs_s: Mapping[str, float], count: int) -> dict[str, int]:
    """The shard, from 0 to ``count`` - 1, of each name. It depends on names and costs alone, not on their order.

    The largest shard costs at most 4/3 - 1/(3 ``count``) of the best possible one (Graham 1969). A cost that is not
    above 0 counts 1 s.
    """
    loads = [(0.0, index) for index in range(count)]
    shards: dict[str, int] = {}
    for name in sorted(costs_s, key=lambda name: (-counted_cost(costs_s[name]), name)):
        load, index = heapq.heappop(loads)
        shards[name] = index
        heapq.heappush(loads, (load + counted_cost(costs_s[name]), index))
    return shards


def counted_cost(cost_s: float) -> float:
    return cost_s if cost_s > 0 else LEAST_COST_S
