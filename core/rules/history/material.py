"""Earlier contributions of a debate, and the material of each kind of summary (pure).

| key of the turn | material | readers |
| --- | --- | --- |
| `r2/summary/ann` | Ann's texts before round 2, and critiques of them | Ann (`length`) |
| `r2/summary/summarizer` | round 2; short forms for people alone | `rounds`, people |
| `…/summarizer/meta` | the summaries of the first rounds | `rounds` |
| `…/summarizer/<key>` | one long contribution | `hierarchical` |
| `…/summarizer/debate` | all rounds so far, in short | `hierarchical` |
| `…/summarizer/<act>` | a phase of the first round | people |
| `r2/summary/judge` | the final positions | the judge |
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from core.debate.agents import ContextMethod, PromptText, Summarization
from core.debate.contributions import Contribution, SummaryKind
from core.debate.state import Debate, cached_per_debate, roster
from core.debate.turn import FACILITATOR, JUDGE, SUMMARIZER, Act, Turn
from core.request import Part, PartKind
from core.rules.formats.registry import format_of, turns_ready
from core.rules.formats.shown import in_brief

#: Strategy `rounds`: the number of first rounds that get one common summary.
META_ROUNDS = 5
#: Strategy `hierarchical`: after each so many rounds the debate so far is summarised.
DEBATE_EVERY = 3
#: Length of a summary of several rounds, in tokens.
META_TOKENS = 500
#: Length of a round's summary in the first, second and last third of the debate, in tokens.
EARLY_TOKENS, MIDDLE_TOKENS, LATE_TOKENS = 300, 250, 200
#: The number of last contributions that replace a round whose summary failed.
LAST_CONTRIBUTIONS = 3
#: Characters of a text without points in the material for people.
_OPENING = 500
#: Average characters per token in English prose.
_CHARS_PER_TOKEN = 4
#: Acts whose prompts always call agents by letters.
_LETTERED = frozenset({Act.DEBATE, Act.ADJUST, Act.REBUTTAL, Act.STATEMENT})
#: Acts whose prompts do so only if the history contains the texts of all agents.
_CRITICISED = frozenset({Act.PROPOSAL, Act.CRITIQUE, Act.REFINEMENT})


# Settings.


def summarization_for(debate: Debate, agent: str) -> Summarization:
    """The agent's own settings for summaries, else the debate's."""
    setup = debate.setup
    speaker = {**{agent.id: agent for agent in setup.agents}, JUDGE: setup.judge}.get(agent)
    return (speaker and speaker.summarization) or setup.summarization


def method_of(debate: Debate, agent: str) -> ContextMethod:
    """How older turns are shortened in this agent's prompts."""
    rules = summarization_for(debate, agent)
    return rules.method if rules.enabled else ContextMethod.FULL


def methods_in_use(debate: Debate) -> frozenset[ContextMethod]:
    """The methods of all agents, and the debate's own, which is the facilitator's."""
    return frozenset(method_of(debate, reader) for reader in (FACILITATOR, *roster(debate)))


def reads_letters(debate: Debate, turn: Turn) -> bool:
    """Whether the turn's prompt calls other agents by letters."""
    shared_methods = {ContextMethod.ROUNDS, ContextMethod.HIERARCHICAL}
    has_history = turn.round > 1 and method_of(debate, turn.agent) in shared_methods
    return turn.act in _LETTERED or (turn.act in _CRITICISED and has_history)


# Earlier contributions.


@cached_per_debate
def perspective(debate: Debate, agent: str, before: int) -> Sequence[Contribution]:
    """An agent's history before a round: its texts, and critiques of them.

    Carried-over texts are left out, because they would be repeated.
    """
    return [
        contribution
        for contribution in debate.contributions.values()
        if contribution.turn.round < before
        and not contribution.carried_from
        and _concerns(contribution.turn, agent)
    ]


def _concerns(turn: Turn, agent: str) -> bool:
    # A critique belongs to the history of its target, not of its author. A panel's statements
    # belong to the history of every agent, because they answer one another.
    if turn.act is Act.CRITIQUE:
        return turn.target == agent
    is_to_all = turn.act is Act.STATEMENT and agent != FACILITATOR
    return is_to_all or agent in {turn.agent, turn.target}


@cached_per_debate
def round_of(debate: Debate, number: int) -> Sequence[Contribution]:
    """The contributions of a round by phase and agent, without carried-over texts."""
    phases, agents = format_of(debate).phases, roster(debate)
    contributions = [
        contribution
        for contribution in debate.contributions.values()
        if contribution.turn.round == number
        and contribution.turn.act in phases
        and not contribution.carried_from
    ]
    return sorted(
        contributions, key=lambda item: (phases.index(item.turn.act), agents.index(item.turn.agent))
    )


def is_complete(debate: Debate, number: int) -> bool:
    """Whether no agent has a turn left in this round or earlier ones."""
    if not debate.has_begun(number) or not round_of(debate, number):
        return False
    return not any(turn.agent in roster(debate) for turn in turns_ready(debate, number))


@cached_per_debate
def is_planned(debate: Debate, number: int, rounds: int) -> bool:
    """Whether this round may be held and the format has turns for it."""
    return number <= rounds and bool(format_of(debate).planned_turns(debate, number))


def chars(contributions: Iterable[Contribution]) -> int:
    return sum(len(contribution.text) for contribution in contributions)


def as_text(debate: Debate, contributions: Sequence[Contribution], *, reader: str = "") -> str:
    """Contributions as one text, each with a heading such as `A's critique of B's proposal`.

    The reader's own texts are called `your own`.
    """
    texts = list[str]()
    for contribution in contributions:
        turn = contribution.turn
        author = "your own" if turn.agent == reader else f"{debate.setup.letter(turn.agent)}'s"
        heading = f"{author} {turn.act.noun}"
        if turn.target:
            is_own = turn.target == reader
            target = "your" if is_own else f"{debate.setup.letter(turn.target)}'s"
            heading += f" of {target} proposal"
        texts.append(f"[Round {turn.round}: {heading}]\n{contribution.text}")
    return "\n\n".join(texts)


def own_history(debate: Debate, turn: Turn) -> Sequence[Part]:
    """The agent's history in full."""
    contributions = perspective(debate, turn.agent, turn.round)
    if not contributions:
        return ()
    text = as_text(debate, contributions, reader=turn.agent)
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


# The material of summaries.


@dataclass(frozen=True, kw_only=True)
class SummaryMaterial:
    kind: SummaryKind
    method: ContextMethod
    text: str
    #: The longest summary, in characters.
    most_chars: int
    #: The length in words, for the prompt.
    length: str
    #: A prompt from settings; None: the built-in one.
    prompt: PromptText | None
    #: Characters of the full contributions, if `text` has only their short forms; else 0.
    whole_chars: int = 0
    #: The text that replaces a failed summary. None: the turn fails, and prompts show the
    #: material.
    fallback_text: str | None = None
    #: The name of that text in the record.
    fallback_method: str = ""
    #: The text in pieces that the material of later summaries begins with, so that it is cached.
    pieces: Sequence[str] = ()
    #: Whether no later summary of this kind is planned, so that the last piece is not cached.
    is_last: bool = False


def _material(
    kind: SummaryKind, text: str, rules: Summarization, *, tokens: int = 0, **fields: Any
) -> SummaryMaterial:
    """The material, with a length in tokens, or by default the length of the settings."""
    most = tokens * _CHARS_PER_TOKEN or rules.max_length
    length = f"{tokens} tokens ({most} characters)" if tokens else f"{most} characters"
    defaults: dict[str, Any] = {"most_chars": most, "method": rules.method, "prompt": rules.prompt}
    return SummaryMaterial(kind=kind, text=text, length=length, **{**defaults, **fields})


def material_for(debate: Debate, turn: Turn) -> SummaryMaterial:
    """The material of the summary that is made on this turn."""
    if turn.agent == JUDGE:
        # With the agents' names, because the judge names who dissents.
        text = "\n\n".join(
            f"[Position of {debate.setup.agent(position.turn.agent).name}]\n{position.text}"
            for position in format_of(debate).positions(debate).values()
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
    # Half of the length of a history's summary. If the summary fails, the text is shown in full.
    rules = summarization_for(debate, contribution.turn.agent)
    half = {"max_length": max(1, rules.max_length // 2), "method": ContextMethod.HIERARCHICAL}
    return _material(
        SummaryKind.CONTRIBUTION,
        contribution.text,
        rules.model_copy(update=half),
        fallback_text=contribution.text,
        fallback_method="full text",
    )


def _of_perspective(debate: Debate, turn: Turn) -> SummaryMaterial:
    by_round = dict[int, list[Contribution]]()
    for contribution in perspective(debate, turn.agent, turn.round):
        by_round.setdefault(contribution.turn.round, []).append(contribution)
    texts = [as_text(debate, items, reader=turn.agent) for _, items in sorted(by_round.items())]
    # The next summary has the same material and one round more. The last round needs no summary.
    is_last = not is_planned(debate, turn.round + 2, debate.setup.rounds)
    text, rules = "\n\n".join(texts), summarization_for(debate, turn.agent)
    return _material(SummaryKind.PERSPECTIVE, text, rules, pieces=texts, is_last=is_last)


def _of_texts(
    debate: Debate,
    number: int,
    contributions: Sequence[Contribution],
    readers: Collection[ContextMethod],
) -> SummaryMaterial:
    """The material for a round or a phase; summaries of early rounds are longer.

    `readers` are the context methods that show the summary in prompts. If there are none, only
    people read it, and the short forms of the contributions are enough.
    """
    texts, method, whole_chars = contributions, ContextMethod.ROUNDS, 0
    if ContextMethod.HIERARCHICAL in readers:
        method = ContextMethod.HIERARCHICAL
        texts = [with_summary(debate, contribution) for contribution in contributions]
    elif ContextMethod.ROUNDS not in readers:
        whole_chars = len(as_text(debate, contributions))
        texts = [with_text(item, in_brief(item, _OPENING)) for item in contributions]
    rounds = min(debate.setup.rounds, format_of(debate).most_rounds)
    later = MIDDLE_TOKENS if 3 * number <= 2 * rounds else LATE_TOKENS
    return _material(
        SummaryKind.ROUND,
        as_text(debate, texts),
        debate.setup.summarization,
        tokens=EARLY_TOKENS if 3 * number <= rounds else later,
        method=method,
        whole_chars=whole_chars,
        fallback_text=_last_words(debate, texts),
        fallback_method="last contributions",
    )


def _of_rounds(
    debate: Debate, numbers: Sequence[int], method: ContextMethod, earlier: str = ""
) -> SummaryMaterial:
    """The summaries of these rounds as material, after an `earlier` summary of those before.

    If the common summary fails, the single ones are used.
    """
    summaries = [(number, round_summary(debate, number)) for number in numbers]
    before = [f"[Rounds 1 to {numbers[0] - 1}]\n{earlier}"] if earlier else []
    texts = (*before, *(f"[Round {number}]\n{short}" for number, short in summaries if short))
    text, rules = "\n\n".join(texts), debate.setup.summarization
    fallback = {"fallback_text": text, "fallback_method": "single summaries"}
    return _material(SummaryKind.META, text, rules, tokens=META_TOKENS, method=method, **fallback)


def round_summary(debate: Debate, number: int) -> str:
    """A round's summary; its last contributions if that failed; empty while it is not made."""
    key = round_turn(number).key
    if summary := debate.summaries.get(key):
        return summary.text
    return _last_words(debate, round_of(debate, number)) if key in debate.failures else ""


def with_summary(debate: Debate, contribution: Contribution) -> Contribution:
    """The contribution with its summary as text, if there is one."""
    summary = debate.summaries.get(contribution_turn(contribution).key)
    return with_text(contribution, summary.text) if summary else contribution


def with_text(contribution: Contribution, text: str) -> Contribution:
    return contribution.model_copy(update={"text": text})


def _last_words(debate: Debate, contributions: Sequence[Contribution]) -> str:
    return as_text(debate, contributions[-LAST_CONTRIBUTIONS:])
