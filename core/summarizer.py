"""Summaries: one agent's history, a round, several rounds, or the last positions for the judge.

A summary that fails never stops a debate. A perspective or the judge's material is then used in
full; for a round the fallbacks are: one retry with a shorter prompt, the last three contributions,
a mark that the summary is missing. Each says how it came to be. Sources: dialectic's context
summarization, Board of One's background summarizer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core import facts
from core.calling.spent import usage_of
from core.errors import LimitReached, ProviderError
from core.events import SummaryMade
from core.model_call import ModelCalls
from core.models import (
    JUDGE,
    SUMMARIZER,
    Agent,
    Contribution,
    Debate,
    Summarization,
    Summary,
    SummaryKind,
    Turn,
)
from core.prompting import request_with, terms_for
from core.request import Part, PartKind
from core.strategies import hierarchical, length, rounds
from core.strategies.history import as_text, by_name, perspective, round_of
from core.strategies.registry import last_positions

#: Tokens a round's summary may have, by the third of the debate the round is in.
EARLY_TOKENS, MIDDLE_TOKENS, LATE_TOKENS = 150, 100, 75
META_TOKENS = 200
#: Contributions that stand in for a round whose summary failed.
LAST_CONTRIBUTIONS = 3
UNAVAILABLE = "[Round summary unavailable]"
CUT_MARK = " […]"
_CHARS_PER_TOKEN = 4
#: A reply that is cut off is lost, so a summary may run over its length by far before it is cut.
_LEAST_TOKENS = 512
#: What sums up several rounds.
_WHOLES = (rounds.meta_turn().target, hierarchical.debate_turn(1).target)


@dataclass(frozen=True)
class Material:
    """What is to be summed up, and into how much."""

    kind: SummaryKind
    text: str
    #: Characters the summary may have.
    most_chars: int
    #: The same in words for the model.
    length: str


async def summarise(calls: ModelCalls, debate: Debate, turn: Turn) -> SummaryMade:
    """Sum up what this turn is for.

    Raises:
        ProviderError: No model could be asked, and full text can stand in (not for rounds).
        LimitReached: Likewise, a cap forbids the call.
    """
    material = material_for(debate, turn)
    try:
        summary = await _ask(calls, debate, turn, material)
    except (ProviderError, LimitReached) as error:
        if turn.agent != SUMMARIZER:
            raise
        summary = await _second_try(calls, debate, turn, material)
        lost = summary.lost + usage_of(error)
        summary = summary.model_copy(update={"lost": lost})
    return SummaryMade(summary=summary)


def material_for(debate: Debate, turn: Turn) -> Material:
    """What this turn sums up."""
    if turn.agent == JUDGE:
        said = last_positions(debate)
        return _bounded(SummaryKind.JUDGE, by_name(debate, said), debate.setup.summarization)
    if turn.agent != SUMMARIZER:
        said = perspective(debate, turn.agent, turn.round)
        text = as_text(debate, said, mine=turn.agent)
        return _bounded(SummaryKind.PERSPECTIVE, text, length.rules_of(debate, turn.agent))
    if turn.target in _WHOLES:
        text = _round_summaries(debate, turn.round)
        return _tokens(SummaryKind.META, text, META_TOKENS)
    if turn.target:
        text = debate.contributions[turn.target].text
        rules = debate.setup.summarization
        return _bounded(SummaryKind.CONTRIBUTION, text, rules, share=2)
    said = [hierarchical.condensed(debate, made) for made in round_of(debate, turn.round)]
    tokens = _round_tokens(turn.round, debate.setup.rounds)
    return _tokens(SummaryKind.ROUND, as_text(debate, said), tokens)


def cut(text: str, most: int) -> str:
    """The text, cut at a word's end with a visible mark if it is longer than `most` characters."""
    if len(text) <= most:
        return text
    return text[: most - len(CUT_MARK)].rsplit(None, 1)[0].rstrip() + CUT_MARK


async def _second_try(calls: ModelCalls, debate: Debate, turn: Turn, material: Material) -> Summary:
    """A shorter prompt; then the last contributions; then a mark."""
    try:
        return await _ask(calls, debate, turn, _shorter(material), brief=True)
    except (ProviderError, LimitReached) as error:
        said = round_of(debate, turn.round)[-LAST_CONTRIBUTIONS:]
        made = _fallback(debate, turn, material, said=said, why=str(error))
        return made.model_copy(update={"lost": usage_of(error)})


async def _ask(
    calls: ModelCalls, debate: Debate, turn: Turn, material: Material, *, brief: bool = False
) -> Summary:
    """Ask once; a figure or requirement the summary lost is put back in one line."""
    parts = (
        Part(kind=PartKind.QUESTION, label="Question", text=debate.setup.question),
        Part(kind=PartKind.OTHER, label="To be summed up", text=material.text, spare=2),
    )
    agent = _with_prompt(debate, turn)
    values: dict[str, object] = {"length": material.length, "brief": brief}
    request = replace(
        request_with(debate, turn, agent, parts=parts, values=values),
        max_output_tokens=max(_LEAST_TOKENS, material.most_chars // 2),
    )
    text, call = await calls.ask(request, agent, terms_for(debate, turn, agent))
    kept = _with_lost_facts(debate, material, text.strip())
    return Summary(
        turn=turn,
        kind=material.kind,
        text=cut(kept, material.most_chars),
        before_chars=len(material.text),
        after_chars=len(cut(kept, material.most_chars)),
        method="brief" if brief else debate.setup.summarization.method.value,
        call=call,
    )


def _with_prompt(debate: Debate, turn: Turn) -> Agent:
    """Who sums up, with the summary prompt that settings give it."""
    agent = debate.setup.agent(turn.agent)
    own = length.rules_of(debate, turn.agent).prompt
    prompts = {**agent.prompts, turn.act.value: own} if own else agent.prompts
    return agent.model_copy(update={"prompts": prompts})


def _with_lost_facts(debate: Debate, material: Material, text: str) -> str:
    """The summary, led by the facts that its material held and it does not."""
    known = [fact for fact in facts.ledger(debate) if facts.holds(material.text, fact)]
    lost = [fact.text for fact in facts.lost(known, text) if fact.kind is facts.FactKind.FIGURE]
    return f"Keep in mind: {'; '.join(lost)}. {text}" if lost else text


def _fallback(
    debate: Debate, turn: Turn, material: Material, *, said: Sequence[Contribution], why: str
) -> Summary:
    text = as_text(debate, said) or UNAVAILABLE
    return Summary(
        turn=turn,
        kind=material.kind,
        text=text,
        before_chars=len(material.text),
        after_chars=len(text),
        method="last contributions" if said else "unavailable",
        warnings=(f"The summary failed: {why}",),
    )


def _bounded(kind: SummaryKind, text: str, rules: Summarization, *, share: int = 1) -> Material:
    most = rules.max_length // share
    return Material(kind, text, most, f"{most} characters")


def _tokens(kind: SummaryKind, text: str, tokens: int) -> Material:
    return Material(kind, text, tokens * _CHARS_PER_TOKEN * 2, f"{tokens} tokens")


def _shorter(material: Material) -> Material:
    """The end of the material only: what was said last counts most."""
    text = material.text[-len(material.text) // 2 :]
    return Material(material.kind, text, material.most_chars, material.length)


def _round_tokens(number: int, of: int) -> int:
    """Long early, when views spread out; short late, when they close. In thirds of the debate."""
    if 3 * number <= of:
        return EARLY_TOKENS
    return MIDDLE_TOKENS if 3 * number <= 2 * of else LATE_TOKENS


def _round_summaries(debate: Debate, upto: int) -> str:
    found = [debate.summaries.get(rounds.summary_turn(n).key) for n in range(1, upto + 1)]
    return "\n\n".join(f"[Round {s.turn.round}]\n{s.text}" for s in found if s)
