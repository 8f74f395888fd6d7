"""`python -m tests.fuzz [TARGET …] [--seconds 120] [--seed 1]`: random text of others, for long.

Each target reads text made from pieces that readers look for, and from broken copies of good ones.
It may refuse text with an error of its own; any other error is a fault, and so is an input that
takes longer than `_SLOW` seconds of CPU. Each line names the seed and the number of a fault's
input: `--at NUMBER` makes it again. Exit code 1 if there is a fault.
"""

import argparse
import json
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as with_seed

from bench.patterns import FUNCTIONS, texts
from bot.presenter.posts import posts_of
from bot.presenter.reading_order import release_all
from core.config.load import FileDefaults, check
from core.config.playbooks import built_in_text, read_playbook
from core.errors import ConfigurationBroken, LogBroken, ReplyUnreadable
from core.events import Recorded, fold
from core.evidence.citations import checked, citations_in
from core.evidence.diffs import with_hunks
from core.evidence.reading import joined
from core.models import Act, Person, Source, SourceKind, SourceReference, Turn
from core.settings import Settings
from core.transcript.report import report
from tests.core.dice import odd_logs

#: Targets of many functions, each of which is timed by itself.
_MANY = {"replies", "markdown", "typed"}
#: Seconds of CPU that an input of a few thousand characters may take.
_SLOW = 0.5
_MOST_FAULTS = 10
_MOST_PIECES, _MOST_CHARACTERS = 60, 4000
_ROOT = Path(__file__).parents[2]
_PIECES = [pump.before + pump.unit + pump.after for pump in texts()]
_REFERENCE = SourceReference(
    kind=SourceKind.TEXT, title="t", address="", fetch="", by=Person(id="U1")
)
_SOURCE = "Kafka costs −5 % … of the efficient office.\nWe [e1] pay 1,000 $ for x y x y.\n" * 40
_SAMPLES: Mapping[str, str] = {
    "replies": json.dumps({"recommendation": "Use it.", "confidence": 70, "reasons": ["a", "b"]}),
    "config": "default_model: {provider: offline}\nagents:\n  - {id: ada, role: architect}\n"
    "debate: {rounds: 2, format: critique}\nlimits: {turn_seconds: 60}\n",
    "playbooks": built_in_text("build-or-buy"),
    "diffs": "diff --git a/x.py b/x.py\n"
    "--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,4 @@ def f\n a\n-b\n+c\n",
    "citations": 'It says [e1: "Kafka costs … the efficient office"] and [e1: "pay 1,000 $"].\n',
    "typed": "--format critique --agents ada,sam should <@U1> use https://a.b/c?\n1: yes\n2: no",
}


def _citations(text: str) -> None:
    turn = Turn(act=Act.READING, round=0, agent="", target="1")
    sources = [Source(text=_SOURCE, turn=turn, reference=_REFERENCE)]
    text_shown, citations = checked(text, sources)
    assert len(citations) == len(citations_in(text))
    assert checked(text_shown, sources)[0] == text_shown


def _tried(act: Callable[[str], object], *refusals: type[Exception]) -> Callable[[str], None]:
    def tried(text: str) -> None:
        with suppress(*refusals):
            act(text)

    return tried


def _all_of(*prefixes: str) -> Callable[[str], None]:
    """All functions of those modules."""
    acts = {name: act for name, act in FUNCTIONS.items() if name.startswith(prefixes)}

    def tried(text: str) -> None:
        for name, act in acts.items():
            began = time.process_time()
            act(text)
            if (seconds := time.process_time() - began) > _SLOW:
                raise TimeoutError(f"{name} took {seconds:.1f} s of CPU")

    return tried


TARGETS: Mapping[str, Callable[[str], None]] = {
    "replies": _tried(_all_of("core.llm", "core.acts"), ReplyUnreadable),
    "config": _tried(lambda text: check(text, "moot.yaml", FileDefaults()), ConfigurationBroken),
    "playbooks": _tried(
        lambda text: read_playbook(text, "a.yaml", Settings()), ConfigurationBroken
    ),
    "diffs": _tried(lambda text: with_hunks(joined([("a.diff", "", text, "")]))),
    "markdown": _all_of("core.transcript", "bot.slack.mrkdwn", "bot.debate_page", "bot.views"),
    "citations": _citations,
    "typed": _all_of("bot.listeners", "bot.slack.typed_text", "core.use_cases", "core.opening"),
}


def _made(chance: random.Random, target: str) -> str:
    """A text: pieces, or a good one that was broken in a few places."""
    sample = _SAMPLES.get(target) or chance.choice(_pages())
    pieces = [chance.choice(_PIECES) for _ in range(chance.randint(1, _MOST_PIECES))]
    if chance.random() < 0.4:
        return "".join(pieces)[:_MOST_CHARACTERS]
    text = sample * chance.randint(1, 3)
    for _ in range(chance.randint(1, 8)):
        begin = chance.randint(0, len(text))
        end = min(len(text), begin + chance.choice((0, 1, 3, 20)))
        cut = text[begin:end]
        text = text[:begin] + chance.choice(("", chance.choice(pieces), cut * 3)) + text[end:]
    return text[:_MOST_CHARACTERS]


def _pages() -> list[str]:
    return [path.read_text("utf-8")[:2000] for path in sorted((_ROOT / "docs").glob("*.md"))]


def _faults(name: str, seed: int, seconds: float, at: int | None) -> Iterator[str]:
    """Try a target for so long."""
    number, began = at or 0, time.process_time()
    while time.process_time() - began < seconds:
        text = _made(random.Random(f"{seed}/{name}/{number}"), name)
        start = time.process_time()
        try:
            TARGETS[name](text)
        except Exception as error:  # noqa: BLE001 - each is a fault
            place = traceback.extract_tb(error.__traceback__)[-1]
            at_line, what = f"{place.name}:{place.lineno}", f"{type(error).__name__}: {error}"
            yield f"{name} {seed}/{number}: {what[:200]} at {at_line}"
        cpu, is_one = time.process_time() - start, name not in _MANY
        if is_one and number and cpu > _SLOW:  # the first one loads much
            yield f"{name} {seed}/{number}: {cpu:.1f} s of CPU"
        number += 1
        if at is not None:
            break
    _say(f"{name}: seed {seed}, {number:,} inputs, {time.process_time() - began:.0f} s of CPU")


def _logs(seed: int, seconds: float) -> Iterator[str]:
    """Fold impossible logs, and show what comes of them."""
    began, number = time.process_time(), 0

    @with_seed(seed)
    @settings(
        max_examples=1_000_000,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    @given(log=odd_logs())
    def read_log(log: list[Recorded]) -> None:
        nonlocal number
        if time.process_time() - began > seconds:
            raise KeyboardInterrupt  # nothing else ends it at once
        number += 1
        with suppress(LogBroken):
            report(fold(log))
            for released in release_all(log).released:
                posts_of(fold(log), released)

    try:
        read_log()
    except KeyboardInterrupt:
        pass
    except Exception as error:  # noqa: BLE001 - each is a fault
        yield f"logs {seed}: {type(error).__name__} after {number} logs"
    _say(f"logs: seed {seed}, {number:,} logs, {time.process_time() - began:.0f} s of CPU")


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - that is what it is for


def main() -> None:
    """Try all targets, or those that are named."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("targets", nargs="*", default=[*TARGETS, "logs"])
    options.add_argument("--seconds", type=float, default=120.0, help="CPU of each target.")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--at", type=int, help="Only this input.")
    wish = options.parse_args()
    count = 0
    for name in wish.targets:
        faults = _faults(name, wish.seed, wish.seconds, wish.at)
        for fault in _logs(wish.seed, wish.seconds) if name == "logs" else faults:
            _say(fault)
            count += 1
            if count % _MOST_FAULTS == 0:
                break
    sys.exit(bool(count))


if __name__ == "__main__":
    main()
