"""The engine for tables of Slack's SDK, and the translation of its errors."""

from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy import URL, make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from core.store.engines import postgres_engine
from core.store.failures import explain


def sdk_engine(url: str) -> AsyncEngine:
    """Return an engine for the SDK, which cannot use a `Database`."""
    place = make_url(url)
    if _is_on_server(place):
        return postgres_engine(place)
    return create_async_engine(place, hide_parameters=True)


@contextmanager
def translated_errors(engine: AsyncEngine) -> Generator[None]:
    """Raise errors of the driver as the errors that Moot's own tables raise."""
    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        # Name the database without its password.
        host = f"{engine.url.host or 'localhost'}/" if _is_on_server(engine.url) else ""
        raise explain(error, f"{host}{engine.url.database or ''}") from error


def _is_on_server(url: URL) -> bool:
    return url.get_backend_name() == "postgresql"
