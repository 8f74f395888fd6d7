"""Acts of readers of a finished debate: their tasks and words; who reads takes them itself."""

from core.acts.act import ActSpec, declare
from core.debate.turn import Act
from core.request import Effort

declare(Act.EVALUATION, ActSpec(max_tokens=1536))
declare(Act.COMPARISON, ActSpec(max_tokens=1536))
declare(Act.RECALL, ActSpec(max_tokens=1024, effort=Effort.LOW))
