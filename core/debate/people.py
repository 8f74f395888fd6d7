"""People, and the places where debates are held."""

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
    """The message that asked for a debate inside a thread of people's own, as the surface knows it.

    The debate is held elsewhere; its verdict is brought back there.
    """

    message: str
    thread: str


class Stop(Value):
    by: Person
