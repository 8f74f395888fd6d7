"""Ballots: each voter ranks all positions, blind at first and once more at the end.

A ballot says too how likely the voter holds each option the best, and what moved it.
"""

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import takewhile
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema

from core.acts.act import ActSpec, declare
from core.acts.context import candidates, option_labels, told_in_short
from core.acts.replies import NOBODY, figure_in, narrowed, one_of
from core.acts.request_for import ask_model
from core.debate.contributions import Contribution
from core.debate.state import Debate
from core.debate.turn import Act, Turn, turn_of
from core.debate.turn_events import BallotAbstained, BallotCast
from core.debate.vote import Abstention, Ballot
from core.errors import ReplyUnreadable
from core.llm.call import ModelCalls
from core.request import Effort, Part, PartKind
from core.rules.formats import critique, review
from core.rules.formats.opening_words import in_brief
from core.rules.formats.registry import format_of
from core.rules.options import as_shares, leading, options_of, stance_in

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
    """The form of a ballot on these labels and options; `movers` is what can move any voter."""
    label, mover = one_of(labels), one_of((*movers, NOBODY))
    types: dict[str, Any] = {"ranking": list[label], "moved_by": mover}
    if options:
        share = Annotated[float, BeforeValidator(figure_in), WithJsonSchema({"type": "number"})]
        about = Field(description=f"for {', '.join(options)}")
        types["probabilities"] = Annotated[list[share], about]
    return narrowed(BallotReply, **types)


def _mover(contribution: Contribution) -> str:
    """What a label names as the cause of a change: one critique, else an agent, not its text."""
    turn = contribution.turn
    return turn.key if turn.act is Act.CRITIQUE else turn.agent


async def vote(calls: ModelCalls, debate: Debate, turn: Turn) -> BallotCast | BallotAbstained:
    """Rank all positions under neutral labels; an unreadable reply counts as an abstention.

    A voter may also abstain itself, with a reason.
    """
    positions = {label: text.turn.agent for label, text in candidates(debate, turn).items()}
    movers = {label: _mover(text) for label, text in possible_movers(debate, turn).items()}
    movers |= {source: source for source in source_labels(debate)}
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
    """Whether the voter ranks nothing and says why."""
    return not reply.ranking and len(reply.reasons) == 1 and bool(reply.reasons[0].strip())


def ballot_fault(reply: BallotReply, labels: Sequence[str], options: Sequence[str] = ()) -> str:
    """All that is wrong with the ballot, in sentences for the model; empty if it is good."""
    return "" if abstains(reply) else " ".join(_faults(reply, labels, options))


def _faults(reply: BallotReply, labels: Sequence[str], options: Sequence[str]) -> Iterator[str]:
    if sorted(reply.ranking) != sorted(labels):
        missing = [label for label in labels if label not in reply.ranking]
        rest = f" {', '.join(missing)} must be ranked too." if missing else ""
        yield (
            f"The ranking must hold each of {', '.join(labels)} exactly once, best first; "
            f"it holds {', '.join(reply.ranking) or 'nothing'}.{rest}"
        )
    if len(reply.reasons) != len(labels):
        yield f"There must be {len(labels)} reasons, one per label; there are {len(reply.reasons)}."
    elif unfounded := [
        label for label, reason in reasons_by_label(reply, labels).items() if not reason
    ]:
        yield f"There must be a reason for each label; there is none for {', '.join(unfounded)}."
    total = sum(reply.probabilities)
    if len(reply.probabilities) != len(options):
        yield (
            f'"probabilities" must hold {len(options)} numbers, for {", ".join(options)}; '
            f"it holds {len(reply.probabilities)}."
        )
    elif options and not (min(reply.probabilities) >= 0 and 0 < total < math.inf):
        yield "Probabilities are from 0 to 100, and 100 together."
    elif options and total > _PERCENT + 1:
        yield f"Probabilities are 100 together; these are {total:g}."


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
    if Act.CRITIQUE in format_of(debate).phases:
        return _critiques_of(debate, turn, before, others)
    newest = {
        debate.setup.letter(contribution.turn.agent): contribution
        for contribution in others
        if contribution.turn.act in _ARGUED
    }
    return dict(sorted(newest.items()))


def _critiques_of(
    debate: Debate, turn: Turn, option: str, others: Sequence[Contribution]
) -> Mapping[str, Contribution]:
    """Critiques of a voter's position and of others for the option that it held, by label."""
    stances: Mapping[str, str] = debate.options.stances if debate.options else {}
    options = options_of(debate)
    about = [
        contribution
        for contribution in others
        if contribution.turn.act is Act.CRITIQUE
        and (
            contribution.turn.target == turn.agent
            or options.resolve(stances.get(contribution.turn.target or "", "")) == option
        )
    ]
    number = moved_in(debate, turn) or max((critique.turn.round for critique in about), default=0)
    critiques = (critique for critique in about if critique.turn.round == number)
    return {f"c{place}": critique for place, critique in enumerate(critiques, start=1)}


def moved_in(debate: Debate, turn: Turn) -> int:
    """The first round in which a voter stated another option as the best than before the debate.

    0: it has not. Only what it had read by then can have moved it.
    """
    before = held_before(debate, turn)
    stated = (
        (contribution.turn.round, leading(stance_in(debate, contribution)))
        for contribution in debate.contributions.values()
        if contribution.turn.agent == turn.agent
    )
    return next((at for at, best in stated if best not in {"", before}), 0) if before else 0


def source_labels(debate: Debate) -> tuple[str, ...]:
    """Ids of the sources as prompts name them: e1, e2."""
    return tuple(source.id for source in debate.evidence)


def mover_labels(debate: Debate) -> tuple[str, ...]:
    """All labels that what moved a voter can have: the same for every voter, and in both ballots.

    So all ballots have one form: a vendor's cache is another one for each form.
    """
    agents = [agent.id for agent in debate.setup.agents]
    sources = source_labels(debate)
    if any(act is Act.CRITIQUE for act in format_of(debate).phases):
        # Nobody is shown more than all others' critiques of everybody.
        most = (len(agents) - 1) ** 2
        return (*(f"c{number}" for number in range(1, most + 1)), *sources)
    return (*(debate.setup.letter(agent) for agent in agents), *sources)


def _about(debate: Debate, turn: Turn) -> Sequence[Part]:
    """What was said in short, the candidates, and the critiques that can have moved the voter."""
    ends = _read_alike(debate, turn)
    positions = [
        Part(
            kind=PartKind.CANDIDATE,
            label=label,
            text=candidate.text,
            ends_shared=number in ends,
            trim_priority=2,
        )
        for number, (label, candidate) in enumerate(candidates(debate, turn).items(), start=1)
    ]
    critiques = [
        Part(
            kind=PartKind.CRITIQUE,
            label=label,
            text=in_brief(contribution),
            trim_priority=3,
        )
        for label, contribution in possible_movers(debate, turn).items()
        if contribution.turn.act is Act.CRITIQUE
    ]
    history = (*told_in_short(debate, turn), *format_of(debate).shown_parts(debate, turn))
    return (*history, *positions, *critiques)


def _read_alike(debate: Debate, turn: Turn) -> Collection[int]:
    """How many candidates this voter reads in the order of other voters of the same model.

    Orders are shuffled, so that only some begin alike; all are known, so that it is known which.
    """
    mine = debate.setup.agent(turn.agent)
    own = candidates(debate, turn).values()
    alike = set[int]()
    for other in debate.setup.agents:
        if other.id != mine.id and other.full_name == mine.full_name:
            theirs = candidates(debate, turn.model_copy(update={"agent": other.id})).values()
            same = takewhile(lambda pair: pair[0] is pair[1], zip(own, theirs, strict=True))
            alike.add(len(list(same)))
    return alike - {0}


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
        "sources": ", ".join(source_labels(debate)),
        "answered": any(
            turn_of(Act.REFINEMENT, contribution.turn.round, contribution.turn.target or "").key
            in debate.contributions
            for contribution in possible_movers(debate, turn).values()
        ),
    }


declare(
    Act.BALLOT,
    ActSpec(max_tokens=1024, effort=Effort.LOW, values=_values, about=_about, perform=vote),
)
