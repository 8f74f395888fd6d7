"""What the thread is told of a record (ADR) that was put where the team keeps them (pure)."""

from bot.slack.mrkdwn.escape import link, literal
from bot.views.message import MessageView, notice_of
from bot.views.words import person
from core.figures import duration
from core.models import Debate

_MOST_LETTERS = 300


def landed(
    place: str, inside: str, *, branch: str = "", commit: str = "", links: tuple[str, str]
) -> MessageView:
    """Return the line that says where the record is.

    Args:
        place: Path of its file.
        inside: The folder or repository that it is in.
        branch: Its branch; empty in a folder.
        commit: Short name of the commit.
        links: Pages of the commit and for opening a pull request; empty: nobody knows them.
    """
    commit_page, pull_page = links
    words = f":card_index_dividers: The decision record is `{_code(place)}` in {literal(inside)}"
    if branch:
        shown = link(commit_page, commit) if commit_page else f"`{_code(commit)}`"
        words += f", branch `{_code(branch)}`, commit {shown}"
    opened = f" {link(pull_page, 'Open a pull request')}." if pull_page else ""
    return notice_of(f"{words}.{opened}")


def not_landed(debate: Debate, undone: str, why: str, *, again_after: float | None) -> MessageView:
    """Return the line that says what could not be done and why, to whoever decided last.

    Args:
        debate: The debate with their decision.
        undone: What could not be done, a sentence.
        why: Another one.
        again_after: Seconds until it is tried again; None: it is not tried by itself.
    """
    who = f" {person(debate.decision.by)}" if debate.decision else ""
    next_try = (
        f"It is tried again in {duration(again_after)} and then for most of a day."
        if again_after is not None
        else "It is not tried again by itself: once this is mended, a workspace admin "
        "types `/debate doctor retry` in the channel."
    )
    return notice_of(
        f":warning:{who} {literal(undone)} {literal(why[:_MOST_LETTERS])} {next_try} "
        "Your decision itself is recorded."
    )


def _code(text: str) -> str:
    return literal(text.replace("`", "'"))
