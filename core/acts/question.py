"""Clarifying questions: agents ask for missing facts, and people are asked these questions."""

from collections.abc import Sequence

import structlog
from pydantic import BaseModel

from core.acts.act import ACTS, ActSpec, always, side_act
from core.acts.citing import without_quotes
from core.acts.request_for import ask_for_same, ask_model
from core.debate.agents import EXAMPLE, OFFLINE
from core.debate.contributions import Question, Questions
from core.debate.state import Debate
from core.debate.turn import SUMMARIZER, Act, Turn
from core.debate.turn_events import ClarificationsOpened, QuestionsAsked
from core.errors import CallFailed, ReplyUnreadable
from core.figures import quantity
from core.llm.call import ModelCalls
from core.request import Effort, Part, PartKind
from core.rules.formats import clarifying

_log = structlog.get_logger(__name__)

_UNREADABLE = "Its reply could not be read as questions, so it asks none."
#: Most facts kept from one agent.
_MOST_FACTS = 3


class QuestionReply(BaseModel):
    question: str
    assumption: str


class QuestionsReply(BaseModel):
    facts: list[str] = []
    questions: list[QuestionReply]


async def ask(calls: ModelCalls, debate: Debate, turn: Turn) -> QuestionsAsked:
    try:
        reply, call = await ask_model(calls, debate, turn, QuestionsReply)
    except ReplyUnreadable as error:
        none = Questions(turn=turn, questions=(), warnings=(_UNREADABLE,), call=error.call)
        return QuestionsAsked(questions=none)
    questions_with_words = [
        question for question in reply.questions if any(map(str.isalnum, question.question))
    ]
    most = debate.setup.clarifying.per_agent
    warnings: list[str] = []
    if empty := len(reply.questions) - len(questions_with_words):
        warnings.append(f"{quantity(empty, 'question')} without words left out.")
    if surplus := questions_with_words[most:]:
        texts = ", ".join(f"“{reply.question.strip()}”" for reply in surplus)
        warnings.append(f"Asked more than the {most} questions an agent may; left out: {texts}")
    questions = Questions(
        turn=turn,
        questions=tuple(
            Question(text=reply.question.strip(), assumption=reply.assumption.strip())
            for reply in questions_with_words[:most]
        ),
        facts=tuple(fact for text in reply.facts if (fact := without_quotes(text)))[:_MOST_FACTS],
        warnings=tuple(warnings),
        call=call,
    )
    return QuestionsAsked(questions=questions)


async def open_clarifications(
    calls: ModelCalls, debate: Debate, turn: Turn
) -> ClarificationsOpened:
    """Ask people all agents' questions, each once.

    A cheap model merges questions that ask the same; if it fails, all are asked.
    """
    merger, call_fields = debate.setup.agent(SUMMARIZER), dict[str, object]()
    firsts: Sequence[int] = ()
    questions = () if turn.round else clarifying.collected_questions(debate, turn)
    several = len({question.agents for question in questions}) > 1
    if several and merger.provider not in {OFFLINE, EXAMPLE}:
        try:
            labels = _labels(debate, turn)
            firsts, call_fields["call"] = await ask_for_same(
                calls, debate, turn, labels, agent=merger
            )
        except CallFailed as error:
            _log.warning("questions not merged", debate=debate.id, reason=str(error))
            call_fields["lost"] = error.usage
    clarifications = clarifying.questions_to_put(debate, turn, firsts)
    return ClarificationsOpened(clarifications=clarifications.model_copy(update=call_fields))


def _labels(debate: Debate, turn: Turn) -> tuple[str, ...]:
    return tuple(
        f"q{n}" for n, _ in enumerate(clarifying.collected_questions(debate, turn), start=1)
    )


def _question_parts(debate: Debate, turn: Turn) -> Sequence[Part]:
    questions = clarifying.collected_questions(debate, turn)
    lines = (" ".join(question.question.text.split()) for question in questions)
    text = "\n".join(map(": ".join, zip(_labels(debate, turn), lines, strict=True)))
    return [Part(kind=PartKind.OTHER, label="Questions of all agents", text=text, trim_priority=1)]


ACTS[Act.QUESTIONS] = side_act(
    max_tokens=1024,
    is_numbered=True,
    values=lambda debate, turn: {
        "most": debate.setup.clarifying.per_agent,
        "most_facts": _MOST_FACTS,
        "followup": int(turn.target or 1) > 1,
        "last": int(turn.target or 1) == clarifying.MOST_ROUNDS,
    },
    perform=ask,
)

ACTS[Act.CLARIFICATION] = ActSpec(
    max_tokens=512,
    effort=Effort.LOW,
    # A model is asked in few debates only; the act itself needs none.
    asks_model=False,
    is_numbered=True,
    values=lambda debate, turn: {"labels": ", ".join(_labels(debate, turn))},
    turn_parts=_question_parts,
    skips_cache=always,
    perform=open_clarifications,
)
