"""``driftgate demo``"""

from driftgate.cli.session import Session, command


@command
def demo(session: Session) -> None:
    """The whole loop."""
