"""The rules for typed text in docs/team.md: the effect of each line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.listeners.mentions import is_greeting, is_question
from bot.listeners.messages import Steering, split_steering
from bot.listeners.typed import (
    OpenForm,
    Reading,
    SubcommandCall,
    TypedQuestion,
    UnclearText,
    UnknownOption,
    parse_typed,
)
from bot.slack.payloads import plain
from bot.slack.typed_text import readable, without_bot_mention


def outcome(reading: Reading) -> str:
    """A reading in short: `run show dabc2345`, `ask list`, `debate`, `form`."""
    match reading:
        case SubcommandCall(subcommand=row):
            words = [*filter(str.islower, row.form.split()), reading.debate_id, reading.words]
            return " ".join(["run", *filter(None, words)])
        case UnclearText(subcommand=row, command=command):
            assert not command or command.islower(), "a button runs no command without its argument"
            return f"ask {command or row.form}"
        case TypedQuestion():
            values = [reading.format, reading.playbook, reading.when or ""]
            return " ".join(["debate", *filter(None, values)])
        case OpenForm(playbook=playbook):
            return f"form {playbook}".strip()
        case UnknownOption(option=option):
            return f"option {option}"


COMMANDS = [
    # An exact subcommand is run.
    ("   ", "form"),
    ("HELP", "run help"),
    ("doctor retry", "run doctor retry"),
    ("Search  job\u00a0queue", "run search job queue"),
    ("show DABC2345", "run show dabc2345"),
    ("show `dabc2345`", "run show dabc2345"),
    ("export dabc2345", "run export dabc2345"),
    ("export dabc2345 page", "run export page dabc2345"),
    ("export dabc2345 page off", "run export page off dabc2345"),
    ("token new my work laptop", "run token new my work laptop"),
    ("token revoke 2", "run token revoke 2"),
    ("token revoke all", "run token revoke all"),
    # For an inexact subcommand the person is asked, with the similar command as a button.
    ("list all please", "ask list"),
    ("list!", "ask list"),
    ("help us choose a queue?", "ask help"),
    ("search", "ask search WORDS"),
    ("show", "ask show ID"),
    ("show the verdict of dabc2345", "ask show dabc2345"),
    ("stop using Kafka?", "ask stop ID"),
    ("Stop dabc2345 please", "ask stop dabc2345"),
    ("stop dabc23456", "ask stop ID"),
    ("export dabc2345 page on", "ask export dabc2345 page"),
    ("outcome dabc2345 held", "ask outcome dabc2345"),
    ("settings or environment variables?", "ask settings"),
    ("token revoke 0", "ask token revoke N"),
    ("token revoke", "ask token revoke N"),
    ("token new", "ask token new NAME"),
    ("doctor now", "ask doctor"),
    # The same for fewer than three words, or without letters.
    ("hlep", "ask help"),
    ("shwo dabc2345", "ask show dabc2345"),
    ("serach kafka", "ask search WORDS"),
    ("Kafka?", "ask help"),
    ("thank you", "ask help"),
    ("vote now", "ask help"),
    ("dabc2345", "ask help"),
    (":tada: :fire: :rocket:", "ask help"),
    ("👍 👍 👍", "ask help"),
    ("1. Kafka 2. SQS", "ask help"),
    ("— — —", "ask help"),
    ("为什么", "ask help"),
    # Everything else is a question.
    ("Kafka or PostgreSQL", "debate"),
    ("should we use kafka", "debate"),
    ("please stop the debate", "debate"),
    ("can you list them?", "debate"),
    ("Wie kommen wir zu weniger Rufbereitschaft", "debate"),
    ("我们应该使用卡夫卡吗？", "debate"),  # noqa: RUF001
    ("カフカを使うべきですか？", "debate"),  # noqa: RUF001
    ("카프카를 써야 할까요?", "debate"),
    ("هل نستخدم كافكا أم بوستجرس؟", "debate"),
    ("Should 👍 mean yes?", "debate"),
    ("a < b or b > a?", "debate"),
    ("what is dabc2345 about?", "debate"),
    ("- Kafka\n- SQS\n- a table", "debate"),
    ("show" + " prices" * 60, "debate"),  # too long for a command
    # Options stand before the question.
    ("--format=council Kafka or SQS?", "debate council"),
    ("—format panel Kafka or SQS?", "debate panel"),
    ("--FORMAT Council Kafka or SQS?", "debate council"),
    ("--when split --format panel Kafka or SQS?", "debate panel split"),
    ("--playbook “vendor-choice” Which CRM?", "debate vendor-choice"),
    ("--playbook rfc-review", "form rfc-review"),
    ("--playbook rfc-review --format review", "debate review rfc-review"),
    ("--format review Kafka", "debate review"),
    ("--when always", "debate always"),
    ("--when sometimes Kafka or SQS?", "option --when"),
    ("--format", "option --format"),
    ("—rounds 3 Kafka or SQS?", "option —rounds"),
    ("--verbose logs or short ones?", "option --verbose"),
    ("— Kafka or SQS?", "debate"),
    ("Kafka or SQS? --format panel", "debate"),  # no option after the question
]


@pytest.mark.parametrize(("text", "expected"), COMMANDS)
def test_a_line_after_the_command_does_what_the_card_says(text: str, expected: str) -> None:
    assert outcome(parse_typed(text)) == expected


def test_a_question_keeps_every_word() -> None:
    text = "Is it “safe”: R&D’s — plan?\nOr not?"
    assert parse_typed(f"  {text} ") == TypedQuestion(text)
    assert parse_typed(f"--format panel {text}") == TypedQuestion(text, format="panel")


#: As Slack sends a mention in a channel, outside of threads.
MENTIONS = [
    ("<@U0BOT>, Kafka or SQS?", "debate"),
    ("Kafka or SQS? <@U0BOT>", "debate"),
    ("<@U0BOT> Kafka vs. SQS for jobs", "debate"),
    ("<@U0BOT> Kafka oder SQS jetzt", "debate"),
    ("<@U0BOT> should <@U0ALEX> own this?", "debate"),
    ("<@U0BOT> R&amp;D or sales &lt;now&gt;", "debate"),
    ("<@U0BOT> see <https://example.com/a|the plan>: ship it?", "debate"),
    ("<@U0BOT> should we use Kafka", "preview"),
    ("<@U0BOT> thank you so much", "preview"),
    ("<@U0BOT> are orders organised per region", "preview"),
    ("<@U0BOT>", "greet"),
    ("<@U0BOT>: :+1::skin-tone-3:", "greet"),
    ("<@U0BOT> thank you :pray:", "greet"),
    ("<@U0BOT> guten Morgen", "greet"),
    ("<@U0BOT> Kafka", "greet"),
    ("<@U0BOT> Kafka?", "ask help"),
    ("<@U0BOT>: show dabc2345", "run show dabc2345"),
    ("<@U0BOT>:help", "run help"),
    ("<@U0BOT> stop", "ask stop ID"),
]


@pytest.mark.parametrize(("text", "expected"), MENTIONS)
def test_a_mention_is_read_by_the_same_card(text: str, expected: str) -> None:
    text_read = readable(without_bot_mention(text, "U0BOT"), {"U0ALEX": "alex"})
    reading = parse_typed(text_read)
    is_shown_first = isinstance(reading, TypedQuestion) and not is_question(reading.text)
    happens = "preview" if is_shown_first else outcome(reading)
    assert ("greet" if is_greeting(text_read, reading) else happens) == expected


@pytest.mark.parametrize(
    ("text", "order", "rest"),
    [
        ("  Stop ", Steering.STOP, ""),
        ("pause", Steering.PAUSE, ""),
        ("resume", Steering.RESUME, ""),
        ("Vote now\n", Steering.VOTE_NOW, ""),
        ("stop\nThis goes nowhere.", Steering.STOP, "This goes nowhere."),
        ("The budget was cut.\nvote now", Steering.VOTE_NOW, "The budget was cut."),
        ("stop!", None, "stop!"),
        ("please stop", None, "please stop"),
        ("vote", None, "vote"),
        ("2: stop", None, "2: stop"),
    ],
)
def test_a_separate_line_steers_the_debate(text: str, order: Steering | None, rest: str) -> None:
    assert split_steering(text) == (order, rest)


@given(st.text(max_size=400))
def test_whatever_is_typed_is_read_as_something_and_a_question_loses_no_word(text: str) -> None:
    reading = parse_typed(plain(text))
    if isinstance(reading, TypedQuestion) and not reading.has_options:
        assert reading.text == plain(text).strip()
