"""Clarifying questions: agents say what they need to know, and it is put to people."""

from collections.abc import Mapping

from pydantic import BaseModel

from core.acts.act import ActSpec, declare
from core.acts.request_for import ask_model
from core.errors import ReplyUnreadable
from core.events import ClarificationsOpened, QuestionsAsked
from core.figures import counted
from core.llm.call import ModelCalls
from core.models import Act, Debate, Question, Questions, Turn
from core.request import Effort
from core.rules.formats import clarifying

_UNREADABLE = "Its reply could not be read as questions, so it asks none."


class QuestionReply(BaseModel):
    """One clarifying question."""

    question: str
    assumption: str


class QuestionsReply(BaseModel):
    """What an agent wants to know."""

    questions: list[QuestionReply]


async def ask(calls: ModelCalls, debate: Debate, turn: Turn) -> QuestionsAsked:
    """What one agent wants to know; an unreadable reply counts as no question, with a warning.

    Raises:
        ProviderError: No model could be asked.
        LimitReached: A cap forbids the call.
    """
    try:
        reply, call = await ask_model(calls, debate, turn, QuestionsReply)
    except ReplyUnreadable as error:
        none = Questions(turn=turn, questions=(), warnings=(_UNREADABLE,), call=error.call)
        return QuestionsAsked(questions=none)
    worded = [question for question in reply.questions if any(map(str.isalnum, question.question))]
    most = debate.setup.clarifying.per_agent
    warnings: list[str] = []
    if empty := len(reply.questions) - len(worded):
        warnings.append(f"{counted(empty, 'question')} without words left out.")
    if surplus := worded[most:]:
        texts = ", ".join(f"“{one.question.strip()}”" for one in surplus)
        warnings.append(f"Asked more than the {most} questions an agent may; left out: {texts}")
    asked = tuple(
        Question(text=one.question.strip(), assumption=one.assumption.strip())
        for one in worded[:most]
    )
    made = Questions(turn=turn, questions=asked, warnings=tuple(warnings), call=call)
    return QuestionsAsked(questions=made)


async def put(_calls: ModelCalls, debate: Debate, turn: Turn) -> ClarificationsOpened:
    """Put everybody's questions to people, each once. Asks no model."""
    return ClarificationsOpened(clarifications=clarifying.put(debate, turn))


def _values(debate: Debate, turn: Turn) -> Mapping[str, object]:
    asking = int(turn.target or 1)
    most = debate.setup.clarifying.per_agent
    return {"most": most, "followup": asking > 1, "last": asking == clarifying.MOST_ROUNDS}


declare(
    Act.QUESTIONS,
    ActSpec(
        label="Questions",
        noun="questions",
        phase="clarifying questions",
        max_tokens=1024,
        effort=Effort.LOW,
        is_posted=False,
        sees_history=False,
        is_numbered=True,
        values=_values,
        perform=ask,
    ),
)

declare(
    Act.CLARIFICATION,
    ActSpec(
        label="Questions to people",
        noun="list of questions",
        phase="questions to people",
        asks_model=False,
        is_numbered=True,
        perform=put,
    ),
)
