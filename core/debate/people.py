"""People, and the places (terminal, Slack channel) where debates are held."""

from core.values import Value


class Person(Value):
    id: str
    name: str = ""

    @property
    def display_name(self) -> str:
        return self.name or self.id


class Place(Value):
    """Where a debate is held. The core stores it and does not interpret it."""

    surface: str
    workspace: str = ""
    channel: str = ""


class Mention(Value):
    """The message in an existing thread that asked for a debate; ids as the surface gives them.

    The debate has a thread of its own. Its verdict is also posted in this one.
    """

    message: str
    thread: str


class Stop(Value):
    by: Person
