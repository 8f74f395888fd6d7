"""Names of providers and models in a configuration file: which are wrong, and what was meant."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from core.config.entries import AgentEntry, FileEntry, JudgeEntry, ModelEntry
from core.config.keys import nearest
from core.config.source import Path, Source
from core.llm.known_models import is_known, nearest_model


class _Named(NamedTuple):
    """A model that the file names, and where."""

    path: Path
    entry: ModelEntry | AgentEntry | JudgeEntry
    #: Serves where the entry names no provider; empty where one must be named.
    usual: str


def model_faults(
    entry: FileEntry, source: Source, usual: str, providers: Mapping[str, str]
) -> Iterator[str]:
    """One line for each name that means nothing, with the nearest name that does.

    Args:
        entry: The file.
        source: Where its keys are.
        usual: The provider that serves where the file names none.
        providers: Providers that exist; empty = nothing is checked.
    """
    for named in _all_named(entry, usual) if providers else ():
        provider = named.entry.provider or named.usual
        if not provider:
            yield f"{source.at(named.path)}: a fallback needs a provider."
        elif provider not in providers and not named.entry.provider:
            continue  # said where it is named
        elif provider not in providers:
            hint = nearest(provider, list(providers))
            where = source.at((*named.path, "provider"))
            yield f'{where}: there is no provider "{provider}". {hint}'
        elif named.entry.model:
            yield from _model_fault(entry, source, named, provider)


def _model_fault(entry: FileEntry, source: Source, named: _Named, provider: str) -> Iterator[str]:
    """A line if the provider has no such model."""
    model = named.entry.model or ""
    prices = {name: price.price() for name, price in entry.prices.items()}
    if is_known(provider, model, entry.models, prices):
        return
    meant = nearest_model(provider, model)
    hint = f'Did you mean "{meant}"? ' if meant else ""
    yield (
        f'{source.at((*named.path, "model"))}: {provider} has no model "{model}" that Moot knows. '
        f"{hint}If it is new, name its price under `prices`."
    )


def _all_named(entry: FileEntry, usual: str) -> Iterator[_Named]:
    """Every place where the file may name a model."""
    default = entry.default_model.provider or usual
    yield _Named(("default_model",), entry.default_model, usual)
    yield from _chain(("fallbacks",), entry.fallbacks)
    yield _Named(("judge",), entry.judge, default)
    yield _Named(("summary_model",), entry.summary_model, entry.judge.provider or default)
    yield from _chain(("judge", "fallbacks"), entry.judge.fallbacks or ())
    for at, agent in enumerate(entry.agents):
        yield _Named(("agents", at), agent, default)
        yield from _chain(("agents", at, "fallbacks"), agent.fallbacks or ())


def _chain(path: Path, entries: Sequence[ModelEntry]) -> Iterator[_Named]:
    """The models of a chain of fallbacks."""
    return (_Named((*path, at), entry, "") for at, entry in enumerate(entries))
