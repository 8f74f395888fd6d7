"""Asks a model for summaries, with a retry and fallbacks.

A failed summary never stops a debate. If the summary of a history, of a contribution, of several
rounds or of the judge's material fails, the full text is used. The fallbacks for a round are: one
retry with a shorter prompt, the last three contributions, a note that the summary is missing. Each
summary records its method. Sources: dialectic's context summarization, Board of One's background
summarizer.
"""

import re
from dataclasses import replace

from core.acts.act import ACTS, side_act
from core.acts.context import note_parts, people_parts, without_cache_marks
from core.acts.request_for import request_for, terms_for
from core.debate.contributions import Summary, SummaryKind
from core.debate.state import Debate
from core.debate.turn import JUDGE, Act, Turn
from core.debate.turn_events import SummaryMade
from core.errors import CallFailed
from core.llm.call import ModelCalls
from core.request import Part, PartKind
from core.rules.history.material import SummaryMaterial, material_for

CUT_MARK = " […]"
#: A reply that a vendor cuts off is lost, so the limit in tokens is far above the length asked for.
_LEAST_TOKENS = 512
_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n")
#: A text is cut after a sentence if this share of the limit remains, otherwise after a word.
_LEAST_SHARE = 0.5


async def summarise(calls: ModelCalls, debate: Debate, turn: Turn) -> SummaryMade:
    """Write the summary of this turn.

    Raises:
        CallFailed: No summary could be made, and prompts show the full text instead.
    """
    material = material_for(debate, turn)
    try:
        return SummaryMade(summary=await _ask(calls, debate, turn, material))
    except CallFailed as error:
        fallback_text, wasted_usage = material.fallback_text, error.usage
        if fallback_text is None:
            raise
    try:
        summary = await _ask(calls, debate, turn, material, brief=True)
    except CallFailed as error:
        wasted_usage += error.usage
        summary = Summary(
            turn=turn,
            kind=material.kind,
            text=fallback_text,
            before_chars=material.whole_chars or len(material.text),
            after_chars=len(fallback_text),
            method=material.fallback_method,
            warnings=(f"The summary failed: {error}",),
        )
    return SummaryMade(summary=summary.model_copy(update={"lost": wasted_usage}))


def cut(text: str, most: int) -> str:
    """The text, cut and marked if it is longer than `most` characters.

    It is cut after a sentence if enough text remains, otherwise after a word.
    """
    if len(text) <= most:
        return text
    room = text[: max(0, most - len(CUT_MARK))]
    ends = [match.end() for match in _SENTENCE_END.finditer(text[: len(room) + 1])]
    end = max((end for end in ends if end <= len(room)), default=0)
    beginning = room[:end] if end >= len(room) * _LEAST_SHARE else "".join(room.rsplit(None, 1)[:1])
    return beginning.rstrip() + CUT_MARK


async def _ask(
    calls: ModelCalls, debate: Debate, turn: Turn, material: SummaryMaterial, *, brief: bool = False
) -> Summary:
    text = material.text
    if brief and material.kind is SummaryKind.ROUND:  # the last contributions matter most
        text = text[-len(text) // 2 :]
    full_part = Part(kind=PartKind.OTHER, label="To be summed up", text=text, trim_priority=2)
    # The next summary begins with the same texts, so they are marked for the cache.
    read_again = len(material.pieces) - material.is_last
    grows = [
        replace(full_part, text=piece, ends_shared=index < read_again)
        for index, piece in enumerate(material.pieces)
    ]
    people = people_parts(debate)
    if turn.agent == JUDGE:  # no other prompt begins with the same text
        people = without_cache_marks(people)
    parts = (*people, *(grows or [full_part]), *note_parts(debate))
    agent = debate.setup.agent(turn.agent)
    if material.prompt:  # the settings override the prompt of summaries
        prompts = {**agent.prompts, turn.act.value: material.prompt}
        agent = agent.model_copy(update={"prompts": prompts})
    values: dict[str, object] = {
        "length": material.length,
        "brief": brief,
        "own": material.kind is SummaryKind.PERSPECTIVE,
    }
    request = replace(
        request_for(debate, turn, agent, parts=parts, values=values),
        max_output_tokens=max(_LEAST_TOKENS, material.most_chars // 2),
        most_chars=material.most_chars,
    )
    terms = terms_for(debate, turn, agent)
    if material.fallback_text is not None:  # a second try may follow
        terms = replace(terms, seconds=terms.seconds / 2)
    reply, call = await calls.ask(request, agent, terms)
    summary = cut(reply.strip(), material.most_chars)
    return Summary(
        turn=turn,
        kind=material.kind,
        text=summary,
        before_chars=material.whole_chars or len(material.text),
        after_chars=len(summary),
        method="brief" if brief else material.method.value,
        call=call,
    )


ACTS[Act.SUMMARY] = side_act(perform=summarise)
