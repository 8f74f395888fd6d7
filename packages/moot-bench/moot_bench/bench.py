"""Holds a bench: reads its questions, plans its arms, asks the models and writes the report."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import chain
from pathlib import Path

from bot.building import (
    build_calls,
    check_choice,
    check_providers,
    estimating,
    find_plugins,
    load_settings,
    open_store,
)
from bot.log import set_up_logs
from bot.settings import BotSettings, LogLevel, read_settings
from bot.terminal.debating import current_user
from bot.terminal.files import tell, write_file, write_output
from bot.terminal.summary import first_prompts
from core.clock import SystemClock
from core.debate.agents import ModelChoice
from core.errors import BadInput
from core.figures import money, quantity
from core.llm.call import ModelCalls, Tables
from core.settings import Settings

from moot_bench.arms import Arm, ArmForm, arms_for, setup_of
from moot_bench.chart import CHART, cost_chart, has_charts
from moot_bench.comparison import ArmKind, ArmMeasure
from moot_bench.options import BenchCommand
from moot_bench.recall import Readers, SavedReplies, calls_words
from moot_bench.recorded import (
    SECOND,
    ReplayProvider,
    recorded_answers,
    replayed_questions,
    rules_report,
)
from moot_bench.report import (
    Recalls,
    answers_csv,
    held_words,
    power_words,
    replayed_words,
    report,
    results_page,
)
from moot_bench.run import Bench
from moot_bench.tasks import Task, TaskKind, own_tasks, read_tasks

DONE, STOPPED = 0, 1
#: Arms for recorded answers, which were given before and after one exchange.
_REPLAYED = (ArmForm.SOLO, ArmForm.VOTE, ArmForm.GATE, ArmForm.CRITIQUE)
#: Arms if no second answers were recorded.
_BEFORE_DEBATE = (ArmForm.SOLO, ArmForm.VOTE)


async def hold_bench(command: BenchCommand) -> int:  # noqa: PLR0915 - from options to report
    """Hold the bench, or go on with it, and write what came of it.

    Returns:
        The exit code: 0 done, 1 stopped at the cap or with answers missing.
    """
    environment = read_settings()
    set_up_logs(LogLevel.ERROR, environment.moot_log_format, environment.secrets)
    plugins = find_plugins(environment)
    loaded = await load_settings(environment, command.config, plugins=plugins)
    for notice in (*plugins.left_out, *loaded.notices):
        tell(f"Notice: {notice}")
    settings, forms, rules = loaded.settings, _forms(command), ""
    if command.replay:
        tasks, recorded, models = recorded_answers(_read(command.replay), command.replay.name)
        has_debates = any(SECOND in phases for phases in recorded.values())
        forms = forms if has_debates else _BEFORE_DEBATE
        answers = replayed_questions(
            tasks[: command.questions], recorded, [model.model for model in models]
        )
        rules = rules_report(answers)
        settings = settings.model_copy(update={"rounds": 1, "agents": ()})
        provider = ReplayProvider(recorded)
        calls = ModelCalls({provider.name: provider}, SystemClock())
    else:
        tasks, models = own_tasks(), _models(command.model_names, settings)
        if command.tasks:
            resolutions = _read(command.answers) if command.answers else ""
            text, name = _read(command.tasks), command.tasks.name
            tasks = read_tasks(text, name=name, answers=resolutions)
        calls = build_calls(environment, settings, plugins=plugins)
    tasks = tasks[: command.questions]
    # Second answers were given after reading those of all models.
    arms = arms_for(forms, models, only_mixed=command.replay is not None)
    user, clock = current_user(), SystemClock()
    for arm in arms if command.replay is None else ():
        setup = setup_of(arm, tasks[0], settings, delimiter="-", asker=user)
        check_providers(setup, environment, settings.servers)
    async with open_store(str(command.log)) as store:
        runs = Bench(
            store=store,
            calls=calls,
            settings=settings,
            clock=clock,
            estimating=estimating(settings),
            asker=user,
            max_usd=None if command.replay else command.cap,
            judged=command.replay is None,
        )
        try:
            if command.replay is None:
                arms = await runs.plan(arms, tasks[0])
                _tell_plan(runs, arms, len(tasks), command.cap)
            readers = _readers(command, calls, settings, environment)
            if readers:
                tell(calls_words(len(arms), tasks, len(readers.models)))
            if command.dry_run:
                answers = (first_prompts(runs.setup_of(arm, tasks[0])) for arm in arms)
                write_output("\n".join(dict.fromkeys(chain.from_iterable(answers))) + "\n", None)
                return DONE
            await runs.take_stock()
            if readers:
                runs.besides = readers.saved.total_cost
            await runs.hold(arms, tasks)
            recalls = None
            if readers:
                readers.spent = runs.total_cost - runs.besides
                recalls = await readers.read(arms, runs.arm_scores(arms, tasks)[1], runs.answered)
        finally:
            await calls.close()
    return _hand_out(runs, arms, tasks, command=command, recalls=recalls, rules=rules)


def _tell_plan(runs: Bench, arms: Sequence[Arm], questions: int, cap: Decimal | None) -> None:
    """Say what will be spent and what it can show, before anything is spent."""
    for arm in arms:
        drafts = f" ({quantity(arm.drafts, 'draft')})" if arm.drafts else ""
        drafts += f" ({arm.tokens:,} output tokens)" if arm.tokens else ""
        estimate = runs.expected[arm.name]
        calls = quantity(estimate.calls, "call")
        tell(f"{arm.name}{drafts}: {calls}, about {money(estimate.cost)} per question")
    costs = [estimate.cost for estimate in runs.expected.values() if estimate.cost is not None]
    total_cost = sum(costs, Decimal(0)) * questions if len(costs) == len(arms) else None
    most = f"never more than {money(cap)}" if cap is not None else "no cap"
    calls = quantity(sum(estimate.calls for estimate in runs.expected.values()) * questions, "call")
    tell(f"{quantity(questions, 'question')}: {calls}, about {money(total_cost)} together, {most}.")
    compared = sum(arm.form.kind is not ArmKind.SOLO for arm in arms)
    tell(power_words(questions, compared))


def _readers(
    command: BenchCommand, calls: ModelCalls, settings: Settings, environment: BotSettings
) -> Readers | None:
    """What looks for later-named reasons; None if nobody shall."""
    if not command.readers:
        return None
    if command.replay:
        raise BadInput("Recorded answers are no texts: there is nothing to read. Omit --readers.")
    models = _models(command.reader_names, settings)
    for model in models:
        name = f"The reader {model.full_name}"
        check_choice(name, model.provider, environment, settings.servers)
    return Readers(
        calls=calls,
        models=models,
        saved=SavedReplies(command.log.with_suffix(".readers.jsonl")),
        max_usd=command.cap,
        tables=Tables(models=settings.models, prices=settings.prices),
    )


def _hand_out(
    runs: Bench,
    arms: Sequence[Arm],
    tasks: Sequence[Task],
    *,
    command: BenchCommand,
    recalls: Recalls | None,
    rules: str,
) -> int:
    output = command.output
    scored, complete_tasks = runs.arm_scores(arms, tasks)
    notes = [*([runs.stopped] if runs.stopped else []), *runs.failed, *runs.token_words(arms)]
    if len(complete_tasks) < len(tasks):
        left_out = quantity(len(tasks) - len(complete_tasks), "question")
        notes.append(f"{left_out} without an answer of every arm: left out of all figures.")
    if not complete_tasks:
        for note in notes:
            tell(note)
        raise BadInput("No question has an answer of every arm: there is nothing to compare.")
    are_forecasts = all(task.kind is TaskKind.FORECAST for task in tasks)
    measure = ArmMeasure.BRIER if are_forecasts else ArmMeasure.ACCURACY
    chart = cost_chart(scored, measure) if output and has_charts() else None
    if output and not has_charts():
        tell("No chart is drawn: matplotlib is not installed (`pip install matplotlib`).")
    picture = CHART if chart else ""
    text = report(scored, measure, notes=notes, picture=picture, recalls=recalls, rules=rules)
    if output:
        write_file(output / "report.md", text)
        write_file(output / "answers.csv", answers_csv(scored))
        if chart:
            write_file(output / CHART, chart)
        tell(f"Wrote {output}")
    if command.page:
        origin = replayed_words(len(complete_tasks))
        if command.replay is None:
            models = dict.fromkeys(model.full_name for arm in arms for model in arm.models)
            days = sorted(min(d.times.values()).date().isoformat() for d in runs.answered.values())
            origin = held_words(
                questions=len(complete_tasks),
                models=list(models),
                days=(days[0], days[-1]),
                spent=runs.spent_words,
            )
        write_file(command.page, results_page(text, origin))
        tell(f"Wrote {command.page}")
    write_output(text, None)
    return STOPPED if len(complete_tasks) < len(tasks) else DONE


def _forms(command: BenchCommand) -> Sequence[ArmForm]:
    usual = [form for form in ArmForm if form not in {ArmForm.COUNCIL, ArmForm.PANEL}]
    if command.replay:
        usual = [form for form in usual if form in _REPLAYED]
    costs = {form.value: form for form in (ArmForm if not command.replay else _REPLAYED)}
    unknown = [name for name in command.arm_names if name not in costs]
    if unknown:
        there = ", ".join(costs)
        raise BadInput(f'There is no arm "{unknown[0]}" here. Arms: {there}.')
    return [costs[name] for name in command.arm_names] or usual


def _models(names: Sequence[str], settings: Settings) -> Sequence[ModelChoice]:
    """The models as they were typed, `provider/model`."""
    choices: list[ModelChoice] = []
    for name in names:
        provider, _, model = name.partition("/")
        if not provider or not model:
            raise BadInput(f'Write a model as provider/model, not "{name}".')
        choices.append(ModelChoice(provider=provider, model=model))
    return choices or [settings.agent_model]


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8 text.") from None
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise BadInput(f"{path} cannot be read: {reason}.") from None
