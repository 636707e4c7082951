"""One exit code out of several."""

import pytest

from driftgate.harness.outcome import JobExit, combined


@pytest.mark.parametrize(
    ("exits", "winner"),
    [([], 0), ([0, 0], 0), ([4, 3], 3), ([3, 1, 4, 0], 1), ([0, 4], 4), ([1, 130], 130), ([2, 3], 2)],
)
def test_the_lowest_that_is_not_zero_wins(exits, winner):
    """Of 1, 3 and 4 the lowest is the answer; an interruption is no result of a test and wins over all."""
    assert combined(map(JobExit, exits)) == winner
