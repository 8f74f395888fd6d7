"""Acts of readers of a finished debate: their tasks and words; who reads takes them itself."""

from core.acts.act import ActSpec, declare
from core.models import Act
from core.request import Effort

declare(
    Act.EVALUATION,
    ActSpec(label="Evaluation", noun="evaluation", phase="evaluation", max_tokens=1536),
)
declare(
    Act.COMPARISON,
    ActSpec(label="Comparison", noun="comparison", phase="comparison", max_tokens=1536),
)
declare(
    Act.RECALL,
    ActSpec(
        label="Reasons found",
        noun="list of reasons found",
        phase="looking for reasons",
        max_tokens=1024,
        effort=Effort.LOW,
    ),
)
