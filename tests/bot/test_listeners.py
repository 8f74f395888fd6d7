"""What people type, understood, and the words they get back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.listeners import answers
from bot.listeners.typed import (
    Help,
    ListDebates,
    OpenForm,
    OpenSettings,
    Search,
    Show,
    StopDebate,
    Thanks,
    Typed,
    TypedQuestion,
    Unclear,
    UnknownOption,
    understood,
)
from bot.slack.access import Standing
from core.models import When


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", OpenForm()),
        ("   ", OpenForm()),
        ("settings", OpenSettings()),
        ("search kafka retries", Search("kafka retries")),
        ("search", Unclear("search", "search")),
        (
            "search engine: Elastic or Typesense?",
            TypedQuestion("search engine: Elastic or Typesense?"),
        ),
        ("help", Help()),
        ("HELP", Help()),
        ("list", ListDebates()),
        ("show dabcd234", Show("dabcd234")),
        ("show `DABCD234`", Show("dabcd234")),
        ("stop dabcd234", StopDebate("dabcd234")),
        ("stop", Unclear("stop", "stop")),
        ("stop kafka", Unclear("stop kafka", "stop")),
        ("show", Unclear("show", "show")),
        ("hlep", Unclear("hlep", "help")),
        ("help me", Unclear("help me", "help")),
        ("list all please", Unclear("list all please", "list")),
        ("delete dabc2345", Unclear("delete dabc2345", "delete", "dabc2345")),
        ("vote", Unclear("vote", "vote")),
        ("vote now", Unclear("vote now", "vote")),
        ("pause DABC2345", Unclear("pause DABC2345", "pause", "dabc2345")),
        ("Vote on Kafka or Redis", TypedQuestion("Vote on Kafka or Redis")),
        ("answer to our outage?", TypedQuestion("answer to our outage?")),
        ("help us choose a queue", TypedQuestion("help us choose a queue")),
        ("doctor or nurse?", TypedQuestion("doctor or nurse?")),
        ("x" * 5000, TypedQuestion("x" * 5000)),
        ("lst", Unclear("lst", "list")),
        ("Kafka", Unclear("Kafka", "")),
        ("Kafka?", TypedQuestion("Kafka?")),
        ("shwo x", Unclear("shwo x", "show")),
        ("shwo DABC2345", Unclear("shwo DABC2345", "show", "dabc2345")),
        ("serach kafka retries", Unclear("serach kafka retries", "search")),
        ("lsit all now", Unclear("lsit all now", "list")),
        ("shwo x?", TypedQuestion("shwo x?")),
        ("shwo kafka debate", Unclear("shwo kafka debate", "show")),
        ("exprot dabc2345 md", Unclear("exprot dabc2345 md", "export", "dabc2345")),
        ("Report says no", TypedQuestion("Report says no")),
        ("Shop local first", TypedQuestion("Shop local first")),
        ("Research pays off", TypedQuestion("Research pays off")),
        ("Kafka Postgres", Unclear("Kafka Postgres", "")),
        ("Kafka Postgres?", TypedQuestion("Kafka Postgres?")),
        ("How about Kafka", TypedQuestion("How about Kafka")),
        ("数据库 队列", TypedQuestion("数据库 队列")),
        ("--when always A or B?", TypedQuestion("A or B?", when=When.ALWAYS)),
        (
            "—when=never --format panel --playbook rfc-review A or B?",
            TypedQuestion("A or B?", format="panel", playbook="rfc-review", when=When.NEVER),
        ),
        ("--when sometimes A or B?", UnknownOption("--when")),
        ("--format panel --rounds 2 A or B?", UnknownOption("--rounds")),
        ("—sources=x A or B?", UnknownOption("—sources=x")),
        ("-- A or B?", TypedQuestion("-- A or B?")),
        ("—Should we use Kafka?", TypedQuestion("—Should we use Kafka?")),
        ("--no-verify: allow it?", TypedQuestion("--no-verify: allow it?")),
        ("--Format panel A or B?", TypedQuestion("A or B?", format="panel")),
        ("Stop using Kafka", TypedQuestion("Stop using Kafka")),
        ("stop Kafka", Unclear("stop Kafka", "stop")),
        ("stop Kafka?", TypedQuestion("stop Kafka?")),
        ("show dabcd234?", Unclear("show dabcd234?", "show", "dabcd234")),
        ("stop dabcd234.", StopDebate("dabcd234")),
        ("stop!", Unclear("stop", "stop")),
        ("Help!", Help()),
        ("vote?", Unclear("vote", "vote")),
        ("token?", Unclear("token?", "token")),
        ("please list", ListDebates()),
        ("can you show dabcd234?", Show("dabcd234")),
        ("Hey Moot, search kafka retries", Search("kafka retries")),
        ("please search for kafka retries", Search("kafka retries")),
        ("search for kafka", Search("kafka")),
        ("search for", Search("for")),
        ("thanks: list", ListDebates()),
        ("stop stop stop", Unclear("stop", "stop")),
        ("stop…", Unclear("stop", "stop")),
        ("Helm or Kustomize", TypedQuestion("Helm or Kustomize")),
        ("Export to S3", TypedQuestion("Export to S3")),
        ("list all now", Unclear("list all now", "list")),
        ("--playbook rfc-review Is it good?", TypedQuestion("Is it good?", playbook="rfc-review")),
        ("—playbook=“rfc-review” Is it good?", TypedQuestion("Is it good?", playbook="rfc-review")),
        ("Is it good? --Playbook rfc-review ", TypedQuestion("Is it good?", playbook="rfc-review")),
        ("--playbook rfc-review", OpenForm("rfc-review")),
        (
            "Do we need a --playbook flag or not?",
            TypedQuestion("Do we need a --playbook flag or not?"),
        ),
        ("stop using Kafka?", TypedQuestion("stop using Kafka?")),
        ("list or set?", TypedQuestion("list or set?")),
        (
            "Why did agents in d2345abc call Kafka too costly for us?",
            TypedQuestion("Why did agents in d2345abc call Kafka too costly for us?"),
        ),
        ("  Kafka\nor PostgreSQL?  ", TypedQuestion("Kafka\nor PostgreSQL?")),
        ("<script>alert(1)</script> ok?", TypedQuestion("<script>alert(1)</script> ok?")),
        ("数据库 还是 队列?", TypedQuestion("数据库 还是 队列?")),
    ],
)
def test_what_is_typed_is_understood(text: str, expected: Typed):
    assert understood(text) == expected


@pytest.mark.parametrize(
    ("text", "guess", "debate_id"),
    [
        ("stop d2345abc now", "stop", "d2345abc"),
        ("stop D2345ABC, please!", "stop", "d2345abc"),
        ("stop debate d2345abc now", "stop", "d2345abc"),
        ("show d2345abc please", "show", "d2345abc"),
        ("outcome of d2345abc", "outcome", "d2345abc"),
        ("cancel d2345abc for me", "cancel", "d2345abc"),
        ("Stop it now", "stop", ""),
        ("stop this debate", "stop", ""),
        ("stop the debate.", "stop", ""),
        ("show all debates", "show", ""),
        ("list all the debates", "list", ""),
        ("export it now", "export", ""),
        ("cancel the debate", "cancel", ""),
        ("pause the debate", "pause", ""),
        ("end this debate now", "end", ""),
        ("close the debate", "close", ""),
        ("please stop the debate", "stop", ""),
        ("Moot, please stop the debate!", "stop", ""),
        ("can you stop it?", "stop", ""),
        ("could you list all the debates？", "list", ""),  # noqa: RUF001 - as it is typed in Chinese
        ("stop debating right now please", "stop", ""),
        ("show me the latest decision", "show", ""),
        ("list my debates please", "list", ""),
        ("skip question 2", "skip", ""),
        ("start a new debate", "start", ""),
        ("add a note to this debate", "add", ""),
        ("vote dqwkzxhb for Kafka", "vote", "dqwkzxhb"),
        ("show database please", "show", ""),
        ("token revoke all please", "token", ""),
        ("token list of all my tokens", "token", ""),
        ("revoke token 2", "token", ""),
        ("delete all my tokens", "token", ""),
        ("create a new token please", "token", ""),
        ("revoke all of them", "revoke", ""),
        ("the status of d2345abc", "show", "d2345abc"),
        ("what's the status of d2345abc?", "show", "d2345abc"),
        ("d2345abc?", "show", "d2345abc"),
        ("outcome of d2345abc?", "outcome", "d2345abc"),
        ("show d2345abc to everybody?", "show", "d2345abc"),
        ("please don't stop d2345abc", "show", "d2345abc"),
        ("stop the debate？", "stop", ""),  # noqa: RUF001 - as it is typed in Chinese
        ("stop d2345abc now?", "stop", "d2345abc"),
        ("stop the debate…", "stop", ""),
        ("stop it, I made a mistake", "stop", ""),
        ("cancel the kafka debate", "cancel", ""),
        ("please cancel the debate about Kafka", "cancel", ""),
        ("can you cancel the debate about Kafka?", "cancel", ""),
        ("moot: stop", "stop", ""),
        ("thanks please stop the debate", "stop", ""),
        ("could you end this? it is too expensive", "end", ""),
        ("can you make a token?", "token", ""),
        ("is anything running?", "list", ""),
        ("can you search for kafka?", "search for kafka", ""),
    ],
)
def test_an_order_starts_no_debate(text: str, guess: str, debate_id: str):
    found = understood(text)

    assert isinstance(found, Unclear)
    assert found == Unclear(text, guess, debate_id)
    assert "Nothing was started" in answers.unclear(found)


@pytest.mark.parametrize(
    ("text", "command", "debate_id"),
    [
        ("can you token revoke all?", "token revoke all", ""),
        ("please token revoke 2", "token revoke 2", ""),
        ("could you token new laptop?", "token new laptop", ""),
        ("can you export d2345abc page off?", "export d2345abc page off", "d2345abc"),
        ("can you stop d2345abc?", "stop d2345abc", "d2345abc"),
        ("please stop d2345abc", "stop d2345abc", "d2345abc"),
        ("please doctor retry", "doctor retry", ""),
    ],
)
def test_what_cannot_be_undone_is_done_for_its_plain_command_only(
    text: str, command: str, debate_id: str
):
    found = understood(text)

    assert isinstance(found, Unclear)
    assert found == Unclear(text, command, debate_id)
    assert f"Did you mean `/debate {command}`? Nothing was started." in answers.unclear(found)
    assert not isinstance(understood(command), Unclear | TypedQuestion)


@pytest.mark.parametrize(
    "text",
    [
        "thanks",
        "Danke!",
        "great, thanks",
        "that helped, thanks!",
        "Thank you very much…",
        "Thanks for the debate!",
    ],
)
def test_thanks_start_nothing(text: str):
    assert understood(text) == Thanks()
    assert isinstance(understood(f"{text}?"), TypedQuestion)  # as the answer to thanks says


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("Can you add tokens to the list?", "write it in the form"),
        ("Can you add a list to the page?", "write it in the form"),
        ("Continue with the old one", "end it with a question mark"),
        ("Add another question to the list", "end it with a question mark"),
        ("show prices", "end it with a question mark"),
        ("End the debate about tabs?", "write it in the form"),
        ("Is d2345abc still true?", "write it in the form"),
    ],
)
def test_a_question_that_is_taken_for_an_order_can_be_debated_all_the_same(text: str, way: str):
    found = understood(text)

    assert isinstance(found, Unclear)
    said = answers.unclear(found)
    assert f"To debate it all the same, {way}" in said
    assert f"/debate {text}" not in said
    is_enough = isinstance(understood(f"{text}?"), TypedQuestion)
    assert is_enough == (way == "end it with a question mark")


@pytest.mark.parametrize(
    "text",
    [
        "Stop using Kafka",
        "Stop it now?",
        "Continue with the old one, or rewrite it",
        "Add an index, then shard the table",
        "should we end the debate about tabs?",
        "please search for a cheaper queue than Kafka",
        "moot: should Kafka run our jobs?",
        "Kafka or Redis, thanks",
        "Show the whole debate",
        "end all the debates about tabs",
        "Help document our API",
        "Add database sharding now",
        "Stop database sharding",
        "Stop database?",
        "Choose a database",
        "Export database backups nightly",
        "Pause all deployments",
        "Token based auth everywhere",
        "token list or token table",
        "Revoke contractor access",
        "Just use Postgres",
        "can you show prices?",
        "Could you search logs of 10 TB quickly?",
        "please debate Kafka or Redis",
        "Thanks, should we use Kafka?",
    ],
)
def test_what_asks_something_is_debated_though_it_begins_like_an_order(text: str):
    assert understood(text) == TypedQuestion(text)


@given(st.text(max_size=200))
def test_anything_can_be_typed_and_no_question_loses_a_word(text: str):
    found = understood(text)
    if isinstance(found, TypedQuestion):
        assert found.text == text.strip()


@pytest.mark.parametrize(
    ("word", "guess", "said"),
    [
        ("lst", "list", "Did you mean `/debate list`?"),
        ("stop", "stop", "`/debate stop ID`"),
        ("Kafka", "", "“Kafka” is short for a question"),
        ("vote", "vote", "press *Vote now* on the board, the debate's first message"),
        ("resume", "resume", "press *Resume* on the board"),
        ("skip", "skip", "*Skip all* lets every assumption hold"),
        ("kill", "kill", "type `/debate stop ID`"),
        ("shwo x", "show", "To debate it all the same, end it with a question mark"),
        ("serach", "search", "Did you mean `/debate search`?"),
        ("Kafka Postgres", "", "write it as a sentence that ends with a question mark"),
        ("can you stop it?", "stop", "To debate it all the same, write it in the form"),
        ("revoke", "revoke", "type `/debate token revoke N` or `all`"),
    ],
)
def test_what_is_no_question_starts_nothing_and_says_what_to_type(word: str, guess: str, said: str):
    words = answers.unclear(Unclear(word, guess))
    assert said in words
    assert "Nothing was started" in words


def test_what_was_typed_is_shown_back_and_pings_nobody():
    words = answers.not_started("Too long.", "<!channel> and <script> & @here")
    assert "Nothing was started" in words
    assert "&lt;!channel&gt; and &lt;script&gt; &amp; @" in words
    assert "<!channel>" not in words
    assert "@here" not in words


def test_what_was_typed_is_shown_back_without_secrets():
    secret = "xoxb-" + "1234567890-" * 3 + "abcdefghij"

    assert secret not in answers.not_started("Too long.", f"Why is {secret} bad?")


def test_names_that_people_typed_ping_nobody_in_an_answer():
    assert "<!channel>" not in answers.started("dabcd234", ['There is no role "<!channel>"'])
    assert "<!channel>" not in answers.unclear(Unclear("<!channel>", ""))


@pytest.mark.parametrize(
    ("standing", "said"),
    [
        (Standing.OUTSIDE, "/invite @Moot"),
        (Standing.ARCHIVED, "archived"),
        (Standing.MEMBER, ""),
        (Standing.UNKNOWN, ""),
    ],
)
def test_where_no_debate_can_be_held_people_are_told(standing: Standing, said: str):
    words = answers.not_here(standing)
    assert said in words
    assert bool(words) == bool(said)


def test_help_names_every_command_that_is_understood():
    text = answers.help_text().text
    assert all(f"/debate {name}" in text for name in ("help", "list", "show", "stop"))


def test_help_says_how_long_debates_are_kept_where_that_has_an_end():
    said = "deletes what it keeps of a debate 90 days after its end"
    assert said in str(answers.help_text(90).blocks)
    assert "after its end" not in str(answers.help_text().blocks)
