"""Answers a model request: which act, which writer."""

import json
from collections.abc import Callable, Mapping

from core.llm.providers.offline_engine.agreement import agreeing
from core.llm.providers.offline_engine.council import debate, formulate, gather, plan, rebuttal
from core.llm.providers.offline_engine.critique import critique
from core.llm.providers.offline_engine.forms import filled
from core.llm.providers.offline_engine.material import Material, material_of
from core.llm.providers.offline_engine.panel import statement
from core.llm.providers.offline_engine.proposal import proposal
from core.llm.providers.offline_engine.refinement import refinement
from core.llm.providers.offline_engine.summary import summary
from core.models import Act
from core.request import ModelRequest

_WRITERS: Mapping[Act, Callable[[Material], str]] = {
    Act.PROPOSAL: proposal,
    Act.CRITIQUE: critique,
    Act.REFINEMENT: refinement,
    Act.GATHER: gather,
    Act.PLAN: plan,
    Act.FORMULATE: formulate,
    Act.DEBATE: debate,
    Act.ADJUST: refinement,
    Act.REBUTTAL: rebuttal,
    Act.STATEMENT: statement,
    Act.SUMMARY: summary,
}


def answer(request: ModelRequest) -> str:
    """The reply to a request: the same one for the same request, in any process.

    Structured acts are answered with JSON, all others with Markdown.
    """
    material = material_of(request)
    options = material.reading.options
    if request.answer:
        fields = filled(request.answer, request.act, material)
        return agreeing(json.dumps(fields, ensure_ascii=False), options)
    return agreeing(_WRITERS.get(request.act, proposal)(material), options)
