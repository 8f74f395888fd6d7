"""Private answers to people."""

from bot.listeners import answers
from bot.views.notices import confirm_command, preview


def test_a_quoted_text_notifies_nobody():
    text = answers.start_failure("Too long.", "<!channel> and <script> & @here")
    assert "Nothing was started" in text
    assert "&lt;!channel&gt; and &lt;script&gt; &amp; @" in text
    assert "@here" not in text
    assert "<!channel>" not in answers.start_answer("dabcd234", ['There is no role "<!channel>"'])
    assert "<!channel>" not in confirm_command("<!channel>", "help", "help", origin="t").text
    assert "<!channel>" not in preview("<!channel> all of you", origin="t", ts="1.2").text


def test_a_quoted_text_has_no_secrets():
    secret = "xoxb-" + "1234567890-" * 3 + "abcdefghij"

    assert secret not in answers.start_failure("Too long.", f"Why is {secret} bad?")
    assert secret not in answers.command_only(f"token new {secret}")
    assert secret not in str(preview(f"rotate {secret} soon", origin="t", ts="1.2").payload)
    assert secret not in str(confirm_command(f"stop {secret}", "stop ID", "", origin="t").payload)


def test_an_answer_in_a_thread_names_no_command_because_slack_accepts_none_there():
    in_channel = confirm_command("shwo", "show ID", "", origin="t")
    assert "`/debate show ID`" in in_channel.text
    in_thread = confirm_command("shwo", "show ID", "", origin="t", ts="2.0", thread="1.0")
    assert "`/debate" not in in_thread.text
