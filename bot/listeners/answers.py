"""Answers to one person: short texts in Slack's mrkdwn (pure)."""

from collections.abc import Sequence

from bot.listeners.typed import SUBCOMMANDS, UnknownOption
from bot.operations.doctor.findings import Finding, as_text, is_well
from bot.slack.access import BotMembership
from bot.slack.limits import POST_TEXT
from bot.slack.mrkdwn import plain
from bot.views.lists import status_words
from bot.views.verdict import short_text
from bot.views.vote import agents_by_option, round_notes
from core.debate.state import Debate
from core.errors import LogBroken, StoreError
from core.figures import quantity
from core.redaction import redact
from core.rules.ending import rounds_words
from core.rules.sealing import SEALED

COMMANDS = {
    "/debate": "a form to start a debate: agents, format, rounds, models, cost",
    "/debate <question>": "start a debate in this channel at once",
    "/debate --format review": "a review: of the text after it, or of what the thread holds if you "
    "mention me there",
    "/debate --playbook NAME <question>": "a kind of debate, such as vendor-choice or rfc-review",
    "/debate --when always <question>": "hold rounds even if all agents agree at first; `split`: "
    "only if they differ; `never`: vote at once",
    **{f"/debate {row.form}": row.does for row in SUBCOMMANDS},
    "other text after /debate": "if it begins with a command or has fewer than three words, you "
    "are asked what you meant; an unknown option starts nothing",
    "Debate this": "a shortcut on any message: its text becomes the question",
    "@Moot <question>": "debated where it has a question mark or a choice (or, oder, vs), with a "
    "file, and in a thread of yours; else you are asked first; in code, in a quote and from an app "
    "it does nothing",
    "@Moot with a command": "the command, if it is neither private nor a form; with emoji or "
    "thanks alone: a greeting",
    "N: text": "in the thread of a debate: the answer to question N; any other reply is a note "
    "(👀), which a button makes an answer while questions are open",
    "stop, pause, resume, vote now": "alone in a line of that thread, with or without @Moot: as "
    "the board's buttons",
    "@Moot in a decided thread": "a question to its judge; for a question without the mention a "
    "button offers it",
}
CHECKING = "Checking keys, models, Slack and the database. This takes a few seconds."
NO_CHECKS = "These checks are not available here. Type `moot doctor` where Moot runs."
ADMINS_ONLY = (
    "`/debate doctor` is for admins and owners of this workspace: it shows how Moot is set up. "
    "Ask one of them, or whoever runs Moot: `moot doctor` shows the same there."
)
IN_DIRECT_MESSAGE = (
    "Debates are held in channels, where your team can follow them. "
    "Type `/debate <question>` in a channel that I am in."
)
STORE_DOWN = "Moot's database does not answer, so nothing was recorded. Try again in a minute."
LOG_BROKEN = (
    "This debate's log cannot be read: it is damaged, or a newer version of Moot wrote it. Nothing "
    "was recorded, and trying again does not help. Tell whoever runs Moot: its log names the event."
)
TOO_SLOW = (
    "Moot is slow just now. If nothing appears here within a minute, type it again: "
    "`/debate list` shows what was started."
)
TOO_FAST = (
    "You write faster than Moot accepts: about 30 messages at once, then one a second. The agents "
    "did not get the messages beyond that; write them again in a minute."
)
CLICK_TOO_SLOW = "Moot is slow just now, and what you did may not have been recorded. Try again."
NOT_INSTALLED = (
    "Moot is not installed in this workspace, so nothing was done. "
    "Ask whoever runs Moot for the address to install it."
)
NO_RECEIVERS = (
    "This Moot sends nothing outside Slack: its settings name no webhook and no place for records."
)
OTHERS_REFUSED = (
    "Only people of the workspace that Moot is installed in may do that here: it pays for what the "
    "models take. Ask one of them to do it, or to open the channel to you in `/debate settings`."
)
FORM_TOO_LATE = "Slack did not open the form in time. Try again."
FORM_UNREADABLE = "This form is not as it was opened; nothing was done. Open it again."

BLANK_FIELD = "Write something here."
CHOSEN_TWICE = "You have put this option higher already. Put each option in one place."
NO_CHOICE = "Choose what you would do first."
NO_OUTCOME = "Choose how it turned out."
NO_DATE = "Choose a day."
PAST_DATE = "Choose a day after today."
QUESTIONS_CLOSED = (
    "These questions are answered already, or their time is over. Write in the thread what the "
    "agents should know; it reaches them as a note."
)
NOTHING_TO_READ = "The full text of this post is not available any more."
_MOST_SHOWN = POST_TEXT - 10_000
_QUESTION_LIMIT = 120


def doctor_answer(findings: Sequence[Finding]) -> str:
    last = (
        "All is well." if is_well(findings) else "Whoever runs Moot must look at the lines with ✗."
    )
    return f"{plain(as_text(findings))}\n\n*{last}*"


def storage_failure(error: StoreError) -> str:
    return LOG_BROKEN if isinstance(error, LogBroken) else STORE_DOWN


def command_only(text: str) -> str:
    """The answer to a mention with a subcommand that only the command can run."""
    command = plain(" ".join(redact(text).replace("`", "").split()))
    return (
        f"A mention cannot do that: type `/debate {command}` in the channel, outside of threads. "
        "Nothing was started."
    )


def channel_refusal(membership: BotMembership) -> str:
    """The reason why no debate can be held in a channel; empty if one can be."""
    if membership is BotMembership.NOT_MEMBER:
        return (
            "I am not in this channel. Type `/invite @Moot`, then your question again; "
            "nothing was started."
        )
    if membership is BotMembership.ARCHIVED:
        return "This channel is archived; nothing was started."
    return ""


def without_backticks(text: str) -> str:
    """The text for places where Slack shows text unformatted."""
    return text.replace("`", "“", 1).replace("`", "”", 1).replace("`", "")


def late_answers(numbers: Sequence[int]) -> str:
    questions = ", ".join(str(number) for number in numbers)
    return (
        f"Somebody answered question {questions} before you, or its time was over. While the "
        "debate runs, what you wrote reaches the agents as a note; your other answers stand."
    )


def start_failure(reason: str, question: str) -> str:
    """The reason why nothing was started, with the question, so that its author can copy it."""
    text = plain(redact(question))[:_MOST_SHOWN]  # an answer to a mention is stored
    quote = f" You wrote:\n>>> {text}" if text.strip() else ""
    return f"{reason}\nNothing was started.{quote}"


def start_answer(debate_id: str, warnings: Sequence[str]) -> str:
    lines = [
        f"Debate `{debate_id}` begins. Reply in its thread to add what the agents should know."
    ]
    return "\n".join([*lines, *(f":warning: {plain(warning)}" for warning in warnings)])


def end_answer(debate: Debate) -> str:
    again = "type `/debate <question>` in the channel for another debate"
    if debate.verdict:
        revisit = "*Revisit* to look at it again on a date, " if debate.is_decidable else ""
        again = (
            "mention me here with a question about it, press *Debate it on* below the verdict, "
            f"{revisit}or {again}"
        )
    return (
        f"Debate `{debate.id}` has ended: its agents do not read what is written here now. "
        f"To go on, {again}. People can talk on here; I say this only once."
    )


def unread_files(debate: Debate) -> str:
    again = "Press *Debate it on* below the verdict, then attach it in the new debate's thread."
    return (
        f"Debate `{debate.id}` has ended: its agents do not read what you attached. "
        f"{again if debate.verdict else ''}"
    ).rstrip()


def unknown_option(reading: UnknownOption) -> str:
    return (
        f"“{plain(reading.option)}” is no option here, or its value is missing or unknown. "
        "Before the question there can be `--format NAME`, `--playbook NAME` and `--when split`, "
        "`always` or `never`; all else is in the form that `/debate` alone opens."
    )


def status_answer(debate: Debate) -> str:
    setup = debate.setup
    question = " ".join(setup.question.split())
    question = (
        question if len(question) <= _QUESTION_LIMIT else f"{question[: _QUESTION_LIMIT - 1]}…"
    )
    agents, voters = len(setup.agents), {ballot.turn.agent for ballot in debate.ballots.values()}
    votes = f"{len(voters)} of {quantity(agents, 'agent')} voted."
    lines = [
        f"*{plain(question)}*",
        f"`{debate.id}`: {status_words(debate)}; asked by <@{setup.asked_by.id}>.",
        "Agents: " + ", ".join(plain(agent.name) for agent in setup.agents),
        SEALED if debate.is_sealed else f"{rounds_words(debate).capitalize()}; {votes}",
    ]
    if debate.verdict:
        lines += ["", short_text(debate, debate.verdict)]
    elif positions := agents_by_option(debate):
        lines += [positions, *round_notes(debate)]
    if debate.failure:
        lines.append(f":warning: {plain(debate.failure)}")
    return "\n".join(lines)
