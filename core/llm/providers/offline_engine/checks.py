"""Which points of a role's checklist fit a question, and what is left to ask where none does."""

from functools import lru_cache

from core.llm.providers.offline_engine.checklist import ANY, Check, Role, catalogue
from core.llm.providers.offline_engine.option import Option
from core.llm.providers.offline_engine.question import Reading
from core.llm.providers.offline_engine.wording import joined, quote

#: Longest piece of a question that stands inside a point.
_ASKED = 60


def relevant(role: Role, reading: Reading) -> tuple[Check, ...]:
    """The role's points for the question's topics, then the ones that fit any such question."""
    found = [check for topic in reading.topics for check in role.checks.get(topic, ())]
    return (*found, *_standing(role, reading))


def spread(role: Role, reading: Reading, option: Option | None = None) -> tuple[Check, ...]:
    """A role's checks for a question, taking turns between its topics so that none crowds out.

    Args:
        role: Whose checklist.
        reading: The question.
        option: Leave out what is not worth asking about this option; None: about any option.
    """
    lists = [*(role.checks.get(topic, ()) for topic in reading.topics), _standing(role, reading)]
    things = option.things if option else {k for o in reading.options for k in o.things}
    lists = [[check for check in checks if check.concerns(things)] for checks in lists]
    longest = max(map(len, lists))
    return tuple(checks[row] for row in range(longest) for checks in lists if row < len(checks))


def is_thin(reading: Reading) -> bool:
    """Whether most roles have nothing of their own to ask about any topic of the question."""
    known = catalogue()
    if any(not known.topics[topic].beside_software for topic in reading.topics):
        return False
    asking = [role for role in known.roles.values() if set(role.checks) & set(reading.topics)]
    return bool(reading.topics) and 2 * len(asking) < len(known.roles)


def _standing(role: Role, reading: Reading) -> tuple[Check, ...]:
    """What fits any question: about software the role's own points, else how to find out."""
    known = catalogue()
    if any(not known.topics[topic].beside_software for topic in reading.topics):
        return role.checks[ANY]
    if reading.covered and not reading.topics:
        return role.checks[ANY]
    return _finding_out(list(known.roles.values()).index(role), reading)


def _answers(reading: Reading) -> str:
    if any(option.criterion for option in reading.options):
        return "the ones that people have in mind"
    return joined([option.name for option in reading.options], "or")


@lru_cache(maxsize=256)
def _finding_out(turn: int, reading: Reading) -> tuple[Check, ...]:
    """Ways to find out, in the question's own words; every role begins with another one."""
    words = {
        "asked": quote(reading.asked.replace("?", ""), _ASKED),
        "options": _answers(reading),
    }
    found = [
        check.model_copy(update={"ask": check.ask.format(**words), "do": check.do.format(**words)})
        for check in catalogue().finding_out
    ]
    turn %= len(found)
    return (*found[turn:], *found[:turn])
