"""What belongs to the installation as a whole: its secret, made once and kept."""

import secrets

from sqlalchemy import Connection, select

from core.store.columns import insert_new
from core.store.database import Database
from core.store.tables import INSTALLATION

_SECRET = "secret"  # noqa: S105 - the row's name
_BYTES = 32


async def installation_secret(database: Database) -> bytes:
    """The secret of this installation, the same for all processes on its database.

    Raises:
        StoreDown: The database does not answer.
    """
    return await database.write(_secret)


def _secret(connection: Connection) -> bytes:
    """Make it unless it is there."""
    made = {"name": _SECRET, "content": secrets.token_hex(_BYTES)}
    insert_new(connection, INSTALLATION, made)
    wanted = select(INSTALLATION.c.content).where(INSTALLATION.c.name == _SECRET)
    return bytes.fromhex(str(connection.execute(wanted).scalar_one()))
