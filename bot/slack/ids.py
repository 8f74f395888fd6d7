"""Ids of actions, forms and fields, and keys of posts."""

import re
from collections.abc import Mapping
from enum import StrEnum

#: `event_type` of the metadata of every post of the bot; the payload is `{"key": …}`.
METADATA_EVENT = "moot_post"

#: Prefix of the placeholder for the address of one of the bot's posts, followed by the post's key.
#: No real host ends in `.invalid` (RFC 2606).
_ADDRESSES = "https://moot.invalid/post/"
#: Matches links only: `bot/slack/mrkdwn.py` creates no link to `.invalid` from foreign text, so
#: nobody else can write a placeholder. With a lookbehind instead of `<` this would be 70 times
#: slower.
_ADDRESS = re.compile(f"<{re.escape(_ADDRESSES)}([A-Za-z0-9/._-]+)(?=[|>])")
_LINKED_POST = re.compile(f"<{re.escape(_ADDRESSES)}[A-Za-z0-9/._-]+[|]([^<>|]*)>")
_NOTE = re.compile(r"[A-Z0-9]+:(\d+\.\d+)")


class ActionId(StrEnum):
    """`action_id` of every button.

    Its `value` is the debate's id unless a comment names another.
    """

    STOP = "debate_stop"
    VOTE_NOW = "debate_vote_now"
    PAUSE = "debate_pause"
    RESUME = "debate_resume"
    ADD_CONTEXT = "debate_add_context"
    OPTIONS = "debate_options"
    #: Holds a debate that the gate skipped; on the board and below the verdict.
    DEBATE_ANYWAY = "debate_anyway"
    REVEAL = "debate_reveal"
    #: On the card with the clarifications; the value of a skip is `<debate>/<number>`.
    ANSWER = "clarify_answer"
    SKIP = "clarify_skip"
    SKIP_ALL = "clarify_skip_all"
    #: Asks which question a reply answers; the value is `<debate>/<number>/<note>`.
    CHOOSE = "clarify_choose"
    BALLOT = "people_ballot"
    #: Below the verdict: asks a question about the debate, or starts a debate that continues it.
    ASK = "ask_about_debate"
    #: Asks the judge the question that a person wrote in the thread; value: see
    #: `bot.views.decision`.
    ASK_THIS = "ask_what_was_written"
    DEBATE_ON = "debate_it_on"
    #: Makes a link to the debate's page.
    SHARE_PAGE = "share_page"
    ACCEPT = "decision_accept"
    REJECT = "decision_reject"
    REVISIT = "decision_revisit"
    SUPERSEDE = "decision_supersede"
    #: Prefix; the citation of the earlier decision follows. Value: `<earlier debate>/<this
    #: debate>`.
    SUPERSEDE_EARLIER = "supersede_earlier"
    #: The outcome of an accepted decision.
    OUTCOME_HELD = "outcome_held"
    OUTCOME_PARTLY = "outcome_partly"
    OUTCOME_REVERSED = "outcome_reversed"
    OUTCOME_TOO_EARLY = "outcome_too_early"
    OUTCOME_CHANGE = "outcome_change"
    #: Its value is `<debate>/good` or `<debate>/bad`.
    FEEDBACK = "verdict_feedback"
    SAY_WHY = "verdict_feedback_why"
    #: Opens the full text of a post; value: see `bot.views.message`.
    READ_ALL = "read_all"
    #: Opens the form to start a debate; without a value.
    START = "start_debate"
    #: The two meanings of an unclear text; values: see `bot.views.notices`.
    DEBATE_IT = "debate_it"
    RUN_COMMAND = "run_command"


class CallbackId(StrEnum):
    """`callback_id` of every form."""

    START_FORM = "start_form"
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
    """Ids of the fields of forms, used as block id and as action id."""

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
    """The id of the second field (`number` 2) or a later one for a text too long for one field."""
    return f"{field.value}-{number}"


def board_key(debate_id: str) -> str:
    return f"{debate_id}/board"


def _of_edition(key: str, edition: int) -> str:
    """The key of a post that comes once more when a skipped debate is held after all."""
    return key if edition == 1 else f"{key}/{edition}"


def pin_key(debate_id: str) -> str:
    return f"{debate_id}/board/pin"


def session_key(debate_id: str) -> str:
    """For the calls that report the debate to Slack as an agent's session."""
    return f"{debate_id}/session"


def question_field(number: int) -> str:
    return f"question-{number}"


def rank_field(place: int) -> str:
    """The field of a rank on the ballot; `place` 0 is the first choice."""
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
    """For the short form of the verdict, which is also shown in the channel."""
    return _of_edition(f"{debate_id}/headline", edition)


def outcome_key(debate_id: str, decision: str, number: int) -> str:
    """For the line with an outcome; `number` is that of the reminder, 0 without a reminder."""
    return f"{debate_id}/outcome/{decision}/{number}"


def continued_key(debate_id: str, newer: str) -> str:
    """For the line in a debate's thread with the link to the debate that continues it."""
    return f"{debate_id}/continued/{newer}"


def after_end_key(debate_id: str, person: str) -> str:
    return f"{debate_id}/after-end/{person}"


def asking_thread_key(debate_id: str, part: str) -> str:
    """For posts in the thread that asked for the debate; `part` is `eyes`, `link` or `verdict`."""
    return f"{debate_id}/asked/{part}"


def address_of(key: str) -> str:
    """The placeholder for the address of a post that is not sent yet: `<placeholder|label>`."""
    return f"{_ADDRESSES}{key}"


def address_keys(text: str) -> frozenset[str]:
    return frozenset(_ADDRESS.findall(text))


def fill_addresses(text: str, addresses: Mapping[str, str]) -> str:
    return _ADDRESS.sub(lambda match: f"<{addresses[match.group(1)]}", text)


def without_addresses(text: str) -> str:
    """The text with labels in place of such links, for forms, where no address is filled in."""
    return _LINKED_POST.sub(r"\1", text)


def event_key(debate_id: str, seq: int, part: str | int) -> str:
    return f"{debate_id}/e{seq}/{part}"


def note_id(channel: str, ts: str) -> str:
    return f"{channel}:{ts}"


def message_version(channel: str, ts: str, edited_at: str = "") -> str:
    """The id of a message's current text: the message's id, and its last edit if it was edited."""
    return "/".join(filter(None, (note_id(channel, ts), edited_at)))


#: Suffixes of the ids of the notes with a message's files and with its links.
FILES = "/files"
LINKS = "/links"


def note_ts(note: str) -> str | None:
    """The timestamp of the message that a note was written as; None if it came from a form."""
    match = _NOTE.fullmatch(note)
    return match.group(1) if match else None
