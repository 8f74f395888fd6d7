"""The arms of a bench: the same question, put to one model, to a vote, to debates (pure).

Every arm is a debate on the same engine, so that its log, caps and costs come with it. What is not
to be compared is the same in all of them: the question's words, its options, the roster, no
fallback models, no questions to people.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256

from core.debate.agents import OFFLINE, Agent, ModelChoice
from core.debate.people import Person, Place
from core.debate.rules import Clarifying, ShadowWhen, When
from core.debate.setup import Setup
from core.opening import DebateRequest, open_debate
from core.rules.formats import council, critique, panel
from core.settings import AllLimits, Settings, agent_for

from moot_bench.comparison import ArmKind
from moot_bench.tasks import Task, task_prompt

#: More drafts cannot be read by every voter.
MOST_DRAFTS = 9
#: Agents of a debate if the settings name none.
ROSTER = ("generalist", "sceptic", "product")
SURFACE = "bench"
#: Seconds to wait for unavailable models.
_PATIENCE = 60.0


class ArmForm(StrEnum):
    SOLO = "solo"
    #: One model that writes its answer again and again, with a debate's output tokens.
    THINK = "think"
    #: As many drafts as a debate has agents, and a blind vote on them.
    VOTE = "vote"
    #: The same with as many drafts as the cost of the debate allows.
    BEST_OF = "best-of"
    #: A debate if first answers differ, else a vote.
    GATE = "gate"
    CRITIQUE = "critique"
    COUNCIL = "council"
    PANEL = "panel"

    @property
    def kind(self) -> ArmKind:
        if self in _ALONE:
            return ArmKind.SOLO
        return ArmKind.VOTE if self in {ArmForm.VOTE, ArmForm.BEST_OF} else ArmKind.DEBATE


#: One model answers alone.
_ALONE = (ArmForm.SOLO, ArmForm.THINK)
_FORMATS = {ArmForm.COUNCIL: council.NAME, ArmForm.PANEL: panel.NAME}


@dataclass(frozen=True, kw_only=True)
class Arm:
    form: ArmForm
    #: One model, or several that the agents take in turn.
    models: tuple[ModelChoice, ...]
    #: Agents; 0: as many as the roster has.
    drafts: int = 0
    #: Output tokens for one answer, hidden reasoning included; 0: as many as one reply takes.
    tokens: int = 0

    @property
    def name(self) -> str:
        """For people: "solo gpt-6", "critique mixed"."""
        names = [model.model for model in self.models]
        return f"{self.form} {names[0] if len(names) == 1 else 'mixed'}"

    def with_drafts(self, drafts: int) -> "Arm":
        """The same arm with so many drafts, 2 to `MOST_DRAFTS`."""
        return replace(self, drafts=min(MOST_DRAFTS, max(2, drafts)))

    def with_tokens(self, tokens: int) -> "Arm":
        """The same arm with so many output tokens for an answer."""
        return replace(self, tokens=tokens)


def arms_for(
    forms: Sequence[ArmForm], models: Sequence[ModelChoice], *, only_mixed: bool = False
) -> Sequence[Arm]:
    """Every model alone, then each form with the first model and, if there are several, mixed."""
    mixes: list[tuple[ModelChoice, ...]] = []
    mixes += [tuple(models[:1])] if len(models) == 1 or not only_mixed else []
    if len(models) > 1:
        mixes.append(tuple(models))
    alone = [
        Arm(form=form, models=(model,)) for form in _ALONE if form in forms for model in models
    ]
    forms_of_mixes = [form for form in ArmForm if form in forms and form not in _ALONE]
    return [*alone, *(Arm(form=form, models=mix) for form in forms_of_mixes for mix in mixes)]


def setup_of(arm: Arm, task: Task, settings: Settings, *, delimiter: str, asker: Person) -> Setup:
    """The debate in which an arm answers a question."""
    text = task_prompt(task)
    form = arm.form
    when = When.ALWAYS if form.kind is ArmKind.DEBATE else When.NEVER
    limits = settings.limits.model_dump() | {"debate_cost": None, "outage_seconds": _PATIENCE}
    # A better judge would count as a gain of one model's debate.
    only = arm.models[0] if len(arm.models) == 1 else settings.judge_model
    named = settings.judge
    if named and len(arm.models) == 1:
        named = named.model_copy(update={"provider": only.provider, "model": only.model})
    # Summaries are for a board, and for turns after the first answers.
    debates = form.kind is ArmKind.DEBATE
    summaries = settings.summarization.model_copy(update={"enabled": False})
    own = settings.model_copy(
        update={
            "summarization": settings.summarization if debates else summaries,
            "judge": named,
            "judge_model": only,
            "agents": tuple(_agents(arm, settings)),
            "format": _FORMATS.get(form, critique.NAME),
            "when": When.SPLIT if form is ArmForm.GATE else when,
            "clarifying": Clarifying(enabled=False),
            "limits": AllLimits.model_validate(limits),
            "fallbacks": (),
            "shadow": ShadowWhen.NEVER,
            "audit": False,
            "question_max_chars": len(text),
        }
    )
    place = Place(surface=SURFACE, workspace=SURFACE)
    request = DebateRequest(question=text, context=task.context, asked_by=asker, place=place)
    return open_debate(request, own, delimiter=delimiter)


def origin_of(setup: Setup, task: Task, attempt: int) -> str:
    """The id of an arm's answer to a question: equal work has the same id.

    All that decides the answer is in it, so that a bench that is run again takes up what is there
    and changed settings do not pass for the old ones.
    """
    fixed = setup.model_copy(update={"delimiter": "-", "forecast": None, "warnings": ()})
    words = f"{fixed.model_dump_json()}\n{task.id}\n{task.answer}"
    return f"{SURFACE}/{sha256(words.encode()).hexdigest()[:24]}/{attempt}"


def _agents(arm: Arm, settings: Settings) -> Sequence[Agent]:
    """The roster with the arm's models; a draft alone, or one too many, is a generalist's."""
    roster = [agent for agent in settings.agents if agent.enabled]
    none = ModelChoice(provider=OFFLINE, model="")
    roster = roster or [agent_for(role, none) for role in ROSTER]
    count = 1 if arm.form in _ALONE else arm.drafts or len(roster)
    if arm.form in {*_ALONE, ArmForm.BEST_OF}:
        agent = agent_for("generalist", none)
        # What an answer may spend decides it, so it is part of the setup.
        within = f"-{arm.tokens}" if arm.form is ArmForm.THINK else ""
        roster = [
            agent.model_copy(update={"id": f"draft-{n}{within}", "name": f"Draft {n}"})
            for n in range(1, count + 1)
        ]
    return [
        agent.model_copy(
            update={
                "provider": arm.models[index % len(arm.models)].provider,
                "model": arm.models[index % len(arm.models)].model,
                "fallbacks": (),
            }
        )
        for index, agent in enumerate(roster[:count])
    ]


def drafts_for(target: float, costs: Mapping[int, float]) -> int:
    """The largest number of drafts whose cost is within the target; else the smallest."""
    affordable = [drafts for drafts, cost in costs.items() if cost <= target]
    return max(affordable, default=min(costs))
