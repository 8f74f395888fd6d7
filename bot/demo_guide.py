"""The line at the top of the demonstration's page: what happens, and what to try."""

from collections.abc import Sequence
from dataclasses import replace

from bot.examples import Playback
from core.debate.state import Debate, Status
from core.debate.turn import Act
from slack_on_loopback import GuideButton, GuideLine

#: Name of the button that plays the next example.
ANOTHER = "another"
_DEMO = "Moot demo: a team asks in Slack, AI agents argue, the team decides."
BEGINNING = f"{_DEMO} Watch a written example, or type /debate and a question of your own."
ENDING = f"{_DEMO} Below: the verdict."

_EXAMPLE = "Moot demo, a written example,"
#: What people see while these acts are the newest.
_PHASES = {
    Act.PROPOSAL: f"{_EXAMPLE} 2 of 5: each agent writes its own answer and sees no other.",
    Act.BALLOT: (
        f"{_EXAMPLE} 3 of 5: they vote in secret. Their answers differ, so a debate is worth "
        "holding."
    ),
    Act.CRITIQUE: (
        f"{_EXAMPLE} 3 of 5: they disagree, so each one looks for flaws in the others' answers."
    ),
    Act.REFINEMENT: (
        f"{_EXAMPLE} 4 of 5: each agent answers its critics. Watch who changes their mind. "
        "A quote that does not stand in the file is struck out."
    ),
}
# Who has just opened the page is told what it shows.
_QUESTIONS = (
    f"{_DEMO} A written example, 1 of 5: the agents ask what they need to know, "
    "and colleagues answer in the thread."
)
_VOTE = f"{_EXAMPLE} 5 of 5: they vote again, and a judge writes the verdict with the dissent."


def _phase_words(debate: Debate) -> str:
    if debate.verdict or debate.tally or debate.status is not Status.RUNNING:
        return _VOTE
    if not debate.contributions:
        return _QUESTIONS
    newest = list(debate.contributions.values())[-1].turn.act
    if newest is Act.PROPOSAL and debate.ballots:
        newest = Act.BALLOT
    return _PHASES.get(newest, _VOTE)


def playing_line(
    debate: Debate, thread: tuple[str, str] | None, playback: Playback, message: str
) -> GuideLine:
    """What stands at the top while an example is played.

    Args:
        debate: The example.
        thread: Channel and ts of its thread, once there is one.
        playback: Its pace.
        message: ts of the verdict's post, once there is one.
    """
    paused = playback.is_paused
    toggle = ("Go on", "go-on") if paused else ("Pause the example", "pause")
    buttons = [
        GuideButton(label=label, name=name) for label, name in (toggle, ("Next step", "step"))
    ]
    text = f"{'Paused. ' if paused else ''}{_phase_words(debate)}"
    return GuideLine(text=text, thread=thread, message=message, buttons=buttons)


def closing_buttons(verdict: tuple[str, str] | None, *, has_more: bool) -> Sequence[GuideButton]:
    buttons = [GuideButton(label="Ask your own", types="/debate ")]
    if has_more:
        buttons.append(GuideButton(label="Watch another", name=ANOTHER))
    if verdict:
        buttons.append(GuideButton(label="Accept the decision", shows=verdict))
    return buttons


def own_line(debate: Debate, models: str, line: GuideLine) -> GuideLine:
    state = "is being debated" if debate.status is Status.RUNNING else "has been debated"
    # Until there is a verdict, the board stands beside the thread.
    message = line.message or (line.thread[1] if line.thread else "")
    return replace(line, text=f"Moot demo: your question {state}. {models}", message=message)
