"""Format `review`: a proposal that somebody made is read, answered for, and looked at again.

Each agent reads the subject by itself and says what is wrong with which of its words. What several
found is merged, and what matters is put to the author, who answers in the thread or hands in a
changed text. Then each agent looks again at what it found. Where nothing of weight was found, or
nobody answers, there is no second look: nothing has changed. The vote is on three verdicts whose
ids never change.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from core.models import (
    ENGINE,
    SUMMARIZER,
    Act,
    Clarification,
    Clarifications,
    Contribution,
    Debate,
    Option,
    Options,
    QuestionKind,
    Turn,
    turn_of,
)
from core.request import Part, PartKind
from core.rules import findings, sources
from core.rules.formats.outcomes import outcome_keys
from core.rules.formats.presence import awaited
from core.rules.options import leading
from core.rules.subject import unreadable

NAME = "review"
MOST_ROUNDS = 1
PHASES: tuple[Act, ...] = (Act.REVIEW, Act.SECOND_LOOK)
STANCE_ACT = Act.SECOND_LOOK
ENDS_ITSELF = True
COMPARES_DRAFTS = False
#: Ids of the verdicts, in every review.
READY, WITH_CHANGES, NOT_YET = "o1", "o2", "o3"
VERDICTS: Mapping[str, str] = {
    READY: "Ready",
    WITH_CHANGES: "Ready with changes",
    NOT_YET: "Not yet",
}
#: On it the findings of all are merged, and on it they are put to the author.
MERGING = Turn(act=Act.FINDINGS, round=1, agent=SUMMARIZER)
ASKING = Turn(act=Act.CLARIFICATION, round=1, agent=ENGINE)
#: The author has so many times as long as people have for a clarifying question: a text is to be
#: changed, perhaps.
PATIENCE = 4
_UNANSWERED = "the finding stands"


def ready(debate: Debate, rounds: int) -> Sequence[Turn]:
    """Turns whose inputs exist and which have no outcome yet. A review has one round."""
    if unreadable(debate):
        return ()
    turns = [_review(agent.id) for agent in debate.setup.agents]
    heard = [_review(agent) for agent in awaited(debate, alive(debate))]
    if heard and all(map(debate.is_done, heard)):
        turns.append(MERGING)
    if rounds and debate.findings and findings.to_put(debate):
        turns.append(ASKING)
        if is_answered(debate) and not is_read_first(debate):
            turns += _looks(debate)
    return tuple(turn for turn in turns if not debate.is_done(turn))


def planned(debate: Debate, number: int) -> Sequence[Turn]:
    """Every turn of the review, as far as can be foreseen."""
    if number > 1:
        return ()
    is_settled = debate.is_done(ASKING) and not debate.open_clarifications
    is_over = is_settled and not is_answered(debate)
    if is_over or (debate.findings and not findings.to_put(debate)):
        return tuple(_review(agent) for agent in alive(debate))
    looks = _looks(debate) if debate.findings else [_look(agent) for agent in alive(debate)]
    return (*(_review(agent) for agent in alive(debate)), *looks)


def alive(debate: Debate) -> Sequence[str]:
    """Ids of agents that can still speak: whoever has no review has nothing to look at again."""
    lost = {one.turn.agent for one in debate.failures.values() if one.turn.act is Act.REVIEW}
    lost |= debate.refused.keys()
    return tuple(agent.id for agent in debate.setup.agents if agent.id not in lost)


def positions(debate: Debate, upto: int | None = None) -> Mapping[str, Contribution]:
    """What each agent said last: its second look, else its review."""
    del upto  # there is one round
    made = debate.contributions
    found = {
        agent.id: made.get(_look(agent.id).key) or made.get(_review(agent.id).key)
        for agent in debate.setup.agents
    }
    return {agent: said for agent, said in found.items() if said}


def drafts(debate: Debate) -> Mapping[str, Contribution]:
    """The reviews; empty while one can still come."""
    turns = {agent.id: _review(agent.id) for agent in debate.setup.agents}
    if not all(debate.is_done(turns[agent]) for agent in awaited(debate, tuple(turns))):
        return {}
    made = {agent: debate.contributions.get(turn.key) for agent, turn in turns.items()}
    return {agent: draft for agent, draft in made.items() if draft}


def carried_over(debate: Debate, turn: Turn) -> Contribution | None:
    """Nothing is carried over."""
    del debate, turn


def sees(debate: Debate, turn: Turn) -> Sequence[Part]:
    """What this turn is about, beyond the subject, which is among the sources."""
    match turn.act:
        case Act.FINDINGS:
            found = findings.raised(debate)
            lines = [
                f"f{number} (agent {debate.setup.letter(one.raised_by[0])}): {findings.told(one)}"
                for number, one in enumerate(found, start=1)
            ]
            return (_listed("Findings of all agents", lines),)
        case Act.SECOND_LOOK:
            said = debate.text_of(Act.REVIEW, 1, turn.agent)
            own = [
                f"f{one.number}: {findings.told(one)}" for one in findings.own(debate, turn.agent)
            ]
            review = Part(kind=PartKind.OWN, label="Your review", text=said, trim_priority=2)
            return (review, _listed("Your findings", own))
        case Act.BALLOT | Act.SYNTHESIS:
            lines = [
                f"{one.number}. {one.status.value}, {findings.told(one)}"
                + (f" ({one.why})" if one.why else "")
                for one in findings.standing(debate)
            ]
            return (_listed("Findings as they stand", lines or ["There are none."]),)
        case _:
            return ()


def needs(debate: Debate, turn: Turn) -> Sequence[str]:
    """Keys of the outcomes this turn waits for."""
    match turn.act:
        case Act.FINDINGS:
            turns = [_review(agent.id) for agent in debate.setup.agents]
            return outcome_keys(debate, turns, alive(debate))
        case Act.CLARIFICATION:
            return (MERGING.key,)
        case Act.SECOND_LOOK:
            return (ASKING.key, *settled_by(debate), *_read_since(debate))
        case _:
            return ()


def longest_chain(rounds: int) -> int:
    """The review, the merging and the second look."""
    del rounds
    return len(PHASES) + 1


def questions_put(debate: Debate) -> Sequence[Clarification]:
    """Everything that people were asked, but for the findings that were put to the author."""
    asked = debate.clarifications.items()
    findings_put = {ASKING.key} if debate.findings else set[str]()
    return [item for key, one in asked if key not in findings_put for item in one.items]


def how_it_went(debate: Debate) -> str:
    """Whether there was a second look, and why not, in a sentence."""
    if any(made.turn.act is Act.SECOND_LOOK for made in debate.contributions.values()):
        return "The author was asked about what matters, and the agents looked again."
    if debate.findings is None:
        return "It ended before all had said what they found."
    if not any(made.stance for made in drafts(debate).values()):
        return "No agent could say whether it is ready."
    if not findings.to_put(debate):
        return "Nothing of weight was found, so there was no second look."
    if debate.is_done(ASKING) and not is_answered(debate):
        return "What was found stands unanswered, so there was no second look."
    return "There was no second look."


def options(debate: Debate, turn: Turn) -> Options:
    """The three verdicts, and which of them each agent's review stands for. Asks no model."""
    stances = {agent: leading(made.stance) for agent, made in drafts(debate).items()}
    return Options(
        turn=turn,
        question_kind=QuestionKind.CHOICE,
        items=tuple(Option(id=one, name=name) for one, name in VERDICTS.items()),
        stances={agent: option for agent, option in stances.items() if option},
    )


def put(debate: Debate, turn: Turn) -> Clarifications:
    """The findings that matter, put to the author: numbered on from earlier questions."""
    first = 1 + sum(len(asked.items) for asked in debate.clarifications.values())
    wait = timedelta(seconds=debate.setup.clarifying.wait_seconds * PATIENCE)
    items = tuple(
        Clarification(
            number=number,
            question=findings.told(one),
            assumption=_UNANSWERED,
            asked_by=one.raised_by,
        )
        for number, one in enumerate(findings.to_put(debate), start=first)
    )
    return Clarifications(turn=turn, items=items, until=debate.now + wait)


def is_answered(debate: Debate) -> bool:
    """Whether the author's time is over, and something came of it: an answer, a note, a file."""
    asked = debate.clarifications.get(ASKING.key)
    if not asked or debate.open_clarifications:
        return False
    said = (debate.answers.get(item.number) for item in asked.items)
    is_said = any(answer and answer.text for answer in said)
    return is_said or any(key.startswith("note/") for key in settled_by(debate))


def is_read_first(debate: Debate) -> bool:
    """Whether what the author handed in is still to be read: till then nobody looks, or votes."""
    if not debate.findings or not is_answered(debate):
        return False
    reading = {turn.key for turn in sources.unread(debate)}
    return not reading.isdisjoint(_read_since(debate))


def settled_by(debate: Debate) -> Sequence[str]:
    """Keys of what came while the author was asked: answers, notes, the end of the time."""
    asked = debate.clarifications.get(ASKING.key)
    if not asked:
        return ()
    waiting = {f"answer/{item.number}" for item in asked.items}
    closed, found, is_asking = f"{ASKING.key}/closed", list[str](), False
    for key in debate.times:
        if is_asking and (key in waiting or key == closed or key.startswith("note/")):
            found.append(key)
            waiting.discard(key)
        if key == closed or (is_asking and not waiting):
            break
        is_asking = is_asking or key == ASKING.key
    return found


def _read_since(debate: Debate) -> Sequence[str]:
    """Keys of the readings of what was handed in while the author was asked."""
    notes = {key.removeprefix("note/") for key in settled_by(debate)}
    given = [ref for note in debate.notes if note.id in notes for ref in note.references]
    numbered = enumerate(debate.references, start=1)
    return [sources.reading_turn(number).key for number, one in numbered if one in given]


def _looks(debate: Debate) -> Sequence[Turn]:
    """The second looks of those who found something."""
    return [_look(agent) for agent in alive(debate) if findings.own(debate, agent)]


def _listed(label: str, lines: Sequence[str]) -> Part:
    return Part(
        kind=PartKind.CRITIQUE,
        label=label,
        text="\n".join(" ".join(line.split()) for line in lines),
        trim_priority=1,
    )


def _review(agent: str) -> Turn:
    return turn_of(Act.REVIEW, 1, agent)


def _look(agent: str) -> Turn:
    return turn_of(Act.SECOND_LOOK, 1, agent)
