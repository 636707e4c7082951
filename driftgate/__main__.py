"""``python -m driftgate``."""

from driftgate.cli.main import main

if __name__ == "__main__":
    main()
