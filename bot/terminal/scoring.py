"""`moot eval`: evaluators score a finished debate, or compare it with the single answer."""

from collections.abc import Sequence
from pathlib import Path

from bot.building import build_calls, check_providers, find_plugins, load_settings
from bot.terminal.files import check_writable, form_for, put_out, tell, tell_notices
from bot.terminal.records import quiet_settings, read_log
from core.debate.log import fold
from core.errors import BadInput
from core.figures import money, quantity
from core.opening import ALONE, DebateRequest, open_debate
from core.transcript.comparison import (
    CALLS,
    compare,
    compared_texts,
    comparison_json,
    comparison_markdown,
)
from core.transcript.evaluation import as_csv, as_json, as_markdown, evaluate

_PROVIDERS_FAILED = 3
_FORMS = {"json": as_json, "csv": as_csv, "md": as_markdown}


async def score(
    debate_id: str,
    names: Sequence[str],
    *,
    form: str | None,
    against_single: bool,
    config: Path | None,
    output: Path | None,
) -> int:
    """Score a debate, or compare it with the single answer beside it; 3: nobody could be asked."""
    form = form_for(output, form, tuple(_FORMS))
    check_writable(output)
    if against_single and form == "csv":
        raise BadInput("A comparison is md or json.")
    environment = quiet_settings()
    plugins = find_plugins(environment)
    loaded = await load_settings(environment, config, plugins=plugins)
    debate = fold(await read_log(debate_id))
    if against_single:
        compared_texts(debate)
    elif debate.verdict is None:
        raise BadInput(f"Debate {debate.id} has no decision that could be scored.")
    # A roster found as for a debate: agents of the settings, else built-in roles.
    request = DebateRequest(
        question=debate.setup.question,
        asked_by=debate.setup.asked_by,
        place=debate.setup.place,
        agents=names,
    )
    changes = {"question_max_chars": len(debate.setup.question), "casting": False}
    usable = loaded.settings.model_copy(update=changes)
    roster = open_debate(request, usable, delimiter=debate.setup.delimiter)
    tell_notices((*loaded.notices, *(item for item in roster.warnings if item != ALONE)))
    check_providers(roster, environment, loaded.settings.servers)
    calls = build_calls(environment, loaded.settings, plugins=plugins)
    try:
        most = CALLS if against_single else 1
        tell(
            f"{quantity(len(roster.agents), 'evaluator')}, {quantity(most, 'call')} each. Their "
            f"cost comes beside the debate's: {money(debate.usage.cost)}."
        )
        if against_single:
            comparison = await compare(calls, debate, roster.agents)
            render = comparison_json if form == "json" else comparison_markdown
            put_out(render(comparison), output)
            return 0 if comparison.counting else _PROVIDERS_FAILED
        evaluation = await evaluate(calls, debate, roster.agents)
    finally:
        await calls.close()
    put_out(_FORMS[form](evaluation), output)
    for failed in evaluation.failed:
        tell(f"Warning: {failed.name} could not score the debate: {failed.reason}")
    return 0 if evaluation.marks else _PROVIDERS_FAILED
