"""The registry of all posts of a debate, in the order in which an event causes them (pure).

Keys are made from the event, so that presenting it twice queues nothing new.

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

#: The reaction to a note: it is read and passed on.
_SEEN = "eyes"
#: The reaction to a message that counts as an answer.
_TAKEN = "white_check_mark"
_TITLE_LIMIT = 200
#: Events after which people look at the board.
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
#: Events that may close a card, or answer its questions.
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
    """The board; after the end it links to the verdict and the vote."""
    debate, links = scene.debate, dict[str, str]()
    if debate.status is not Status.RUNNING and debate.verdict:
        links["Verdict"] = address_of(headline_key(debate.id, debate.edition))
    if debate.status is not Status.RUNNING and debate.tally and not debate.setup.quiet:
        links["Vote"] = address_of(vote_key(debate.id, debate.edition))
    return board(debate, remarks=scene.remarks, links=links)


def _card(scene: Scene) -> MessageView:
    debate = scene.debate
    cards = debate.clarifications.values()
    return card(debate, next(c for c in cards if card_key(debate.id, c.turn.key) == scene.key))


def _required(value: T | None) -> T:
    if value is None:
        raise LogBroken("The log lacks the data that one of its posts shows.")
    return value


def _pin(scene: Scene) -> Mapping[str, Any]:
    """The board is pinned while its debate runs, and longer if the channel's settings say so."""
    status = scene.debate.status
    is_kept = status is Status.CONCLUDED and (scene.keep_pinned or scene.debate.is_sealed)
    return {"pinned": status is Status.RUNNING or is_kept}


def _session(scene: Scene) -> Mapping[str, Any]:
    """Slack shows that the app works, with its own Stop button, while the status is `processing`.

    Source: https://docs.slack.dev/ai/agent-sessions.
    """
    setup = scene.debate.setup
    return {
        "status": session_status(scene.debate),
        "title": bare_gist(setup.question, _TITLE_LIMIT),
        "initiator_user_id": setup.asked_by.id,
    }


def session_status(debate: Debate) -> str:
    """The debate's state as a status of Slack's agent sessions."""
    if debate.status is Status.FAILED:
        return "closed"
    if debate.status is Status.CONCLUDED or debate.verdict or debate.stop:
        return "active"  # not `processing`, as nothing is left to stop; people can write and decide
    waits = debate.paused_by or debate.outage or debate.waits_for_answers
    return "suspended" if waits else "processing"


def _outcome(scene: Scene) -> MessageView:
    debate = scene.debate
    decision = next((d for d in debate.decisions if f"/outcome/{d.origin}/" in scene.key), None)
    return outcome_post(debate, decision)


# --- posts that never change ---------------------------------------------------------------------


def _eyes_on_mention(occasion: Occasion[DebateStarted]) -> Sequence[Mapping[str, Any]]:
    mention = occasion.debate.setup.mention
    return [{"name": _SEEN, "target_ts": mention.message}] if mention else ()


def _sources(occasion: Occasion[SourceRead]) -> Iterator[MessageView]:
    """One line for all earlier decisions (on the board if quiet), and one for each other source."""
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


def _reminders(occasion: Occasion[ReminderDue]) -> Sequence[MessageView]:
    debate, origin = occasion.debate, occasion.event.decision
    return [
        reminder(debate, decision) for decision in debate.decisions if decision.origin == origin
    ]


def _report(occasion: Occasion[DebateConcluded]) -> Mapping[str, Any]:
    """The report, the decision record and the full record, attached to the verdict's post."""
    debate = occasion.debate
    # The queue finds an upload in doubt by its file names, so each edition has different ones.
    edition = f"-edition-{debate.edition}" if debate.edition > 1 else ""
    files, words = _files(debate, occasion.log, f"moot-{debate.id}{edition}")
    verdict_post = headline_key(debate.id, debate.edition)
    return {"text": f"{words}.", "files": files, "target_key": verdict_post}


def _decision_views(occasion: Occasion[DecisionRecorded]) -> Mapping[str, Any]:
    """The team's decision, with the new decision record as a file."""
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
    """The files of a debate and their description. A review also has a list for a pull request."""
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
    """Whether the event belongs to the debate's current edition."""
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
        key=lambda occasion, _: board_key(occasion.debate.id),
        where=PostPlace.CHANNEL,
        urgent=True,
    ),
    # The line in the older debate's thread that links here. It is queued with this board, because
    # debates are presented in parallel: only so it is sent after the board, and has its address.
    Post(
        on=DebateStarted,
        when=lambda occasion: occasion.debate.setup.continues != occasion.debate.id,
        view=lambda occasion: [
            notices.continuation_line(
                address_of(board_key(occasion.debate.id)),
                occasion.debate.setup.question,
                occasion.debate.setup.asked_by,
            )
        ],
        key=lambda occasion, _: continued_key(occasion.debate.setup.continues, occasion.debate.id),
        where=PostPlace.OLDER,
    ),
    # A reaction to the message that asked for the debate, and a link to the board.
    Post(
        on=DebateStarted,
        view=_eyes_on_mention,
        key=lambda occasion, _: asking_thread_key(occasion.debate.id, "eyes"),
        method="react",
        where=PostPlace.CHANNEL,
        urgent=True,
    ),
    Post(
        on=DebateStarted,
        view=lambda occasion: [
            notices.board_link_line(occasion.debate, address_of(board_key(occasion.debate.id)))
        ],
        key=lambda occasion, _: asking_thread_key(occasion.debate.id, "link"),
        where=PostPlace.ASKED,
        urgent=True,
    ),
    Post(
        on=DebateStarted,
        shows=_pin,
        name="pin",
        key=lambda occasion, _: pin_key(occasion.debate.id),
        method="pin",
    ),
    # The debate as an agent's session, where the app is installed as an agent.
    Post(
        on=DebateStarted,
        shows=_session,
        name="session",
        prompt=_FOR_BOARD,
        key=lambda occasion, _: session_key(occasion.debate.id),
        method="session",
    ),
    # The question in full where the board has no room for it.
    Post(
        on=DebateStarted,
        view=lambda occasion: (
            () if shows_full_question(occasion.debate) else notices.question_posts(occasion.debate)
        ),
    ),
    reaction(NoteAdded, _SEEN, lambda event: event.note.id.partition("/")[0]),
    # A note from a form is shown to everybody.
    Post(
        on=NoteAdded,
        when=lambda occasion: not note_ts(occasion.event.note.id.partition("/")[0]),
        view=lambda occasion: [notices.added_note(occasion.event.note)],
    ),
    Post(
        on=ClarificationsOpened,
        when=lambda occasion: occasion.event.clarifications.items,
        shows=_card,
        name="card",
        prompt=_FOR_CARDS,
        key=lambda occasion, _: card_key(
            occasion.debate.id, occasion.event.clarifications.turn.key
        ),
        urgent=True,
    ),
    reaction(ClarificationAnswered, _TAKEN, lambda event: event.answer.origin),
    # A contribution, unless it was carried over and so posted before. Its key is made from its
    # turn, so that other posts can link to it.
    Post(
        on=ContributionMade,
        when=lambda occasion: is_shown(occasion.event.contribution),
        view=lambda occasion: turn_posts(occasion.debate, occasion.event.contribution),
        key=lambda occasion, part: turn_key(
            occasion.debate.id, occasion.event.contribution.turn.key, part
        ),
        turn=lambda event: event.contribution.turn,
    ),
    Post(
        on=TurnFailed,
        when=lambda occasion: ACTS[occasion.event.failure.turn.act].is_posted,
        view=lambda occasion: [notices.turn_failure_line(occasion.debate, occasion.event.failure)],
        turn=lambda event: event.failure.turn,
    ),
    Post(
        on=FacilitatorDecided,
        when=lambda occasion: (
            _is_loud(occasion) or occasion.event.guidance.next_step is not NextStep.GO_ON
        ),
        view=lambda occasion: [notices.guidance_line(occasion.debate, occasion.event.guidance)],
        turn=lambda event: event.guidance.turn,
    ),
    # The board shows that a round is held, and the verdict shows what ended the rounds.
    Post(
        on=GatePassed,
        when=lambda occasion: (
            (occasion.event.gate.ends_rounds or occasion.event.gate.skips)
            and (_is_loud(occasion) or not occasion.event.gate.turn.round)
        ),
        view=lambda occasion: [notices.rounds_end_line(occasion.debate, occasion.event.gate)],
    ),
    Post(
        on=OptionEdited,
        view=lambda occasion: [notices.option_change_line(occasion.debate, occasion.event.edit)],
    ),
    Post(on=SourceRead, view=_sources),
    # Without any position the debate ends at once, and the post about its end names the person.
    Post(
        on=StopRequested,
        when=lambda occasion: format_of(occasion.debate).positions(occasion.debate),
        view=lambda occasion: [notices.stop_line(occasion.event.stop)],
    ),
    Post(on=VoteCalled, view=lambda occasion: [notices.vote_call_line(occasion.event.by)]),
    # A pause without a person is that of a restored backup, which the board shows.
    Post(
        on=DebatePaused,
        when=lambda occasion: occasion.event.by.id,
        view=lambda occasion: [notices.pause_line(occasion.event.by)],
    ),
    Post(on=DebateResumed, view=lambda occasion: [notices.resume_line(occasion.event.by)]),
    Post(on=OutageBegan, view=lambda occasion: [notices.outage(occasion.event.reason)]),
    Post(on=OutageEnded, view=lambda _: [notices.outage_end()]),
    Post(
        on=TimeRanOut,
        view=lambda occasion: [notices.out_of_time(of_outage=occasion.event.of_outage)],
    ),
    # A quiet debate shows the vote on the board, then in the verdict's post.
    Post(
        on=VoteTallied,
        when=lambda occasion: _counts(occasion) and _is_loud(occasion),
        shows=lambda scene: vote_post(
            scene.debate, _required(scene.debate.tally), superseded=scene.superseded
        ),
        name="vote",
        prompt=(PeopleBallotCast, DecisionRecorded),
        of_edition=True,
        key=lambda occasion, _: vote_key(occasion.debate.id, occasion.event.edition),
    ),
    # The full synthesis, which in a quiet debate is a fold of the short form; then the short form,
    # which the channel shows, too.
    Post(
        on=VerdictReached,
        when=lambda occasion: _counts(occasion) and _is_loud(occasion),
        view=lambda occasion: verdict_posts(occasion.debate, occasion.event.verdict),
    ),
    Post(
        on=VerdictReached,
        when=_counts,
        shows=lambda scene: headline(
            scene.debate,
            _required(scene.debate.verdict),
            superseded=scene.superseded,
            pages=scene.pages,
        ),
        name="headline",
        prompt=(PeopleBallotCast, DecisionRecorded, OutcomeGiven),
        of_edition=True,
        key=lambda occasion, _: headline_key(occasion.debate.id, occasion.event.edition),
        broadcast=True,
    ),
    Post(
        on=VerdictReached,
        when=_counts,
        view=lambda occasion: [
            notices.verdict_in_short(
                occasion.debate,
                occasion.event.verdict,
                address_of(headline_key(occasion.debate.id, occasion.event.edition)),
            )
        ],
        key=lambda occasion, _: asking_thread_key(
            occasion.debate.id,
            "verdict" if occasion.event.edition == 1 else f"verdict/{occasion.event.edition}",
        ),
        where=PostPlace.ASKED,
    ),
    Post(
        on=DebateConcluded,
        when=lambda occasion: _counts(occasion) and occasion.log,
        view=lambda occasion: [_report(occasion)],
        key=lambda occasion, _: report_key(occasion.debate.id, occasion.debate.edition),
        method="upload",
    ),
    Post(
        on=DebateFailed,
        view=lambda occasion: [notices.failure_line(occasion.debate, occasion.event.reason)],
    ),
    Post(
        on=DebateFailed,
        view=lambda occasion: [
            notices.failure_line(
                occasion.debate, occasion.event.reason, address_of(board_key(occasion.debate.id))
            )
        ],
        key=lambda occasion, _: asking_thread_key(occasion.debate.id, "verdict"),
        where=PostPlace.ASKED,
    ),
    Post(
        on=DebateWanted,
        view=lambda occasion: [
            notices.debate_request_line(
                occasion.event.by, had_verdict="verdict" in occasion.debate.times
            )
        ],
    ),
    Post(on=DecisionRecorded, view=lambda occasion: [_decision_views(occasion)], method="upload"),
    reaction(FollowUpAsked, _SEEN, lambda event: event.question.id),
    Post(
        on=FollowUpAsked,
        when=lambda occasion: not note_ts(occasion.event.question.id),
        view=lambda occasion: [question_line(occasion.event.question)],
    ),
    Post(on=FollowUpAnswered, view=_answer),
    Post(on=ReminderDue, view=_reminders),
    Post(
        on=OutcomeAsked,
        shows=_outcome,
        name="outcome",
        prompt=(DecisionRecorded, OutcomeGiven),
        key=lambda occasion, _: outcome_key(
            occasion.debate.id, occasion.event.decision, occasion.event.number
        ),
    ),
    # If people were asked, that post shows the outcome; else the first outcome has its own post.
    Post(
        on=OutcomeGiven,
        when=lambda occasion: (
            not occasion.debate.outcomes_asked.get(occasion.event.outcome.decision)
        ),
        shows=_outcome,
        name="outcome",
        prompt=(DecisionRecorded, OutcomeGiven),
        key=lambda occasion, _: outcome_key(occasion.debate.id, occasion.event.outcome.decision, 0),
    ),
)

#: Living posts by the name on their rows.
LIVING: Final[Mapping[str, Post[Any]]] = {post.name: post for post in POSTS if post.name}
#: All posts by the event that causes them.
_BY_EVENT: Final[Mapping[type[Any], Sequence[Post[Any]]]] = {
    event: tuple(post for post in POSTS if post.on is event)
    for event in {post.on for post in POSTS}
}


def prompt_posts(event: object) -> Sequence[str]:
    return [name for name, post in LIVING.items() if isinstance(event, post.prompt)]


def turn_of(recorded: RecordedEvent) -> Turn | None:
    """The turn whose result the event is, if the reading order has a place for it."""
    event = recorded.event
    return next((post.turn(event) for post in _BY_EVENT.get(type(event), ()) if post.turn), None)


def posts_of(
    debate: Debate, recorded: RecordedEvent, log: Sequence[RecordedEvent] = ()
) -> Sequence[NewPost]:
    upto = [entry for entry in log if entry.seq <= recorded.seq]
    occasion = Occasion[Any](debate=debate, event=recorded.event, seq=recorded.seq, log=upto)
    declarations = _BY_EVENT.get(type(recorded.event), ())
    return [post for declaration in declarations for post in declaration.posts(occasion)]


def posts_of_group(
    debate: Debate, group: Sequence[RecordedEvent], log: Sequence[RecordedEvent] = ()
) -> Sequence[NewPost]:
    """Return the posts of events that are released together; files need the log.

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
    """Return the upload that a person asked for; at most one for each state of the debate."""
    files, words = _files(debate, log, f"moot-{debate.id}-{debate.seq}")
    content = {"text": f"{words}, as it stands.", "files": files}
    return post_about(debate, event_key(debate.id, debate.seq, "export"), content, "upload")
