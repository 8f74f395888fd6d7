"""Speeches: acts whose outcome is a text, and the short form at the end of each text.

    In short: Keep the job queue in PostgreSQL.
    - Nobody has to run a second system.
    - A job and its order are committed together.

Decision 0053 says why these are lines of the text and not fields of a JSON object.
"""

import asyncio
import re
import textwrap
from dataclasses import dataclass, replace
from functools import partial

from core.acts.act import ACTS, ActSpec
from core.acts.citing import (
    lookup_query,
    may_look_up,
    with_checked_quotes,
    with_lookup_result,
    without_quotes,
)
from core.acts.prompt import MOST_RAISED
from core.acts.request_for import request_for, terms_for
from core.debate.contributions import Contribution, RaisedKind, RaisedPoint
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import ContributionMade
from core.errors import ReplyUnusable
from core.llm.call import ModelCalls
from core.request import Effort
from core.rules.formats import panel
from core.rules.formats.registry import format_of
from core.rules.judging import is_first_answer
from core.rules.options import is_stance_line, options_of, read_stance, without_stance

#: Longest answer and longest point in a short form, in characters; the rest is cut.
ANSWER_MAX_CHARS = 300
POINT_MAX_CHARS = 200
#: Most points of a short form.
MOST_POINTS = 5
#: Lines from the end of a text that are searched for its short form.
_LAST_LINES = 20
#: "In short: …", with any Markdown marks.
_ANSWER_LINE = re.compile(r"^[\s>*_#`-]{0,8}in short[\s*_]{0,4}:(.{1,600})$", re.IGNORECASE)
#: "Risk: …", as a list item or not.
_RAISED_LINE = re.compile(
    r"^[\s>*_#`•+-]{0,8}(risk|idea|fact|missing)[\s*_]{0,4}:(.{1,600})$", re.IGNORECASE
)
_POINT_LINE = re.compile(r"^\s{0,8}(?:[-*•+]|\d{1,2}[.)])\s{1,4}(\S.{0,600})$")
#: Closing marks of a decorated label: the second "**" of "**In short:** Keep it".
_LEFT_OVER = re.compile(r"^\s*[*_]{1,3}(?=\s)")
_MARKS = ("**", "__", "*", "_", "`")


async def speak(calls: ModelCalls, debate: Debate, turn: Turn) -> ContributionMade:
    earlier = format_of(debate).carried_over(debate, turn)
    if earlier:
        warnings = ("No critique arrived.",) if turn.act is Act.REFINEMENT else ()
        return ContributionMade(
            contribution=Contribution(
                turn=turn,
                text=earlier.text,
                answer=earlier.answer,
                points=earlier.points,
                carried_from=earlier.turn.key,
                citations=earlier.citations,
                stance=earlier.stance,
                warnings=warnings,
            )
        )
    agent = debate.setup.agent(turn.agent)
    request, terms = request_for(debate, turn), terms_for(debate, turn)
    text, call = await calls.ask(request, agent, terms)
    looked_up = lookup_query(text) if may_look_up(debate, turn) else ""
    if looked_up:
        second_request = await asyncio.to_thread(with_lookup_result, debate, request, looked_up)
        text, second_call = await calls.ask(second_request, agent, terms)
        call = replace(second_call, usage=call.usage + second_call.usage)
        if lookup_query(text):
            raise ReplyUnusable("It only asked to look something up, twice.", usage=call.usage)
    is_fresh = turn.act is Act.PROPOSAL and turn.round > 1
    warnings = ("The last refinement is missing; this is a fresh proposal.",) if is_fresh else ()
    contribution = Contribution(
        turn=turn, text=text, call=call, looked_up=looked_up, warnings=warnings
    )
    return ContributionMade(
        contribution=await asyncio.to_thread(_with_short_form, debate, contribution)
    )


def _with_short_form(debate: Debate, contribution: Contribution) -> Contribution:
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


@dataclass(frozen=True)
class ShortForm:
    #: The text without its short form.
    text: str
    #: One sentence; empty if the text has no short form.
    answer: str = ""
    points: tuple[str, ...] = ()
    #: Risks, ideas, facts and gaps that the author points out.
    raised: tuple[tuple[RaisedKind, str], ...] = ()


def read_short_form(text: str) -> ShortForm:
    """Split a text into the text and the short form at its end, if it has one.

    After the line of the answer come only list items, lines such as "Risk: …", empty lines, and the
    stance. The stance stays in the text.
    """
    lines = text.rstrip().splitlines()
    points, stance, raised_points = list[str](), list[str](), list[tuple[RaisedKind, str]]()
    for index in range(len(lines) - 1, max(0, len(lines) - _LAST_LINES), -1):
        line = lines[index]
        if head := _ANSWER_LINE.match(line):
            answer = _line(head[1], ANSWER_MAX_CHARS)
            main_text = "\n".join(lines[:index]).rstrip()
            if not answer or not main_text:
                break
            return ShortForm(
                text="\n".join((main_text, *reversed(stance))),
                answer=answer,
                points=tuple(filter(None, reversed(points)))[:MOST_POINTS],
                raised=tuple(pair for pair in reversed(raised_points) if pair[1])[:MOST_RAISED],
            )
        if is_stance_line(line):
            stance.append(line)
        elif match := _RAISED_LINE.match(line):
            kind = RaisedKind(match[1].lower())
            raised_points.append((kind, _line(match[2], POINT_MAX_CHARS)))
        elif point := _POINT_LINE.match(line):
            points.append(_line(point[1], POINT_MAX_CHARS))
        elif line.strip():
            break
    return ShortForm(text=text)


def _line(words: str, limit: int) -> str:
    line = _LEFT_OVER.sub("", words).strip()
    for mark in _MARKS:
        inner = line[len(mark) : -len(mark)]
        if line.startswith(mark) and line.endswith(mark) and inner and mark not in inner:
            line = inner.strip()
        elif line.endswith(mark) and line.count(mark) % 2:  # opened before the label
            line = line.removesuffix(mark).rstrip()
    return textwrap.shorten(line, limit, placeholder="…")


_speech = partial(ActSpec, is_speech=True, sees_history=True, perform=speak)
ACTS.update(
    {
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
)
