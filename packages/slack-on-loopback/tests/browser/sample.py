"""A sample workspace: a poll with its thread, every kind of block, a form and a Home."""

from dataclasses import dataclass
from typing import Any

from slack_on_loopback.config import WorkspaceConfig
from slack_on_loopback.json_values import Json
from slack_on_loopback.modals import new_view, show
from slack_on_loopback.workspace import Workspace
from tests.bots import PATIENT, Client, actions, manifest_of, modal

MANIFEST = manifest_of(scopes={"assistant:write"}, events={"agent_session_stopped"}, agent_view={})
CONFIG = WorkspaceConfig(pace=PATIENT, manifest=MANIFEST)
PROPOSAL = """*Proposal: PostgreSQL with JSONB*
Orders are *relational at heart*: they have lines, payments and shipments.
• One primary, two replicas
• `orders.payload` as *JSONB* for what partners send
```CREATE INDEX ON orders USING gin (payload jsonb_path_ops);```
&gt; Unknown: how large the documents of partners become.
See <https://example.com/bench|the benchmark> and https://example.com/notes."""


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text, "emoji": True}


def section(text: str, **more: object) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


def button(text: str, action: str, **more: object) -> Json:
    return {"type": "button", "action_id": action, "text": plain(text), "value": action, **more}


def option(text: str) -> Json:
    return {"text": plain(text), "value": text.lower()}


def field(name: str, label: str, kind: str, **more: object) -> Json:
    """Return an input block; keywords are fields of the element, or of the block."""
    block = {key: more.pop(key) for key in ("optional", "hint") if key in more}
    element = {"type": kind, "action_id": "in", **more}
    return {"type": "input", "block_id": name, "label": plain(label), "element": element, **block}


CONFIRM: Json = {
    "title": plain("Stop the poll?"),
    "text": {"type": "mrkdwn", "text": "What is there is *kept*."},
    "confirm": plain("Stop it"),
    "deny": plain("Go on"),
}
BOARD: list[Json] = [
    {"type": "header", "text": plain("Postgres or MongoDB for the order service?")},
    {
        "type": "context",
        "elements": [{"type": "mrkdwn", "text": "Asked by alex · *poll* · $0.04 so far"}],
    },
    section("*Round 2 of 3 · refinements*\n`████████████░░░░░░` 64%"),
    actions(
        button("Vote now", "vote_now", style="primary"),
        button("Pause", "pause"),
        button("Stop", "stop", style="danger", confirm=CONFIRM),
    ),
]


def _task(name: str, status: str) -> Json:
    return {"type": "task_card", "task_id": name, "title": name, "status": status}


def _cells(*texts: str) -> list[Json]:
    return [{"type": "raw_text", "text": text} for text in texts]


_POINTS = {"PostgreSQL": 78, "Kafka, on machines…": 22}
GALLERY: list[Json] = [
    {"type": "header", "text": plain("Every block :rocket:")},
    section("*Section*, <https://example.com|a link>, <!date^1700000000^{date_short_pretty}|2023>"),
    {"type": "divider"},
    {
        "type": "table",
        "column_settings": [{"is_wrapped": True}, {"align": "center"}, {"align": "right"}],
        "rows": [
            _cells("Position", "First places", "Borda"),
            _cells("A · Postgres with JSONB", "2", "5"),
            _cells("C · MongoDB", "0", "1"),
        ],
    },
    {
        "type": "data_visualization",
        "title": "How likely each option is the best",
        "chart": {
            "type": "bar",
            "series": [
                {
                    "name": "Percent",
                    "data": [{"label": name, "value": value} for name, value in _POINTS.items()],
                }
            ],
            "axis_config": {"categories": list(_POINTS), "y_label": "Percent"},
        },
    },
    {
        "type": "plan",
        "title": "Plan",
        "tasks": [
            _task("Read the notes", "complete"),
            _task("Draft", "in_progress"),
            _task("Vote", "pending"),
            _task("Post", "error"),
        ],
    },
    {
        "type": "container",
        "title": plain("A container"),
        "is_collapsible": True,
        "child_blocks": [section("Inside")],
    },
    {
        "type": "context_actions",
        "elements": [
            {
                "type": "feedback_buttons",
                "action_id": "useful",
                "positive_button": {"text": plain("Good"), "value": "yes"},
                "negative_button": {"text": plain("Bad"), "value": "no"},
            },
        ],
    },
]
_COLOURS = [option("Red"), option("Green"), option("Blue")]
FORM = modal(
    section("About *$0.12* and _four minutes_."),
    field("question", "Question", "plain_text_input", max_length=120),
    field(
        "context",
        "Context",
        "plain_text_input",
        multiline=True,
        optional=True,
        hint=plain("What the agents should know."),
    ),
    field("rounds", "Rounds", "plain_text_input", initial_value="3"),
    field("format", "Format", "static_select", options=_COLOURS, initial_option=_COLOURS[0]),
    field("agents", "Agents", "multi_static_select", options=_COLOURS),
    field("people", "People", "multi_users_select"),
    field("place", "Conversation", "conversations_select", optional=True),
    field("flags", "Flags", "checkboxes", options=_COLOURS, optional=True),
    field("day", "Day", "datepicker", initial_date="2026-12-01", optional=True),
)
HOME: Json = {
    "type": "home",
    "blocks": [
        {"type": "header", "text": plain("Your polls")},
        section("*Postgres or MongoDB?*\nRound 2 of 3", accessory=button("Open", "open")),
        actions(button("New poll", "new", style="primary")),
    ],
}


@dataclass
class Sample:
    """A workspace with the poll in #general and the gallery in #architecture."""

    ws: Workspace
    client: Client
    board: str = ""

    async def fill(self) -> None:
        await self.ws.say("sam", "general", "We need to settle the store for orders. @here?")
        noted = await self.ws.say("sam", "general", "*10k requests a second*, says the test :fire:")
        await self.client.reactions_add(
            channel=noted["channel"], timestamp=noted["ts"], name="eyes"
        )
        self.board = await self.post("general", text="Poll", blocks=BOARD)
        await self.client.pins_add(channel=noted["channel"], timestamp=self.board)
        thread: Json = {"thread_ts": self.board}
        architect = {"username": "Architect", "icon_emoji": ":building_construction:"}
        await self.post(
            "general", text="Proposal", blocks=[section(PROPOSAL)], **architect, **thread
        )
        await self.ws.say("dana", "general", "It is: <b>names</b>.", self.board)
        await self.post("general", text="*Decision:* JSONB.", reply_broadcast=True, **thread)
        await self.ws.share_file("alex", "general", "decision.md", b"# Decision\n")
        dana = self.ws.user("dana").id
        await self.client.chat_postEphemeral(channel=noted["channel"], user=dana, text="psst")
        await self.post("architecture", text="Every block", blocks=GALLERY)
        await self.client.views_publish(user_id=dana, view=HOME)

    async def post(self, channel: str, **fields: Any) -> str:
        """Post as the app; return the ts."""
        where = self.ws.channel(channel).id
        return (await self.client.chat_postMessage(channel=where, **fields))["ts"]

    def address(self, channel: str = "general", rest: str = "") -> str:
        return f"#/{self.ws.channel(channel).id}{rest}"

    @property
    def thread(self) -> str:
        """The address of the poll's thread."""
        return self.address(rest=f"/{self.board}")

    def open_form(self) -> Json:
        """Show the form to Dana, as a button of the app does."""
        view = new_view(self.ws.runtime, FORM)
        show(self.ws.runtime, self.ws.user("dana").id, view)
        return view
