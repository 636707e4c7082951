"""The routes, one module per noun; each has a ``router``."""
