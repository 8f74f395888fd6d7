"""What was said before, and every summary: on which turn it is made, from what, for whom (pure).

| turn | made from | for |
| --- | --- | --- |
| `r2/summary/ann` | what Ann wrote before round 2, and critiques of it | Ann (`length`) |
| `r2/summary/summarizer` | round 2; for people alone its texts in short | `rounds`, people |
| `…/summarizer/meta` | the summaries of the first rounds | `rounds` |
| `…/summarizer/<key>` | one long contribution | `hierarchical` |
| `…/summarizer/debate` | all rounds so far, in short | `hierarchical` |
| `…/summarizer/<act>` | a phase of the first round | people |
| `r2/summary/judge` | the final positions | the judge |
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from core.debate.agents import ContextMethod, PromptText, Summarization
from core.debate.contributions import Contribution, SummaryKind
from core.debate.state import Debate, once_per_debate
from core.debate.turn import FACILITATOR, JUDGE, SUMMARIZER, Act, Turn
from core.request import Part, PartKind
from core.rules.formats.registry import format_of, turns_ready
from core.rules.formats.shown import in_brief

#: Rounds that become one text with the rounds before them: `rounds` (once), `hierarchical` (as
#: often as so many more are over).
META_ROUNDS, DEBATE_EVERY = 5, 3
#: Tokens of a text of several rounds, and of a round by the third of the debate it is in.
META_TOKENS = 500
EARLY_TOKENS, MIDDLE_TOKENS, LATE_TOKENS = 300, 250, 200
#: Contributions that stand in for a round whose summary failed.
LAST_CONTRIBUTIONS = 3
#: Characters of a text without a short form where it is summed up for people alone.
_OPENING = 500
#: Characters a token has, roughly, in English prose.
_CHARS_PER_TOKEN = 4
#: Whose prompts call agents by letters always, and where the history is everybody's.
_LETTERED = frozenset({Act.DEBATE, Act.ADJUST, Act.REBUTTAL, Act.STATEMENT})
_CRITICISED = frozenset({Act.PROPOSAL, Act.CRITIQUE, Act.REFINEMENT})


# Whose rules for summaries hold.


def summarization_for(debate: Debate, agent: str) -> Summarization:
    setup = debate.setup
    own = {**{agent.id: agent for agent in setup.agents}, JUDGE: setup.judge}.get(agent)
    return (own and own.summarization) or setup.summarization


def method_of(debate: Debate, agent: str) -> ContextMethod:
    """What stands in for older turns in this agent's prompts; switched off, nothing does."""
    rules = summarization_for(debate, agent)
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


# What was said.


@once_per_debate
def perspective(debate: Debate, agent: str, before: int) -> Sequence[Contribution]:
    """One agent's history in rounds before `before`: its texts, and critiques of them.

    Texts carried over are left out, as they are there already.
    """
    return [
        contribution
        for contribution in debate.contributions.values()
        if contribution.turn.round < before
        and not contribution.carried_from
        and _concerns(contribution.turn, agent)
    ]


def _concerns(turn: Turn, agent: str) -> bool:
    # A critique belongs to the perspective of the agent it is about, not of its author. A
    # statement is made to the whole panel: there is nothing else to answer.
    if turn.act is Act.CRITIQUE:
        return turn.target == agent
    is_to_all = turn.act is Act.STATEMENT and agent != FACILITATOR
    return is_to_all or agent in {turn.agent, turn.target}


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
        contributions, key=lambda it: (phases.index(it.turn.act), roster.index(it.turn.agent))
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


@once_per_debate
def is_planned(debate: Debate, number: int, rounds: int) -> bool:
    """Whether that round may be held, and the format still has turns for it."""
    return number <= rounds and bool(format_of(debate).planned_turns(debate, number))


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


# The turns on which summaries are made.


def perspective_turn(number: int, agent: str) -> Turn:
    return Turn(act=Act.SUMMARY, round=number, agent=agent)


def round_turn(number: int, target: str | None = None) -> Turn:
    return Turn(act=Act.SUMMARY, round=number, agent=SUMMARIZER, target=target)


def meta_turn() -> Turn:
    return round_turn(META_ROUNDS, "meta")


def contribution_turn(contribution: Contribution) -> Turn:
    return round_turn(contribution.turn.round, contribution.turn.key)


def debate_turn(number: int) -> Turn:
    return round_turn(number, "debate")


def stage_turn(act: Act) -> Turn:
    return round_turn(1, act.value)


# What they are made from.


@dataclass(frozen=True, kw_only=True)
class SummaryMaterial:
    kind: SummaryKind
    method: ContextMethod
    text: str
    #: Characters the summary may have.
    most_chars: int
    #: The same in words for the model.
    length: str
    #: A prompt of one's own.
    prompt: PromptText | None
    #: Characters of the whole where `text` holds openings; 0: it is the whole.
    whole_chars: int = 0
    #: What stands in where no summary can be made, and what the record calls it; None: the turn
    #: fails, and its strategy shows what was to be summed up.
    stand_in: str | None = None
    stand_in_method: str = ""
    #: The text in pieces: what is summed up later begins with the same ones, and adds to them.
    grows_by: Sequence[str] = ()
    #: Whether no later one is foreseen: then nobody reads the last piece again.
    is_last: bool = False


def _material(
    kind: SummaryKind, text: str, rules: Summarization, *, tokens: int = 0, **more: Any
) -> SummaryMaterial:
    """As long as the rules say, or as so many tokens are."""
    most = tokens * _CHARS_PER_TOKEN or rules.max_length
    length = f"{tokens} tokens ({most} characters)" if tokens else f"{most} characters"
    usual: dict[str, Any] = {"most_chars": most, "method": rules.method, "prompt": rules.prompt}
    return SummaryMaterial(kind=kind, text=text, length=length, **{**usual, **more})


def material_for(debate: Debate, turn: Turn) -> SummaryMaterial:
    if turn.agent == JUDGE:
        # Under their holders' names: the judge names dissent.
        text = "\n\n".join(
            f"[Position of {debate.setup.agent(position.turn.agent).name}]\n{position.text}"
            for position in last_positions(debate)
        )
        return _material(SummaryKind.JUDGE, text, summarization_for(debate, JUDGE))
    if turn.agent != SUMMARIZER:
        return _of_perspective(debate, turn)
    if turn.target is None:
        return _of_texts(debate, turn.round, round_of(debate, turn.round), methods_in_use(debate))
    if turn == meta_turn():
        return _of_rounds(debate, range(1, META_ROUNDS + 1), ContextMethod.ROUNDS)
    if turn == debate_turn(turn.round):
        earlier = debate.summaries.get(debate_turn(turn.round - DEBATE_EVERY).key)
        numbers = range(turn.round - DEBATE_EVERY + 1 if earlier else 1, turn.round + 1)
        text = earlier.text if earlier else ""
        return _of_rounds(debate, numbers, ContextMethod.HIERARCHICAL, text)
    if turn.target in format_of(debate).stages:
        texts = format_of(debate).contributions(debate, Act(turn.target), turn.round)
        return _of_texts(debate, turn.round, list(texts.values()), ())
    contribution = debate.contributions[turn.target]
    # Half of the limit of a whole history; without a summary it is shown in full.
    rules = summarization_for(debate, contribution.turn.agent)
    half = {"max_length": max(1, rules.max_length // 2), "method": ContextMethod.HIERARCHICAL}
    return _material(
        SummaryKind.CONTRIBUTION,
        contribution.text,
        rules.model_copy(update=half),
        stand_in=contribution.text,
        stand_in_method="full text",
    )


def _of_perspective(debate: Debate, turn: Turn) -> SummaryMaterial:
    by_round = dict[int, list[Contribution]]()
    for contribution in perspective(debate, turn.agent, turn.round):
        by_round.setdefault(contribution.turn.round, []).append(contribution)
    texts = [as_text(debate, said, mine=turn.agent) for _, said in sorted(by_round.items())]
    # The next round's summary is made from the same and one more; the last round has none.
    is_last = not is_planned(debate, turn.round + 2, debate.setup.rounds)
    text, rules = "\n\n".join(texts), summarization_for(debate, turn.agent)
    return _material(SummaryKind.PERSPECTIVE, text, rules, grows_by=texts, is_last=is_last)


def _of_texts(
    debate: Debate,
    number: int,
    whole: Sequence[Contribution],
    readers: Collection[ContextMethod],
) -> SummaryMaterial:
    """What was said in a round or a phase: more tokens early, fewer late.

    It stands in for texts in the prompts of some readers' strategies. Where people alone read it,
    no agent quotes it, so what each contribution says in short serves.
    """
    texts, method, whole_chars = whole, ContextMethod.ROUNDS, 0
    if ContextMethod.HIERARCHICAL in readers:
        method = ContextMethod.HIERARCHICAL
        texts = [condensed(debate, contribution) for contribution in whole]
    elif ContextMethod.ROUNDS not in readers:
        whole_chars = len(as_text(debate, whole))
        texts = [with_text(said, in_brief(said, _OPENING)) for said in whole]
    of = min(debate.setup.rounds, format_of(debate).most_rounds)
    later = MIDDLE_TOKENS if 3 * number <= 2 * of else LATE_TOKENS
    return _material(
        SummaryKind.ROUND,
        as_text(debate, texts),
        debate.setup.summarization,
        tokens=EARLY_TOKENS if 3 * number <= of else later,
        method=method,
        whole_chars=whole_chars,
        stand_in=_last_words(debate, texts),
        stand_in_method="last contributions",
    )


def _of_rounds(
    debate: Debate, numbers: Sequence[int], method: ContextMethod, earlier: str = ""
) -> SummaryMaterial:
    """The summaries of these rounds, and what stands for those before them.

    They stand in for their own summary.
    """
    summaries = [(number, in_short(debate, number)) for number in numbers]
    before = [f"[Rounds 1 to {numbers[0] - 1}]\n{earlier}"] if earlier else []
    texts = (*before, *(f"[Round {number}]\n{short}" for number, short in summaries if short))
    text, rules = "\n\n".join(texts), debate.setup.summarization
    singly = {"stand_in": text, "stand_in_method": "single summaries"}
    return _material(SummaryKind.META, text, rules, tokens=META_TOKENS, method=method, **singly)


def in_short(debate: Debate, number: int) -> str:
    """A round's summary; what stands in for it if that failed; empty while it is not there."""
    key = round_turn(number).key
    if summary := debate.summaries.get(key):
        return summary.text
    return _last_words(debate, round_of(debate, number)) if key in debate.failures else ""


def condensed(debate: Debate, contribution: Contribution) -> Contribution:
    summary = debate.summaries.get(contribution_turn(contribution).key)
    return with_text(contribution, summary.text) if summary else contribution


def with_text(contribution: Contribution, text: str) -> Contribution:
    return contribution.model_copy(update={"text": text})


def _last_words(debate: Debate, contributions: Sequence[Contribution]) -> str:
    return as_text(debate, contributions[-LAST_CONTRIBUTIONS:])
