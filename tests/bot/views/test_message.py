"""Text that is too long for one post, and warnings for one banner."""

import pytest

from bot.views.message import MOST_PAGES, PAGE_LIMIT, in_pages
from bot.views.verdict import shortcomings
from tests.bot.plays import a_debate, a_verdict

PAGE = "x" * (PAGE_LIMIT - 10)


@pytest.mark.parametrize("count", [1, MOST_PAGES])
def test_text_that_fits_into_the_posts_there_may_be_is_whole(count: int) -> None:
    assert in_pages("\n\n".join([PAGE] * count)) == [PAGE] * count


def test_of_longer_text_the_last_post_says_how_much_is_left_out() -> None:
    *texts, last = in_pages("\n\n".join([PAGE] * (MOST_PAGES + 2)))

    assert texts == [PAGE] * (MOST_PAGES - 1)
    assert "3 more posts are left out" in last


def test_a_banner_of_warnings_has_no_more_lines_than_it_has_room_for() -> None:
    for size in range(20, 120):  # so that some last line just fits, and some just does not
        warnings = tuple(f"{number:02} {'x' * size}" for number in range(90))
        _, *lines, last = shortcomings(a_debate(), a_verdict(warnings=warnings)).split("\n")

        assert last == "• …"
        assert len("\n".join(lines)) < 1200
