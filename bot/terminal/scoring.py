"""`moot eval`: several evaluators score a finished debate."""

from collections.abc import Sequence
from pathlib import Path

from bot.building import build_calls, check_providers, find_plugins, load_settings
from bot.log import set_up_logs
from bot.settings import LogLevel, read_settings
from bot.terminal.files import check_writable, put_out, tell
from bot.terminal.records import read_log
from core.events import fold
from core.opening import ALONE, DebateRequest, open_debate
from core.transcript.evaluation import as_csv, as_json, as_markdown, evaluate

_PROVIDERS_FAILED = 3
_FORMS = {"json": as_json, "csv": as_csv, "md": as_markdown}


async def score(
    debate_id: str,
    names: Sequence[str],
    *,
    form: str,
    config: Path | None,
    output: Path | None,
) -> int:
    """Score a debate and write the scores.

    Args:
        debate_id: Which debate.
        names: Evaluators: agents of the configuration, or roles.
        form: md, json or csv.
        config: A configuration file.
        output: Where to write; None: standard output.

    Returns:
        The exit code: 0 done, 3 no evaluator could be asked.

    Raises:
        BadInput: The debate has no decision.
        ConfigurationBroken: The settings cannot be used.
        DebateUnknown: There is no such debate.
    """
    check_writable(output)
    environment = read_settings()
    set_up_logs(LogLevel.ERROR, environment.moot_log_format, environment.secrets)
    plugins = find_plugins(environment)
    loaded = await load_settings(environment, config, plugins=plugins)
    debate = fold(await read_log(debate_id))
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
    for notice in (*loaded.notices, *(one for one in roster.warnings if one != ALONE)):
        tell(f"Notice: {notice}")
    check_providers(roster, environment, loaded.settings.servers)
    calls = build_calls(environment, loaded.settings, plugins=plugins)
    try:
        evaluation = await evaluate(calls, debate, roster.agents)
    finally:
        await calls.close()
    put_out(_FORMS[form](evaluation), output)
    for failed in evaluation.failed:
        tell(f"Warning: {failed.name} could not score the debate: {failed.reason}")
    return 0 if evaluation.marks else _PROVIDERS_FAILED
