"""Measurements of the numbers this project is held to, as ratios against a rival in the same run."""
