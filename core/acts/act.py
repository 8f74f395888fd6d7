"""The properties of an act, and the registry of acts; each module declares its own (pure).

To add an act: its name in `core.debate.turn.Act`, a module that declares it, its task in the same
folder (`<act>.md.j2`), and the module's line in `core/acts/__init__.py`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from core.debate.log import Event
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.request import Effort, Part

#: Takes a turn. Arguments: `core.llm.call.ModelCalls`, the debate, the turn. Raises `CallFailed` if
#: no model could be asked, a cap forbids it, or no reply can be read.
Performer = Callable[[Any, Debate, Turn], Awaitable[Event]]
#: Returns parts of a prompt for a turn of a debate.
Parts = Callable[[Debate, Turn], Sequence[Part]]


def always(_debate: Debate) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class ActSpec:
    #: Whether the reply is a text that becomes a contribution.
    is_speech: bool = False
    #: Longest text asked for, in words; 0: no limit in words.
    words: int = 0
    #: Limit of a reply in tokens, without hidden reasoning.
    max_tokens: int = 2048
    #: How hard the model thinks: more for positions, less for quick and cheap acts.
    effort: Effort = Effort.MEDIUM
    #: Whether the act has a prompt of its own and asks a model.
    asks_model: bool = True
    #: Whether its outcome or failure is posted in the thread.
    is_posted: bool = True
    #: Whether the prompt includes contributions of earlier rounds.
    sees_history: bool = False
    #: Whether `Turn.target` is a number instead of an agent's id.
    is_numbered: bool = False
    #: Whether the text ends with a line that states the agent's probability for each option.
    states_stance: bool = False
    #: Values for the task's template besides length and letter.
    values: Callable[[Debate, Turn], Mapping[str, object]] = lambda _debate, _turn: {}
    #: Prompt parts besides those of all prompts; None: those that the format shows on the turn.
    turn_parts: Parts | None = None
    #: The whole prompt without the task, for acts that see less than other prompts show.
    prompt_parts: Parts | None = None
    #: Whether no later prompt begins with the same text, so that a cache would only cost money.
    skips_cache: Callable[[Debate], bool] = lambda _debate: False
    #: Extra tokens besides `max_tokens`, depending on the debate.
    more_tokens: Callable[[Debate], int] = lambda _debate: 0
    #: None for acts outside a debate, and for reading, which needs a source reader.
    perform: Performer | None = None


#: A quick and cheap act whose short answer is not posted.
side_act = partial(ActSpec, effort=Effort.LOW, is_posted=False)

#: All acts. Complete after `core.acts` is imported, because each module declares its own.
ACTS: dict[Act, ActSpec] = {}
