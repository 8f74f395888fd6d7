"""A format for Moot: everybody proposes, tells how the others' proposals failed, then refines."""

from core.debate.agenda import Agenda, Phase
from core.debate.turn import Act

FORMAT = Agenda(
    name="premortem",
    words="Pre-mortem: it failed a year from now; why?",
    phases=(
        Phase(act=Act.PROPOSAL),
        Phase(act=Act.DEBATE, hears=(Act.PROPOSAL,)),
        Phase(act=Act.REFINEMENT, hears=(Act.DEBATE,)),
    ),
    prompts={
        Act.DEBATE: """\
{{ persona }}

Your task: it is a year from now. Each of the positions above was carried out, and each failed.
Yours is Position {{ letter }}.

- For each of the others by its letter: the most likely story of how it failed, in three sentences.
- The first sign of it, and who could have seen that sign in the first month.
- What would have to be in the position from the start for that not to happen.

Length: at most {{ words }} words.""",
    },
)
