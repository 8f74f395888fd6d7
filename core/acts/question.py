"""Clarifying questions: agents say what they need to know, and it is put to people."""

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
#: Facts of one agent that are kept.
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
    worded = [question for question in reply.questions if any(map(str.isalnum, question.question))]
    most = debate.setup.clarifying.per_agent
    warnings: list[str] = []
    if empty := len(reply.questions) - len(worded):
        warnings.append(f"{quantity(empty, 'question')} without words left out.")
    if surplus := worded[most:]:
        texts = ", ".join(f"“{reply.question.strip()}”" for reply in surplus)
        warnings.append(f"Asked more than the {most} questions an agent may; left out: {texts}")
    questions = Questions(
        turn=turn,
        questions=tuple(
            Question(text=reply.question.strip(), assumption=reply.assumption.strip())
            for reply in worded[:most]
        ),
        facts=tuple(fact for text in reply.facts if (fact := without_quotes(text)))[:_MOST_FACTS],
        warnings=tuple(warnings),
        call=call,
    )
    return QuestionsAsked(questions=questions)


async def put(calls: ModelCalls, debate: Debate, turn: Turn) -> ClarificationsOpened:
    """Put everybody's questions to people, each once.

    A cheap model merges those that ask the same; where it fails, all are put.
    """
    merging, spent = debate.setup.agent(SUMMARIZER), dict[str, object]()
    firsts: Sequence[int] = ()
    questions = () if turn.round else clarifying.collected_questions(debate, turn)
    several = len({question.agents for question in questions}) > 1
    if several and merging.provider not in {OFFLINE, EXAMPLE}:
        try:
            labels = _labels(debate, turn)
            firsts, spent["call"] = await ask_for_same(calls, debate, turn, labels, agent=merging)
        except CallFailed as error:
            _log.warning("questions not merged", debate=debate.id, reason=str(error))
            spent["lost"] = error.usage
    clarifications = clarifying.questions_to_put(debate, turn, firsts)
    return ClarificationsOpened(clarifications=clarifications.model_copy(update=spent))


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
    # In few debates, beside what it does itself.
    asks_model=False,
    is_numbered=True,
    values=lambda debate, turn: {"labels": ", ".join(_labels(debate, turn))},
    about=_question_parts,
    is_alone=always,
    perform=put,
)
