"""What was said before, and whose rules for summaries hold (pure)."""

from collections.abc import Mapping, Sequence

from core.debate.agents import ContextMethod, Summarization
from core.debate.contributions import Contribution
from core.debate.state import Debate, once_per_debate
from core.debate.turn import FACILITATOR, JUDGE, Act, Turn
from core.request import Part, PartKind
from core.rules.formats.registry import format_of, turns_ready

#: Whose prompts call agents by letters always, and where the history is everybody's.
_LETTERED = frozenset({Act.DEBATE, Act.ADJUST, Act.REBUTTAL, Act.STATEMENT})
_CRITICISED = frozenset({Act.PROPOSAL, Act.CRITIQUE, Act.REFINEMENT})


def rules_of(debate: Debate, agent: str) -> Summarization:
    setup = debate.setup
    speakers = {**{agent.id: agent for agent in setup.agents}, JUDGE: setup.judge}
    own = speakers[agent].summarization if agent in speakers else None
    return own or setup.summarization


def method_of(debate: Debate, agent: str) -> ContextMethod:
    """What stands in for older turns in this agent's prompts; switched off, nothing does."""
    rules = rules_of(debate, agent)
    return rules.method if rules.enabled else ContextMethod.FULL


def methods_in_use(debate: Debate) -> frozenset[ContextMethod]:
    """The methods of all agents and of the debate itself: the facilitator and people read on."""
    readers = (FACILITATOR, *(agent.id for agent in debate.setup.agents))
    return frozenset(method_of(debate, reader) for reader in readers)


def reads_letters(debate: Debate, turn: Turn) -> bool:
    """Whether what a speaker is shown on this turn calls agents by letters."""
    in_common = {ContextMethod.ROUNDS, ContextMethod.HIERARCHICAL}
    is_told = turn.round > 1 and method_of(debate, turn.agent) in in_common
    return turn.act in _LETTERED or (turn.act in _CRITICISED and is_told)


@once_per_debate
def perspective(debate: Debate, agent: str, before: int) -> Sequence[Contribution]:
    """One agent's history in rounds before `before`: its texts, and critiques of them.

    Texts carried over are left out, as they are there already.
    """
    return [
        contribution
        for contribution in _perspectives(debate).get(agent, ())
        if contribution.turn.round < before
    ]


@once_per_debate
def round_of(debate: Debate, number: int) -> Sequence[Contribution]:
    phases = format_of(debate).phases
    roster = [agent.id for agent in debate.setup.agents]
    contributions = [
        contribution
        for contribution in debate.contributions.values()
        if contribution.turn.round == number
        and contribution.turn.act in phases
        and not contribution.carried_from
    ]
    return sorted(
        contributions,
        key=lambda contribution: (
            phases.index(contribution.turn.act),
            roster.index(contribution.turn.agent),
        ),
    )


def last_positions(debate: Debate) -> Sequence[Contribution]:
    """What the judge's summary is made from: the final positions, never the critiques."""
    return list(format_of(debate).positions(debate).values())


def is_complete(debate: Debate, number: int) -> bool:
    """Whether no agent can say more in that round and those before it."""
    if not debate.has_begun(number) or not round_of(debate, number):
        return False
    roster = {agent.id for agent in debate.setup.agents}
    return not any(turn.agent in roster for turn in turns_ready(debate, number))


def is_foreseen(debate: Debate, number: int, rounds: int) -> bool:
    """Whether that round may be held, and the format still has turns for it."""
    if number > rounds:
        return False
    return debate.once(
        ("foreseen", number), lambda: bool(format_of(debate).planned_turns(debate, number))
    )


def chars(contributions: Sequence[Contribution]) -> int:
    return sum(len(contribution.text) for contribution in contributions)


def as_text(debate: Debate, contributions: Sequence[Contribution], *, mine: str = "") -> str:
    """Contributions as one text, each under its author's letter and its kind.

    Those of the reading agent, `mine`, are called "your own".
    """
    texts = list[str]()
    for contribution in contributions:
        turn = contribution.turn
        # `A's critique of B's proposal`; `your own proposal`, `B's critique of your proposal`.
        whose = "your own" if turn.agent == mine else f"{debate.setup.letter(turn.agent)}'s"
        what = f"{whose} {turn.act.noun}"
        if turn.target:
            of = "your" if turn.target == mine else f"{debate.setup.letter(turn.target)}'s"
            what += f" of {of} proposal"
        texts.append(f"[Round {turn.round}: {what}]\n{contribution.text}")
    return "\n\n".join(texts)


def own_history(debate: Debate, turn: Turn) -> Sequence[Part]:
    contributions = perspective(debate, turn.agent, turn.round)
    if not contributions:
        return ()
    text = as_text(debate, contributions, mine=turn.agent)
    return (Part(kind=PartKind.OTHER, label="Your earlier rounds", text=text, trim_priority=4),)


@once_per_debate
def _perspectives(debate: Debate) -> Mapping[str, Sequence[Contribution]]:
    """The whole history of every agent, computed once for all rounds."""
    perspectives: dict[str, list[Contribution]] = {}
    everybody = {agent.id for agent in debate.setup.agents}
    for contribution in debate.contributions.values():
        turn = contribution.turn
        if contribution.carried_from:
            continue
        # A statement is made to the whole panel: there is nothing else to answer.
        readers = everybody if turn.act is Act.STATEMENT else (turn.agent,)
        # A critique belongs to the perspective of the agent it is about, not of its author.
        if turn.target:
            readers = (turn.target,) if turn.act is Act.CRITIQUE else {*readers, turn.target}
        for agent in readers:
            perspectives.setdefault(agent, []).append(contribution)
    return perspectives
