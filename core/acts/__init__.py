"""One turn of a debate: what each act is, what its agent sees, and what is recorded.

Importing the package declares all acts (`core.acts.act.ACTS`).
"""

# pyright: reportUnusedImport=false

from core.acts import (  # noqa: F401 - each declares its acts
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
