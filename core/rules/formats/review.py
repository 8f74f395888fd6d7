"""Format `review`: a proposal that somebody made is read, answered for, and looked at again.

Each agent reads the subject by itself and says what is wrong with which of its words. What several
found is merged, and what matters is put to the author, who answers in the thread or hands in a
changed text. Then each agent looks again at what it found. Where nothing of weight was found, or
nobody answers, there is no second look: nothing has changed. The vote is on three verdicts whose
ids never change.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from core.debate.questions import Clarification, Clarifications
from core.debate.rules import REVIEW
from core.debate.state import Debate, Status
from core.debate.turn import ENGINE, SUMMARIZER, Act, Turn
from core.debate.vote import Option, Options, QuestionKind
from core.request import Part, PartKind
from core.rules import findings, sources
from core.rules.options import leading
from core.rules.steps import Format, Step, everybody, single

NAME = REVIEW
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
#: Warns of a verdict that is no "Ready", whatever the judge and the vote say.
NOT_READY = (
    "The judge called it ready while findings that weigh are open, so it is ready with changes at "
    "most."
)


def _is_put(debate: Debate, _turn: Turn) -> bool:
    return bool(debate.findings and findings.findings_for_author(debate))


def _looks_again(debate: Debate, turn: Turn) -> bool | None:
    """Whether the agent looks again: at what it found, once the author has answered."""
    if debate.findings is None:
        return None
    if not findings.findings_for_author(debate) or not findings.own(debate, turn.agent):
        return False
    if not debate.is_done(ASKING) or debate.open_cards:
        return None
    if not is_answered(debate):
        return False
    return None if is_read_first(debate) else True


def _findings_of_all(_form: Format, debate: Debate, _turn: Turn) -> Sequence[Part]:
    lines = [
        f"f{number} (agent {debate.setup.letter(finding.raised_by[0])}): "
        f"{findings.line_of(finding)}"
        for number, finding in enumerate(findings.raised_findings(debate), start=1)
    ]
    return _listed("Findings of all agents", lines)


def _own_findings(_form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
    card = debate.clarifications.get(ASKING.key)
    # Findings put to the author are quoted above, with the answers.
    numbers = {finding_number(debate, item): item.number for item in (card.items if card else ())}
    lines = [
        f"f{finding.number}: number {numbers[finding.number]} of what people were asked"
        if finding.number in numbers
        else f"f{finding.number}: {findings.line_of(finding)}"
        for finding in findings.own(debate, turn.agent)
    ]
    return _listed("Your findings", lines)


def standing_findings(_form: Format, debate: Debate, _turn: Turn) -> Sequence[Part]:
    lines = [
        f"{finding.number}. {finding.status.value}, {findings.line_of(finding)}"
        + (f" ({finding.why})" if finding.why else "")
        for finding in findings.standing(debate)
    ]
    return _listed("Findings as they stand", lines or ["There are none."])


def _listed(label: str, lines: Sequence[str]) -> Sequence[Part]:
    text = "\n".join(" ".join(line.split()) for line in lines)
    return (Part(kind=PartKind.CRITIQUE, label=label, text=text, trim_priority=1),)


FORMAT = Format(
    name=NAME,
    most_rounds=1,
    compares_drafts=False,
    steps=(
        # Whoever has no review has nothing to look at again.
        Step(act=Act.REVIEW, misses=1, isolated=True, position=True, is_summed_up=True),
        Step(
            act=Act.FINDINGS,
            by=SUMMARIZER,
            after=(everybody(Act.REVIEW),),
            isolated=True,
            is_phase=False,
            shows=(_findings_of_all,),
        ),
        Step(
            act=Act.CLARIFICATION,
            by=ENGINE,
            after=(single(Act.FINDINGS),),
            only_if=_is_put,
            is_phase=False,
        ),
        Step(
            act=Act.SECOND_LOOK,
            after=(single(Act.CLARIFICATION),),
            only_if=_looks_again,
            position=True,
            stance=True,
            is_summed_up=True,
            shows=(_own_findings,),
        ),
    ),
    shows={Act.BALLOT: (standing_findings,), Act.SYNTHESIS: (standing_findings,)},
)


def questions_to_people(debate: Debate) -> Sequence[Clarification]:
    return [
        item
        for key, card in debate.clarifications.items()
        if not (debate.findings and key == ASKING.key)
        for item in card.items
    ]


def how_it_went(debate: Debate) -> str:
    if Act.SECOND_LOOK in {said.turn.act for said in debate.contributions.values()}:
        return "The author was asked about what matters, and the agents looked again."
    if debate.findings is None:
        return "It ended before all had said what they found."
    if not any(contribution.stance for contribution in FORMAT.drafts(debate).values()):
        return "No agent could say whether it is ready."
    if not findings.findings_for_author(debate):
        return "Nothing of weight was found, so there was no second look."
    if debate.is_done(ASKING) and not is_answered(debate):
        return "What was found stands unanswered, so there was no second look."
    return "There was no second look."


def options(debate: Debate, turn: Turn) -> Options:
    stances = {agent: leading(draft.stance) for agent, draft in FORMAT.drafts(debate).items()}
    return Options(
        turn=turn,
        question_kind=QuestionKind.CHOICE,
        items=tuple(Option(id=item, name=name) for item, name in VERDICTS.items()),
        stances={agent: option for agent, option in stances.items() if option},
    )


def put(debate: Debate, turn: Turn) -> Clarifications:
    first = 1 + sum(len(card.items) for card in debate.clarifications.values())
    wait = timedelta(seconds=debate.setup.clarifying.wait_seconds * PATIENCE)
    items = tuple(
        Clarification(
            number=number,
            question=findings.line_of(finding),
            assumption=_UNANSWERED,
            asked_by=finding.raised_by,
        )
        for number, finding in enumerate(findings.findings_for_author(debate), start=first)
    )
    return Clarifications(turn=turn, items=items, until=debate.now + wait, closed_by_event=True)


def finding_number(debate: Debate, item: Clarification) -> int | None:
    """The number of the finding that a question puts to the author; None: it is of no finding."""
    card = debate.clarifications.get(ASKING.key)
    if not debate.findings or not card or item not in card.items:
        return None
    return findings.findings_for_author(debate)[card.items.index(item)].number


def is_answered(debate: Debate) -> bool:
    """Whether the author's time is over, and something came of it: an answer, a note, a file."""
    card = debate.clarifications.get(ASKING.key)
    if not card or debate.open_cards:
        return False
    answers = (debate.answers.get(item.number) for item in card.items)
    is_said = any(answer and answer.text for answer in answers)
    return is_said or any(key.startswith("note/") for key in settled_by(debate))


def is_read_first(debate: Debate) -> bool:
    """Whether what the author handed in is still to be read: till then nobody looks, or votes."""
    if not debate.findings or not is_answered(debate):
        return False
    # The readings of what was handed in while the author was asked.
    notes = {key.removeprefix("note/") for key in settled_by(debate)}
    references = [ref for note in debate.all_notes if note.id in notes for ref in note.references]
    first, reading = len(debate.setup.references), sources.unread(debate)
    return any(
        sources.reading_turn(number) in reading
        for number, reference in enumerate(debate.references[first:], start=first + 1)
        if reference in references
    )


def settled_by(debate: Debate) -> Sequence[str]:
    """Keys of the author's responses: answers, notes, the end of the time to answer.

    Answers and notes count while the author is asked, a changed text any time before the vote.
    """
    card = debate.clarifications.get(ASKING.key)
    if not card:
        return ()
    changed = {f"note/{note.id}" for note in debate.all_notes if note.references}
    waiting = {f"answer/{item.number}" for item in card.items}
    closed, keys, is_asking = f"{ASKING.key}/closed", list[str](), False
    votes = {key for key, ballot in debate.ballots.items() if ballot.turn.round}
    for key in debate.times:
        if key in votes:
            break
        is_said = is_asking and (key in waiting or key == closed or key.startswith("note/"))
        if is_said or key in changed:
            keys.append(key)
            waiting.discard(key)
        if key == ASKING.key:
            is_asking = True
        elif key == closed or (not waiting and not card.closed_by_event):
            is_asking = False
    return keys


def revision_fault(debate: Debate) -> str:
    """Why no changed text can be handed in now, with what to do; empty where one can."""
    again = "Start another review with the changed text."
    if debate.setup.format != NAME:
        return f"Debate `{debate.id}` is no review: there is no text in it that could be changed."
    if debate.status is not Status.RUNNING or debate.stop or debate.verdict:
        return f"The review `{debate.id}` has ended, or is being wound up. {again}"
    acts = {contribution.turn.act for contribution in debate.contributions.values()}
    if Act.SECOND_LOOK in acts or any(ballot.turn.round for ballot in debate.ballots.values()):
        return f"The agents of `{debate.id}` have looked again already, or vote. {again}"
    if debate.findings and not findings.findings_for_author(debate):
        return f"Nothing of weight was found in `{debate.id}`, so nobody looks again. {again}"
    return ""
