"""Who sits at the terminal."""

from getpass import getuser

from core.models import Person


def person() -> Person:
    """The person, by the name the machine knows."""
    try:
        name = getuser()
    except (OSError, KeyError):
        name = "somebody"
    return Person(id=name, name=name)
