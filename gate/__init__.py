"""Pure functions from declarations, a record and history to a verdict.

No input or output, no clock, no randomness, no logging, no globals. Importing this package, or
``gate.declarations`` and what it needs, costs the standard library alone: planning runs where numpy is not installed.
"""
