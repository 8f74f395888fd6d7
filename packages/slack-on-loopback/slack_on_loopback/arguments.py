"""The supported arguments of each Web API method.

Source: https://docs.slack.dev/reference/methods. Slack ignores most unknown arguments; here they
are refused, so that no app relies on one. So are documented arguments without effect here.
"""

from collections.abc import Mapping

from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json
from slack_on_loopback.schema import problem

_LOOK = "username icon_emoji"
_CONTENT = "text blocks link_names parse as_user"
_SPAN = "cursor inclusive include_all_metadata latest limit oldest"
#: Method → its arguments beside the token, which every method takes.
_TAKEN: Mapping[str, str] = {
    "agents.sessions.setStatus": "channel_id thread_ts status title initiator_user_id " + _LOOK,
    "apps.connections.open": "",
    "auth.test": "",
    "chat.delete": "channel ts as_user",
    "chat.postEphemeral": f"channel user thread_ts {_CONTENT} {_LOOK}",
    "chat.getPermalink": "channel message_ts",
    "chat.postMessage": f"channel container_id thread_ts reply_broadcast metadata mrkdwn "
    f"unfurl_links unfurl_media attachments {_CONTENT} {_LOOK}",
    "chat.update": f"channel ts reply_broadcast metadata file_ids {_CONTENT}",
    "conversations.history": f"channel {_SPAN}",
    "conversations.info": "channel include_locale",
    "conversations.members": "channel cursor limit",
    "conversations.replies": f"channel ts {_SPAN}",
    "files.completeUploadExternal": "files channel_id thread_ts initial_comment",
    "files.getUploadURLExternal": "filename length alt_txt snippet_type",
    "files.info": "file count cursor limit page",
    "pins.add": "channel timestamp",
    "pins.remove": "channel timestamp",
    "reactions.add": "channel name timestamp",
    "users.conversations": "cursor exclude_archived limit team_id types user",
    "users.info": "user include_locale",
    "views.open": "view trigger_id interactivity_pointer",
    "views.publish": "user_id view hash",
    "views.update": "view external_id view_id hash",
}
TAKEN: Mapping[str, frozenset[str]] = {
    method: frozenset({"token", *names.split()}) for method, names in _TAKEN.items()
}


def check_names(method: str, values: Json, ignored: frozenset[str]) -> None:
    """Check that a method supports all arguments of a call, except ignored ones.

    Raises:
        SlackRefusal: invalid_arguments, with each unsupported one.
    """
    if unknown := sorted(values.keys() - TAKEN[method] - ignored):
        texts = [problem(f"/{name}", f"no such argument: {name}") for name in unknown]
        raise SlackRefusal("invalid_arguments", texts)
