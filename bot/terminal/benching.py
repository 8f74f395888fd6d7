"""`moot bench`: the same questions through one model, a vote and debates, at stated cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

from bot.building import (
    build_calls,
    build_replay,
    check_choice,
    check_providers,
    estimating,
    find_plugins,
    load_settings,
    open_store,
)
from bot.log import set_up_logs
from bot.settings import BotSettings, LogLevel, read_settings
from bot.terminal.bench_evaluation import (
    Evaluators,
    Kept,
    judgments_words,
    read_texts,
    try_evaluators,
)
from bot.terminal.bench_report import Evaluated, answers_csv, power_words, report
from bot.terminal.bench_run import Bench
from bot.terminal.debating import current_user
from bot.terminal.files import put_out, tell, write_file
from core.clock import SystemClock
from core.errors import BadInput
from core.figures import counted, money
from core.llm.call import ModelCalls
from core.llm.call_options import Tables
from core.models import ModelChoice
from core.proof.arms import Arm, ArmForm, arms_for, setup_of
from core.proof.comparison import ArmKind, ArmMeasure
from core.proof.pairs import LEAST_EVALUATORS
from core.proof.pareto import pareto_svg
from core.proof.reading import read_tasks
from core.proof.recorded import recorded_answers
from core.proof.tasks import Task, TaskKind
from core.settings import Settings

DONE, STOPPED = 0, 1
#: What can be said of recorded answers: they were given before and after one exchange.
_REPLAYED = frozenset({ArmForm.SOLO, ArmForm.VOTE, ArmForm.GATE, ArmForm.CRITIQUE})


@dataclass(frozen=True, kw_only=True)
class BenchCommand:
    """What was typed after `moot bench`."""

    #: A file of questions; None: those that come with Moot.
    tasks: Path | None = None
    #: ForecastBench's resolutions of them.
    answers: Path | None = None
    #: Recorded answers instead of models.
    replay: Path | None = None
    arms: Sequence[str] = ()
    #: `provider/model`; none: the settings' one.
    models: Sequence[str] = ()
    #: How many of the questions; None: all.
    questions: int | None = None
    #: US dollars for the whole log; None: no cap.
    max_usd: Decimal | None = None
    log: Path
    config: Path | None = None
    #: A folder for report, picture and answers; None: the report goes to standard output only.
    output: Path | None = None
    #: `provider/model` of those that read the texts; none: nobody does.
    evaluators: Sequence[str] = ()
    dry_run: bool = False


async def bench(asked: BenchCommand) -> int:
    """Hold the bench, or go on with it, and write what came of it.

    Returns:
        The exit code: 0 done, 1 stopped at the cap or with answers missing.

    Raises:
        BadInput: What was typed, or a file, cannot be used.
        ConfigurationBroken: The settings cannot be used.
        MootError: Something else that can be told in words.
    """
    environment = read_settings()
    set_up_logs(LogLevel.ERROR, environment.moot_log_format, environment.secrets)
    plugins = find_plugins(environment)
    loaded = await load_settings(environment, asked.config, plugins=plugins)
    for notice in (*plugins.left_out, *loaded.notices):
        tell(f"Notice: {notice}")
    settings, forms = loaded.settings, _forms(asked)
    if asked.replay:
        tasks, recorded, models = recorded_answers(_read(asked.replay), asked.replay.name)
        settings = settings.model_copy(update={"rounds": 1, "agents": ()})
        calls = build_replay(recorded)
    else:
        tasks, models = _tasks(asked), _models(asked.models, settings)
        calls = build_calls(environment, settings, plugins=plugins)
    tasks = tasks[: asked.questions]
    # Second answers were given after reading those of all models.
    arms = arms_for(forms, models, only_mixed=asked.replay is not None)
    user, clock = current_user(), SystemClock()
    for arm in arms if asked.replay is None else ():
        setup = setup_of(arm, tasks[0], settings, delimiter="-", asker=user)
        check_providers(setup, environment, settings.servers)
    async with open_store(str(asked.log)) as store:
        held = Bench(
            store=store,
            calls=calls,
            settings=settings,
            clock=clock,
            estimating=estimating(settings, patience=120.0),
            asker=user,
            max_usd=None if asked.replay else asked.max_usd,
            judged=asked.replay is None,
        )
        try:
            if asked.replay is None:
                arms = await held.plan(arms, tasks[0])
                _tell_plan(held, arms, len(tasks), asked.max_usd)
            reading = _evaluators(asked, calls, settings, environment)
            if reading:
                tell(judgments_words(arms, len(tasks), len(reading.models)))
            if asked.dry_run:
                return DONE
            await held.take_stock()
            if reading:
                await try_evaluators(reading, held, _own_tasks())
            await held.hold(arms, tasks)
            measure, evaluated = _measure(tasks), None
            if reading:
                evaluated = await read_texts(reading, held, arms, tasks, measure=measure)
        finally:
            await calls.close()
    return _hand_out(held, arms, tasks, output=asked.output, evaluated=evaluated)


def _tell_plan(held: Bench, arms: Sequence[Arm], questions: int, cap: Decimal | None) -> None:
    """Say what will be spent and what it can show, before anything is spent."""
    for arm in arms:
        drafts = f" ({counted(arm.drafts, 'draft')})" if arm.drafts else ""
        tell(f"{arm.name}{drafts}: about {money(held.expected[arm.name])} per question")
    known = [cost for cost in held.expected.values() if cost is not None]
    whole = sum(known, Decimal(0)) * questions if len(known) == len(arms) else None
    most = f"never more than {money(cap)}" if cap is not None else "no cap"
    tell(f"{counted(questions, 'question')}: about {money(whole)} together, {most}.")
    compared = sum(arm.form.kind is not ArmKind.SOLO for arm in arms)
    tell(power_words(questions, compared))


def _evaluators(
    asked: BenchCommand, calls: ModelCalls, settings: Settings, environment: BotSettings
) -> Evaluators | None:
    """Who reads the texts.

    Raises:
        BadInput: Fewer than three are named, one twice, or there are no texts.
        ConfigurationBroken: One of them cannot be asked.
    """
    if not asked.evaluators:
        return None
    if asked.replay:
        raise BadInput("Recorded answers are no texts: evaluators have nothing to read.")
    models = _models(asked.evaluators, settings)
    if len({one.full_name for one in models}) < max(LEAST_EVALUATORS, len(models)):
        raise BadInput(f"Name at least {LEAST_EVALUATORS} different models as evaluators.")
    for one in models:
        check_choice(f"The evaluator {one.full_name}", one.provider, environment, settings.servers)
    return Evaluators(
        calls=calls,
        models=models,
        kept=Kept(asked.log.with_suffix(".evaluators.jsonl")),
        max_usd=asked.max_usd,
        tables=Tables(models=settings.models, prices=settings.prices),
    )


def _measure(tasks: Sequence[Task]) -> ArmMeasure:
    forecasts = sum(task.kind is TaskKind.FORECAST for task in tasks)
    return ArmMeasure.BRIER if forecasts == len(tasks) else ArmMeasure.ACCURACY


def _hand_out(
    held: Bench,
    arms: Sequence[Arm],
    tasks: Sequence[Task],
    *,
    output: Path | None,
    evaluated: Evaluated | None,
) -> int:
    """Write report, picture and answers."""
    scored, whole = held.scored(arms, tasks)
    notes = [*([held.stopped] if held.stopped else []), *held.failed]
    if len(whole) < len(tasks):
        left = counted(len(tasks) - len(whole), "question")
        notes.append(f"{left} without an answer of every arm: left out of all figures.")
    if not whole:
        for note in notes:
            tell(note)
        raise BadInput("No question has an answer of every arm: there is nothing to compare.")
    measure = _measure(tasks)
    drawn = pareto_svg(scored, measure)
    picture = "pareto.svg" if drawn and output else ""
    text = report(scored, measure, notes=notes, picture=picture, evaluated=evaluated)
    if output:
        write_file(output / "report.md", text)
        write_file(output / "answers.csv", answers_csv(scored))
        if drawn:
            write_file(output / "pareto.svg", drawn)
        tell(f"Wrote {output}")
    put_out(text, None)
    return STOPPED if len(whole) < len(tasks) else DONE


def _forms(asked: BenchCommand) -> Sequence[ArmForm]:
    usual = [ArmForm.SOLO, ArmForm.VOTE, ArmForm.BEST_OF, ArmForm.GATE, ArmForm.CRITIQUE]
    if asked.replay:
        usual = [form for form in usual if form in _REPLAYED]
    known = {form.value: form for form in (ArmForm if not asked.replay else _REPLAYED)}
    unknown = [name for name in asked.arms if name not in known]
    if unknown:
        there = ", ".join(known)
        raise BadInput(f'There is no arm "{unknown[0]}" here. Arms: {there}.')
    return [known[name] for name in asked.arms] or usual


def _models(names: Sequence[str], settings: Settings) -> Sequence[ModelChoice]:
    """The models as they were typed, `provider/model`.

    Raises:
        BadInput: One of them has no provider.
    """
    found: list[ModelChoice] = []
    for name in names:
        provider, _, model = name.partition("/")
        if not provider or not model:
            raise BadInput(f'Write a model as provider/model, not "{name}".')
        found.append(ModelChoice(provider=provider, model=model))
    return found or [settings.agent_model]


def _tasks(asked: BenchCommand) -> Sequence[Task]:
    if asked.tasks is None:
        return _own_tasks()
    answers = _read(asked.answers) if asked.answers else ""
    return read_tasks(_read(asked.tasks), name=asked.tasks.name, answers=answers)


def _own_tasks() -> Sequence[Task]:
    """The questions that come with Moot."""
    return read_tasks((files("core.proof") / "questions.jsonl").read_text("utf-8"))


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8 text.") from None
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise BadInput(f"{path} cannot be read: {reason}.") from None
