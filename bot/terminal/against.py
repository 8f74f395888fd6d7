"""`moot eval --against single`: a finished debate's text beside the answer of one model alone."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

from bot.building import build_calls, check_choice, find_plugins, load_settings
from bot.log import set_up_logs
from bot.settings import LogLevel, read_settings
from bot.terminal.bench_evaluation import Evaluators, Kept
from bot.terminal.files import check_writable, put_out, tell
from bot.terminal.records import read_log
from core.errors import BadInput
from core.events import Event, Recorded, apply, fold, spent_by
from core.figures import counted, money, number
from core.llm.call import ModelCalls
from core.llm.call_options import Tables
from core.models import FALLBACK_ROLE, SHADOW, Agent, Cap, Debate, ModelChoice, Usage
from core.proof.outcome import text_of
from core.proof.pairs import LEAST_EVALUATORS, Judged, Pair, Tested, bare, makers_of
from core.proof.reading import read_tasks
from core.rules import shadow
from core.settings import Settings, agent_for
from core.transcript.shadow import shadow_outcome, shadow_section
from core.transcript.words import bullets, table
from core.turns.shadow import answer, place

DONE, NOT_COMPARED = 0, 1
#: Judgments are kept here: evaluators that were tested once are not tested again.
KEPT = Path("moot-eval.evaluators.jsonl")
_ONE = "One question says nothing about debates in general: `moot bench` and many of them do."


@dataclass(frozen=True, kw_only=True)
class Against:
    """A debate's text beside one model's, as evaluators judged them."""

    #: With the single answer in it.
    debate: Debate
    pair: Pair
    #: Whether the single answer was given while the debate ran.
    is_recorded: bool
    tests: Sequence[Tested]
    judged: Sequence[Judged]
    notes: Sequence[str]
    cost: Decimal

    @property
    def is_compared(self) -> bool:
        """Whether enough evaluators were heard."""
        return len(self.judged) >= LEAST_EVALUATORS


async def score_against(  # noqa: PLR0913 - one per option
    debate_id: str,
    names: Sequence[str],
    *,
    as_json: bool,
    config: Path | None,
    output: Path | None,
    max_usd: Decimal | None,
    kept: Path = KEPT,
) -> int:
    """Compare a finished debate with the answer of one model alone, and write what came of it.

    Args:
        debate_id: Which debate.
        names: Evaluators, `provider/model`; at least three of makers that had no part in it.
        as_json: JSON instead of Markdown.
        config: A configuration file.
        output: Where to write; None: standard output.
        max_usd: What it may cost, with all that evaluators have cost before; None: no cap.
        kept: Where judgments are kept.

    Returns:
        The exit code: 0 done, 1 too few evaluators could be heard.

    Raises:
        BadInput: The debate has no decision, or the evaluators do not fit.
        ConfigurationBroken: The settings cannot be used.
        CallFailed: The single answer could not be had.
        DebateUnknown: There is no such debate.
    """
    check_writable(output)
    environment = read_settings()
    set_up_logs(LogLevel.ERROR, environment.moot_log_format, environment.secrets)
    plugins = find_plugins(environment)
    settings = (await load_settings(environment, config, plugins=plugins)).settings
    debate = fold(await read_log(debate_id))
    if debate.verdict is None:
        raise BadInput(f"Debate {debate.id} has no decision that could be compared.")
    alone = debate.setup.shadow_agent or _alone(debate, settings)
    models = evaluators_of(names, makers_of([*debate.setup.agents, debate.setup.judge, alone]))
    for one in (*models, alone):
        check_choice(f"The model {one.full_name}", one.provider, environment, settings.servers)
    judgments = Kept(kept)
    calls = build_calls(environment, settings, plugins=plugins)
    try:
        whole, cost = debate, Decimal(0)
        if debate.shadow is None:
            setup = debate.setup.model_copy(update={"shadow_agent": alone})
            cap = Cap("eval", "this evaluation", max_usd, judgments.spent) if max_usd else None
            whole, cost = await _answered(
                calls.under([cap] if cap else []), replace(debate, setup=setup)
            )
        reading = Evaluators(
            calls=calls,
            models=models,
            kept=judgments,
            spent=cost,
            max_usd=max_usd,
            tables=Tables(models=settings.models, prices=settings.prices),
        )
        found = await _compared(whole, reading, is_recorded=debate.shadow is not None, cost=cost)
    finally:
        await calls.close()
    put_out(_as_json(found) if as_json else as_markdown(found), output)
    for note in found.notes:
        tell(note)
    return DONE if found.is_compared else NOT_COMPARED


def evaluators_of(names: Sequence[str], makers: frozenset[str]) -> Sequence[ModelChoice]:
    """The evaluators as they were typed.

    Raises:
        BadInput: One is no `provider/model`, or fewer than three had no part in either text.
    """
    found: dict[str, ModelChoice] = {}
    for name in names:
        provider, slash, model = name.strip().partition("/")
        if not (provider and slash and model):
            raise BadInput(f'Write an evaluator as provider/model, not "{name.strip()}".')
        found[name.strip()] = ModelChoice(provider=provider, model=model)
    fit = [one for one in found.values() if one.maker not in makers]
    if len(fit) < LEAST_EVALUATORS:
        made = ", ".join(sorted(makers))
        raise BadInput(
            f"Name at least {LEAST_EVALUATORS} evaluators (--evaluators provider/model,…) of other "
            f"makers than those of the two texts ({made}): models prefer what their family wrote."
        )
    return fit


def _alone(debate: Debate, settings: Settings) -> Agent:
    """The model that answers alone where none did while the debate ran."""
    chosen = settings.shadow_model or settings.strongest_model or debate.setup.judge
    agent = agent_for(FALLBACK_ROLE, chosen)
    return agent.model_copy(update={"id": SHADOW, "name": "One model alone", "fallbacks": ()})


async def _answered(calls: ModelCalls, debate: Debate) -> tuple[Debate, Decimal]:
    """The debate with one model's answer, as if it had been asked at the start; what that cost.

    Nothing of it is written to the log.
    """
    events: list[Event] = [await answer(calls, debate, shadow.ANSWER)]
    debate = _with(debate, events[0])
    if debate.options:
        events.append(await place(calls, debate, shadow.CHOICE))
        debate = _with(debate, events[1])
    return debate, sum((spent_by(one) for one in events), start=Usage()).cost or Decimal(0)


def _with(debate: Debate, event: Event) -> Debate:
    entry = Recorded(debate_id=debate.id, seq=debate.seq + 1, at=debate.now, event=event)
    return apply(debate, entry)


async def _compared(
    debate: Debate, reading: Evaluators, *, is_recorded: bool, cost: Decimal
) -> Against:
    """Have the evaluators tested, then judge the two texts in both orders."""
    alone = debate.shadow
    if alone is None:
        raise AssertionError("a single answer was asked for and is there")
    call = alone.call
    made = ModelChoice(provider=call.provider, model=call.model) if call else None
    setup = debate.setup
    names = [agent.name for agent in setup.agents]
    pair = Pair(
        id=f"eval/{debate.id}",
        question=f"{setup.question}\n\n{setup.context}".strip(),
        ours=bare(text_of(debate), names),
        theirs=bare("\n\n".join((alone.decision, alone.solution, *alone.risks)), names),
        makers=makers_of([*setup.agents, setup.judge, *([made] if made else [])]),
    )
    before = reading.kept.spent
    known = read_tasks((files("core.proof") / "questions.jsonl").read_text("utf-8"))
    tests = await reading.test(known)
    judged = await reading.judge(pair)
    return Against(
        debate=debate,
        pair=pair,
        is_recorded=is_recorded,
        tests=tests,
        judged=judged,
        notes=reading.notes,
        cost=cost + reading.kept.spent - before,
    )


def as_markdown(found: Against) -> str:
    """The comparison for people."""
    debate, pair = found.debate, found.pair
    origin = "It was given while the debate ran, unseen." if found.is_recorded else "Asked now."
    ratio = number(round(len(pair.ours) / max(1, len(pair.theirs)), 1))
    words = {1: "the debate's", -1: "the single answer's", 0: "neither"}
    rows = [
        (one.evaluator, words[one.ours_first], words[one.ours_second], words[one.score])
        for one in found.judged
    ]
    head = ("Evaluator", "Debate's text first", "Single answer first", "Counts for")
    parts = [
        f"# Debate {debate.id} against a single answer",
        conclusion(found),
        f"The debate's text is {ratio} times as long as the single answer. {origin}",
        *([table(head, rows)] if rows else []),
        "## Evaluators, tested on pairs with a known better text",
        bullets([one.words for one in found.tests]),
        shadow_section(debate),
        f"This comparison cost {money(found.cost)}.",
        _ONE,
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def conclusion(found: Against) -> str:
    """How many evaluators preferred which text in both orders, in a sentence."""
    if not found.is_compared:
        return (
            f"Nothing can be said: fewer than {LEAST_EVALUATORS} evaluators passed their test and "
            "could be heard."
        )
    scores = [one.score for one in found.judged]
    heard = counted(len(scores), "evaluator")
    return (
        f"Of {heard}, each asked in both orders, {scores.count(1)} preferred the debate's text, "
        f"{scores.count(-1)} the single answer, and {scores.count(0)} neither."
    )


def _as_json(found: Against) -> str:
    """The comparison for programs."""
    call = found.debate.shadow.call if found.debate.shadow else None
    value = {
        "debate_id": found.debate.id,
        "single_answer_of": f"{call.provider}/{call.model}" if call else "",
        "is_recorded": found.is_recorded,
        "single_answer": shadow_outcome(found.debate),
        "is_compared": found.is_compared,
        "judgments": [
            {
                "evaluator": one.evaluator,
                "debate_first": one.ours_first,
                "single_first": one.ours_second,
                "score": one.score,
            }
            for one in found.judged
        ],
        "characters": {"debate": len(found.pair.ours), "single": len(found.pair.theirs)},
        "evaluators": [
            {
                "evaluator": one.evaluator,
                "accuracy": one.accuracy,
                "flips": one.flips,
                "taste_for_length": one.length,
                "is_heard": one.is_heard,
            }
            for one in found.tests
        ],
        "cost": str(found.cost),
    }
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
