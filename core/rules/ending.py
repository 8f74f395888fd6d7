"""How a debate stands, why rounds were held, what ended them: a reason, a sentence each (pure).

Board, lists, terminal, MCP, report and prompts take state and reason from here.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from core.debate.contributions import FailureCause
from core.debate.gate import GateReason, NextStep
from core.debate.people import Person
from core.debate.rules import Ending
from core.debate.state import Debate, Status
from core.figures import quantity
from core.rules import schedule
from core.rules.formats import review
from core.rules.formats.registry import format_of, turns_ready
from core.rules.gate import closing_gate, in_words, not_comparable_words
from core.rules.wanting import was_skipped


class DebateState(StrEnum):
    RUNNING = "running"
    #: Agents ask; answer, or their assumptions hold when the time is up.
    WAITING_FOR_ANSWERS = "waiting_for_answers"
    PAUSED = "paused"
    #: No model can be reached; it goes on by itself.
    WAITING_FOR_MODELS = "waiting_for_models"
    CONCLUDED = "concluded"
    FAILED = "failed"
    #: Somebody stopped it: there is a partial verdict, or there was nothing to decide on.
    STOPPED = "stopped"

    @property
    def has_ended(self) -> bool:
        return self in {DebateState.CONCLUDED, DebateState.FAILED, DebateState.STOPPED}


class EndingReason(StrEnum):
    STOPPED = "stopped"
    VOTE_CALLED = "vote called"
    NO_MODEL_ANSWERS = "no model answers"
    OUT_OF_TIME = "out of time"
    OUT_OF_MONEY = "out of money"
    TOO_FEW_AGENTS = "too few agents"
    FACILITATOR = "facilitator"


#: Who did it, which cap and which round are filled in.
SENTENCES: Mapping[EndingReason, str] = {
    EndingReason.STOPPED: "{who} stopped the debate.",
    EndingReason.VOTE_CALLED: "{who} called the vote.",
    EndingReason.NO_MODEL_ANSWERS: "No model could be reached for too long.",
    EndingReason.OUT_OF_TIME: "The debate's time was up.",
    EndingReason.OUT_OF_MONEY: "{cap}",
    EndingReason.TOO_FEW_AGENTS: "Too few agents could go on.",
    EndingReason.FACILITATOR: "After round {round} the facilitator called the vote.",
}
#: Where its value does not say it.
_STATE_WORDS: Mapping[DebateState, str] = {
    DebateState.WAITING_FOR_MODELS: "waiting: no model answers",
    DebateState.FAILED: "ended without a decision",
}


def state_of(debate: Debate) -> DebateState:
    match debate.status:
        case Status.RUNNING if debate.paused_by:
            return DebateState.PAUSED
        case Status.RUNNING if debate.outage:
            return DebateState.WAITING_FOR_MODELS
        case Status.RUNNING if schedule.open_questions(debate):
            return DebateState.WAITING_FOR_ANSWERS
        case Status.RUNNING:
            return DebateState.RUNNING
        case _ if debate.stop:
            return DebateState.STOPPED
        case Status.CONCLUDED:
            return DebateState.CONCLUDED
        case Status.FAILED:
            return DebateState.FAILED


def state_words(debate: Debate) -> str:
    state, verdict = state_of(debate), debate.verdict
    if state is DebateState.STOPPED:
        return "stopped, with a partial verdict" if verdict else "stopped, without a verdict"
    if state is DebateState.CONCLUDED and verdict and verdict.is_undecided:
        return "ended: not decided"
    if state is DebateState.CONCLUDED and verdict and verdict.partial:
        return "concluded, cut short"
    return _STATE_WORDS.get(state) or state.value.replace("_", " ")


def cut_reason(debate: Debate) -> EndingReason | None:
    # By the keys of their events. A stop may have been taken back, and asked for again.
    stops = debate.stops_withdrawn
    cuts = {f"stop/{stops}" if stops else "stop": EndingReason.STOPPED} if debate.stop else {}
    cuts |= {"vote-called": EndingReason.VOTE_CALLED, "time": EndingReason.OUT_OF_TIME}
    cuts["time/outage"] = EndingReason.NO_MODEL_ANSWERS
    for failure in debate.failures.values():
        if failure.cause is FailureCause.CAP:
            cuts[failure.turn.key] = EndingReason.OUT_OF_MONEY
    first = next((cuts[key] for key in debate.times if key in cuts), None)
    too_few = None if schedule.has_quorum(debate) else EndingReason.TOO_FEW_AGENTS
    return first or too_few


def cut_words(debate: Debate, who: Callable[[Person], str] | None = None) -> str:
    """What ended the debate before all its turns were taken, in a sentence; empty: nothing.

    `who` says how the surface writes a person; by name unless told.
    """
    cut = cut_reason(debate)
    if cut is None:
        return ""
    stop = debate.stop if cut is EndingReason.STOPPED else None
    person = stop.by if stop else debate.vote_called_by
    name = (who(person) if who else person.display_name) if person else ""
    return SENTENCES[cut].format(who=name or "A person", cap=debate.out_of_money)


def rounds_words(debate: Debate) -> str:
    """How many rounds may be held, or were: `at most 3 rounds`, `2 of 3 rounds were held`."""
    count = schedule.rounds_held(debate)
    planned = min(debate.setup.rounds, format_of(debate).most_rounds)
    is_over = debate.verdict or debate.status is not Status.RUNNING
    if debate.setup.format == review.NAME:
        if not is_over:
            return "a second look where its author answers"
        return "with a second look" if count else "without a second look"
    if not is_over:
        early = debate.setup.termination.ending is Ending.CONVERGED or format_of(debate).ends_itself
        return f"{'at most ' if early and planned > 1 else ''}{quantity(planned, 'round')}"
    if not count:
        return f"{'only first answers were' if debate.contributions else 'no answer was'} given"
    return _held_words(debate, count, planned)


def _held_words(debate: Debate, count: int, planned: int) -> str:
    # A stop or a time limit may have ended it during the last round.
    pending = turns_ready(debate, count) if schedule.is_cut_short(debate) else ()
    is_begun = any(turn.round == count for turn in pending)
    unfinished = ", but not finished" if count == 1 else ", the last one not to its end"
    end = unfinished if is_begun else ""
    if count >= planned:
        which = f"all {count} rounds were" if count > 1 else "the one planned round was"
        return f"{which} held{end}"
    return f"{count} of {planned} rounds {'was' if count == 1 else 'were'} held{end}"


def round_reasons(debate: Debate) -> Sequence[str]:
    texts, last = list[str](), closing_gate(debate)
    weighed = [gate for gate in debate.gates.values() if gate is not last and gate.skips is None]
    # What is the same of several rounds is told once, with the last of them.
    unknown = [
        gate
        for gate in weighed
        if gate.reason is GateReason.NOT_COMPARABLE and gate.turn.round
        if not gate.undebatable and not gate.vote_only
    ]
    for gate in debate.gates.values():
        if gate in unknown[-1:]:
            texts.append(not_comparable_words([gate.turn.round for gate in unknown]))
        elif gate in weighed and gate not in unknown:
            texts.append(in_words(debate, gate))
        if gate.ends_rounds and not gate.turn.round and debate.wanted_by:
            who = debate.wanted_by.display_name
            texts.append(f"{who} wanted the debate all the same.")
    return tuple(texts)


def ending_sentences(debate: Debate) -> Sequence[str]:
    """What ended the rounds, and how many were really held, a sentence each.

    Empty while no round has ended.
    """
    last = closing_gate(debate)
    texts = [in_words(debate, last)] if last else []
    texts += [in_words(debate, gate) for gate in debate.gates.values() if gate.skips]
    called = (
        guidance.turn.round
        for guidance in debate.guidance.values()
        if guidance.next_step is NextStep.VOTE and guidance.gate is None
    )
    if not last and (number := next(called, 0)):
        texts.append(SENTENCES[EndingReason.FACILITATOR].format(round=number))
    is_over = debate.verdict or debate.status is not Status.RUNNING
    # Whether few agents could go on is known once nothing else comes.
    if is_over or cut_reason(debate) is not EndingReason.TOO_FEW_AGENTS:
        texts += filter(None, [cut_words(debate)])
    if is_over and debate.setup.format == review.NAME:
        texts.append(review.how_it_went(debate))
    elif is_over and (debate.wanted_by or not was_skipped(debate)):
        rounds = rounds_words(debate)
        texts.append(f"{rounds[0].upper()}{rounds[1:]}.")
    return tuple(texts)
