"""Text that is too long for one post."""

import pytest

from bot.views.message import MOST_PAGES, PAGE_LIMIT, in_pages

PAGE = "x" * (PAGE_LIMIT - 10)


@pytest.mark.parametrize("count", [1, MOST_PAGES])
def test_text_that_fits_into_the_posts_there_may_be_is_whole(count: int) -> None:
    assert in_pages("\n\n".join([PAGE] * count)) == [PAGE] * count


def test_of_longer_text_the_last_post_says_how_much_is_left_out() -> None:
    *shown, last = in_pages("\n\n".join([PAGE] * (MOST_PAGES + 2)))

    assert shown == [PAGE] * (MOST_PAGES - 1)
    assert "3 more posts are left out" in last
