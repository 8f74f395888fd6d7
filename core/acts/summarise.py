"""Summaries: asks a model for one, tries again, and says what stands in where that fails.

A summary that fails never stops a debate. An agent's history or the judge's material is then used
in full, as is a contribution or what several rounds were in short; for a round the fallbacks are:
one retry with a shorter prompt, the last three contributions, a mark that the summary is missing.
Each says how it came to be. Sources: dialectic's context summarization, Board of One's background
summarizer.
"""

import re
from dataclasses import replace

from core.acts.act import ACTS, side_act
from core.acts.context import told_by_people
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
#: A reply that is cut off is lost, so a summary may run over its length by far before it is cut.
_LEAST_TOKENS = 512
_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n")
#: A sentence's end counts if it keeps this share of the room; else it is cut at a word's end.
_KEPT_AT_LEAST = 0.5


async def summarise(calls: ModelCalls, debate: Debate, turn: Turn) -> SummaryMade:
    """Sum up what this turn is for.

    Raises:
        CallFailed: No model could be asked, and the turn's strategy shows the full text.
    """
    material = material_for(debate, turn)
    try:
        return SummaryMade(summary=await _ask(calls, debate, turn, material))
    except CallFailed as error:
        stand_in, lost = material.stand_in, error.usage
        if stand_in is None:
            raise
    try:
        summary = await _ask(calls, debate, turn, material, brief=True)
    except CallFailed as error:
        lost += error.usage
        summary = Summary(
            turn=turn,
            kind=material.kind,
            text=stand_in,
            before_chars=material.whole_chars or len(material.text),
            after_chars=len(stand_in),
            method=material.stand_in_method,
            warnings=(f"The summary failed: {error}",),
        )
    return SummaryMade(summary=summary.model_copy(update={"lost": lost}))


def cut(text: str, most: int) -> str:
    """The text, cut with a visible mark if it is longer than `most` characters.

    At the end of a sentence, where that leaves enough of it; else at a word's end.
    """
    if len(text) <= most:
        return text
    room = text[: max(0, most - len(CUT_MARK))]
    ends = [match.end() for match in _SENTENCE_END.finditer(text[: len(room) + 1])]
    end = max((end for end in ends if end <= len(room)), default=0)
    beginning = (
        room[:end] if end >= len(room) * _KEPT_AT_LEAST else "".join(room.rsplit(None, 1)[:1])
    )
    return beginning.rstrip() + CUT_MARK


async def _ask(
    calls: ModelCalls, debate: Debate, turn: Turn, material: SummaryMaterial, *, brief: bool = False
) -> Summary:
    text = material.text
    if brief and material.kind is SummaryKind.ROUND:  # what was said last counts most
        text = text[-len(text) // 2 :]
    whole = Part(kind=PartKind.OTHER, label="To be summed up", text=text, trim_priority=2)
    # What will be summed up again is read from the cache then.
    read_again = len(material.grows_by) - material.is_last
    grows = [
        replace(whole, text=piece, ends_shared=at < read_again)
        for at, piece in enumerate(material.grows_by)
    ]
    people, notes = told_by_people(debate)
    if turn.agent == JUDGE:  # nobody else reads on in its form
        people = [replace(part, ends_shared=False) for part in people]
    parts = (*people, *(grows or [whole]), *notes)
    agent = debate.setup.agent(turn.agent)
    if material.prompt:  # settings give summaries a prompt of their own
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
    if material.stand_in is not None:  # a second try may follow
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
