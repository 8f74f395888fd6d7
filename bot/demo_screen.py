"""The last screen of `moot demo --once`: what was decided, and why, on one terminal page."""

from collections.abc import Iterator, Sequence
from textwrap import shorten

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from core.debate.evidence import CitationStatus
from core.debate.state import Debate
from core.debate.verdict import OVERTURNED_BY, Verdict
from core.figures import money
from core.transcript.ballots import vote_words
from core.transcript.cited import cited_verdict, decision_line, title_in
from core.transcript.decision import against_words, dissent_title, dissent_words
from core.transcript.few_words import few_words
from core.transcript.markdown import visible
from core.transcript.options import move_lines
from core.transcript.words import confidence_words, line_words, name_of

#: Items of a list, and about how many characters of each, fewer the less room there is.
_SIZES = ((3, 200), (2, 140), (1, 110), (1, 70))
#: Lines where the output is no terminal.
_LINES = 40


def print_decision(debate: Debate, console: Console | None = None) -> None:
    """Print the decision and what it rests on, on one screen; in colours on a terminal."""
    console = console or Console(highlight=False)
    verdict = debate.verdict
    if verdict is None:
        console.print(Text(f"There is no decision. {visible(debate.failure)}", style="bold red"))
        return
    # The line of the prompt that follows takes one.
    room = console.size.height - 2 if console.is_terminal else _LINES
    screen = Group()
    for most, characters in _SIZES:
        screen = Group(*_screen(debate, verdict, most, characters))
        if len(console.render_lines(screen)) <= room:
            break
    console.print(screen)


def _screen(
    debate: Debate, verdict: Verdict, most: int, characters: int
) -> Iterator[RenderableType]:
    yield Rule("The agents' verdict", style="green")
    question = shorten(visible(debate.setup.question), 2 * characters, placeholder=" …")
    yield Text(question, style="dim")
    yield Text(f"→ {visible(decision_line(verdict))}", style="bold green")
    for title, style, items in _sections(debate, verdict):
        if not items:
            continue
        yield Text(title, style=f"bold {style}")
        for item in items[:most]:
            # A word has about six characters; one without an end must not fill the screen.
            words = few_words(visible(item), characters // 6)
            text = Text(f"· {shorten(words, 2 * characters, placeholder=' …')}")
            yield Padding(text, (0, 0, 0, 2))
    cost = money(debate.usage.cost)
    yield Text(f"{confidence_words(verdict)} Cost: {cost}.", style="dim")


def _sections(debate: Debate, recorded: Verdict) -> Iterator[tuple[str, str, Sequence[str]]]:
    # Addresses in the local Slack are gone when this is read.
    citations = tuple(
        citation.model_copy(update={"address": ""}) for citation in recorded.citations
    )
    verdict = cited_verdict(debate, recorded.model_copy(update={"citations": citations}))
    yield "Why", "cyan", verdict.reasons
    yield "The vote", "cyan", [vote_words(debate)] if debate.tally else []
    yield "Who changed their mind", "cyan", [*map(line_words, move_lines(debate))]
    struck_out = [
        f"{name_of(debate, contribution.turn.agent)}: “{citation.words}” does not stand in "
        f"{citation.source}"
        for contribution in debate.contributions.values()
        for citation in contribution.citations
        if citation.status is CitationStatus.UNVERIFIED
    ]
    yield "Quotes struck out", "red", struck_out
    yield (
        "Sources",
        "cyan",
        [f"{source.id}: {title_in(debate, source)}" for source in debate.evidence],
    )
    against = [*filter(None, (dissent_words(debate, verdict), against_words(debate, verdict)))]
    yield dissent_title(debate, verdict), "yellow", against
    yield OVERTURNED_BY, "yellow", verdict.overturned_by
