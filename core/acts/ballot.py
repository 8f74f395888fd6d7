"""Ballots and their count: voters rank all positions, first blind and again at the end.

A ballot also states the voter's probability for each option, and what changed its mind.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema

from core.acts.act import ACTS, ActSpec
from core.acts.context import (
    candidate_parts,
    candidates,
    name_of,
    option_labels,
    round_summary_parts,
)
from core.acts.replies import NOBODY, label_type, narrow_form, number_in
from core.acts.request_for import ask_model
from core.debate.contributions import Contribution
from core.debate.state import Debate, roster
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
#: Labels of positions and ids of options.
_LABEL = re.compile(r"\b[a-z]\d+\b")
#: Speeches that answer other agents, in formats without critiques of single positions.
_ARGUED = frozenset({Act.DEBATE, Act.ADJUST, Act.REBUTTAL, Act.STATEMENT})


class BallotReply(BaseModel):
    """What a voter answers: a reason for each label in the labels' order, then the ranking.

    An empty ranking with one reason is an abstention.
    """

    reasons: list[str]
    ranking: list[str]
    #: Probability that each option is the best, in percent, in the order of the options.
    probabilities: list[Annotated[float, BeforeValidator(number_in)]] = []
    #: Label of the text or source that changed the voter's mind, or `NOBODY`.
    moved_by: str = NOBODY
    #: The argument that convinced the voter, if it changed its mind.
    why_moved: str = ""


@cache
def ballot_reply(
    labels: tuple[str, ...], movers: tuple[str, ...], options: tuple[str, ...]
) -> type[BallotReply]:
    label, mover = label_type(labels), label_type((*movers, NOBODY))
    types: dict[str, Any] = {"ranking": list[label], "moved_by": mover}
    if options:
        share = Annotated[float, BeforeValidator(number_in), WithJsonSchema({"type": "number"})]
        field = Field(description=f"for {', '.join(options)}")
        types["probabilities"] = Annotated[list[share], field]
    return narrow_form(BallotReply, **types)


async def vote(calls: ModelCalls, debate: Debate, turn: Turn) -> BallotCast | BallotAbstained:
    """Rank all positions under neutral labels; an unreadable reply counts as an abstention.

    A voter may also declare an abstention, with a reason.
    """
    positions = {label: text.turn.agent for label, text in candidates(debate, turn).items()}
    # The cause of a change is recorded as the key of a critique or the id of an agent or source.
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
        # People read names in place of the labels that the model read.
        names = {label: name_of(debate, agent) for label, agent in positions.items()}
        names |= {option.id: option.name for option in options_of(debate).items}
        reason = _LABEL.sub(lambda label: names.get(label[0], label[0]), str(error))
        abstention = Abstention(turn=turn, reason=reason, call=error.call)
        return BallotAbstained(abstention=abstention)
    if abstains(reply):
        abstention = Abstention(turn=turn, reason=reply.reasons[0], declared=True, call=call)
        return BallotAbstained(abstention=abstention)
    reasons = reasons_by_label(reply, list(positions))
    shares = as_shares(dict(zip(options, reply.probabilities, strict=True)))
    probabilities = options_of(debate).probabilities(shares)
    # The cause counts only if the voter's first choice has changed.
    moved_by, why_moved, before = None, "", blind_choice(debate, turn)
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
    """All faults of the ballot, in sentences for the model; empty if there are none."""
    if abstains(reply):
        return ""
    faults = list[str]()
    if sorted(reply.ranking) != sorted(labels):
        missing = ", ".join(label for label in labels if label not in reply.ranking)
        unranked = f" {missing} must be ranked too." if missing else ""
        faults.append(
            f"The ranking must hold each of {', '.join(labels)} exactly once, best first; "
            f"it holds {', '.join(reply.ranking) or 'nothing'}.{unranked}"
        )
    if len(reply.reasons) != len(labels):
        faults.append(
            f"There must be {len(labels)} reasons, one per label; there are {len(reply.reasons)}."
        )
    elif empty := [label for label, text in reasons_by_label(reply, labels).items() if not text]:
        faults.append(
            f"There must be a reason for each label; there is none for {', '.join(empty)}."
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
    """The reasons of a valid ballot by label.

    If every reason begins with a label ("p2: …"), these labels count; otherwise the order does.
    """
    matches = [re.match(r"\W*(\w+)\W*[:–—-]\s*(.*)", reason, re.DOTALL) for reason in reply.reasons]
    by_label = {match[1].casefold(): match[2].strip() for match in matches if match}
    if by_label.keys() == {label.casefold() for label in labels}:
        return {label: by_label[label.casefold()] for label in labels}
    return dict(zip(labels, (reason.strip() for reason in reply.reasons), strict=True))


def blind_choice(debate: Debate, turn: Turn) -> str:
    """Id of the option that this voter put first before the debate; empty if unknown."""
    blind = debate.ballots.get(Turn(act=Act.BALLOT, round=0, agent=turn.agent).key)
    if not blind or not turn.round:
        return ""
    return leading(options_of(debate).probabilities(blind.probabilities))


def possible_movers(debate: Debate, turn: Turn) -> Mapping[str, Contribution]:
    """Contributions of other agents that can have changed a voter's first choice, by label.

    In formats with critiques of single positions these are critiques, c1…cK, of the positions for
    the option that the voter put first before the debate. They are of the round in which the voter
    first preferred another option, or of the newest round if it never did. In other formats these
    are each other agent's last contribution, by letter.
    """
    before = blind_choice(debate, turn)
    if not before:
        return {}
    contributions = [
        contribution
        for contribution in debate.contributions.values()
        if contribution.turn.agent != turn.agent
    ]
    if Act.CRITIQUE not in format_of(debate).phases:
        newest = {
            debate.setup.letter(contribution.turn.agent): contribution
            for contribution in contributions
            if contribution.turn.act in _ARGUED
        }
        return dict(sorted(newest.items()))
    critiques = [
        contribution
        for contribution in contributions
        if contribution.turn.act is Act.CRITIQUE
        and (
            contribution.turn.target == turn.agent
            or drafted_option(debate, contribution.turn.target or "") == before
        )
    ]
    # Critiques after the round in which the voter moved cannot be the cause.
    first_choices = (
        (contribution.turn.round, leading(stance_in(debate, contribution)))
        for contribution in debate.contributions.values()
        if contribution.turn.agent == turn.agent
    )
    moved_in = next((number for number, best in first_choices if best not in {"", before}), 0)
    round_ = moved_in or max((critique.turn.round for critique in critiques), default=0)
    of_round = (critique for critique in critiques if critique.turn.round == round_)
    return {f"c{place}": critique for place, critique in enumerate(of_round, start=1)}


def mover_labels(debate: Debate) -> tuple[str, ...]:
    """All labels that can stand for the cause of a change, the same for all voters and ballots.

    So all ballots have one form. Vendors keep a separate cache for each form.
    """
    agents = roster(debate)
    if Act.CRITIQUE in format_of(debate).phases:
        # A voter is shown at most all critiques by all other agents.
        texts = [f"c{number}" for number in range(1, (len(agents) - 1) ** 2 + 1)]
    else:
        texts = [debate.setup.letter(agent) for agent in agents]
    return (*texts, *(source.id for source in debate.evidence))


def _turn_parts(debate: Debate, turn: Turn) -> Sequence[Part]:
    critiques = [
        Part(kind=PartKind.CRITIQUE, label=label, text=in_brief(text), trim_priority=3)
        for label, text in possible_movers(debate, turn).items()
        if text.turn.act is Act.CRITIQUE
    ]
    history = (*round_summary_parts(debate, turn), *format_of(debate).shown_parts(debate, turn))
    return (*history, *candidate_parts(debate, turn), *critiques)


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
        "before": options_of(debate).name(blind_choice(debate, turn)),
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
    abstainers = [turn.agent for turn in turns if turn.key not in debate.ballots]
    positions = {a: current_option(debate, a) for a in format_of(debate).positions(debate)}
    result = voting.count(
        positions,
        ballots,
        debate.setup.vote,
        abstained=abstainers,
        options=options_of(debate),
    )
    return VoteTallied(tally=result, edition=debate.edition)


ACTS[Act.BALLOT] = ActSpec(
    max_tokens=1024, effort=Effort.LOW, values=_values, turn_parts=_turn_parts, perform=vote
)
ACTS[Act.TALLY] = ActSpec(asks_model=False, perform=tally)
