"""What an act is, and the registry of all: each is declared once, in its own module (pure).

A new act: its name in `core.debate.turn.Act`, a module that declares it, its task beside that
(`<act>.md.j2`), and the module's line in `core/acts/__init__.py`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from core.debate.log import Event
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.request import Effort, Part

#: Takes a turn: what asks models (`core.llm.call.ModelCalls`), the debate, the turn. Raises
#: `CallFailed` where no model could be asked, a cap forbids it, or no reply can be read.
Performer = Callable[[Any, Debate, Turn], Awaitable[Event]]
#: Parts of a prompt, for a turn of a debate.
Parts = Callable[[Debate, Turn], Sequence[Part]]


def always(_debate: Debate) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class ActSpec:
    #: A speech ends in text that becomes a contribution.
    is_speech: bool = False
    #: Longest text asked for, in words; 0: the length is not a matter of words.
    words: int = 0
    #: Cap on a reply in tokens, hidden reasoning not counted.
    max_tokens: int = 2048
    #: Positions are worth thinking about; the rest is answered fast and cheaply.
    effort: Effort = Effort.MEDIUM
    #: Whether a model is asked, with a prompt of its own.
    asks_model: bool = True
    #: Whether people read in the thread what comes of it, or that it failed.
    is_posted: bool = True
    #: Whether the agent is shown what was said in earlier rounds.
    sees_history: bool = False
    #: Whether `Turn.target` holds a number, not whom the turn is about.
    is_numbered: bool = False
    #: Whether it ends with a line that says how likely the agent holds each option the best.
    states_stance: bool = False
    #: What its task says besides length and letter, by the template's names.
    values: Callable[[Debate, Turn], Mapping[str, object]] = lambda _debate, _turn: {}
    #: What its prompt shows besides what all prompts show; None: what the format shows on the turn.
    about: Parts | None = None
    #: Its whole prompt but the task, where it shows less than all prompts do.
    parts: Parts | None = None
    #: Whether no other prompt goes on as its does: writing it to a cache costs, and saves nothing.
    is_alone: Callable[[Debate], bool] = lambda _debate: False
    #: Tokens it may take besides `max_tokens`, by what a debate asks of it.
    more_tokens: Callable[[Debate], int] = lambda _debate: 0
    #: None: it is no turn of a debate, or who takes it needs more (reading).
    perform: Performer | None = None
    #: Key of its outcome where a debate has only one; empty: the turn's key.
    outcome_key: str = ""


#: An act whose short answer nobody reads in the thread: it is asked for fast and cheaply.
side_act = partial(ActSpec, effort=Effort.LOW, is_posted=False)

#: All acts; complete once the package is imported, which declares them.
ACTS: dict[Act, ActSpec] = {}
