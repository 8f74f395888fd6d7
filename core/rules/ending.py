"""Sentences about a debate: its state, reasons for its rounds, its end, and what failed (pure).

Board, lists, terminal, MCP, report and prompts use them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from core.debate.contributions import Failure, FailureCause
from core.debate.people import Person
from core.debate.rules import Ending
from core.debate.state import Debate, Status
from core.debate.turn import JUDGE, RESERVED_IDS, Act, Turn
from core.debate.vote import NextStep, NoDebateReason
from core.figures import listed, quantity
from core.rules import schedule
from core.rules.formats import review
from core.rules.formats.registry import format_of, turns_ready
from core.rules.gate import closing_gate, gate_after, gate_words, undebatable
from core.rules.playbook import kinds_words, missing_evidence
from core.rules.sources import unreadable_sources
from core.rules.voting import is_people_vote_closed, last_abstentions
from core.usage import Call


class DebateState(StrEnum):
    RUNNING = "running"
    #: Waits for people's answers; after the deadline assumptions are used.
    WAITING_FOR_ANSWERS = "waiting_for_answers"
    PAUSED = "paused"
    #: No model can be reached; the debate continues automatically.
    WAITING_FOR_MODELS = "waiting_for_models"
    CONCLUDED = "concluded"
    FAILED = "failed"
    #: A person stopped it. It has a partial verdict, or none if there was no position.
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


#: The most failed turns of one agent that are listed; more are only counted.
_MOST_LISTED = 3
#: With `{who}` for the person, `{cap}` for the cap, `{round}` for the round.
SENTENCES: Mapping[EndingReason, str] = {
    EndingReason.STOPPED: "{who} stopped the debate.",
    EndingReason.VOTE_CALLED: "{who} called the vote.",
    EndingReason.NO_MODEL_ANSWERS: "No model could be reached for too long.",
    EndingReason.OUT_OF_TIME: "The debate's time was up.",
    EndingReason.OUT_OF_MONEY: "{cap}",
    EndingReason.TOO_FEW_AGENTS: "Too few agents could go on.",
    EndingReason.FACILITATOR: "After round {round} the facilitator called the vote.",
}
#: Words for states whose value is not used as it is.
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
        partial = "partial " if verdict and verdict.partial else ""
        return f"stopped, with a {partial}verdict" if verdict else "stopped, without a verdict"
    if state is DebateState.CONCLUDED and verdict and verdict.is_undecided:
        return "ended: not decided"
    if state is DebateState.CONCLUDED and verdict and verdict.partial:
        return "concluded, cut short"
    return _STATE_WORDS.get(state) or state.value.replace("_", " ")


def cut_reasons(debate: Debate) -> Sequence[EndingReason]:
    """What ended the debate early: the first reason, after a call for the vote that came before it.

    Empty: it was not cut short.
    """
    # By the keys of their events. A stop may have been withdrawn and repeated.
    stops = debate.stops_withdrawn
    cuts = {f"stop/{stops}" if stops else "stop": EndingReason.STOPPED} if debate.stop else {}
    cuts |= {"vote-called": EndingReason.VOTE_CALLED, "time": EndingReason.OUT_OF_TIME}
    cuts["time/outage"] = EndingReason.NO_MODEL_ANSWERS
    cuts |= {
        failure.turn.key: EndingReason.OUT_OF_MONEY
        for failure in debate.failures.values()
        if failure.cause is FailureCause.CAP
    }
    reasons = list[EndingReason]()
    for key in debate.times:
        if key in cuts and reasons in ([], [EndingReason.VOTE_CALLED]):
            reasons.append(cuts[key])
    too_few = [] if schedule.has_quorum(debate) else [EndingReason.TOO_FEW_AGENTS]
    return reasons or too_few


def cut_words(debate: Debate, person_words: Callable[[Person], str] | None = None) -> str:
    """What ended the debate early, a sentence for each reason; empty: nothing.

    `person_words` returns a person as the surface writes one; by default the name.
    """
    people = {EndingReason.VOTE_CALLED: debate.vote_called_by}
    if debate.stop:
        people[EndingReason.STOPPED] = debate.stop.by
    sentences = list[str]()
    for reason in cut_reasons(debate):
        person = people.get(reason)
        name = (person_words(person) if person_words else person.display_name) if person else ""
        sentence = SENTENCES[reason].format(who=name or "A person", cap=debate.out_of_money)
        sentences.append(sentence)
    return " ".join(sentences)


def _is_over(debate: Debate) -> bool:
    """Whether its rounds are over and may be counted, which a sealed debate hides."""
    has_result = debate.verdict is not None or debate.status is not Status.RUNNING
    return has_result and not debate.is_sealed


def rounds_words(debate: Debate) -> str:
    """How many rounds are planned or were held: `at most 3 rounds`, `2 of 3 rounds were held`."""
    count = schedule.rounds_held(debate)
    planned = min(debate.setup.rounds, format_of(debate).most_rounds)
    is_over = _is_over(debate)
    if debate.setup.format == review.NAME:
        if not is_over:
            return "a second look where its author answers"
        return "with a second look" if count else "without a second look"
    if not is_over:
        early = debate.setup.termination.ending is Ending.CONVERGED or format_of(debate).ends_itself
        return f"{'at most ' if early and planned > 1 else ''}{quantity(planned, 'round')}"
    if not count:
        return f"{'only first answers were' if debate.contributions else 'no answer was'} given"
    end = _unfinished_words(debate, count)
    if count >= planned:
        rounds = f"all {count} rounds were" if count > 1 else "the one planned round was"
        return f"{rounds} held{end}"
    return f"{count} of {planned} rounds {'was' if count == 1 else 'were'} held{end}"


def _unfinished_words(debate: Debate, count: int) -> str:
    """Whether a stop or a time limit ended the debate during its last round, `count`."""
    pending = turns_ready(debate, count) if schedule.is_cut_short(debate) else ()
    if not any(turn.round == count for turn in pending):
        return ""
    return ", but not finished" if count == 1 else ", the last one not to its end"


def round_reasons(debate: Debate) -> Sequence[str]:
    """Why rounds were held, a sentence each."""
    texts, last = list[str](), closing_gate(debate)
    for gate in debate.gates.values():
        if gate is not last and gate.skips is None:
            texts.append(gate_words(debate, gate))
        if gate.ends_rounds and not gate.turn.round and debate.reopened_by:
            texts.append(f"{debate.reopened_by.display_name} wanted the debate all the same.")
    # The same sentence about several rounds is listed once.
    return tuple(dict.fromkeys(texts))


def ending_sentences(debate: Debate) -> Sequence[str]:
    """What ended the rounds, and how many were held, a sentence each.

    Empty while no round has ended.
    """
    last = closing_gate(debate)
    texts = [gate_words(debate, last)] if last else []
    texts += [gate_words(debate, gate) for gate in debate.gates.values() if gate.skips]
    vote_rounds = (
        guidance.turn.round
        for guidance in debate.guidance.values()
        if guidance.next_step is NextStep.VOTE and guidance.gate is None
    )
    if not last and (number := next(vote_rounds, 0)):
        texts.append(SENTENCES[EndingReason.FACILITATOR].format(round=number))
    is_over = _is_over(debate)
    # While the debate runs, agents that are missing may still come back.
    if is_over or EndingReason.TOO_FEW_AGENTS not in cut_reasons(debate):
        texts += filter(None, [cut_words(debate)])
    if is_over and debate.setup.format == review.NAME:
        texts.append(review.second_look_words(debate))
    elif is_over and (debate.reopened_by or not was_skipped(debate)):
        rounds = rounds_words(debate)
        texts.append(f"{rounds[0].upper()}{rounds[1:]}.")
    return tuple(texts)


def was_skipped(debate: Debate) -> bool:
    """Whether no round was held because of the first vote, also if it was reopened later."""
    first = gate_after(debate, 0)
    return first is not None and first.ends_rounds and not first.undebatable


def reopening_fault(debate: Debate) -> str:
    """Why a debate cannot be held after all; empty if it was skipped and can be."""
    match undebatable(debate):
        case NoDebateReason.NO_MODEL:
            return "No model was asked. Set one up, and start a new debate."
        case NoDebateReason.ALONE:
            return "One agent has nobody to debate with. Start a new debate with at least two."
        case None:
            pass
    if not was_skipped(debate):
        return "Nothing was skipped: the rounds are held as they were asked for."
    if debate.status is Status.FAILED:
        return "It ended without a verdict. Start a new debate instead."
    if is_people_vote_closed(debate):
        return "The team has decided already. Start a new debate, and supersede this one with it."
    if schedule.is_cut_short(debate):
        return "It was cut short (stopped, or out of time or money). Start a new debate instead."
    return ""


def limitations(debate: Debate) -> Iterator[str]:
    """What is missing behind the verdict, a sentence each: failed agents, models and sources.

    Ties and declared abstentions are part of the vote, not failures.
    """
    alive, agents = format_of(debate).alive(debate), debate.setup.agents
    refusals = debate.key_refusals
    if cut := cut_words(debate):
        yield cut
    for source in unreadable_sources(debate):
        fault = f"{source.reference.title}: {source.fault}"
        yield f"A source that was given could not be read: {fault}."
    if missing := missing_evidence(debate):
        names = "; ".join(f"{evidence.name} ({kinds_words(evidence)})" for evidence in missing)
        yield f"No source holds what this kind of debate should rest on: {names}."
    for reason in dict.fromkeys(refusals.values()):
        same = [agent for agent, refusal in refusals.items() if refusal == reason]
        names = ", ".join(_with_model(debate, agent) for agent in same)
        yield f"{names} could not be asked: {reason}"
    absent = [agent.name for agent in agents if agent.id not in {*alive, *refusals}]
    if absent:
        present = f"{len(alive)} of {len(agents)} agents"
        yield f"Only {present} took part to the end, not {', '.join(absent)}."
    for agent, reason in debate.unavailable_agents.items():
        if agent != JUDGE:
            yield f"{_with_model(debate, agent)} could not be asked at the end. {reason}"
    yield from _failed_turns(debate)
    for turn, reason in _uncounted(debate):
        name, noun = debate.setup.agent(turn.agent).name, "ballot" if turn.round else "blind ballot"
        yield f"{name}'s {noun} could not be counted: {reason}"


def _failed_turns(debate: Debate) -> Iterator[str]:
    """The failed turns by agent, without those for a rejected key or a cap."""
    names = {agent.id: agent.name for agent in debate.setup.agents}
    by_agent: dict[str, list[Failure]] = {}
    failures = debate.failures.values()
    for failure in failures:
        turn, is_passing = failure.turn, failure.cause is FailureCause.PASSING
        if turn.act is Act.CROSS_CHECK:
            clause = f"the judge was not asked again in another order: {failure.reason}"
            yield f"The vote is close, and {clause}"
        elif is_passing and turn.agent != JUDGE and turn.act is not Act.SUMMARY:
            by_agent.setdefault(turn.agent, []).append(failure)
    for agent, agent_failures in by_agent.items():
        texts = list[str]()
        for turn in [failure.turn for failure in agent_failures][:_MOST_LISTED]:
            target = f" of {names[turn.target]}" if turn.target in names else ""
            texts.append(f"{turn.act.noun}{target} ({turn.when})")
        if len(agent_failures) > _MOST_LISTED:
            texts.append(f"{len(agent_failures) - _MOST_LISTED} more")
        reasons = " ".join(dict.fromkeys(failure.reason for failure in agent_failures))
        yield f"{_with_model(debate, agent)} failed to give: {', '.join(texts)}. {reasons}"
    if count := sum(failure.turn.act is Act.SUMMARY for failure in failures):
        summaries = quantity(count, "summary", "summaries")
        yield f"{summaries} could not be made; the full text was used instead."


def failed_turns_words(debate: Debate) -> str:
    """The failed turns for the judge: `Ann's critique of Bob's in round 1; …`; may be empty."""
    names = {agent.id: agent.name for agent in debate.setup.agents}
    turns = [failure.turn for failure in debate.failures.values()]
    turns += [turn for turn, _ in _uncounted(debate)]
    texts = list[str]()
    for turn in (turn for turn in turns if turn.agent in names and turn.act is not Act.SUMMARY):
        target = f" of {names[turn.target]}'s" if turn.target in names else ""
        when = f" in round {turn.round}" if turn.round else ""
        texts.append(f"{names[turn.agent]}'s {turn.act.noun}{target}{when}")
    return "; ".join(texts)


def _uncounted(debate: Debate) -> Sequence[tuple[Turn, str]]:
    """The turns of the last ballots that could not be counted, with reasons; no abstentions."""
    return [(item.turn, item.reason) for item in last_abstentions(debate) if not item.declared]


def tie_break(debate: Debate) -> str:
    """The rule that chose the best text if several had the most points; else empty."""
    tally, names = debate.tally, {agent.id: agent.name for agent in debate.setup.agents}
    if tally is None or not tally.voters:
        return ""
    level = [score for score in tally.scores if score.points == tally.scores[0].points]
    if len(level) == 1:
        return ""
    winners = [names[agent] for agent in tally.winners]
    if len(winners) != 1:
        return f"Whose text is best is a tie that no rule breaks: {listed(winners)}."
    best, second = level[0], level[1]
    if best.first_places != second.first_places:
        rule = f"more first places ({best.first_places} to {second.first_places})"
    elif best.mean_probability is not None:
        rule = "the higher mean probability of the option it stands for"
    else:
        rule = "the higher mean confidence of those who ranked it first"
    authors = listed([names[score.position] for score in level])
    return f"The texts of {authors} were level on points; {winners[0]}'s was put first by {rule}."


def _with_model(debate: Debate, agent: str) -> str:
    """An agent's name with its model; for the facilitator and other reserved ids the role."""
    if agent in RESERVED_IDS:
        return agent.capitalize()
    speaker = debate.setup.agent(agent)
    return f"{speaker.name} ({speaker.full_name})"


def fallback_words(calls: Iterable[Call]) -> Sequence[str]:
    """A sentence for each model that a fallback replaced, in the order of the calls."""
    first: dict[tuple[str, str], Call] = {}
    for call in calls:
        if call.stands_in_for:
            first.setdefault((call.stands_in_for, call.model_name), call)
    return [
        f"{model} stands in for {missing}, which could not be asked. {call.stands_in_why}"
        for (missing, model), call in first.items()
    ]
