"""The public API: start a workspace, act as its people, inspect the results."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from slack_on_loopback import channels, events, interactions, people, posting
from slack_on_loopback.call_log import CallLog
from slack_on_loopback.config import WorkspaceConfig
from slack_on_loopback.delivery import DeliveryAttempt
from slack_on_loopback.faults import Faults
from slack_on_loopback.guide import GuideLine
from slack_on_loopback.initial_state import load_state
from slack_on_loopback.json_values import Json, child, copy
from slack_on_loopback.methods import agents
from slack_on_loopback.rules import MOST_PINS
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.server import Server
from slack_on_loopback.socket_mode import DisconnectReason
from slack_on_loopback.state import AgentSession, App, Channel, User, WorkspaceState
from slack_on_loopback.surfaces import SurfaceRef

_PATIENCE_SECONDS = 120.0


class Workspace:
    """A small Slack on loopback.

    People, channels and views may be named by id or by name (`dana`, `general`, `#general`).
    A refused action of a person raises `PersonRefusal`; a refusal of Slack raises `SlackRefusal`.

    Attributes:
        runtime: the internal state, for tests.
        state: team, users, channels, messages.
        app: the installed app.
        faults: switches for failing calls.
        calls: the log of Web API calls.
        deliveries: all tries to deliver payloads to the app.
    """

    def __init__(self, config: WorkspaceConfig | None = None):
        settings = config or WorkspaceConfig()
        self.runtime = Runtime(settings, load_state(settings), Faults(settings.seed))
        self._server = Server(self.runtime)
        self.state: WorkspaceState = self.runtime.state
        self.app: App = self.runtime.app
        self.faults: Faults = self.runtime.faults
        self.calls: CallLog = self.runtime.calls
        self.deliveries: list[DeliveryAttempt] = self.runtime.dispatcher.attempts

    async def start(self) -> None:
        """Listen on the configured host and port."""
        await self._server.start()

    async def stop(self) -> None:
        """Close everything and save."""
        await self._server.stop()

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"{self.runtime.base_url}/"

    @property
    def api_url(self) -> str:
        """The value for SLACK_API_URL, with a final slash."""
        return f"{self.runtime.base_url}/api/"

    @property
    def bot_token(self) -> str:
        return self.app.bot_token

    @property
    def app_token(self) -> str:
        return self.app.app_token

    @property
    def signing_secret(self) -> str:
        """The secret that HTTP requests are signed with."""
        return self.app.signing_secret

    @property
    def connected(self) -> bool:
        """Whether the app can be reached."""
        return self.runtime.connected

    @property
    def sockets(self) -> int:
        """How many Socket Mode connections are open."""
        return len(self.runtime.sockets.sockets)

    # Actions of people

    async def say(self, user: str, channel: str, text: str, thread_ts: str | None = None) -> Json:
        """Write a message or reply and return it; `@echo` becomes a mention."""
        person, place = self._in(user, channel)
        return copy(people.say(self.runtime, person, place, text, thread_ts=thread_ts or ""))

    async def command(self, user: str, channel: str, command: str, text: str = "") -> None:
        """Run a slash command and wait for its acknowledgement."""
        person = self.user(user)
        place = people.visible(self.runtime, person, channel)
        await interactions.command(self.runtime, person, place, f"{command} {text}".strip())

    async def click(self, user: str, channel: str, ts: str, action_id: str, **fields: Any) -> None:
        """Use a button or menu in a message.

        Args:
            user: who.
            channel: the channel.
            ts: the message, or an ephemeral one of this user.
            action_id: the element.
            fields: for menus, for example `selected_option={…}`; `block_id` where needed.
        """
        message = SurfaceRef(self.channel(channel).id, ts)
        action = {"action_id": action_id, **fields}
        await interactions.click(self.runtime, self.user(user), message, action)

    async def click_view(self, user: str, view_id: str, action_id: str, **fields: Any) -> None:
        """Use a button or menu in a form or Home."""
        action = {"action_id": action_id, **fields}
        await interactions.click(self.runtime, self.user(user), SurfaceRef(view_id=view_id), action)

    async def submit(self, user: str, view_id: str, values: Json | None = None) -> Json:
        """Submit a form: `{block_id: {action_id: {"value": …}}}`; return the response_action."""
        return await interactions.submit(self.runtime, self.user(user), view_id, values or {})

    async def close_view(self, user: str, view_id: str) -> None:
        interactions.close(self.runtime, self.user(user), view_id)

    async def shortcut(self, user: str, callback_id: str, channel: str, ts: str) -> None:
        """Use a shortcut on a message."""
        message = posting.find(self.channel(channel), ts)
        await interactions.shortcut(self.runtime, self.user(user), callback_id, message)

    async def stop_session(self, user: str, channel: str, ts: str) -> None:
        """Press Stop in a thread in which an agent works."""
        agents.stop(self.runtime, *self._in(user, channel), ts)

    def session(self, channel: str, ts: str) -> AgentSession | None:
        """Return the status of an agent's work in a thread."""
        return self.channel(channel).sessions.get(ts)

    async def open_home(self, user: str) -> Json | None:
        """Open the app's Home; return the view published last."""
        return interactions.open_home(self.runtime, self.user(user))

    async def edit(self, user: str, channel: str, ts: str, text: str) -> Json:
        """Edit the person's own message."""
        return copy(people.edit(self.runtime, *self._in(user, channel), ts, text=text))

    async def delete(self, user: str, channel: str, ts: str) -> None:
        """Delete the person's own message."""
        people.delete(self.runtime, *self._in(user, channel), ts)

    async def share_file(
        self,
        user: str,
        channel: str,
        name: str,
        content: bytes,
        *,
        text: str = "",
        thread_ts: str = "",
    ) -> Json:
        """Upload a file into a channel or a thread and return the message."""
        person, place = self._in(user, channel)
        files = [people.upload(self.runtime, person, name, content)]
        message = people.say(self.runtime, person, place, text, thread_ts=thread_ts, files=files)
        return copy(message)

    async def channel_action(self, user: str, action: str, **fields: Any) -> Channel:
        """Create, archive, unarchive, invite, kick, join or leave."""
        return people.change_channel(self.runtime, self.user(user), {"action": action, **fields})

    async def deactivate(self, user: str) -> None:
        """Deactivate a person's account, as an admin does; it ends their memberships."""
        person = self.user(user)
        person.is_deleted = True
        self._leave_all(person.id)

    # State

    def user(self, name: str) -> User:
        """Return a user by id or name."""
        return self.state.user(name)

    def channel(self, name: str) -> Channel:
        """Return a channel by id or name."""
        return self.state.channel(name)

    def messages(self, channel: str) -> list[Json]:
        """Return the messages of a channel, oldest first, without the "has joined" lines."""
        hidden = {"channel_join", "channel_leave"}
        roots = self.channel(channel).roots()
        return [copy(message) for message in roots if message.get("subtype") not in hidden]

    def thread(self, channel: str, ts: str) -> list[Json]:
        """Return a root message and its replies."""
        return [copy(message) for message in self.channel(channel).thread(ts)]

    def ephemeral(self, user: str, channel: str | None = None) -> list[Json]:
        """Return the ephemeral messages of a user."""
        viewer = self.user(user).id
        place = self.channel(channel).id if channel else None
        return [
            copy(message)
            for message in self.runtime.ephemeral
            if message["viewer"] == viewer and place in {None, message["channel"]}
        ]

    def pins(self, channel: str) -> list[str]:
        """Return the ts of the pinned messages, newest pin first."""
        return posting.pinned_ts(self.channel(channel))

    def views(self, user: str) -> list[Json]:
        """Return the form a user has open, if any."""
        view = self.runtime.modals.get(self.user(user).id)
        return [copy(view)] if view else []

    def home(self, user: str) -> Json | None:
        """Return the Home the app published for a user."""
        view = self.state.homes.get(self.user(user).id)
        return copy(view) if view is not None else None

    def file(self, file_id: str) -> bytes:
        """Return a file's content."""
        return self.state.files[file_id].content

    async def until_watched(self) -> None:
        """Wait, without a time limit, until somebody opens the page."""
        await self.runtime.feed.watched.wait()

    def show_guide(self, line: GuideLine | None) -> None:
        """Show a line at the top of every page, and open its thread; None removes it."""
        self.runtime.guide.line = line
        self.runtime.feed.tell_each(lambda _: self.runtime.guide.event())

    async def guide_pressed(self) -> str:
        """Wait until somebody presses a named button of the line; return the name."""
        return await self.runtime.guide.pressed.get()

    async def wait_for(
        self,
        predicate: Callable[[], Any],
        timeout: float = _PATIENCE_SECONDS,  # noqa: ASYNC109 the condition's own limit
    ) -> Any:
        """Wait until a predicate is true; check it after every change; return its value.

        Raises:
            TimeoutError: it was not true in time.
        """
        result: list[Any] = [None]

        def look() -> object:
            result[0] = predicate()
            return result[0]

        await self.runtime.change_signal.until(look, timeout)
        return result[0]

    # HTTP mode

    async def use_http(self, url: str) -> bool:
        """Send all payloads to a request URL; return whether it answered the challenge."""
        self.app.request_url = self.app.interactivity_url = url
        is_verified = await self.runtime.http.verify(self.runtime.config.pace.ack_seconds)
        self.runtime.tell_app()
        return is_verified

    # Immediate faults

    async def disconnect(self, reason: DisconnectReason = "refresh_requested") -> None:
        """Ask the app's sockets to reconnect; close those that have not in time."""
        sockets, pace = self.runtime.sockets, self.runtime.config.pace
        leaving = await sockets.dismiss(reason)
        seconds = pace.warning_seconds if reason == "warning" else pace.refresh_seconds
        self.runtime.dispatcher.spawn(sockets.close_after(leaving, seconds))

    async def cut_sockets(self) -> None:
        """Cut the app's sockets without a message."""
        await self.runtime.sockets.abort()

    def revoke_token(self) -> None:
        """Revoke the app's tokens without an event."""
        self.app.revoked = True
        self.runtime.tell_app()

    def restore_token(self) -> None:
        """Install the app again, with the same tokens."""
        self.app.revoked = False
        self.runtime.tell_app()

    def uninstall(self) -> None:
        """Uninstall the app: send tokens_revoked and app_uninstalled, then revoke its tokens."""
        revoked = {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [self.app.bot_user]}}
        for event in (revoked, {"type": "app_uninstalled"}):
            if event["type"] in self.app.events:
                events.send(self.runtime, {**event, "event_ts": self.runtime.new_ts()})
        self._leave_all(self.app.bot_user)
        self.revoke_token()

    def remove_bot(self, channel: str) -> None:
        """Take the app out of a channel."""
        bot = self.state.users[self.app.bot_user]
        channels.leave(self.runtime, self.channel(channel), bot)

    def archive(self, channel: str) -> None:
        """Archive a channel, as a member would."""
        place = self.channel(channel)
        channels.set_archived(self.runtime, place, place.creator, archived=True)

    def fill_pins(self, channel: str) -> None:
        """Pin new messages until the channel is at its limit of 100."""
        place = self.channel(channel)
        for number in range(len(place.pins), MOST_PINS):
            note = {"user": place.creator, "text": f"Pinned note {number + 1}"}
            message = posting.post(self.runtime, place, note)
            posting.pin(self.runtime, place, message["ts"], place.creator)

    def _in(self, user: str, channel: str) -> tuple[User, Channel]:
        """Return a person, and a channel that they may write in."""
        person = self.user(user)
        return person, people.joined_channel(self.runtime, person, channel)

    def _leave_all(self, user_id: str) -> None:
        for channel in self.state.channels.values():
            if user_id in channel.members and not channel.is_im:
                channel.members.remove(user_id)


def typed(**values: str) -> Json:
    """Return form values for `submit`: `typed(block__action="text")` → plain text inputs."""
    entries: Json = {}
    for name, value in values.items():
        block_id, _, action_id = name.partition("__")
        entries[block_id] = {**child(entries, block_id), action_id: {"value": value}}
    return entries


@asynccontextmanager
async def run_workspace(config: WorkspaceConfig | None = None) -> AsyncGenerator[Workspace]:
    """Run a workspace during the block."""
    workspace = Workspace(config)
    try:
        await workspace.start()
        yield workspace
    finally:
        await workspace.stop()
