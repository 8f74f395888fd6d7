"""Names that tie what Slack sends back to what we posted: actions, forms, blocks, post keys."""

import re
from collections.abc import Mapping
from enum import StrEnum

#: `event_type` of the metadata that every post of ours carries; its payload is `{"key": …}`.
METADATA_EVENT = "moot_post"

#: Begins what stands for the address of a post of ours; `.invalid` leads nowhere (RFC 2606).
_ADDRESSES = "https://moot.invalid/post/"
#: Only where it is a link: `bot/slack/mrkdwn.py` makes none to `.invalid` of foreign text.
#: A lookbehind instead of `<` would be tried at every character, which is 70 times slower.
_ADDRESS = re.compile(f"<{re.escape(_ADDRESSES)}([A-Za-z0-9/._-]+)(?=[|>])")
_LINKED_POST = re.compile(f"<{re.escape(_ADDRESSES)}[A-Za-z0-9/._-]+[|]([^<>|]*)>")
_NOTE = re.compile(r"[A-Z0-9]+:(\d+\.\d+)")


class ActionId(StrEnum):
    """`action_id` of every button and field. A button's `value` is the debate's id."""

    STOP = "debate_stop"
    VOTE_NOW = "debate_vote_now"
    PAUSE = "debate_pause"
    RESUME = "debate_resume"
    ADD_CONTEXT = "debate_add_context"
    OPTIONS = "debate_options"
    #: Has the debate held that was skipped; on the board and below the verdict.
    DEBATE_ANYWAY = "debate_anyway"
    REVEAL = "debate_reveal"
    #: On the card with questions; the value of a skip is `<debate>/<number>`.
    ANSWER = "clarify_answer"
    SKIP = "clarify_skip"
    SKIP_ALL = "clarify_skip_all"
    #: Asks which question a reply answers; the value is `<debate>/<number>/<note>`.
    CHOOSE = "clarify_choose"
    BALLOT = "people_ballot"
    #: Below the verdict: ask about the debate, or start one that goes on from it.
    ASK = "ask_about_debate"
    #: Asks what somebody wrote in the thread; its value is in `bot.views.decision`.
    ASK_THIS = "ask_what_was_written"
    DEBATE_ON = "debate_it_on"
    #: Makes a link to the debate's page.
    SHARE_PAGE = "share_page"
    ACCEPT = "decision_accept"
    REJECT = "decision_reject"
    REVISIT = "decision_revisit"
    SUPERSEDE = "decision_supersede"
    #: Followed by how the earlier decision is cited; its value is `<earlier debate>/<this one>`.
    SUPERSEDE_EARLIER = "supersede_earlier"
    #: How an accepted decision turned out.
    OUTCOME_HELD = "outcome_held"
    OUTCOME_PARTLY = "outcome_partly"
    OUTCOME_REVERSED = "outcome_reversed"
    OUTCOME_TOO_EARLY = "outcome_too_early"
    OUTCOME_CHANGE = "outcome_change"
    #: Its value is `<debate>/good` or `<debate>/bad`.
    FEEDBACK = "verdict_feedback"
    SAY_WHY = "verdict_feedback_why"
    #: Shows all of what a post folds away; its value is what `bot.views.message` names.
    READ_ALL = "read_all"
    #: Opens the form to start a debate; its value is nothing.
    START = "start_debate"
    #: Asks what typed text means; the values are in `bot.views.notices`.
    DEBATE_IT = "debate_it"
    RUN_COMMAND = "run_command"


class CallbackId(StrEnum):
    """`callback_id` of every form and shortcut."""

    START_FORM = "start_form"
    DEBATE_THIS = "debate_this"
    ADD_CONTEXT_FORM = "add_context_form"
    OPTIONS_FORM = "options_form"
    ANSWER_FORM = "answer_form"
    SETTINGS_FORM = "settings_form"
    BALLOT_FORM = "ballot_form"
    DECISION_FORM = "decision_form"
    OUTCOME_FORM = "outcome_form"
    COMMENT_FORM = "comment_form"
    ASK_FORM = "ask_form"


class FieldId(StrEnum):
    """Ids of the fields of forms: block id and action id at once."""

    REST = "rest"
    QUESTION = "question"
    CONTEXT = "context"
    SOURCES = "sources"
    THREAD = "thread"
    CHANNEL = "channel"
    PLAYBOOK = "playbook"
    FORMAT = "format"
    AGENTS = "agents"
    ROUNDS = "rounds"
    CLARIFY = "clarify"
    WAIT = "wait"
    MODELS = "models"
    COST_CAP = "cost_cap"
    STEWARDS = "stewards"
    KEEP_PINNED = "keep_pinned"
    EVERY_TURN = "every_turn"
    NO_PAGES = "no_pages"
    OPEN_TO_OTHERS = "open_to_others"
    SHADOW = "shadow"
    SEALED = "sealed"
    WHY = "why"
    DATE = "date"
    NEWER = "newer"
    OUTCOME = "outcome"
    NEW_OPTION = "new_option"
    MERGED = "merged"
    MERGED_INTO = "merged_into"


def further(field: FieldId, number: int) -> str:
    """The id of the field, from the second on, that goes on where another has no room."""
    return f"{field.value}-{number}"


def board_key(debate_id: str) -> str:
    return f"{debate_id}/board"


def _of_edition(key: str, edition: int) -> str:
    """A key of what comes once, and again when the debate that was skipped is wanted."""
    return key if edition == 1 else f"{key}/{edition}"


def pin_key(debate_id: str) -> str:
    return f"{debate_id}/board/pin"


def session_key(debate_id: str) -> str:
    """For what Slack is told of the debate as an agent's session."""
    return f"{debate_id}/session"


def question_field(number: int) -> str:
    return f"question-{number}"


def rank_field(place: int) -> str:
    """`place` 0 is the first."""
    return f"place-{place + 1}"


def name_field(option: str) -> str:
    return f"name-{option}"


def report_key(debate_id: str, edition: int = 1) -> str:
    return _of_edition(f"{debate_id}/report", edition)


def card_key(debate_id: str, turn_key: str) -> str:
    return f"{debate_id}/{turn_key}/card"


def turn_key(debate_id: str, turn: str, part: int = 0) -> str:
    return f"{debate_id}/{turn}/{part}"


def vote_key(debate_id: str, edition: int = 1) -> str:
    return _of_edition(f"{debate_id}/vote", edition)


def headline_key(debate_id: str, edition: int = 1) -> str:
    """For the verdict's short form, which the channel sees too."""
    return _of_edition(f"{debate_id}/headline", edition)


def outcome_key(debate_id: str, decision: str, number: int) -> str:
    """`number` 0: nobody had asked."""
    return f"{debate_id}/outcome/{decision}/{number}"


def continued_key(debate_id: str, newer: str) -> str:
    """For the line in a debate's thread that leads to a newer debate that goes on."""
    return f"{debate_id}/continued/{newer}"


def after_end_key(debate_id: str, person: str) -> str:
    return f"{debate_id}/after-end/{person}"


def asking_thread_key(debate_id: str, what: str) -> str:
    """For what is posted in the thread that asked for the debate: eyes, link, verdict."""
    return f"{debate_id}/asked/{what}"


def address_of(key: str) -> str:
    """Stands for the address of our post until that is known, in a link `<address|label>`."""
    return f"{_ADDRESSES}{key}"


def address_keys(text: str) -> frozenset[str]:
    return frozenset(_ADDRESS.findall(text))


def fill_addresses(text: str, addresses: Mapping[str, str]) -> str:
    return _ADDRESS.sub(lambda match: f"<{addresses[match.group(1)]}", text)


def without_addresses(text: str) -> str:
    """The labels of such links only, for a window: nothing is filled in there."""
    return _LINKED_POST.sub(r"\1", text)


def event_key(debate_id: str, seq: int, part: str | int) -> str:
    return f"{debate_id}/e{seq}/{part}"


def note_id(channel: str, ts: str) -> str:
    return f"{channel}:{ts}"


#: Follows the id of a message in the id of the note that its files are, and of that of its links.
FILES = "/files"
LINKS = "/links"


def note_ts(note: str) -> str | None:
    """The timestamp of the message a note is; None if it came another way (a form)."""
    match = _NOTE.fullmatch(note)
    return match.group(1) if match else None
