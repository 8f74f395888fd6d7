"""What people see of logs that no engine can have written: shown, or refused by name."""

from contextlib import suppress

from hypothesis import given, settings

from bot.presenter.posts import posts_of
from bot.presenter.reading_order import release_all
from bot.views.board import board
from bot.views.lists import DebateRow, channel_list, home
from core.debate.log import RecordedEvent, fold
from core.errors import LogBroken
from tests.core.dice import odd_logs


@settings(max_examples=40)
@given(log=odd_logs())
def test_an_odd_log_is_shown_or_refused_by_name(log: list[RecordedEvent]) -> None:
    with suppress(LogBroken):
        debate = fold(log)
        board(debate)
        home([DebateRow(debate)])
        channel_list([DebateRow(debate)])
        for released in release_all(log).events:
            posts_of(debate, released)
