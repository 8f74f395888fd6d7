"""What a person is told of a debate's page: its link, or that it has none any more (pure)."""

from bot.views.message import MessageView, notice_of
from bot.views.words import moment
from core.models import Debate
from core.use_cases.share import PageLink


def shared(debate: Debate, link: PageLink) -> MessageView:
    """Return the link with what passing it on means."""
    return notice_of(
        f":page_facing_up: A page of debate `{debate.id}`: <{link.address}>\n"
        f":warning: Whoever has this link can read everything that people and agents wrote in the "
        f"debate, without Slack and without being in <#{debate.setup.place.channel}>, until "
        f"{moment(link.until)}. Only you see this; `/debate export {debate.id} page off` ends all "
        "links to this debate."
    )


def withdrawn(debate_id: str, *, had_page: bool) -> MessageView:
    """Return that no link to the debate leads anywhere any more."""
    if not had_page:
        return notice_of(f"Debate `{debate_id}` has no page; nothing was changed.")
    return notice_of(f"No link to a page of debate `{debate_id}` leads anywhere any more.")
