"""Callbacks for trainers that people use. Each module needs its library, which is never a dependency of driftgate."""
