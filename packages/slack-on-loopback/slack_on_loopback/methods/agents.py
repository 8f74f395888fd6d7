"""agents.sessions.*: the title and status of an agent's work in a thread, and its Stop.

Source: https://docs.slack.dev/ai/agent-sessions and the reference of the method. Only an app with
`features.agent_view` in its manifest is an agent.
"""

from slack_on_loopback import access, events, posting
from slack_on_loopback.api_call import ApiCall, Method, Methods
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import AgentSession, Channel, User

STATUSES = ("active", "processing", "suspended", "closed")
MOST_TITLE = 200
STOPPED = "agent_session_stopped"


def set_status(runtime: Runtime, call: ApiCall) -> Json:
    """agents.sessions.setStatus: sets the status, and makes the session if there is none."""
    if not runtime.app.is_agent:
        raise SlackRefusal("not_an_agent")
    channel = access.joined_channel(runtime, call.required("channel_id"))
    root = posting.thread_root(channel, call.required("thread_ts"))
    status, title = call.required("status"), call.text("title")
    if status not in STATUSES or len(title) > MOST_TITLE:
        raise SlackRefusal("invalid_arguments")
    session = channel.sessions.get(root["ts"])
    if session is None:
        starter = call.text("initiator_user_id")
        if starter and starter not in channel.members:
            raise SlackRefusal("user_not_in_channel")
        session = AgentSession(title=title)
        channel.sessions[root["ts"]] = session
    session.status = status
    if status == "processing" and STOPPED not in runtime.app.events:
        call.warnings.append("missing_agent_session_stopped_event_subscription")
    posting.show_change(runtime, channel, root)
    return {"status": status, "agent_status": status, "title": session.title}


def stop(runtime: Runtime, person: User, channel: Channel, ts: str) -> None:
    """Press Stop: send the event; the status stays until the app sets another one."""
    session = channel.sessions.get(ts)
    if session is None or session.status != "processing":
        raise SlackRefusal("session_not_found")
    event: Json = {
        "type": STOPPED,
        "user": person.id,
        "channel": channel.id,
        "thread_ts": ts,
        "streaming_message_ts": [],
        "event_ts": runtime.new_ts(),
    }
    if events.is_subscribed(runtime.app, event):
        events.send(runtime, event)


METHODS: Methods = {
    "agents.sessions.setStatus": Method(set_status, ("chat:write",), tier=3),
}
