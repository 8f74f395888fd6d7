"""Every post of a debate, declared once, in the order in which an event brings them about (pure).

Keys are made from the event, so that presenting it twice changes nothing.

Reason: one table of all posts, in one place.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from bot.presenter.post import Occasion, Post, PostPlace, Scene, post_about, reaction
from bot.queue.rows import NewPost
from bot.queue.slack_calls import ALONE
from bot.slack.ids import (
    address_of,
    asking_thread_key,
    board_key,
    card_key,
    continued_key,
    event_key,
    headline_key,
    note_ts,
    outcome_key,
    pin_key,
    report_key,
    session_key,
    turn_key,
    vote_key,
)
from bot.slack.mrkdwn import bare_gist
from bot.views import notices
from bot.views.board import board, shows_full_question
from bot.views.clarifications import card
from bot.views.decision import answer_views, decision_line, outcome_post, question_line, reminder
from bot.views.group_post import group_post, turn_posts
from bot.views.message import MessageView
from bot.views.progress import is_shown
from bot.views.verdict import headline, verdict_posts
from bot.views.vote import vote_post
from core.acts.act import ACTS
from core.debate.debate_events import (
    ClarificationsClosed,
    DebateConcluded,
    DebateFailed,
    DebateStarted,
    OutageBegan,
    OutageEnded,
    OutcomeAsked,
    ReminderDue,
    TimeRanOut,
)
from core.debate.evidence import SourceKind
from core.debate.log import RecordedEvent
from core.debate.message_events import AnswerWithdrawn, ClarificationAnswered, NoteAdded
from core.debate.people_events import (
    DebatePaused,
    DebateResumed,
    DebateWanted,
    DecisionRecorded,
    FollowUpAsked,
    OptionEdited,
    OutcomeGiven,
    PeopleBallotCast,
    StopRequested,
    VoteCalled,
)
from core.debate.state import Debate, Status
from core.debate.turn import Turn
from core.debate.turn_events import (
    ClarificationsOpened,
    ContributionMade,
    FacilitatorDecided,
    FollowUpAnswered,
    GatePassed,
    SourceRead,
    TurnFailed,
    VerdictReached,
    VoteTallied,
)
from core.debate.vote import NextStep
from core.errors import LogBroken
from core.rules.formats import review
from core.rules.formats.registry import format_of
from core.transcript.decision import adr
from core.transcript.people import adr_status
from core.transcript.record import record_json
from core.transcript.report import report
from core.transcript.review_comment import task_list

T = TypeVar("T")

#: Says "read and passed on" to the person who wrote a note.
_SEEN = "eyes"
#: Says "this is an answer" to the person who wrote one.
_TAKEN = "white_check_mark"
_TITLE_LIMIT = 200
#: Events after which somebody looks at the board.
_FOR_BOARD = (
    DebateConcluded,
    DebateFailed,
    DebatePaused,
    DebateResumed,
    DebateWanted,
    DecisionRecorded,
    StopRequested,
    VerdictReached,
    VoteCalled,
)
#: Events that may open or close a card, or answer what it asks.
_FOR_CARDS = (
    AnswerWithdrawn,
    ClarificationAnswered,
    ClarificationsClosed,
    DebateFailed,
    DebatePaused,
    DebateResumed,
    StopRequested,
    VoteCalled,
)


# --- living posts ---------------------------------------------------------------------------------


def _board(scene: Scene) -> MessageView:
    """After the end it links to the verdict and the vote."""
    debate, links = scene.debate, dict[str, str]()
    if debate.status is not Status.RUNNING and debate.verdict:
        links["Verdict"] = address_of(headline_key(debate.id, debate.edition))
    if debate.status is not Status.RUNNING and debate.tally and not debate.setup.quiet:
        links["Vote"] = address_of(vote_key(debate.id, debate.edition))
    return board(debate, remarks=scene.remarks, links=links)


def _card(scene: Scene) -> MessageView:
    debate = scene.debate
    opened = debate.clarifications.values()
    return card(debate, next(c for c in opened if card_key(debate.id, c.turn.key) == scene.key))


def _headline(scene: Scene) -> MessageView:
    reached, pages = _known(scene.debate.verdict), scene.pages
    return headline(scene.debate, reached, superseded=scene.superseded, pages=pages)


def _vote(scene: Scene) -> MessageView:
    return vote_post(scene.debate, _known(scene.debate.tally), superseded=scene.superseded)


def _known(value: T | None) -> T:
    if value is None:
        raise LogBroken("The log lacks what a post of its own shows.")
    return value


def _pin(scene: Scene) -> Mapping[str, Any]:
    """The board is pinned while its debate runs, and longer where the channel wants that."""
    status = scene.debate.status
    is_kept = status is Status.CONCLUDED and (scene.keep_pinned or scene.debate.is_sealed)
    return {"pinned": status is Status.RUNNING or is_kept}


def _session(scene: Scene) -> Mapping[str, Any]:
    """Slack shows that the app works, with a Stop of its own, while the status is `processing`.

    Source: https://docs.slack.dev/ai/agent-sessions.
    """
    setup = scene.debate.setup
    return {
        "status": session_status(scene.debate),
        "title": bare_gist(setup.question, _TITLE_LIMIT),
        "initiator_user_id": setup.asked_by.id,
    }


def session_status(debate: Debate) -> str:
    """Slack's word for how the debate stands."""
    if debate.status is Status.FAILED:
        return "closed"
    if debate.status is Status.CONCLUDED or debate.verdict or debate.stop:
        return "active"  # nothing is left to be stopped; people can still write and decide
    waits = debate.paused_by or debate.outage or debate.waits_for_answers
    return "suspended" if waits else "processing"


def _outcome(scene: Scene) -> MessageView:
    """Every post about one decision looks the same."""
    debate = scene.debate
    of = next((d for d in debate.decisions if f"/outcome/{d.origin}/" in scene.key), None)
    return outcome_post(debate, of)


# --- what is fixed --------------------------------------------------------------------------------


def _eyes_on_mention(occasion: Occasion[DebateStarted]) -> Sequence[Mapping[str, Any]]:
    mention = occasion.debate.setup.mention
    return [{"name": _SEEN, "target_ts": mention.message}] if mention else ()


def _sources(occasion: Occasion[SourceRead]) -> Iterator[MessageView]:
    """A line for all that was decided earlier, in a quiet debate on the board; else for each."""
    source = occasion.event.source
    if source.reference.kind is SourceKind.REGISTER:
        if _is_loud(occasion) and (text := notices.decided_earlier(occasion.debate)):
            yield notices.notice(text)
    elif source.fault or (source.text and source.reference.kind is not SourceKind.DECISION):
        yield notices.source_line(source)


def _answer(occasion: Occasion[FollowUpAnswered]) -> Sequence[MessageView]:
    answer = occasion.event.answer
    question = occasion.debate.follow_ups[int(answer.turn.target or 1) - 1]
    return answer_views(occasion.debate, question, answer)


def _told_in_asked(occasion: Occasion[VerdictReached]) -> MessageView:
    whole = address_of(headline_key(occasion.debate.id, occasion.event.edition))
    return notices.verdict_in_short(occasion.debate, occasion.event.verdict, whole)


def _reminders(occasion: Occasion[ReminderDue]) -> Sequence[MessageView]:
    debate, origin = occasion.debate, occasion.event.decision
    return [
        reminder(debate, decision) for decision in debate.decisions if decision.origin == origin
    ]


def _report(occasion: Occasion[DebateConcluded]) -> Mapping[str, Any]:
    """The report, the decision record, the whole record: files that hang on the verdict's post."""
    debate = occasion.debate
    # A post in doubt is looked for by these names: those of an earlier edition are other ones.
    edition = f"-edition-{debate.edition}" if debate.edition > 1 else ""
    files, words = _files(debate, occasion.log, f"moot-{debate.id}{edition}")
    verdict_post = headline_key(debate.id, debate.edition)
    return {"text": f"{words}.", "files": files, "target_key": verdict_post}


def _decision_views(occasion: Occasion[DecisionRecorded]) -> Mapping[str, Any]:
    """What the team made of the verdict, with the decision record that says so."""
    debate, text = occasion.debate, decision_line(occasion.event.decision).text
    name = f"moot-{debate.id}-{occasion.seq}-decision.md"
    return {
        "text": f"{text}\nThe decision record (ADR), renewed: {adr_status(debate)}.",
        "files": [{"filename": name, "content": adr(debate)}],
        ALONE: text,
    }


def _files(
    debate: Debate, log: Sequence[RecordedEvent], name: str
) -> tuple[Sequence[Mapping[str, str]], str]:
    """The files of a debate, and what they are; of a review also the list for a pull request."""
    files = [
        {"filename": f"{name}-report.md", "content": report(debate)},
        {"filename": f"{name}-decision.md", "content": adr(debate)},
        {"filename": f"{name}-record.json", "content": record_json(log)},
    ]
    if debate.setup.format != review.NAME:
        return files, "Report, decision record (ADR) and the whole record of this debate"
    files.append({"filename": f"{name}-review.md", "content": task_list(debate)})
    return files, (
        "Report, decision record (ADR), the whole record, and the findings as a task list for a "
        "pull request"
    )


def _counts(occasion: Occasion[Any]) -> bool:
    """Whether it was not written while somebody wanted the debate to go on."""
    return occasion.event.edition == occasion.debate.edition


def _is_loud(occasion: Occasion[Any]) -> bool:
    return not occasion.debate.setup.quiet


# --- the registry ---------------------------------------------------------------------------------

POSTS: Final[Sequence[Post[Any]]] = (
    Post(
        on=DebateStarted,
        shows=_board,
        name="board",
        prompt=_FOR_BOARD,
        key=lambda it, _: board_key(it.debate.id),
        where=PostPlace.CHANNEL,
        urgent=True,
    ),
    # Leads from the thread of the older debate here. Two debates are presented side by side: only
    # together with this board the line is sure to be sent after it, and so to have its address.
    Post(
        on=DebateStarted,
        when=lambda it: it.debate.setup.continues != it.debate.id,
        view=lambda it: [
            notices.continuation_line(
                address_of(board_key(it.debate.id)),
                it.debate.setup.question,
                it.debate.setup.asked_by,
            )
        ],
        key=lambda it, _: continued_key(it.debate.setup.continues, it.debate.id),
        where=PostPlace.OLDER,
    ),
    # The eyes on the message that asked, and the way to the board.
    Post(
        on=DebateStarted,
        view=_eyes_on_mention,
        key=lambda it, _: asking_thread_key(it.debate.id, "eyes"),
        method="react",
        where=PostPlace.CHANNEL,
        urgent=True,
    ),
    Post(
        on=DebateStarted,
        view=lambda it: [notices.board_link_line(it.debate, address_of(board_key(it.debate.id)))],
        key=lambda it, _: asking_thread_key(it.debate.id, "link"),
        where=PostPlace.ASKED,
        urgent=True,
    ),
    Post(
        on=DebateStarted,
        shows=_pin,
        name="pin",
        key=lambda it, _: pin_key(it.debate.id),
        method="pin",
    ),
    # The debate as an agent's session, where the app is installed as an agent.
    Post(
        on=DebateStarted,
        shows=_session,
        name="session",
        prompt=_FOR_BOARD,
        key=lambda it, _: session_key(it.debate.id),
        method="session",
    ),
    # The question in full where the board has no room for it.
    Post(
        on=DebateStarted,
        view=lambda it: () if shows_full_question(it.debate) else notices.question_posts(it.debate),
    ),
    reaction(NoteAdded, _SEEN, lambda event: event.note.id.partition("/")[0]),
    # A note from a form is shown to everybody.
    Post(
        on=NoteAdded,
        when=lambda it: not note_ts(it.event.note.id.partition("/")[0]),
        view=lambda it: [notices.added_note(it.event.note)],
    ),
    Post(
        on=ClarificationsOpened,
        when=lambda it: it.event.clarifications.items,
        shows=_card,
        name="card",
        prompt=_FOR_CARDS,
        key=lambda it, _: card_key(it.debate.id, it.event.clarifications.turn.key),
        urgent=True,
    ),
    reaction(ClarificationAnswered, _TAKEN, lambda event: event.answer.origin),
    # What an agent said; what was carried over has been read already. Its key is made from its
    # turn, so that others can link to it.
    Post(
        on=ContributionMade,
        when=lambda it: is_shown(it.event.contribution),
        view=lambda it: turn_posts(it.debate, it.event.contribution),
        key=lambda it, part: turn_key(it.debate.id, it.event.contribution.turn.key, part),
        turn=lambda event: event.contribution.turn,
    ),
    Post(
        on=TurnFailed,
        when=lambda it: ACTS[it.event.failure.turn.act].is_posted,
        view=lambda it: [notices.turn_failure_line(it.debate, it.event.failure)],
        turn=lambda event: event.failure.turn,
    ),
    Post(
        on=FacilitatorDecided,
        when=lambda it: _is_loud(it) or it.event.guidance.next_step is not NextStep.GO_ON,
        view=lambda it: [notices.guidance_line(it.debate, it.event.guidance)],
        turn=lambda event: event.guidance.turn,
    ),
    # That a round is held shows on the board; the verdict says when the last one was over.
    Post(
        on=GatePassed,
        when=lambda it: (
            (it.event.gate.ends_rounds or it.event.gate.skips)
            and (_is_loud(it) or not it.event.gate.turn.round)
        ),
        view=lambda it: [notices.rounds_end_line(it.debate, it.event.gate)],
    ),
    Post(on=OptionEdited, view=lambda it: [notices.option_change_line(it.debate, it.event.edit)]),
    Post(on=SourceRead, view=_sources),
    # Before anybody spoke the debate ends at once, and its end says who stopped it.
    Post(
        on=StopRequested,
        when=lambda it: format_of(it.debate).positions(it.debate),
        view=lambda it: [notices.stop_line(it.event.stop)],
    ),
    Post(on=VoteCalled, view=lambda it: [notices.vote_call_line(it.event.by)]),
    # Where nobody paused it, a backup was restored; the board says that.
    Post(
        on=DebatePaused,
        when=lambda it: it.event.by.id,
        view=lambda it: [notices.pause_line(it.event.by)],
    ),
    Post(on=DebateResumed, view=lambda it: [notices.resume_line(it.event.by)]),
    Post(on=OutageBegan, view=lambda it: [notices.outage(it.event.reason)]),
    Post(on=OutageEnded, view=lambda _: [notices.outage_end()]),
    Post(on=TimeRanOut, view=lambda it: [notices.out_of_time(of_outage=it.event.of_outage)]),
    # In a quiet debate it is a part of the verdict's post; until then the board has it.
    Post(
        on=VoteTallied,
        when=lambda it: _counts(it) and _is_loud(it),
        shows=_vote,
        name="vote",
        prompt=(PeopleBallotCast, DecisionRecorded),
        of_edition=True,
        key=lambda it, _: vote_key(it.debate.id, it.event.edition),
    ),
    # The whole synthesis, which a quiet debate's short form has folded away; then that short
    # form, in the channel too.
    Post(
        on=VerdictReached,
        when=lambda it: _counts(it) and _is_loud(it),
        view=lambda it: verdict_posts(it.debate, it.event.verdict),
    ),
    Post(
        on=VerdictReached,
        when=_counts,
        shows=_headline,
        name="headline",
        prompt=(PeopleBallotCast, DecisionRecorded, OutcomeGiven),
        of_edition=True,
        key=lambda it, _: headline_key(it.debate.id, it.event.edition),
        broadcast=True,
    ),
    Post(
        on=VerdictReached,
        when=_counts,
        view=lambda it: [_told_in_asked(it)],
        key=lambda it, _: asking_thread_key(
            it.debate.id, "verdict" if it.event.edition == 1 else f"verdict/{it.event.edition}"
        ),
        where=PostPlace.ASKED,
    ),
    Post(
        on=DebateConcluded,
        when=lambda it: _counts(it) and it.log,
        view=lambda it: [_report(it)],
        key=lambda it, _: report_key(it.debate.id, it.debate.edition),
        method="upload",
    ),
    Post(on=DebateFailed, view=lambda it: [notices.failure_line(it.debate, it.event.reason)]),
    Post(
        on=DebateFailed,
        view=lambda it: [
            notices.failure_line(it.debate, it.event.reason, address_of(board_key(it.debate.id)))
        ],
        key=lambda it, _: asking_thread_key(it.debate.id, "verdict"),
        where=PostPlace.ASKED,
    ),
    Post(
        on=DebateWanted,
        view=lambda it: [
            notices.debate_request_line(it.event.by, had_verdict="verdict" in it.debate.times)
        ],
    ),
    Post(on=DecisionRecorded, view=lambda it: [_decision_views(it)], method="upload"),
    reaction(FollowUpAsked, _SEEN, lambda event: event.question.id),
    Post(
        on=FollowUpAsked,
        when=lambda it: not note_ts(it.event.question.id),
        view=lambda it: [question_line(it.event.question)],
    ),
    Post(on=FollowUpAnswered, view=_answer),
    Post(on=ReminderDue, view=_reminders),
    Post(
        on=OutcomeAsked,
        shows=_outcome,
        name="outcome",
        prompt=(DecisionRecorded, OutcomeGiven),
        key=lambda it, _: outcome_key(it.debate.id, it.event.decision, it.event.number),
    ),
    # Where people were asked, that post shows it; else the first answer is a post itself.
    Post(
        on=OutcomeGiven,
        when=lambda it: not it.debate.outcomes_asked.get(it.event.outcome.decision),
        shows=_outcome,
        name="outcome",
        prompt=(DecisionRecorded, OutcomeGiven),
        key=lambda it, _: outcome_key(it.debate.id, it.event.outcome.decision, 0),
    ),
)

#: Living posts by the name on their rows.
LIVING: Final[Mapping[str, Post[Any]]] = {post.name: post for post in POSTS if post.name}
#: The same by the event that brings them about.
_BY_EVENT: Final[Mapping[type[Any], Sequence[Post[Any]]]] = {
    event: tuple(post for post in POSTS if post.on is event)
    for event in {post.on for post in POSTS}
}


def hurried_by(event: object) -> Sequence[str]:
    return [name for name, post in LIVING.items() if isinstance(event, post.prompt)]


def turn_of(recorded: RecordedEvent) -> Turn | None:
    """The turn that an event is the outcome of, if people read it in its phase's place."""
    event = recorded.event
    return next((post.turn(event) for post in _BY_EVENT.get(type(event), ()) if post.turn), None)


def posts_of(
    debate: Debate, recorded: RecordedEvent, log: Sequence[RecordedEvent] = ()
) -> Sequence[NewPost]:
    upto = [entry for entry in log if entry.seq <= recorded.seq]
    occasion = Occasion[Any](debate=debate, event=recorded.event, seq=recorded.seq, log=upto)
    declarations = _BY_EVENT.get(type(recorded.event), ())
    return [post for declared in declarations for post in declared.posts(occasion)]


def posts_of_group(
    debate: Debate, group: Sequence[RecordedEvent], log: Sequence[RecordedEvent] = ()
) -> Sequence[NewPost]:
    """Return the posts of events that go out together; without the log no files.

    In a quiet debate an agent's contributions and failures are one post.
    """
    events = [recorded.event for recorded in group]
    contributions = [event.contribution for event in events if isinstance(event, ContributionMade)]
    visible = [contribution for contribution in contributions if is_shown(contribution)]
    if not debate.setup.quiet or not visible:
        return [post for recorded in group for post in posts_of(debate, recorded, log)]
    failures = [event.failure for event in events if isinstance(event, TurnFailed)]
    key = turn_key(debate.id, visible[0].turn.key, 0)
    return [post_about(debate, key, group_post(debate, visible, failures))]


def exported_files(debate: Debate, log: Sequence[RecordedEvent]) -> NewPost:
    """Return the files as a person wants them, once for each state of the debate."""
    files, words = _files(debate, log, f"moot-{debate.id}-{debate.seq}")
    content = {"text": f"{words}, as it stands.", "files": files}
    return post_about(debate, event_key(debate.id, debate.seq, "export"), content, "upload")
