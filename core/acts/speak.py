"""Speeches: the acts that end in text."""

import asyncio
from functools import partial

from core.acts.act import ACTS, ActSpec, declare
from core.acts.citing import (
    look_up_in,
    may_look_up,
    with_checked_quotes,
    with_looked_up,
    without_quotes,
)
from core.acts.request_for import request_for, terms_for
from core.acts.short_form import read_short_form
from core.debate.contributions import Contribution, RaisedPoint
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import ContributionMade
from core.errors import ReplyUnusable
from core.llm.call import ModelCalls
from core.request import Effort
from core.rules.formats import panel
from core.rules.formats.registry import format_of
from core.rules.judging import is_first_answer
from core.rules.options import options_of, read_stance, without_stance


async def speak(calls: ModelCalls, debate: Debate, turn: Turn) -> ContributionMade:
    carried = format_of(debate).carried_over(debate, turn)
    if carried:
        warnings = ("No critique arrived.",) if turn.act is Act.REFINEMENT else ()
        return ContributionMade(
            contribution=Contribution(
                turn=turn,
                text=carried.text,
                answer=carried.answer,
                points=carried.points,
                carried_from=carried.turn.key,
                citations=carried.citations,
                stance=carried.stance,
                warnings=warnings,
            )
        )
    agent = debate.setup.agent(turn.agent)
    request, terms = request_for(debate, turn), terms_for(debate, turn)
    text, call = await calls.ask(request, agent, terms)
    looked_up = look_up_in(text) if may_look_up(debate, turn) else ""
    if looked_up:
        second_request = await asyncio.to_thread(with_looked_up, debate, request, looked_up)
        text, more = await calls.ask(second_request, agent, terms)
        call = more.model_copy(update={"usage": call.usage + more.usage})
        if look_up_in(text):
            raise ReplyUnusable("It only asked to look something up, twice.", usage=call.usage)
    is_fresh = turn.act is Act.PROPOSAL and turn.round > 1
    warnings = ("The last refinement is missing; this is a fresh proposal.",) if is_fresh else ()
    contribution = Contribution(
        turn=turn, text=text, call=call, looked_up=looked_up, warnings=warnings
    )
    return ContributionMade(contribution=await asyncio.to_thread(_as_read, debate, contribution))


def _as_read(debate: Debate, contribution: Contribution) -> Contribution:
    short, options = read_short_form(contribution.text.strip()), options_of(debate)
    text, update = short.text, dict[str, object](answer=short.answer, points=short.points)
    if is_first_answer(debate, contribution.turn):
        update["raised"] = tuple(
            RaisedPoint(agent=contribution.turn.agent, kind=kind, text=without_quotes(words))
            for kind, words in short.raised
        )
    if ACTS[contribution.turn.act].states_stance and options.items:
        stance = read_stance(text, options)
        text = without_stance(text)
        update |= {"stance": stance.known, "new_options": stance.new}
    return with_checked_quotes(debate, contribution.model_copy(update={**update, "text": text}))


_speech = partial(ActSpec, is_speech=True, sees_history=True, perform=speak)
_SPEECHES = {
    Act.PROPOSAL: _speech(words=350, values=lambda _, turn: {"fresh": turn.round > 1}),
    Act.CRITIQUE: _speech(
        words=250,
        max_tokens=1024,
        effort=Effort.LOW,
        values=lambda debate, turn: {
            "repeated": bool(debate.text_of(turn.act, turn.round - 1, turn.agent, turn.target)),
            "author": debate.setup.letter(turn.target or ""),
        },
    ),
    Act.REFINEMENT: _speech(words=450, states_stance=True),
    Act.GATHER: _speech(words=350),
    Act.PLAN: _speech(words=200, effort=Effort.LOW),
    Act.FORMULATE: _speech(words=450),
    Act.DEBATE: _speech(words=450),
    Act.ADJUST: _speech(words=450, states_stance=True),
    Act.REBUTTAL: _speech(words=250, effort=Effort.LOW),
    Act.STATEMENT: _speech(
        words=300,
        states_stance=True,
        values=lambda debate, turn: {
            "first": turn.round == 1,
            "closing": panel.is_closing(debate, turn),
        },
    ),
}
for _act, _spec in _SPEECHES.items():
    declare(_act, _spec)
