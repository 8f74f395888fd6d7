"""What people read in the thread of their own in which they asked for a debate (pure)."""

from bot.slack.mrkdwn.convert import gist
from bot.views.message import MessageView
from bot.views.message import notice_of as notice
from bot.views.verdict import shortcomings
from bot.views.words import confidence, person
from core.debate.state import Debate
from core.debate.verdict import Verdict
from core.transcript.cited import decision_line

_DECISION_LIMIT = 1500
_REASON_LIMIT = 600
_QUESTION_LIMIT = 300


def start_line(debate: Debate, board: str) -> MessageView:
    """Return where the debate is held; `board` is an address."""
    return notice(
        f":eyes: {person(debate.setup.asked_by)}, the agents debate this now: <{board}|the board>. "
        "What they should know, write in its thread. The verdict comes back here."
    )


def brought_back(debate: Debate, reached: Verdict, whole: str) -> MessageView:
    """Return the verdict in short; `whole` is the address of all of it."""
    lines = [
        f"*The agents' verdict* on “{gist(debate.setup.question, _QUESTION_LIMIT)}”",
        shortcomings(debate, reached),
        gist(decision_line(reached), _DECISION_LIMIT),
        f"*Confidence*: {confidence(reached)} · <{whole}|Read it all, and decide>",
    ]
    return notice("\n".join(line for line in lines if line))


def failure_line(debate: Debate, board: str) -> MessageView:
    reason = gist(debate.failure, _REASON_LIMIT)
    return notice(f":x: *The debate ended without a decision.* {reason} <{board}|The board>")
