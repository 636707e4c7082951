import unittest

from checks.descent import residuals


class Shape(unittest.TestCase):
    """A unit test as the project has it: driftgate runs it and finds nothing to judge."""

    def test_one_residual_a_step(self) -> None:
        assert len(list(residuals(steps=3, rate=0.1))) == 3
