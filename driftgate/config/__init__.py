"""``driftgate.toml`` as frozen values. Standard library only: planning reads it on a bare CI runner."""
