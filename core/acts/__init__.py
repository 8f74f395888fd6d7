"""One turn of a debate: the acts, the prompt of each, and the event that records its outcome.

Importing the package declares all acts (`core.acts.act.ACTS`).
"""

# pyright: reportUnusedImport=false

from core.acts import (  # noqa: F401 - each declares its acts
    audit,
    ballot,
    cast,
    compare,
    follow_up,
    judge,
    question,
    reviewing,
    shadow,
    speak,
    summarise,
    take,
)
