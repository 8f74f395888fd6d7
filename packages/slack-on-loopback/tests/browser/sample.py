"""A workspace to look at: people, channels, a poll, and one message with every kind of block."""

import time
from typing import Any

Json = dict[str, Any]

USERS: list[Json] = [
    {"id": "U1", "name": "ann", "real_name": "Ann Lee", "is_bot": False, "color": "3d7a6a"},
    {"id": "U2", "name": "bo", "real_name": "Bo Winter", "is_bot": False, "color": "a05a2c"},
    {"id": "U3", "name": "chi", "real_name": "Chi Adeyemi", "is_bot": False, "color": "5a4fa0"},
    {"id": "UB", "name": "tally", "real_name": "Tally", "is_bot": True, "icon_emoji": ":scales:"},
]
EMOJI: dict[str, str] = {
    "+1": "👍",
    "eyes": "👀",
    "tada": "🎉",
    "scales": "⚖️",
    "building_construction": "🏗️",
    "lock": "🔒",
    "bar_chart": "📊",
    "fire": "🔥",
    "rocket": "🚀",
}
_NOW = time.time()


def ts(minutes_ago: float) -> str:
    """Return a Slack ts that many minutes ago."""
    return f"{_NOW - minutes_ago * 60:.6f}"


def channels() -> list[Json]:
    """Return four channels: public, private, not joined, archived."""
    return [
        _channel("C1", "architecture", "Decisions · see <https://example.com|notes>"),
        _channel("C2", "gallery", "Every block there is"),
        _channel("C3", "leadership", "", is_private=True),
        _channel("C4", "random", "", is_member=False),
        _channel("C5", "old-project", "", is_archived=True),
    ]


def _channel(name: str, title: str, topic: str, **more: object) -> Json:
    return {
        "id": name,
        "name": title,
        "topic": topic,
        "is_private": False,
        "is_archived": False,
        "is_member": True,
        "members": ["U1", "U2", "U3", "UB"],
        **more,
    }


def apps() -> list[Json]:
    """Return one connected app with commands, shortcuts and a Home."""
    return [
        {
            "id": "A1",
            "name": "Tally",
            "bot_user": "UB",
            "connected": True,
            "has_home": True,
            "commands": [{"command": "/poll"}],
            "shortcuts": [{"name": "Poll this", "type": "message", "callback_id": "poll_this"}],
        }
    ]


def pins() -> dict[str, list[str]]:
    """Return the board of the poll as pinned."""
    return {"C1": [BOARD_TS]}


def plain(text: str) -> Json:
    """Return a plain_text object."""
    return {"type": "plain_text", "text": text, "emoji": True}


def mrkdwn(text: str) -> Json:
    """Return a mrkdwn object."""
    return {"type": "mrkdwn", "text": text}


def button(text: str, action: str, **more: object) -> Json:
    """Return a button."""
    return {"type": "button", "action_id": action, "text": plain(text), "value": action, **more}


def option(text: str, hint: str = "") -> Json:
    """Return an option; its value is its text in small letters."""
    described = {"description": plain(hint)} if hint else {}
    return {"text": plain(text), "value": text.lower(), **described}


CONFIRM: Json = {
    "title": plain("Stop the poll?"),
    "text": mrkdwn("What is there is *kept*."),
    "confirm": plain("Stop it"),
    "deny": plain("Go on"),
    "style": "danger",
}
BOARD_TS = ts(42)
BOARD: list[Json] = [
    {
        "type": "header",
        "block_id": "b1",
        "text": plain("Postgres or MongoDB for the order service?"),
    },
    {
        "type": "context",
        "block_id": "b2",
        "elements": [mrkdwn("Asked by <@U2> · *critique* · 3 agents · $0.04 so far")],
    },
    {
        "type": "section",
        "block_id": "b3",
        "text": mrkdwn("*Round 2 of 3 · refinements*\n`████████████░░░░░░` 64%"),
        "fields": [
            mrkdwn("*Architect*\nPostgres, with JSONB"),
            mrkdwn("*Security*\nPostgres"),
            mrkdwn("*Simplicity*\n~MongoDB~ → Postgres"),
        ],
    },
    {
        "type": "section",
        "block_id": "b4",
        "text": mrkdwn(
            "*So far*\n&gt; All three now prefer _one relational store_; "
            "the open point is how 10k requests a second are held."
        ),
    },
    {
        "type": "actions",
        "block_id": "b5",
        "elements": [
            button("Vote now", "vote_now", style="primary"),
            button("Pause", "pause"),
            button("Add context", "add_context"),
            button("Stop", "stop", style="danger", confirm=CONFIRM),
        ],
    },
]
PROPOSAL = """*Proposal: PostgreSQL with JSONB*
Orders are *relational at heart*: they have lines, payments and shipments.
• One primary, two replicas
• `orders.payload` as *JSONB* for what partners send
```CREATE INDEX ON orders USING gin (payload jsonb_path_ops);```
&gt; Unknown: how large the documents of partners become.
See <https://example.com/bench|the benchmark> and https://example.com/notes."""


def messages() -> dict[str, list[Json]]:
    """Return the messages of all channels, oldest first."""
    return {"C1": _poll(), "C2": [_gallery()], "C3": [], "C4": [], "C5": []}


def _message(channel: str, minutes: float, text: str, **more: object) -> Json:
    return {
        "type": "message",
        "channel": channel,
        "ts": ts(minutes),
        "user": "U2",
        "text": text,
        **more,
    }


def _as_other(minutes: float, name: str, icon: str, **more: object) -> Json:
    bot = {"user": "UB", "bot_id": "B1", "app_id": "A1", "username": name, "icons": {"emoji": icon}}
    return {**_message("C1", minutes, ""), **bot, "thread_ts": BOARD_TS, **more}


def _poll() -> list[Json]:
    return [*_before(), *_replies(), *_result()]


def _before() -> list[Json]:
    return [
        _message(
            "C1",
            60 * 26,
            "We need to settle the store for orders this week. <!here> who has numbers?",
            user="U3",
        ),
        _message(
            "C1",
            60 * 26 - 1,
            "*10k requests a second* at peak, says the load test :fire:",
            user="U3",
            reactions=[
                {"name": "eyes", "count": 2, "users": ["U1", "U2"]},
                {"name": "+1", "count": 1, "users": ["U2"]},
            ],
        ),
        {
            **_message(
                "C1",
                42,
                "Poll: Postgres or MongoDB for the order service?",
                user="UB",
                bot_id="B1",
                app_id="A1",
            ),
            "ts": BOARD_TS,
            "blocks": BOARD,
            "reply_count": 5,
            "reply_users": ["UB", "U1"],
            "latest_reply": ts(3),
        },
    ]


def _replies() -> list[Json]:
    return [
        _as_other(
            40,
            "Architect",
            ":building_construction:",
            blocks=[{"type": "section", "block_id": "m1", "text": mrkdwn(PROPOSAL)}],
        ),
        _as_other(
            36,
            "Security",
            ":lock:",
            text="A question to *Architect*: who may read `payload`? <@U1>, is it personal?",
        ),
        _message(
            "C1",
            30,
            "It is: names. &lt;script&gt;alert(1)&lt;/script&gt; is only text.",
            user="U1",
            thread_ts=BOARD_TS,
            reactions=[{"name": "eyes", "count": 1, "users": ["UB"]}],
        ),
    ]


def _result() -> list[Json]:
    return [
        _as_other(
            8,
            "Tally",
            ":bar_chart:",
            text="The vote",
            blocks=[
                {"type": "section", "block_id": "v0", "text": mrkdwn("*The vote* · 3 ballots")},
                _table(),
            ],
        ),
        _as_other(
            3,
            "Tally",
            ":scales:",
            text="*Decision:* PostgreSQL, with JSONB for partner payloads. Confidence *78*.",
            subtype="thread_broadcast",
            files=[
                {
                    "id": "F1",
                    "name": "decision.md",
                    "title": "decision.md",
                    "mimetype": "text/markdown",
                    "size": 2431,
                    "url_private": "/files/F1/decision.md",
                }
            ],
        ),
        _message(
            "C1",
            2,
            "Nobody else sees this. Type `/poll help` for more.",
            user="UB",
            bot_id="B1",
            app_id="A1",
            is_ephemeral=True,
        ),
    ]


def _table() -> Json:
    return {
        "type": "table",
        "block_id": "t1",
        "column_settings": [{"is_wrapped": True}, {"align": "center"}, {"align": "right"}],
        "rows": [
            [_raw("Position"), _raw("First places"), _raw("Borda")],
            [_raw("A · Postgres with JSONB"), _number(2), _number(5)],
            [_raw("B · Postgres, plain tables"), _number(1), _number(3)],
            [_raw("C · MongoDB"), _number(0), _number(1)],
        ],
    }


def _raw(text: str) -> Json:
    return {"type": "raw_text", "text": text}


def _number(value: float) -> Json:
    return {"type": "raw_number", "value": value, "text": str(value)}


RICH: Json = {
    "type": "rich_text",
    "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": "x"}]}],
}


def _task(name: str, status: str) -> Json:
    return {"type": "task_card", "task_id": name, "title": name, "status": status}


GALLERY: list[Json] = [
    {"type": "header", "block_id": "g1", "text": plain("Every block :rocket:")},
    {
        "type": "section",
        "block_id": "g2",
        "text": mrkdwn(
            "*Section* with an accessory, <https://example.com|a link> and "
            "<!date^1700000000^{date_long}|2023>"
        ),
    },
    {"type": "divider"},
    RICH,
    {
        "type": "actions",
        "block_id": "g3",
        "elements": [
            button("Go", "go", style="primary"),
            button("Link", "link", url="https://example.com"),
            {
                "type": "static_select",
                "action_id": "pick",
                "placeholder": plain("Pick one"),
                "options": [option("Red"), option("Green"), option("Blue")],
            },
            {"type": "datepicker", "action_id": "day", "initial_date": "2026-11-20"},
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
                    "data": [
                        {"label": "PostgreSQL", "value": 78},
                        {"label": "Kafka, on machines…", "value": 22},
                    ],
                }
            ],
            "axis_config": {
                "categories": ["PostgreSQL", "Kafka, on machines…"],
                "y_label": "Percent",
            },
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
        "block_id": "g5",
        "title": plain("A container"),
        "subtitle": plain("collapsible"),
        "is_collapsible": True,
        "child_blocks": [{"type": "section", "text": mrkdwn("Inside")}],
    },
    {
        "type": "context_actions",
        "block_id": "g6",
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


def _gallery() -> Json:
    return _message("C2", 5, "Every block", user="UB", bot_id="B1", app_id="A1", blocks=GALLERY)


def _input(name: str, label: str, element: Json, **more: object) -> Json:
    return {
        "type": "input",
        "block_id": name,
        "label": plain(label),
        "element": {"action_id": "in", **element},
        **more,
    }


_COLOURS = [option("Red", "warm"), option("Green"), option("Blue")]
MODAL: Json = {
    "id": "V1",
    "type": "modal",
    "callback_id": "all",
    "title": plain("Start a poll"),
    "submit": plain("Start"),
    "close": plain("Cancel"),
    "blocks": [
        {
            "type": "section",
            "block_id": "intro",
            "text": mrkdwn("About *$0.12* and _four minutes_."),
        },
        _input(
            "question",
            "Question",
            {"type": "plain_text_input", "min_length": 5, "max_length": 120, "focus_on_load": True},
        ),
        _input(
            "context",
            "Context",
            {"type": "plain_text_input", "multiline": True},
            optional=True,
            hint=plain("What the agents should know."),
        ),
        _input("rounds", "Rounds", {"type": "plain_text_input", "initial_value": "3"}),
        _input(
            "format",
            "Format",
            {"type": "static_select", "options": _COLOURS, "initial_option": _COLOURS[0]},
        ),
        _input("agents", "Agents", {"type": "multi_static_select", "options": _COLOURS}),
        _input("people", "People", {"type": "multi_users_select", "initial_users": ["U2"]}),
        _input(
            "place",
            "Conversation",
            {"type": "conversations_select", "default_to_current_conversation": True},
        ),
        _input("flags", "Flags", {"type": "checkboxes", "options": _COLOURS}, optional=True),
        _input("day", "Day", {"type": "datepicker", "initial_date": "2026-12-01"}, optional=True),
    ],
}
HOME: Json = {
    "id": "VH",
    "type": "home",
    "blocks": [
        {"type": "header", "block_id": "h1", "text": plain("Your polls")},
        {
            "type": "section",
            "block_id": "h2",
            "text": mrkdwn("*Postgres or MongoDB?* in <#C1>\nRound 2 of 3"),
            "accessory": button("Open", "open"),
        },
        {"type": "divider"},
        {
            "type": "actions",
            "block_id": "h3",
            "elements": [button("New poll", "new", style="primary")],
        },
    ],
}
