"""What is missing behind a verdict: the notes that stand above the answer (pure)."""

from collections.abc import Iterable, Iterator, Sequence

from core.debate.contributions import Failure, FailureCause
from core.debate.state import Debate
from core.debate.turn import JUDGE, Act
from core.figures import quantity
from core.rules.ending import cut_words
from core.rules.formats.registry import format_of
from core.rules.playbook import kinds_words, missing_evidence
from core.rules.sources import unreadable_sources
from core.rules.voting import last_abstentions
from core.usage import Call

#: More failed turns of one agent are counted, not listed.
_MOST_LISTED = 3


def degradations(debate: Debate) -> Iterator[str]:
    """What failed before the verdict, in words for people: who, with which model, and why.

    Ties and declared abstentions are part of the vote, not failures.
    """
    alive, agents = format_of(debate).alive(debate), debate.setup.agents
    refusals = debate.key_refusals
    yield from filter(None, [cut_words(debate)])
    for source in unreadable_sources(debate):
        what = f"{source.reference.title}: {source.fault}"
        yield f"A source that was given could not be read: {what}."
    if missing := missing_evidence(debate):
        named = "; ".join(f"{evidence.name} ({kinds_words(evidence)})" for evidence in missing)
        yield f"No source holds what this kind of debate should rest on: {named}."
    for reason in dict.fromkeys(refusals.values()):
        of = [_with_model(debate, agent) for agent, why in refusals.items() if why == reason]
        whose = "its" if len(of) == 1 else "their"
        yield f"{', '.join(of)} could not be asked, {whose} key is refused: {reason}"
    absent = [agent.name for agent in agents if agent.id not in {*alive, *refusals}]
    if absent:
        present = f"{len(alive)} of {len(agents)} agents"
        yield f"Only {present} took part to the end, not {', '.join(absent)}."
    for agent, reason in debate.away.items():
        if agent != JUDGE:
            yield f"{_with_model(debate, agent)} could not be asked at the end. {reason}"
    yield from _failed_turns(debate)
    for abstention in last_abstentions(debate):
        if not abstention.declared:
            name = debate.setup.agent(abstention.turn.agent).name
            which = "ballot" if abstention.turn.round else "blind ballot"
            yield f"{name}'s {which} could not be counted: {abstention.reason}"


def lost_turns(debate: Debate) -> str:
    names = {agent.id: agent.name for agent in debate.setup.agents}
    turns = [failure.turn for failure in debate.failures.values()]
    turns += [abstention.turn for abstention in last_abstentions(debate) if not abstention.declared]
    texts = list[str]()
    for turn in (turn for turn in turns if turn.agent in names and turn.act is not Act.SUMMARY):
        of = f" of {names[turn.target]}'s" if turn.target in names else ""
        when = f" in round {turn.round}" if turn.round else ""
        texts.append(f"{names[turn.agent]}'s {turn.act.noun}{of}{when}")
    return "; ".join(texts)


def tie_break(debate: Debate) -> str:
    """How it was decided whose text was ranked best where points were level; else empty."""
    tally = debate.tally
    if tally is None or not tally.voters:
        return ""
    level = [score for score in tally.scores if score.points == tally.scores[0].points]
    if len(level) == 1:
        return ""
    if len(tally.winners) != 1:
        return f"Whose text is best is a tie that no rule breaks: {_names(debate, tally.winners)}."
    winner = debate.setup.agent(tally.winners[0]).name
    best, second = level[0], level[1]
    if best.first_places != second.first_places:
        by = f"more first places ({best.first_places} to {second.first_places})"
    elif best.mean_probability is not None:
        by = "the higher mean probability of the option it stands for"
    else:
        by = "the higher mean confidence of those who ranked it first"
    names = _names(debate, [score.position for score in level])
    return f"The texts of {names} were level on points; {winner}'s was put first by {by}."


def _failed_turns(debate: Debate) -> Iterator[str]:
    """The turns that failed, by agent; a key that is refused and a cap have been told."""
    names = {agent.id: agent.name for agent in debate.setup.agents}
    by_agent: dict[str, list[Failure]] = {}
    lost_summaries = 0
    for failure in debate.failures.values():
        if failure.turn.act is Act.SUMMARY:
            lost_summaries += 1
        elif failure.turn.act is Act.CROSS_CHECK:
            why = f"the judge was not asked again in another order: {failure.reason}"
            yield f"The vote is close, and {why}"
        elif failure.cause is FailureCause.PASSING and failure.turn.agent != JUDGE:
            by_agent.setdefault(failure.turn.agent, []).append(failure)
    for agent, failures in by_agent.items():
        texts = list[str]()
        for turn in [failure.turn for failure in failures][:_MOST_LISTED]:
            whose = f" of {names[turn.target]}" if turn.target in names else ""
            texts.append(f"{turn.act.value}{whose} ({turn.when})")
        if len(failures) > _MOST_LISTED:
            texts.append(f"{len(failures) - _MOST_LISTED} more")
        reasons = " ".join(dict.fromkeys(failure.reason for failure in failures))
        yield f"{_with_model(debate, agent)} failed to give: {', '.join(texts)}. {reasons}"
    if lost_summaries:
        # Nothing is missing: agents saw the text that was to be summed up.
        lost = quantity(lost_summaries, "summary", "summaries")
        yield f"{lost} could not be made; the full text was used instead."


def _with_model(debate: Debate, agent: str) -> str:
    if agent not in {agent.id for agent in debate.setup.agents}:
        return agent.capitalize()
    speaker = debate.setup.agent(agent)
    return f"{speaker.name} ({speaker.provider}/{speaker.model})"


def _names(debate: Debate, agents: Sequence[str]) -> str:
    names = [debate.setup.agent(agent).name for agent in agents]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def fallback_words(calls: Iterable[Call]) -> Sequence[str]:
    """One sentence for each model that could not be asked, in the order of the calls."""
    first: dict[tuple[str, str], Call] = {}
    for call in calls:
        if call.stands_in_for:
            first.setdefault((call.stands_in_for, answering(call)), call)
    return [
        f"{model} stands in for {missing}, which could not be asked. {call.stands_in_why}"
        for (missing, model), call in first.items()
    ]


def answering(call: Call) -> str:
    return f"{call.provider}/{call.model}"
