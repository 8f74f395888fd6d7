"""The words that people get back."""

from bot.listeners import answers
from bot.views.notices import asked_back, preview


def test_what_was_typed_is_shown_back_and_pings_nobody():
    words = answers.start_failure("Too long.", "<!channel> and <script> & @here")
    assert "Nothing was started" in words
    assert "&lt;!channel&gt; and &lt;script&gt; &amp; @" in words
    assert "<!channel>" not in words
    assert "@here" not in words


def test_what_was_typed_is_shown_back_without_secrets():
    secret = "xoxb-" + "1234567890-" * 3 + "abcdefghij"

    assert secret not in answers.start_failure("Too long.", f"Why is {secret} bad?")
    assert secret not in answers.command_only(f"token new {secret}")
    assert secret not in str(preview(f"rotate {secret} soon", origin="t", ts="1.2").payload)
    assert secret not in str(asked_back(f"stop {secret}", "stop ID", "", origin="t").payload)


def test_names_that_people_typed_ping_nobody_in_an_answer():
    assert "<!channel>" not in answers.start_answer("dabcd234", ['There is no role "<!channel>"'])
    assert "<!channel>" not in asked_back("<!channel>", "help", "help", origin="t").text
    assert "<!channel>" not in preview("<!channel> all of you", origin="t", ts="1.2").text


def test_a_command_is_named_only_where_slack_takes_it():
    typed = asked_back("shwo", "show ID", "", origin="t")
    assert "`/debate show ID`" in typed.text
    in_thread = asked_back("shwo", "show ID", "", origin="t", ts="2.0", thread="1.0")
    assert "`/debate" not in in_thread.text
