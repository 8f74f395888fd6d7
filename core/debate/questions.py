"""Questions of agents, their clarification by people, and the answers."""

from datetime import datetime

from core.debate.people import Person
from core.debate.turn import Turn
from core.usage import Call, Usage
from core.values import Value


class Question(Value):
    text: str
    assumption: str


class Questions(Value):
    turn: Turn
    questions: tuple[Question, ...]
    #: Facts that the agent relies on, as it put them.
    facts: tuple[str, ...] = ()
    #: What was wrong with the reply: unreadable, empty or surplus questions.
    warnings: tuple[str, ...] = ()
    call: Call | None = None


class Clarification(Value):
    """A question put to people, asked by one agent or several. Numbered from 1 in its debate."""

    number: int
    question: str
    assumption: str
    asked_by: tuple[str, ...]


class Clarifications(Value):
    turn: Turn
    items: tuple[Clarification, ...]
    until: datetime
    #: Questions that were left out, as there were too many.
    warnings: tuple[str, ...] = ()
    #: How a model merged what asks the same in other words; None: none did.
    call: Call | None = None
    lost: Usage = Usage()
    #: Whether answers can change until an event closes the questions; in logs of before the last
    #: answer closed them.
    closed_by_event: bool = False


class Answer(Value):
    number: int
    #: Empty: skipped.
    text: str
    by: Person
    #: What brought it (a message, a form): what arrives twice is known by it.
    origin: str = ""
    #: Tells one correction from the next; empty: the first answer to its question.
    change: str = ""
    #: When its message had been edited, in an order of its surface; empty: it was not.
    edited: str = ""
    #: Id of the note that these words were until somebody said which question they answer.
    note: str = ""
    #: Whether it stands in a message, which its author can edit.
    is_editable: bool = False

    @property
    def key(self) -> str:
        """Its event's: the first answer to a question has the question's own."""
        return "/".join(filter(None, (f"answer/{self.number}", self.change)))
