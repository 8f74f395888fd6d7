"""What is missing behind a verdict: the notes that stand above the answer (pure)."""

from collections.abc import Iterator, Sequence

from core.debate.contributions import Failure, FailureCause
from core.debate.state import Debate
from core.debate.turn import JUDGE, Act, Turn
from core.debate.vote import Score
from core.rules.ending import cut_words
from core.rules.formats.registry import format_of
from core.rules.playbook import kinds_words, missing_evidence
from core.rules.sources import unreadable_sources
from core.rules.voting import last_abstentions

#: More failed turns of one agent are counted, not listed.
_MOST_LISTED = 3


def degradations(debate: Debate) -> Iterator[str]:
    """What failed before the verdict, in words for people: who, with which model, and why.

    Ties and declared abstentions are part of the vote, not failures.
    """
    alive, agents = format_of(debate).alive(debate), debate.setup.agents
    yield from filter(None, [cut_words(debate)])
    for source in unreadable_sources(debate):
        what = f"{source.reference.title}: {source.fault}"
        yield f"A source that was given could not be read: {what}."
    if missing := missing_evidence(debate):
        named = "; ".join(f"{evidence.name} ({kinds_words(evidence)})" for evidence in missing)
        yield f"No source holds what this kind of debate should rest on: {named}."
    for reason in dict.fromkeys(debate.key_refusals.values()):
        of = [
            _with_model(debate, agent)
            for agent, why in debate.key_refusals.items()
            if why == reason
        ]
        whose = "its" if len(of) == 1 else "their"
        yield f"{', '.join(of)} could not be asked, {whose} key is refused: {reason}"
    absent = [
        agent.name
        for agent in agents
        if agent.id not in alive and agent.id not in debate.key_refusals
    ]
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
    """The turns that failed, in words; empty without any."""
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
    names = _names(debate, level)
    if len(tally.winners) != 1:
        tied = [score for score in level if score.position in tally.winners]
        if len(tied) < len(level):
            between = _names(debate, tied)
            return f"The texts of {names} were level on points; no rule decides between {between}."
        return f"Whose text is best is a tie that no rule breaks: {names}."
    winner = debate.setup.agent(tally.winners[0]).name
    best, second = level[0], level[1]
    if best.first_places != second.first_places:
        by = f"more first places ({best.first_places} to {second.first_places})"
    elif best.mean_probability is not None:
        by = "the higher mean probability of the option it stands for"
    else:
        by = "the higher mean confidence of those who ranked it first"
    return f"The texts of {names} were level on points; {winner}'s was put first by {by}."


def _failed_turns(debate: Debate) -> Iterator[str]:
    """The turns that failed, by agent; a key that is refused and a cap have been told."""
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
        texts = [_turn_words(debate, failure.turn) for failure in failures]
        if len(texts) > _MOST_LISTED:
            texts = [*texts[:_MOST_LISTED], f"{len(texts) - _MOST_LISTED} more"]
        reasons = " ".join(dict.fromkeys(failure.reason for failure in failures))
        yield f"{_with_model(debate, agent)} failed to give: {', '.join(texts)}. {reasons}"
    if lost_summaries:
        # Nothing is missing: agents saw the text that was to be summed up.
        noun = "summary" if lost_summaries == 1 else "summaries"
        yield f"{lost_summaries} {noun} could not be made; the full text was used instead."


def _turn_words(debate: Debate, turn: Turn) -> str:
    names = {agent.id: agent.name for agent in debate.setup.agents}
    whose = f" of {names[turn.target]}" if turn.target in names else ""
    return f"{turn.act.value}{whose} ({turn.when})"


def _with_model(debate: Debate, agent: str) -> str:
    if agent not in {agent.id for agent in debate.setup.agents}:
        return agent.capitalize()
    speaker = debate.setup.agent(agent)
    return f"{speaker.name} ({speaker.provider}/{speaker.model})"


def _names(debate: Debate, scores: Sequence[Score]) -> str:
    names = [debate.setup.agent(score.position).name for score in scores]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
