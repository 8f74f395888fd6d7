"""A debate as an agent's session in Slack: its title, and whether the agents are at work (pure).

Source: https://docs.slack.dev/ai/agent-sessions. While the status is `processing`, Slack shows that
the app works, and a Stop of its own; the status holds until it is set anew.
"""

from bot.slack.ids import board_key, session_key
from bot.slack.mrkdwn.convert import bare_gist
from bot.slack.outbox.methods import SESSION
from bot.store.posts import NewPost
from core.models import Debate, Status

_TITLE_LIMIT = 200


def session_status(debate: Debate) -> str:
    """Slack's word for how the debate stands."""
    if debate.status is Status.FAILED:
        return "closed"
    if debate.status is Status.CONCLUDED or debate.verdict or debate.stop:
        return "active"  # nothing is left to be stopped; people can still write and decide
    waits = debate.paused_by or debate.outage or debate.waits_for_answers
    return "suspended" if waits else "processing"


def session_post(debate: Debate) -> NewPost:
    """Return what tells Slack of it; the title counts the first time only."""
    return NewPost(
        key=session_key(debate.id),
        workspace=debate.setup.place.workspace,
        channel=debate.setup.place.channel,
        method=SESSION,
        payload={
            "status": session_status(debate),
            "title": bare_gist(debate.setup.question, _TITLE_LIMIT),
            "initiator_user_id": debate.setup.asked_by.id,
        },
        debate_id=debate.id,
        thread_key=board_key(debate.id),
    )
