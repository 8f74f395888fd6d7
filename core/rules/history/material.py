"""Every summary of a debate: on which turn it is made, from what, and what stands in for it (pure).

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

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.debate.agents import ContextMethod, PromptText, Summarization
from core.debate.contributions import Contribution, SummaryKind
from core.debate.state import Debate
from core.debate.turn import JUDGE, SUMMARIZER, Act, Turn
from core.rules.formats.registry import format_of
from core.rules.formats.shown import in_brief
from core.rules.history.told import (
    as_text,
    is_foreseen,
    last_positions,
    methods_in_use,
    perspective,
    round_of,
    rules_of,
)

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


def material_for(debate: Debate, turn: Turn) -> SummaryMaterial:
    if turn.agent == JUDGE:
        # Under their holders' names: the judge names dissent.
        text = "\n\n".join(
            f"[Position of {debate.setup.agent(position.turn.agent).name}]\n{position.text}"
            for position in last_positions(debate)
        )
        return _in_characters(SummaryKind.JUDGE, text, rules_of(debate, JUDGE))
    if turn.agent != SUMMARIZER:
        return _of_perspective(debate, turn)
    if turn == round_turn(turn.round):
        return _of_round(debate, turn.round)
    if turn == meta_turn():
        return _of_rounds(debate, range(1, META_ROUNDS + 1), ContextMethod.ROUNDS)
    if turn == debate_turn(turn.round):
        earlier = debate.summaries.get(debate_turn(turn.round - DEBATE_EVERY).key)
        numbers = range(turn.round - DEBATE_EVERY + 1 if earlier else 1, turn.round + 1)
        text = earlier.text if earlier else ""
        return _of_rounds(debate, numbers, ContextMethod.HIERARCHICAL, text)
    if turn.target in format_of(debate).stages:
        texts = format_of(debate).contributions(debate, Act(turn.target), turn.round)
        return _for_people(debate, turn.round, list(texts.values()))
    contribution = debate.contributions[turn.target or ""]
    # Half of the limit of a whole history; without a summary it is shown in full.
    rules = rules_of(debate, contribution.turn.agent)
    half = {"max_length": max(1, rules.max_length // 2), "method": ContextMethod.HIERARCHICAL}
    return replace(
        _in_characters(SummaryKind.CONTRIBUTION, contribution.text, rules.model_copy(update=half)),
        stand_in=contribution.text,
        stand_in_method="full text",
    )


def _of_perspective(debate: Debate, turn: Turn) -> SummaryMaterial:
    by_round = dict[int, list[Contribution]]()
    for contribution in perspective(debate, turn.agent, turn.round):
        by_round.setdefault(contribution.turn.round, []).append(contribution)
    texts = [as_text(debate, said, mine=turn.agent) for _, said in sorted(by_round.items())]
    text, rules = "\n\n".join(texts), rules_of(debate, turn.agent)
    # The next round's summary is made from the same and one more; the last round has none.
    is_last = not is_foreseen(debate, turn.round + 2, debate.setup.rounds)
    whole = _in_characters(SummaryKind.PERSPECTIVE, text, rules)
    return replace(whole, grows_by=texts, is_last=is_last)


def _of_round(debate: Debate, number: int) -> SummaryMaterial:
    whole, methods = round_of(debate, number), methods_in_use(debate)
    if ContextMethod.HIERARCHICAL in methods:
        texts = [condensed(debate, contribution) for contribution in whole]
        return _of_texts(debate, number, texts, ContextMethod.HIERARCHICAL)
    if ContextMethod.ROUNDS in methods:
        return _of_texts(debate, number, whole, ContextMethod.ROUNDS)
    return _for_people(debate, number, whole)


def _for_people(debate: Debate, number: int, whole: Sequence[Contribution]) -> SummaryMaterial:
    """It stands in for no text that an agent quotes, so what each says in short serves."""
    texts = [
        contribution.model_copy(update={"text": in_brief(contribution, _OPENING)})
        for contribution in whole
    ]
    material = _of_texts(debate, number, texts, ContextMethod.ROUNDS)
    return replace(material, whole_chars=len(as_text(debate, whole)))


def _of_texts(
    debate: Debate, number: int, contributions: Sequence[Contribution], method: ContextMethod
) -> SummaryMaterial:
    """What was said in a round or a phase: more tokens early, fewer late."""
    of = min(debate.setup.rounds, format_of(debate).most_rounds)
    later = MIDDLE_TOKENS if 3 * number <= 2 * of else LATE_TOKENS
    tokens = EARLY_TOKENS if 3 * number <= of else later
    material = _in_tokens(debate, SummaryKind.ROUND, as_text(debate, contributions), tokens)
    last = {"stand_in": _last_words(debate, contributions), "stand_in_method": "last contributions"}
    return replace(material, method=method, **last)


def _of_rounds(
    debate: Debate, numbers: Sequence[int], method: ContextMethod, earlier: str = ""
) -> SummaryMaterial:
    """The summaries of these rounds, and what stands for those before them.

    They stand in for their own summary.
    """
    summaries = [(number, in_short(debate, number)) for number in numbers]
    texts = [f"[Round {number}]\n{short}" for number, short in summaries if short]
    before = [f"[Rounds 1 to {numbers[0] - 1}]\n{earlier}"] if earlier else []
    text = "\n\n".join((*before, *texts))
    material = _in_tokens(debate, SummaryKind.META, text, META_TOKENS)
    singly = {"stand_in": text, "stand_in_method": "single summaries"}
    return replace(material, method=method, **singly)


def _in_characters(kind: SummaryKind, text: str, rules: Summarization) -> SummaryMaterial:
    return SummaryMaterial(
        kind=kind,
        method=rules.method,
        text=text,
        most_chars=rules.max_length,
        length=f"{rules.max_length} characters",
        prompt=rules.prompt,
    )


def _in_tokens(debate: Debate, kind: SummaryKind, text: str, tokens: int) -> SummaryMaterial:
    # What is made for all goes by the debate's rules, whatever its agents have of their own.
    most = tokens * _CHARS_PER_TOKEN
    material = _in_characters(kind, text, debate.setup.summarization)
    return replace(material, most_chars=most, length=f"{tokens} tokens ({most} characters)")


def in_short(debate: Debate, number: int) -> str:
    """A round's summary; what stands in for it if that failed; empty while it is not there."""
    key = round_turn(number).key
    if summary := debate.summaries.get(key):
        return summary.text
    return _last_words(debate, round_of(debate, number)) if key in debate.failures else ""


def condensed(debate: Debate, contribution: Contribution) -> Contribution:
    summary = debate.summaries.get(contribution_turn(contribution).key)
    return contribution.model_copy(update={"text": summary.text}) if summary else contribution


def _last_words(debate: Debate, contributions: Sequence[Contribution]) -> str:
    return as_text(debate, contributions[-LAST_CONTRIBUTIONS:])
