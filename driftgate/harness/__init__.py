"""Drives tests, keeps the passing attempt's metrics, asks the gate, writes the baseline when it may."""
