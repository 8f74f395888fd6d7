"""Clarifying questions: agents say what they need to know, and it is put to people."""

from core.errors import ReplyUnreadable
from core.events import ClarificationsOpened, QuestionsAsked
from core.llm.call import ModelCalls
from core.models import Debate, Question, Questions, Turn
from core.rules.formats import clarifying
from core.turns.replies import QuestionsReply
from core.turns.request_for import request_for, terms_for


async def ask(calls: ModelCalls, debate: Debate, turn: Turn) -> QuestionsAsked:
    """What one agent wants to know; an unreadable reply counts as no question.

    Raises:
        ProviderError: No model could be asked.
        LimitReached: A cap forbids the call.
    """
    agent = debate.setup.agent(turn.agent)
    request, terms = request_for(debate, turn), terms_for(debate, turn)
    try:
        reply, call = await calls.ask_for(request, agent, QuestionsReply, options=terms)
    except ReplyUnreadable as error:
        none = Questions(turn=turn, questions=(), call=error.call)
        return QuestionsAsked(questions=none)
    asked = tuple(
        Question(text=one.question.strip(), assumption=one.assumption.strip())
        for one in reply.questions[: debate.setup.clarifying.per_agent]
        if one.question.strip()
    )
    return QuestionsAsked(questions=Questions(turn=turn, questions=asked, call=call))


async def put(_calls: ModelCalls, debate: Debate, turn: Turn) -> ClarificationsOpened:
    """Put everybody's questions to people, each once. Asks no model."""
    return ClarificationsOpened(clarifications=clarifying.put(debate, turn))
