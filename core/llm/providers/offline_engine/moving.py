"""Whether critics move an author to another option, and how that is said.

An author moves once at most, only where its own lead is small, and only to an option that meets
more requirements, or as many with more people for it; so no two authors can change places.
"""

from collections import Counter
from dataclasses import dataclass

from core.llm.providers.offline_engine.critique import CLEARLY_AHEAD, KEEP
from core.llm.providers.offline_engine.material import MOVED, Material
from core.llm.providers.offline_engine.option import Option
from core.llm.providers.offline_engine.positions import stance
from core.llm.providers.offline_engine.weighing import CLEAR, Weighed, find
from core.llm.providers.offline_engine.wording import quote, sentences

#: What a critic's word for another option is worth against one's own lead.
_PULL, _CLEAR_PULL = 1.0, 2.0
#: Words in the sentence with which a critic names the option it would take.
_NAMING = ("ahead", "would take", "prefer", "I am for")


@dataclass(frozen=True)
class Pull:
    """A critic's word for another option."""

    rival: Weighed
    worth: float
    #: The critic's sentence.
    said: str


def pulls(material: Material, held: Weighed) -> tuple[Pull, ...]:
    """What critics say for other options, one entry per critic at most."""
    found = (_pull(material, held, critique.text) for critique in material.critiques)
    return tuple(pull for pull in found if pull)


def wanted_in(text: str, options: tuple[Option, ...]) -> tuple[Option | None, str]:
    """The option a critic says it would take, with the sentence; None if it says nothing."""
    naming = [s for s in sentences(text) if any(word in s for word in _NAMING)]
    for said in reversed(naming):
        if option := stance(said.partition("because")[0], options):
            return option, said
    return None, ""


def _pull(material: Material, held: Weighed, text: str) -> Pull | None:
    option, said = wanted_in(text, material.reading.options)
    if not option or option == held.option:
        return None
    worth = _CLEAR_PULL if CLEARLY_AHEAD in said else _PULL
    return Pull(find(material.ranked, option), worth, said)


def after_pull(material: Material, held: Weighed) -> tuple[Weighed, str]:
    """The option taken after the critiques, and the critic's sentence that moved it, if any did."""
    found = () if material.moved_to else pulls(material, held)
    for option, _ in Counter(pull.rival.option for pull in found).most_common():
        mine = [pull for pull in found if pull.rival.option == option]
        rival = mine[0].rival
        near = rival.score + sum(pull.worth for pull in mine) > held.score
        if near and _has_better_case(material, rival, held, len(mine)):
            return rival, max(mine, key=lambda pull: pull.worth).said
    return held, ""


def _has_better_case(material: Material, rival: Weighed, held: Weighed, critics: int) -> bool:
    """Whether the other option meets more requirements, or as many and more people are for it.

    Both sides see this the same way, so that two authors never change places.
    """
    gained = _requirements_met(rival) - _requirements_met(held)
    supporters = sum(KEEP in critique.text for critique in material.critiques)
    return gained > 0 or (gained == 0 and critics > 1 + supporters)


def _requirements_met(entry: Weighed) -> int:
    """How many requirements the catalogue says an option meets, less those it makes harder."""
    worth = {"fits": 1, "strained": -1, "fails": -3}
    return sum(worth.get(fate.outcome, 0) for fate in entry.fates)


def moved_words(material: Material, held: Weighed, chosen: Weighed, moved_by: str) -> str:
    """That the author has moved, now or earlier; empty if it never did."""
    if moved_by:
        said = MOVED.format(old=held.option.name, new=chosen.option.name)
        return f"{said}: {quote(moved_by, 150)} was the better argument."
    if material.moved_to != held.option:
        return ""
    return f"{MOVED.format(old=material.moved_from, new=held.option.name)}."


def stand_words(material: Material, held: Weighed) -> str:
    """How many critics are for another option, where the author stays."""
    critics, other = len(material.critiques), len(pulls(material, held))
    supporters = sum(KEEP in critique.text for critique in material.critiques)
    if not critics or critics > other + supporters:
        return ""
    if not other:
        return "Nobody asks for another choice; what follows is what the critiques added."
    if other == critics == 1:
        return "My critic would choose otherwise; I stay with it, for the reasons below."
    if other == critics == 2:  # noqa: PLR2004 - "both"
        return "Both critics would choose otherwise; I stay, for the reasons below."
    return f"{other} of {critics} critics would choose otherwise; I stay, for the reasons below."


def keeps(held: Weighed, rival: Weighed) -> str:
    """Why the author stays where it is."""
    gap, name = held.score - rival.score, held.option.name
    if gap <= 0:
        return f"To change to {rival.option.name}: I have weighed it and stay with {name}."
    how = "clearly" if gap >= CLEAR else "narrowly"
    reason = f", because {held.pros[0].clause}" if held.pros else ""
    return f"To change to {rival.option.name}: by my criteria {name} still leads {how}{reason}."
