"""Ballots and their count: voters rank all positions, blind at first and once more at the end.

A ballot says too how likely the voter holds each option the best, and what moved it.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema

from core.acts.act import ACTS, ActSpec
from core.acts.context import candidates, option_labels, told_in_short
from core.acts.replies import NOBODY, figure_in, narrowed, one_of
from core.acts.request_for import ask_model
from core.debate.contributions import Contribution
from core.debate.state import Debate
from core.debate.turn import Act, Turn, turn_of
from core.debate.turn_events import BallotAbstained, BallotCast, VoteTallied
from core.debate.vote import Abstention, Ballot
from core.errors import ReplyUnreadable
from core.llm.call import ModelCalls
from core.request import Effort, Part, PartKind
from core.rules import voting
from core.rules.formats import critique, review
from core.rules.formats.registry import format_of
from core.rules.formats.shown import in_brief
from core.rules.options import (
    as_shares,
    current_option,
    drafted_option,
    leading,
    options_of,
    stance_in,
)
from core.rules.schedule import ballot_turns

_PERCENT = 100
#: What agents say to one another where nobody's position is criticised by itself.
_ARGUED = frozenset({Act.DEBATE, Act.ADJUST, Act.REBUTTAL, Act.STATEMENT})


class BallotReply(BaseModel):
    """What a voter answers: a reason for each label in the labels' order, then the ranking.

    An empty ranking with one reason is an abstention.
    """

    reasons: list[str]
    ranking: list[str]
    #: How likely each option is the best, in percent, in the options' order.
    probabilities: list[Annotated[float, BeforeValidator(figure_in)]] = []
    #: Label of what moved the voter, or `NOBODY`.
    moved_by: str = NOBODY
    #: What convinced the voter, if it has moved.
    why_moved: str = ""


@cache
def ballot_reply(
    labels: tuple[str, ...], movers: tuple[str, ...], options: tuple[str, ...]
) -> type[BallotReply]:
    label, mover = one_of(labels), one_of((*movers, NOBODY))
    types: dict[str, Any] = {"ranking": list[label], "moved_by": mover}
    if options:
        share = Annotated[float, BeforeValidator(figure_in), WithJsonSchema({"type": "number"})]
        about = Field(description=f"for {', '.join(options)}")
        types["probabilities"] = Annotated[list[share], about]
    return narrowed(BallotReply, **types)


async def vote(calls: ModelCalls, debate: Debate, turn: Turn) -> BallotCast | BallotAbstained:
    """Rank all positions under neutral labels; an unreadable reply counts as an abstention.

    A voter may also abstain itself, with a reason.
    """
    positions = {label: text.turn.agent for label, text in candidates(debate, turn).items()}
    # A label names one critique as the cause of a change, else an agent, not its text.
    movers = {
        label: text.turn.key if text.turn.act is Act.CRITIQUE else text.turn.agent
        for label, text in possible_movers(debate, turn).items()
    }
    movers |= {source.id: source.id for source in debate.evidence}
    options = option_labels(debate)
    try:
        reply, call = await ask_model(
            calls,
            debate,
            turn,
            ballot_reply(tuple(positions), mover_labels(debate), options),
            check=lambda ballot: ballot_fault(ballot, list(positions), options),
        )
    except ReplyUnreadable as error:
        abstention = Abstention(turn=turn, reason=str(error), call=error.call)
        return BallotAbstained(abstention=abstention)
    if abstains(reply):
        abstention = Abstention(turn=turn, reason=reply.reasons[0], declared=True, call=call)
        return BallotAbstained(abstention=abstention)
    reasons = reasons_by_label(reply, list(positions))
    shares = as_shares(dict(zip(options, reply.probabilities, strict=True)))
    probabilities = options_of(debate).probabilities(shares)
    # What moved the voter counts only if it has moved at all.
    moved_by, why_moved, before = None, "", held_before(debate, turn)
    if before and before != leading(probabilities):
        moved_by, why_moved = movers.get(reply.moved_by), " ".join(reply.why_moved.split())
    return BallotCast(
        ballot=Ballot(
            turn=turn,
            ranking=tuple(positions[label] for label in reply.ranking),
            reasons={positions[label]: reason for label, reason in reasons.items()},
            probabilities=probabilities,
            confidence=None,
            moved_by=moved_by,
            why_moved=why_moved,
            call=call,
        )
    )


def abstains(reply: BallotReply) -> bool:
    return not reply.ranking and len(reply.reasons) == 1 and bool(reply.reasons[0].strip())


def ballot_fault(reply: BallotReply, labels: Sequence[str], options: Sequence[str] = ()) -> str:
    """All that is wrong with the ballot, in sentences for the model; empty if it is good."""
    if abstains(reply):
        return ""
    faults = list[str]()
    if sorted(reply.ranking) != sorted(labels):
        missing = ", ".join(label for label in labels if label not in reply.ranking)
        rest = f" {missing} must be ranked too." if missing else ""
        faults.append(
            f"The ranking must hold each of {', '.join(labels)} exactly once, best first; "
            f"it holds {', '.join(reply.ranking) or 'nothing'}.{rest}"
        )
    if len(reply.reasons) != len(labels):
        faults.append(
            f"There must be {len(labels)} reasons, one per label; there are {len(reply.reasons)}."
        )
    elif none := [label for label, why in reasons_by_label(reply, labels).items() if not why]:
        faults.append(
            f"There must be a reason for each label; there is none for {', '.join(none)}."
        )
    total = sum(reply.probabilities)
    if len(reply.probabilities) != len(options):
        faults.append(
            f'"probabilities" must hold {len(options)} numbers, for {", ".join(options)}; '
            f"it holds {len(reply.probabilities)}."
        )
    elif options and not (min(reply.probabilities) >= 0 and 0 < total <= _PERCENT + 1):
        faults.append(f"Probabilities are from 0 to 100, and 100 together; these are {total:g}.")
    return " ".join(faults)


def reasons_by_label(reply: BallotReply, labels: Sequence[str]) -> Mapping[str, str]:
    """The reasons of a good ballot, each under its label.

    A reason that begins with a label ("p2: …") is that label's, if all do; else the order counts.
    """
    named = [re.match(r"\W*(\w+)\W*[:–—-]\s*(.*)", reason, re.DOTALL) for reason in reply.reasons]
    by_label = {match[1].casefold(): match[2].strip() for match in named if match}
    if by_label.keys() == {label.casefold() for label in labels}:
        return {label: by_label[label.casefold()] for label in labels}
    return dict(zip(labels, (reason.strip() for reason in reply.reasons), strict=True))


def held_before(debate: Debate, turn: Turn) -> str:
    """Id of the option this voter held best before the debate; empty where that is not known."""
    blind = debate.ballots.get(Turn(act=Act.BALLOT, round=0, agent=turn.agent).key)
    if not blind or not turn.round:
        return ""
    return leading(options_of(debate).probabilities(blind.probabilities))


def possible_movers(debate: Debate, turn: Turn) -> Mapping[str, Contribution]:
    """Contributions of others that can have changed a voter's first choice, by label.

    Where positions are criticised one by one: the critiques of positions for the option that the
    voter held best at first, c1…cK, of the round in which it first put another one first; the
    newest ones where it has not done so yet. Else each other agent's last contribution, by letter.
    """
    before = held_before(debate, turn)
    if not before:
        return {}
    others = [
        contribution
        for contribution in debate.contributions.values()
        if contribution.turn.agent != turn.agent
    ]
    if Act.CRITIQUE not in format_of(debate).phases:
        newest = {
            debate.setup.letter(contribution.turn.agent): contribution
            for contribution in others
            if contribution.turn.act in _ARGUED
        }
        return dict(sorted(newest.items()))
    about = [
        contribution
        for contribution in others
        if contribution.turn.act is Act.CRITIQUE
        and (
            contribution.turn.target == turn.agent
            or drafted_option(debate, contribution.turn.target or "") == before
        )
    ]
    # Only what it had read by the round in which it moved can have moved it.
    stated = (
        (contribution.turn.round, leading(stance_in(debate, contribution)))
        for contribution in debate.contributions.values()
        if contribution.turn.agent == turn.agent
    )
    moved_in = next((at for at, best in stated if best not in {"", before}), 0)
    number = moved_in or max((critique.turn.round for critique in about), default=0)
    critiques = (critique for critique in about if critique.turn.round == number)
    return {f"c{place}": critique for place, critique in enumerate(critiques, start=1)}


def mover_labels(debate: Debate) -> tuple[str, ...]:
    """All labels that what moved a voter can have: the same for every voter, and in both ballots.

    So all ballots have one form: a vendor's cache is another one for each form.
    """
    agents = [agent.id for agent in debate.setup.agents]
    if Act.CRITIQUE in format_of(debate).phases:
        # Nobody is shown more than all others' critiques of everybody.
        texts = [f"c{number}" for number in range(1, (len(agents) - 1) ** 2 + 1)]
    else:
        texts = [debate.setup.letter(agent) for agent in agents]
    return (*texts, *(source.id for source in debate.evidence))


def _about(debate: Debate, turn: Turn) -> Sequence[Part]:
    positions = [
        Part(kind=PartKind.CANDIDATE, label=label, text=candidate.text, trim_priority=2)
        for label, candidate in candidates(debate, turn).items()
    ]
    critiques = [
        Part(kind=PartKind.CRITIQUE, label=label, text=in_brief(text), trim_priority=3)
        for label, text in possible_movers(debate, turn).items()
        if text.turn.act is Act.CRITIQUE
    ]
    history = (*told_in_short(debate, turn), *format_of(debate).shown_parts(debate, turn))
    return (*history, *positions, *critiques)


def _values(debate: Debate, turn: Turn) -> Mapping[str, object]:
    slate = candidates(debate, turn)
    letters = [
        f"Position {debate.setup.letter(candidate.turn.agent)} is {label}"
        for label, candidate in slate.items()
        if turn.round and debate.setup.format not in {critique.NAME, review.NAME}
    ]
    return {
        "review": debate.setup.format == review.NAME,
        "count": len(slate),
        "labels": ", ".join(slate),
        "options": ", ".join(option_labels(debate)),
        "before": options_of(debate).name(held_before(debate, turn)),
        "movers": ", ".join(possible_movers(debate, turn)),
        "letters": ", ".join(letters),
        "sources": ", ".join(source.id for source in debate.evidence),
        "answered": any(
            turn_of(Act.REFINEMENT, contribution.turn.round, contribution.turn.target or "").key
            in debate.contributions
            for contribution in possible_movers(debate, turn).values()
        ),
    }


async def tally(_calls: ModelCalls, debate: Debate, _turn: Turn) -> VoteTallied:
    turns = ballot_turns(debate)
    ballots = [debate.ballots[turn.key] for turn in turns if turn.key in debate.ballots]
    abstained = [turn.agent for turn in turns if turn.key not in debate.ballots]
    positions = {a: current_option(debate, a) for a in format_of(debate).positions(debate)}
    counted = voting.count(
        positions,
        ballots,
        debate.setup.vote,
        abstained=abstained,
        options=options_of(debate),
    )
    return VoteTallied(tally=counted, edition=debate.edition)


ACTS[Act.BALLOT] = ActSpec(
    max_tokens=1024, effort=Effort.LOW, values=_values, about=_about, perform=vote
)
ACTS[Act.TALLY] = ActSpec(asks_model=False, outcome_key="tally", perform=tally)
