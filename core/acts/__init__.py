"""One turn of a debate: what each act is, what its agent sees, and what is recorded.

Importing the package declares all acts (`core.acts.act.ACTS`).
"""

from core.acts import (
    afterwards,
    audit,
    ballot,
    cast,
    compare,
    count,
    cross_check,
    facilitate,
    follow_up,
    judge,
    question,
    read,
    reviewing,
    shadow,
    speak,
    summarise,
)

__all__ = [
    "afterwards",
    "audit",
    "ballot",
    "cast",
    "compare",
    "count",
    "cross_check",
    "facilitate",
    "follow_up",
    "judge",
    "question",
    "read",
    "reviewing",
    "shadow",
    "speak",
    "summarise",
]
